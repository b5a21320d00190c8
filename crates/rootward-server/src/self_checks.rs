//! "Is it me?": tries what every poll needs, when the engine suspects that this machine is at fault and not its targets.
//!
//! A file descriptor, a connection over loopback, a few of the names that targets have, and whoever is configured as a
//! reference. All of it at once, within one deadline, and never two rounds at the same time.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use rootward_core::{SelfCheck, SelfChecks};
use rootward_fetch::{Target, dial, resolve};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long one round may take.
const DEADLINE: Duration = Duration::from_secs(3);

/// Names that are tried. With one half of them the others resolve, too, as far as this machine is concerned.
const MAX_NAMES: usize = 8;

/// Runs the self checks. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct SelfChecking {
    references: Vec<Target>,
    running: JoinSet<SelfChecks>,
}

impl SelfChecking {
    pub(crate) fn new(references: Vec<Target>) -> Self {
        Self {
            references,
            running: JoinSet::new(),
        }
    }

    /// Asks these from the next round on.
    pub(crate) fn ask(&mut self, references: Vec<Target>) {
        self.references = references;
    }

    /// Begins a round, unless one runs: then that one is the answer. `by_name` are targets whose names can be tried.
    pub(crate) fn begin(&mut self, by_name: Vec<Target>) {
        if self.running.is_empty() {
            let references = self.references.clone();
            self.running.spawn(check(references, sample(by_name)));
        }
    }

    /// What the running round says; forever while none runs. Nothing is lost if the wait is given up.
    pub(crate) async fn ended(&mut self) -> SelfChecks {
        match self.running.join_next().await {
            Some(ended) => ended.unwrap_or(NOTHING_TRIED),
            None => std::future::pending().await,
        }
    }

    /// What a round says that has ended.
    pub(crate) fn try_ended(&mut self) -> Option<SelfChecks> {
        let ended = self.running.try_join_next()?;
        Some(ended.unwrap_or(NOTHING_TRIED))
    }
}

/// A round that failed by a fault of ours, which says nothing.
const NOTHING_TRIED: SelfChecks = SelfChecks {
    descriptors: SelfCheck::NotTried,
    loopback: SelfCheck::NotTried,
    names: SelfCheck::NotTried,
    references: SelfCheck::NotTried,
};

/// A few different names, from all over the list. What this machine calls itself needs no name service.
fn sample(by_name: Vec<Target>) -> Vec<Target> {
    let names: BTreeMap<String, Target> = by_name
        .into_iter()
        .filter(|target| !target.host().eq_ignore_ascii_case("localhost"))
        .map(|target| (target.host().to_ascii_lowercase(), target))
        .collect();
    let step = names.len().div_ceil(MAX_NAMES).max(1);
    names.into_values().step_by(step).collect()
}

async fn check(references: Vec<Target>, names: Vec<Target>) -> SelfChecks {
    let descriptors = match std::fs::File::open("/dev/null") {
        Ok(_) => SelfCheck::Works,
        Err(_) => SelfCheck::Fails,
    };
    let (loopback, names, references) =
        tokio::join!(loopback(), names_resolve(names), reached(references));
    SelfChecks {
        descriptors,
        loopback,
        names,
        references,
    }
}

/// Whether this machine can talk to itself.
async fn loopback() -> SelfCheck {
    let tried = async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::try_join!(TcpStream::connect(address), listener.accept())?;
        Ok::<_, std::io::Error>(())
    };
    match timeout(DEADLINE, tried).await {
        Ok(Ok(())) => SelfCheck::Works,
        Ok(Err(_)) | Err(_) => SelfCheck::Fails,
    }
}

async fn names_resolve(targets: Vec<Target>) -> SelfCheck {
    let mut lookups = JoinSet::new();
    let tried = targets.len();
    for target in targets {
        lookups.spawn(async move { resolve(&target, DEADLINE).await.is_ok() });
    }
    let resolved = count(lookups).await;
    match (tried, resolved * 2 >= tried) {
        (0, _) => SelfCheck::NotTried,
        (_, true) => SelfCheck::Works,
        (_, false) => SelfCheck::Fails,
    }
}

async fn reached(targets: Vec<Target>) -> SelfCheck {
    let mut dials = JoinSet::new();
    let tried = targets.len();
    for target in targets {
        dials.spawn(async move { dial(&target, DEADLINE).await.is_ok() });
    }
    match (tried, count(dials).await) {
        (0, _) => SelfCheck::NotTried,
        (_, 0) => SelfCheck::Fails,
        (_, _) => SelfCheck::Works,
    }
}

/// How many of them say yes.
async fn count(mut asked: JoinSet<bool>) -> usize {
    let mut yes = 0;
    while let Some(said) = asked.join_next().await {
        yes += usize::from(said.unwrap_or(false));
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        Target::parse(url).expect("the URL is valid")
    }

    #[tokio::test]
    async fn a_machine_that_works_says_so_and_a_reference_that_is_not_there_does_not_answer() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("loopback");
        let there = target(&format!(
            "http://{}/",
            listener.local_addr().expect("bound")
        ));
        let mut checking = SelfChecking::new(vec![there]);
        checking.begin(Vec::new());
        let checks = checking.ended().await;
        assert_eq!(
            checks,
            SelfChecks {
                descriptors: SelfCheck::Works,
                loopback: SelfCheck::Works,
                names: SelfCheck::NotTried,
                references: SelfCheck::Works,
            }
        );
        let address = listener.local_addr().expect("bound");
        drop(listener);
        checking.ask(vec![target(&format!("http://{address}/"))]);
        checking.begin(Vec::new());
        assert_eq!(checking.ended().await.references, SelfCheck::Fails);
    }

    #[test]
    fn names_are_tried_once_each_and_not_all_of_them() {
        let mut targets = vec![target("http://localhost:1/"), target("http://LOCALHOST:2/")];
        assert!(sample(targets.clone()).is_empty());
        for at in 0..100 {
            targets.push(target(&format!("http://cart-{}:8790/health", at / 2)));
        }
        let hosts: Vec<String> = sample(targets)
            .iter()
            .map(|t| t.host().to_owned())
            .collect();
        assert!(hosts.len() <= MAX_NAMES && hosts.len() > 1, "{hosts:?}");
    }
}
