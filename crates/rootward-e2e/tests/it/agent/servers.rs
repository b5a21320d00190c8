//! A PostgreSQL and a Redis that are stopped where they are: the kernel still accepts connections for them, and nobody
//! answers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rootward_e2e::{Postgres, Process, Redis, Run, free_port, until};
use serde_json::Value;

use crate::alone::alone;
use crate::distress::client::{Connections, Prober, Seen, ask};

/// Between two questions of one prober.
const PACE: Duration = Duration::from_millis(20);

/// For states that come in seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(60);

/// How much later than before 99 of 100 answers may come, beside what a bare thread needs: far less than any of the
/// checks hangs.
const ALLOWED: Duration = Duration::from_millis(100);

/// The detailed report is asked for less often, because 20 a second are answered to one caller.
const PATHS: [(&str, Duration); 3] = [
    ("/livez", PACE),
    ("/readyz", PACE),
    ("/health", Duration::from_millis(100)),
];

/// The sidecar of a service that needs both.
struct Sidecar {
    port: u16,
    _process: Process,
}

impl Sidecar {
    async fn start(
        run: &Run,
        database: &Postgres,
        cache: &Redis,
    ) -> Result<Self, rootward_e2e::Error> {
        let port = free_port()?;
        let file = run.directory().join(format!("agent-{port}.yaml"));
        let text = format!(
            "service: {{name: cart, instance: cart-0}}\n\
             listen: {{bind: \"127.0.0.1:{port}\"}}\n\
             defaults: {{interval: 1s, timeout: 500ms}}\n\
             checks:\n\
             - {{name: carts-db, postgresql: {{url: {{env: DATABASE_URL}}}}, criticality: hard}}\n\
             - {{name: cache, redis: {{url: \"{}\"}}, criticality: soft}}\n",
            cache.url()
        );
        std::fs::write(&file, text).expect("the directory of the run can be written to");
        let mut command = Command::new(run.program("rootward")?);
        command
            .arg("agent")
            .arg(&file)
            .env("DATABASE_URL", database.url());
        let process = Process::spawn(run, "agent", command)?;
        let sidecar = Self {
            port,
            _process: process,
        };
        sidecar.until_both_are("up").await?;
        Ok(sidecar)
    }

    /// Status and category of both.
    fn seen(&self) -> Option<[(String, String); 2]> {
        let report = ask(self.port, "/health").ok()?;
        let report: Value = serde_json::from_str(&report.body).ok()?;
        let word = |component: &Value, key: &str| component[key].as_str().unwrap_or("").to_owned();
        let of = |place: usize| {
            let component = &report["components"][place];
            (word(component, "status"), word(component, "error_category"))
        };
        Some([of(0), of(1)])
    }

    async fn until_both_are(
        &self,
        status: &str,
    ) -> Result<[(String, String); 2], rootward_e2e::Error> {
        let what = format!("both are {status}");
        let seen = until(
            &what,
            LIMIT,
            async || self.seen(),
            |seen| {
                seen.as_ref()
                    .is_some_and(|seen| seen.iter().all(|(seen, _)| seen == status))
            },
        );
        Ok(seen.await?.expect("it was seen"))
    }
}

/// Answers each line by closing, and does nothing else.
fn yardstick() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Whoever asks is this test, and has gone if it fails.
            let _ = stream.read(&mut [0; 16]);
            let _ = stream.write_all(b"\n");
        }
    });
    port
}

struct Probers {
    paths: Vec<Prober>,
    yardstick: Prober,
}

impl Probers {
    fn start(port: u16, control: u16) -> Self {
        let probers = PATHS.map(|(path, pace)| Prober::start(port, path, pace, Connections::New));
        Self {
            paths: probers.into(),
            yardstick: Prober::start_yardstick(control, PACE),
        }
    }

    /// What each path saw, and the yardstick.
    fn stop(self) -> (Vec<Seen>, Seen) {
        let seen = self.paths.into_iter().map(Prober::stop).collect();
        (seen, self.yardstick.stop())
    }
}

/// KF-022: a dependency that accepts and never answers held up whoever asked for the health of its caller.
#[tokio::test(flavor = "multi_thread")]
async fn dependencies_that_are_frozen_change_nothing_in_the_answer_time_of_any_probe()
-> Result<(), rootward_e2e::Error> {
    let _alone = alone().await;
    let run = Run::from_environment()?;
    let (database, cache) = (Postgres::start(&run).await?, Redis::start(&run).await?);
    let sidecar = Sidecar::start(&run, &database, &cache).await?;
    let control = yardstick();

    let probers = Probers::start(sidecar.port, control);
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (before, yardstick_before) = probers.stop();

    database.freeze()?;
    cache.freeze()?;
    let probers = Probers::start(sidecar.port, control);
    // From the first question that hangs until both are known to be down, and some time of being so.
    let seen = sidecar.until_both_are("down").await?;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (frozen, yardstick_frozen) = probers.stop();
    database.thaw()?;
    cache.thaw()?;
    for (_, category) in &seen {
        assert_eq!(category, "timeout");
    }

    yardstick_before.print("a bare thread, before");
    yardstick_frozen.print("a bare thread, while both are frozen");
    for (((path, _), before), frozen) in PATHS.into_iter().zip(&before).zip(&frozen) {
        before.print(&format!("{path}, before"));
        frozen.print(&format!("{path}, while both are frozen"));
        let limit = before.per_mille(990) * 2 + ALLOWED;
        frozen.assert_within(path, limit, &yardstick_frozen, 20);
        assert!(before.failures.is_empty(), "{path}: {:?}", before.failures);
    }
    // This test looks at the report itself while it waits, so some are answered 429.
    let codes = |seen: &Seen| {
        let codes = seen.codes.keys().copied();
        codes.filter(|code| *code != 429).collect::<Vec<_>>()
    };
    // Dependencies that are shared fail no probe that an orchestrator or a load balancer acts on.
    assert_eq!(codes(&frozen[0]), [200]);
    assert_eq!(codes(&frozen[1]), [200]);
    assert_eq!(codes(&frozen[2]), [200, 503], "up at first, unhealthy then");

    sidecar.until_both_are("up").await?;
    Ok(())
}
