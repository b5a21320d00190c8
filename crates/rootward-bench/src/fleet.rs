//! A fleet that nobody has to run: its services, where each is asked, what it reports, and the configuration that polls
//! them. The mock answers by it and the aggregator is told of it.
//!
//! Every service has one instance with an address of loopback of its own, so that each needs a connection of its own.
//! It calls up to three others and a database, and checks four conditions of its own: eight components, about 1.5 KB.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rootward_core::{CheckStatus, Criticality, InstanceStatus, Scope};
use rootward_wire::v1::{ComponentBody, ReportBody};

/// How many services share a database.
const BY_DATABASE: u32 = 20;

/// Whom a service calls: those whose number is this fraction of its own.
const FRACTIONS: [u32; 3] = [2, 3, 5];

/// What every service checks of itself.
const OWN: [&str; 4] = ["disk", "memory", "queue", "cache"];

/// Fixed numbers in a report in place of those that change with every answer: as many digits, and easily found.
const AGE: u64 = 99_999;
const SEQ: u64 = 999_999_999;

/// The name of the service with this number.
pub(crate) fn service(number: u32) -> String {
    format!("svc-{number:05}")
}

/// Where the service with this number is asked.
pub(crate) fn address(number: u32, port: u16) -> SocketAddr {
    let (high, low) = (number / 200, number % 200);
    let byte = |number: u32| u8::try_from(number % 256).unwrap_or_default();
    let ip = Ipv4Addr::new(127, 1 + byte(high / 200), byte(high % 200), 1 + byte(low));
    SocketAddr::from((ip, port))
}

/// The number of the service that is asked there.
pub(crate) fn number(ip: Ipv4Addr) -> Option<u32> {
    let [_, top, high, low] = ip.octets().map(u32::from);
    Some((top.checked_sub(1)? * 200 + high) * 200 + low.checked_sub(1)?)
}

fn callees(number: u32) -> Vec<u32> {
    let mut callees: Vec<u32> = FRACTIONS.iter().map(|part| number / part).collect();
    callees.dedup();
    callees.retain(|callee| *callee != number);
    callees
}

fn database(number: u32) -> String {
    format!("db-{:05}", number / BY_DATABASE)
}

/// The configuration that polls the first `count` of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config<'a> {
    pub(crate) count: u32,
    pub(crate) port: u16,
    pub(crate) listen: SocketAddr,
    pub(crate) interval: Duration,
    /// The certificate that is believed; without it there is no TLS.
    pub(crate) roots: Option<&'a str>,
}

impl Config<'_> {
    pub(crate) fn text(self) -> String {
        let mut text = format!(
            "aggregator: {{environment: bench}}\n\
             defaults: {{health: {{interval: {}ms, timeout: {}ms, stale_after: 60s, format: rootward}}}}\n\
             listen: {{internal: {{bind: \"{}\"}}}}\n\
             services:\n",
            self.interval.as_millis(),
            self.interval.as_millis().min(2_200) * 9 / 10,
            self.listen
        );
        for number in 0..self.count {
            let address = address(number, self.port);
            let name = service(number);
            let scheme = if self.roots.is_some() {
                "https"
            } else {
                "http"
            };
            let _ = write!(
                text,
                "- {{name: {name}, health: {{url: \"{scheme}://{address}/health\""
            );
            if let Some(roots) = self.roots {
                let _ = write!(text, ", roots: \"{roots}\"");
            }
            text.push_str("}, dependencies: [");
            for callee in callees(number) {
                let name = service(callee);
                let _ = write!(text, "{{name: {name}, criticality: soft}}, ");
            }
            let name = database(number);
            let _ = writeln!(text, "{{name: {name}, criticality: hard}}]}}");
        }
        text.push_str("resources:\n");
        for number in (0..self.count).step_by(BY_DATABASE as usize) {
            let name = database(number);
            let _ = writeln!(text, "- {{name: {name}, kind: postgresql}}");
        }
        text
    }
}

/// What a service reports, and where in it the numbers stand that change with every answer.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) body: Vec<u8>,
    ages: Vec<usize>,
    seqs: Vec<usize>,
}

impl Report {
    /// Of the service with this number; all is well.
    pub(crate) fn of(number: u32) -> Self {
        let name = service(number);
        let mut report = ReportBody::new(name, "0", InstanceStatus::Healthy);
        report.version = Some("1.8.2".into());
        report.zone = Some("eu-1a".into());
        report.ready = Some(true);
        report.uptime_s = Some(86_400);
        let called = callees(number).into_iter().map(service);
        let called = called.map(|name| (name, Criticality::Soft, Scope::Shared));
        let own = OWN.map(|name| (name.to_owned(), Criticality::Hard, Scope::Local));
        let stored = (database(number), Criticality::Hard, Scope::Shared);
        for (name, criticality, scope) in called.chain([stored]).chain(own) {
            let mut component = ComponentBody::new(name, CheckStatus::Up, criticality);
            component.scope = Some(scope.into());
            component.latency_ms = Some(1.25);
            component.age_ms = Some(AGE);
            component.seq = Some(SEQ);
            component.interval_ms = Some(60_000);
            component.timeout_ms = Some(1_000);
            report.components.push(component);
        }
        let body = report.to_json();
        let (ages, seqs) = (places(&body, AGE), places(&body, SEQ));
        Self { body, ages, seqs }
    }

    /// As it is at the answer with this number: every check has run again.
    pub(crate) fn refresh(&mut self, answer: u32) {
        let age = 10_000 + answer.wrapping_mul(617) % 40_000;
        let seq = 100_000_000 + answer % 800_000_000;
        for (places, number) in [(&self.ages, age), (&self.seqs, seq)] {
            for at in places {
                write_digits(&mut self.body[*at..], number);
            }
        }
    }
}

/// Where this number stands.
fn places(body: &[u8], number: u64) -> Vec<usize> {
    let text = format!(":{number},");
    let windows = body.windows(text.len()).enumerate();
    windows
        .filter(|(_, window)| *window == text.as_bytes())
        .map(|(at, _)| at + 1)
        .collect()
}

/// Over digits that stand there.
fn write_digits(at: &mut [u8], number: u32) {
    for (place, digit) in at.iter_mut().zip(number.to_string().bytes()) {
        *place = digit;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use rootward_config::{Source, compile};
    use rootward_core::engine::{Poll, PollOutcome};
    use rootward_core::{Action, Engine, Moment, Settings, Target};
    use rootward_wire::v1;

    use super::*;

    #[test]
    fn every_service_has_an_address_of_its_own_which_tells_its_number() {
        let mut seen = BTreeSet::new();
        for number in 0..60_000 {
            let SocketAddr::V4(address) = address(number, 1) else {
                panic!("no IPv4 address");
            };
            assert!(address.ip().is_loopback());
            assert_ne!(*address.ip(), Ipv4Addr::LOCALHOST);
            assert_eq!(super::number(*address.ip()), Some(number));
            assert!(seen.insert(*address.ip()));
        }
    }

    #[test]
    fn the_configuration_is_valid_and_its_map_is_what_the_reports_speak_of() {
        let config = Config {
            count: 100,
            port: 8790,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
            interval: Duration::from_secs(10),
            roots: None,
        };
        let file = "fleet.yaml".to_owned();
        let text = config.text();
        let checked = compile(&[Source { file, text }], &BTreeMap::new()).unwrap();
        assert_eq!(checked.targets.len(), 100);
        for number in [0, 1, 2, 42, 99] {
            let mut report = Report::of(number);
            report.refresh(7);
            let read = v1::read(&report.body, Moment::from_millis(1_000_000)).unwrap();
            assert_eq!(read.service.as_str(), service(number));
            let caller = checked.map.find(read.service.as_str()).unwrap();
            let shared = read.components.iter().filter(|c| c.scope == Scope::Shared);
            for component in shared {
                let callee = checked.map.find(component.name.as_str()).unwrap();
                assert!(checked.map.edge_between(caller, callee).is_some());
            }
            assert_eq!(read.components[0].seq, Some(100_000_007));
        }
        assert!((1_200..2_100).contains(&Report::of(42).body.len()));
    }

    /// What is measured is the usual case: everybody is well, and says so again.
    #[test]
    fn a_fleet_that_says_the_same_again_is_confirmed_and_not_judged_anew() {
        let config = Config {
            count: 40,
            port: 8790,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
            interval: Duration::from_secs(10),
            roots: None,
        };
        let file = "fleet.yaml".to_owned();
        let text = config.text();
        let checked = compile(&[Source { file, text }], &BTreeMap::new()).unwrap();
        let targets = checked.targets.iter().map(|spec| Target {
            id: spec.id.clone(),
            interval: spec.interval,
            stale_after: spec.stale_after,
            thresholds: spec.thresholds,
            source: rootward_core::Source::Polled,
        });
        let settings = Settings {
            epoch_interval: Duration::from_secs(10),
            hold_limit: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            references: false,
        };
        let mut now = Moment::from_millis(1_000_000);
        let targets = targets.collect();
        let mut engine = Engine::new(Arc::new(checked.map), targets, settings, now);
        let mut reports: Vec<Report> = (0..40).map(Report::of).collect();
        let (mut drawn, mut kept, mut before) = (0, 0, engine.snapshot());
        for answer in 1.. {
            now = engine.poll_timeout().max(now);
            if now > Moment::from_millis(1_090_000) {
                break;
            }
            engine.handle_timeout(now);
            while let Some(action) = engine.poll_action() {
                match action {
                    Action::Poll(instance) => {
                        let number: usize = instance.service.as_str()[4..].parse().unwrap();
                        reports[number].refresh(answer);
                        let report = v1::read(&reports[number].body, now).unwrap();
                        engine.handle_poll(Poll {
                            instance,
                            started: now,
                            finished: now,
                            took_us: 900,
                            outcome: PollOutcome::Report(Box::new(report)),
                        });
                    }
                    Action::Publish(snapshot) if now > Moment::from_millis(1_030_000) => {
                        let mut pairs = snapshot.services.iter().zip(&before.services);
                        drawn += 1;
                        kept += u32::from(pairs.any(|(now, then)| Arc::ptr_eq(now, then)));
                        before = snapshot;
                    }
                    Action::Publish(_)
                    | Action::CheckSelf
                    | Action::Record(_)
                    | Action::RecordIncident(_) => {}
                }
            }
        }
        // One a second, of which one in ten is judged wholly.
        assert!((50..=70).contains(&drawn), "{drawn} drawn");
        assert!(kept >= drawn * 8 / 10, "{kept} of {drawn} were confirmed");
    }
}
