//! The end: SIGTERM, and what the service says from then on until its process is gone.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until};

use crate::ask::{Asker, Missing, Seen};
use crate::detail::Detail;
use crate::grpc::{self, DrainWatch};
use crate::launch::{Launch, Process, how};
use crate::rule::Rule;
use crate::verdict::{Ending, Evidence, Ledger};

/// What the contract gives readiness.
const LIMIT: Duration = Duration::from_millis(100);

/// How often a look is timed beforehand: the slowest is what a look costs on this machine.
const TIMED: u32 = 20;

/// Between two looks, once it is not ready any more.
const PAUSE: Duration = Duration::from_millis(20);

/// Between two reports.
const REPORT_PAUSE: Duration = Duration::from_millis(200);

/// Its listener may be closed for so long before its process is gone: a runtime has to be shut down, memory given back.
const LAST: Duration = Duration::from_secs(2);

const TOO_SHORT: &str = "it ended before it could be looked at: no drain, or a very short one";

/// When readiness has changed, as far as it could be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unready {
    /// It said 503. The last 200 was asked for so long after the signal; none was.
    After(Option<Duration>),
    /// It said 200 until its end; the last one was asked for so long after the signal.
    Never(Option<Duration>),
}

/// One end, after the other: what is too late once may be the machine.
#[derive(Debug, Default)]
pub(crate) struct Drains(Vec<(Unready, Duration)>);

impl Drains {
    /// Ends the service and looks at it.
    pub(crate) async fn end(
        &mut self,
        asker: &Asker,
        launch: &Launch,
        mut process: Process,
        ledger: &mut Ledger,
    ) -> Ending {
        let mut cost = Duration::ZERO;
        for _ in 0..TIMED {
            if let Ok(seen) = asker.get("/readyz", &[]).await {
                cost = cost.max(seen.took);
            }
        }
        let watched = DrainWatch::begin(asker).await;
        process.terminate();
        let signal = Instant::now();
        let mut watching = Watching::new(asker, signal, watched);
        let deadline = (signal + launch.drain_within).into();
        let ended = loop {
            tokio::select! {
                ended = process.ended() => break ended.ok(),
                () = sleep_until(deadline) => break None,
                () = watching.look(ledger) => {}
            }
        };
        let after = signal.elapsed();
        watching.close(after, ended.is_some(), ledger);
        self.0.push((watching.unready, cost));
        let ending = Ending {
            after,
            how: ended.map(how),
        };
        judge_end(ended, after, launch, ledger);
        process.end().await;
        ending
    }

    /// Who never says it has broken it each time; of those who were late, the best counts.
    pub(crate) fn judge(&self, ledger: &mut Ledger) {
        let late =
            |last: &Option<Duration>, cost: &Duration| last.filter(|last| *last > LIMIT + *cost);
        let mut latest = None;
        let mut any_in_time = false;
        for (unready, cost) in &self.0 {
            match unready {
                Unready::Never(last) => match late(last, cost) {
                    Some(last) => ledger.broken(Rule::Unready, evidence(last, "never 503", *cost)),
                    None => ledger.not_tested(Rule::Unready, TOO_SHORT),
                },
                Unready::After(last) => match late(last, cost) {
                    Some(last) => latest = Some((last, *cost)),
                    None => any_in_time = true,
                },
            }
        }
        match latest {
            _ if any_in_time => ledger.kept(Rule::Unready),
            Some((last, cost)) => {
                ledger.broken(Rule::Unready, evidence(last, "503 only later", cost));
            }
            None => {}
        }
    }
}

fn evidence(last: Duration, then: &str, cost: Duration) -> Evidence {
    let came = format!(
        "200 for a question {} ms after the signal, and {then}",
        last.as_millis()
    );
    let right = format!(
        "503 within 100 ms, and the {} ms that the slowest of {TIMED} looks took before",
        cost.as_millis()
    );
    Evidence::new("GET /readyz after SIGTERM", came, right)
}

fn judge_end(ended: Option<ExitStatus>, after: Duration, launch: &Launch, ledger: &mut Ledger) {
    ledger.judge(Rule::Ends, ended.is_some(), || {
        let came = format!(
            "it still ran after {} ms, and was killed",
            after.as_millis()
        );
        let right = format!(
            "its end within {} s (--drain-within)",
            launch.drain_within.as_secs()
        );
        Evidence::new("SIGTERM", came, right)
    });
}

struct Watching<'a> {
    asker: &'a Asker,
    signal: Instant,
    unready: Unready,
    reported: Option<Instant>,
    lives: Answering,
    reports: Answering,
    watched: Option<DrainWatch>,
    /// What gRPC says of it was put to the test.
    told: bool,
}

impl<'a> Watching<'a> {
    fn new(asker: &'a Asker, signal: Instant, watched: Option<DrainWatch>) -> Self {
        Self {
            asker,
            signal,
            unready: Unready::Never(None),
            reported: None,
            lives: Answering::new(Rule::Alive, "200 until the process is gone"),
            reports: Answering::new(Rule::Reports, "a report that says draining: true"),
            watched,
            told: false,
        }
    }

    /// Given up when the process ends: what is asked at that moment counts for nothing.
    async fn look(&mut self, ledger: &mut Ledger) {
        let asked = self.signal.elapsed();
        if let Ok(seen) = self.asker.get("/readyz", &[]).await {
            self.ready(&seen, asked, ledger);
        }
        let live = self.asker.get("/livez", &[]).await;
        let holds = |seen: &Seen| seen.status == 200;
        self.lives.take(live, self.signal, holds, ledger);
        let Unready::After(_) = self.unready else {
            return;
        };
        let due = self
            .reported
            .is_none_or(|last| last.elapsed() >= REPORT_PAUSE);
        if due {
            self.reported = Some(Instant::now());
            let report = self.asker.health().await;
            let refused = |seen: &Seen| matches!(seen.status, 401 | 403 | 429);
            if !report.as_ref().is_ok_and(refused) {
                let holds = |seen: &Seen| {
                    matches!(seen.status, 200 | 503)
                        && Detail::read(&seen.body).is_some_and(|detail| detail.draining)
                };
                self.reports.take(report, self.signal, holds, ledger);
            }
        }
        if !self.told {
            self.told = true;
            grpc::draining(self.asker, ledger).await;
        }
        if let Some(watched) = &mut self.watched {
            watched.hear(PAUSE).await;
        }
        sleep(PAUSE).await;
    }

    fn ready(&mut self, seen: &Seen, asked: Duration, ledger: &mut Ledger) {
        match (&self.unready, seen.status) {
            (Unready::Never(last), 503) => self.unready = Unready::After(*last),
            (Unready::Never(_), 200) => self.unready = Unready::Never(Some(asked)),
            (Unready::After(_), 200) => {
                let came = format!(
                    "200 again, {} ms after the signal and after 503",
                    asked.as_millis()
                );
                ledger.broken(
                    Rule::Unready,
                    Evidence::new("GET /readyz after SIGTERM", came, "503 until its end"),
                );
            }
            (Unready::Never(_) | Unready::After(_), _) => {}
        }
    }

    fn close(&self, after: Duration, ended: bool, ledger: &mut Ledger) {
        for answering in [&self.lives, &self.reports] {
            answering.close(after, ended, ledger);
        }
        if let Some(watched) = &self.watched {
            watched.close(ledger);
        }
    }
}

/// Whether something answers until the end.
struct Answering {
    rule: Rule,
    right: &'static str,
    /// Since when there is none.
    missing: Option<(Duration, Missing)>,
}

impl Answering {
    const fn new(rule: Rule, right: &'static str) -> Self {
        Self {
            rule,
            right,
            missing: None,
        }
    }

    fn take(
        &mut self,
        answer: Result<Seen, Missing>,
        signal: Instant,
        holds: impl FnOnce(&Seen) -> bool,
        ledger: &mut Ledger,
    ) {
        let at = signal.elapsed();
        match answer {
            Ok(seen) => {
                if let Some((since, missing)) = self.missing.take() {
                    self.silent(since, at, &missing, ledger);
                }
                let holds = holds(&seen);
                ledger.judge(self.rule, holds, || {
                    let asked = format!("{} {} ms after SIGTERM", seen.asked, at.as_millis());
                    Evidence::new(asked, seen.came(), self.right)
                });
            }
            Err(missing) => {
                self.missing.get_or_insert((at, missing));
            }
        }
    }

    fn silent(&self, since: Duration, until: Duration, missing: &Missing, ledger: &mut Ledger) {
        let asked = format!("{} after SIGTERM", missing.asked);
        let came = format!(
            "no answer from {} to {} ms after it: {}",
            since.as_millis(),
            until.as_millis(),
            missing.error
        );
        ledger.broken(self.rule, Evidence::new(asked, came, self.right));
    }

    /// The process is gone, or was waited for long enough.
    fn close(&self, after: Duration, ended: bool, ledger: &mut Ledger) {
        if let Some((since, missing)) = &self.missing
            && (!ended || after.saturating_sub(*since) > LAST)
        {
            self.silent(*since, after, missing, ledger);
        }
        ledger.not_tested(self.rule, TOO_SHORT);
    }
}

#[cfg(test)]
mod tests {
    use super::{Drains, Unready};
    use crate::rule::Rule;
    use crate::verdict::{Ledger, Verdict};
    use std::time::Duration;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// What becomes of the rule after these ends, each with what a look costs.
    fn verdict(drains: Vec<(Unready, Duration)>) -> Option<Verdict> {
        let mut ledger = Ledger::default();
        Drains(drains).judge(&mut ledger);
        let all = ledger.close();
        all.into_iter()
            .find(|(rule, _)| *rule == Rule::Unready)
            .map(|(_, verdict)| verdict)
    }

    #[test]
    fn readiness_has_100_ms_and_what_a_look_costs() {
        let after = |last, cost| verdict(vec![(Unready::After(Some(millis(last))), millis(cost))]);
        assert_eq!(after(100, 0), Some(Verdict::Kept));
        assert_eq!(after(140, 50), Some(Verdict::Kept));
        assert!(matches!(after(101, 0), Some(Verdict::Broken(_))));
        assert!(matches!(after(151, 50), Some(Verdict::Broken(_))));
        let at_once = vec![(Unready::After(None), millis(0))];
        assert_eq!(verdict(at_once), Some(Verdict::Kept));
    }

    #[test]
    fn of_two_ends_the_better_one_counts_unless_one_never_said_503() {
        let late = (Unready::After(Some(millis(400))), millis(3));
        let in_time = (Unready::After(Some(millis(20))), millis(3));
        let never = (Unready::Never(Some(millis(900))), millis(3));
        let both = vec![late.clone(), in_time.clone()];
        assert_eq!(verdict(both), Some(Verdict::Kept));
        for drains in [vec![late.clone(), late], vec![never, in_time]] {
            assert!(matches!(verdict(drains), Some(Verdict::Broken(_))));
        }
    }

    #[test]
    fn who_is_gone_before_a_look_has_not_been_tested() {
        let gone = vec![(Unready::Never(Some(millis(4))), millis(3))];
        assert!(matches!(verdict(gone), Some(Verdict::NotTested(_))));
    }
}
