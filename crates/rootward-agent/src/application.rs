//! The application beside the agent, as a component: its own cheap endpoint, or the freshness of a file that it touches.
//!
//! It gates readiness and is never the agent's own liveness: an orchestrator that restarted the agent because the
//! application hangs would restart the wrong process.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use http::HeaderValue;
use rootward::{
    CHECK_FROM, Check, CheckContext, Depth, ErrorCategory, Failure, Labelled, Reason, Unlabelled,
};
use rootward_config::agent::{ApplicationSpec, Draft, Liveness};
use rootward_fetch::{Limits, Method, Request, Target, fetch};

/// The name of the component.
pub(crate) const NAME: &str = "application";

/// The longest answer of the application's endpoint that is read.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The check, if the file says how the application lives. What is wrong is in the draft.
pub(crate) fn check(
    spec: &ApplicationSpec,
    agent: SocketAddr,
    draft: &mut Draft,
) -> Option<Check<Labelled>> {
    let check = match spec.liveness.as_ref()? {
        Liveness::Url { url, spot } => match target(url, agent) {
            Ok(target) => endpoint(target),
            Err((message, help)) => {
                draft.refuse(spot, message, help);
                return None;
            }
        },
        Liveness::Heartbeat { file, within } => heartbeat(file.clone(), *within),
    };
    let mut check = check
        .hard()
        .local()
        .gates_readiness(true)
        .interval(spec.interval)
        .timeout(spec.timeout);
    if let Some(fall) = spec.fall {
        check = check.fall(fall);
    }
    if let Some(rise) = spec.rise {
        check = check.rise(rise);
    }
    Some(check)
}

/// Whom to ask, or what is wrong with the URL.
fn target(url: &str, agent: SocketAddr) -> Result<Target, (String, &'static str)> {
    const HELP: &str =
        "write the application's own cheap endpoint, such as http://127.0.0.1:8080/ping";
    let target = Target::parse(url).map_err(|error| (error.to_string(), HELP))?;
    let host = target.host();
    let here = host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified() || ip == agent.ip());
    if here && target.port() == agent.port() {
        let message =
            "this is the agent's own address: it would ask itself whether the application lives";
        return Err((message.to_owned(), HELP));
    }
    Ok(target)
}

/// Asks on a connection of its own each time: an application that serves one connection at a time stays free for
/// others.
fn endpoint(target: Target) -> Check<Unlabelled> {
    let shown = target.to_string();
    let check = Check::with_context(NAME, move |context| {
        let target = target.clone();
        async move { ask(&target, &context).await }
    });
    check.kind("http").depth(Depth::Readiness).target(shown)
}

async fn ask(target: &Target, context: &CheckContext) -> Result<(), Failure> {
    let service = HeaderValue::from_str(context.service().as_str())
        .expect("a name holds nothing that a header may not");
    let request = Request {
        target,
        method: Method::Get,
        headers: &[(CHECK_FROM, service)],
    };
    let limits = Limits {
        deadline: context.timeout(),
        max_body_bytes: MAX_ANSWER_BYTES,
    };
    let answer = fetch(&request, &limits)
        .await
        .map_err(|error| Failure::new(error.category()).caused_by(error))?;
    match answer.status {
        200..=299 => Ok(()),
        300..=399 => Err(Failure::new(ErrorCategory::Redirect)),
        status => {
            let reason = Reason::new("HTTP status").number(status);
            Err(Failure::new(ErrorCategory::HttpStatus).because(reason))
        }
    }
}

fn heartbeat(file: PathBuf, within: Duration) -> Check<Unlabelled> {
    let seen = Arc::new(Mutex::new(None));
    let check = Check::blocking(NAME, move || {
        let modified = modified(&file)?;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let beats = Beats::after(seen.take(), modified, now);
        let age = beats.age(SystemTime::now(), now);
        *seen = Some(beats);
        judge(age, within)
    });
    check.kind("heartbeat")
}

fn modified(file: &Path) -> Result<SystemTime, Failure> {
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    modified.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::new(ErrorCategory::NotFound).because("there is no heartbeat file")
        }
        _ => Failure::new(ErrorCategory::Unknown)
            .because("the heartbeat file cannot be looked at")
            .caused_by(error),
    })
}

fn judge(age: Duration, within: Duration) -> Result<(), Failure> {
    if age <= within {
        return Ok(());
    }
    // Whole milliseconds are enough, and a sentence with nanoseconds reads badly.
    let age = Duration::from_millis(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    let reason = Reason::new("no heartbeat for")
        .number(age)
        .text("at most")
        .number(within);
    Err(Failure::new(ErrorCategory::Stale).because(reason))
}

/// What is known about the beats of a file. A beat is a change of its time of modification.
///
/// How old the last one is follows from the wall clock, which may jump, so it is held against what was seen: the beat
/// came between the last look that did not see it and the first that did.
#[derive(Debug, Clone, Copy)]
struct Beats {
    modified: SystemTime,
    /// When this time of modification was first seen, and when the file was looked at before that.
    first_seen: Instant,
    looked_before: Option<Instant>,
    looked: Instant,
}

impl Beats {
    fn after(before: Option<Self>, modified: SystemTime, now: Instant) -> Self {
        match before {
            Some(before) if before.modified == modified => Self {
                looked: now,
                ..before
            },
            Some(before) => Self {
                modified,
                first_seen: now,
                looked_before: Some(before.looked),
                looked: now,
            },
            None => Self {
                modified,
                first_seen: now,
                looked_before: None,
                looked: now,
            },
        }
    }

    fn age(&self, wall: SystemTime, now: Instant) -> Duration {
        let least = now.saturating_duration_since(self.first_seen);
        let most = self.looked_before.map_or(Duration::MAX, |before| {
            now.saturating_duration_since(before)
        });
        // A time in the future says nothing about the past.
        let said = wall.duration_since(self.modified).unwrap_or(least);
        said.clamp(least, most.max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_beat_is_as_old_as_its_file_when_it_is_first_seen() {
        let (now, wall) = (Instant::now(), SystemTime::now());
        let beats = Beats::after(None, wall - s(45), now);
        assert_eq!(beats.age(wall, now), s(45));
    }

    #[test]
    fn a_wall_clock_that_jumps_ages_no_beat_and_makes_none_younger() {
        let (start, wall) = (Instant::now(), SystemTime::now());
        let first = Beats::after(None, wall, start);
        // A beat between the looks at 0 s and 10 s, while the clock jumps an hour ahead or back.
        let beat = Beats::after(Some(first), wall + s(5), start + s(10));
        for jumped in [wall + s(3_610), wall - s(3_590)] {
            let age = beat.age(jumped, start + s(10));
            assert!(age <= s(10), "{age:?}");
        }
        // No beat from then on: its age grows, whatever the clock says.
        let later = Beats::after(Some(beat), wall + s(5), start + s(70));
        for jumped in [wall - s(3_590), wall + s(70)] {
            let age = later.age(jumped, start + s(70));
            assert!(age >= s(60) && age <= s(70), "{age:?}");
        }
    }

    #[test]
    fn the_agents_own_address_is_no_endpoint_of_the_application() {
        let agent: SocketAddr = "0.0.0.0:8790".parse().expect("an address");
        for url in [
            "http://127.0.0.1:8790/livez",
            "http://localhost:8790/",
            "http://[::1]:8790/",
        ] {
            assert!(target(url, agent).is_err(), "{url}");
        }
        assert!(target("http://127.0.0.1:8080/ping", agent).is_ok());
    }
}
