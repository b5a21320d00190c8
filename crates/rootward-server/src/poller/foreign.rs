//! Answers of other people's formats to what the engine takes: a report, damped here because nobody damped it before.
//!
//! `rootward-formats` reads the answer. Its components become components of a report: those that join the map as an edge of
//! the service are checks of that edge, with the label that the map declares, and the others are evidence about the
//! instance. Statuses move by the `fall` and `rise` of the target; the first answer counts at once, and so do a start and
//! an end that the answer names.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use rootward_core::map::Map;
use rootward_core::name::MAX_NAME_BYTES;
use rootward_core::{
    CheckStatus, Component, Criticality, Damping, ErrorCategory, Evidence, InstanceId,
    InstanceStatus, Moment, Name, Report, Scope, Thresholds,
};
use rootward_formats::{Answer, Choice, Overall, Reading, read};

/// How the answers of a target are read.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    choice: Choice,
    thresholds: Thresholds,
    map: Arc<Map>,
}

impl Reader {
    pub(crate) const fn new(choice: Choice, thresholds: Thresholds, map: Arc<Map>) -> Self {
        Self {
            choice,
            thresholds,
            map,
        }
    }

    /// Whatever it is, for a service that depends on nothing.
    #[cfg(test)]
    pub(crate) fn of_anything() -> Self {
        Self::new(
            Choice::Auto,
            Thresholds::DEFAULT,
            Arc::new(crate::sample::map()),
        )
    }

    pub(crate) const fn choice(&self) -> Choice {
        self.choice
    }

    /// The label that the map declares for what a component is about; `None` if the map has no such edge.
    fn label(&self, service: &Name, component: &Name) -> Option<Criticality> {
        let caller = self.map.resolve(service.as_str(), None)?;
        let callee = self.map.resolve(component.as_str(), None)?;
        let edge = self.map.edge_between(caller, callee)?;
        Some(self.map.edge(edge).declared.unwrap_or(Criticality::Soft))
    }
}

/// What one answer of a target leaves for the next.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    last: Option<Last>,
    overall: Option<Damping>,
    components: BTreeMap<Name, Damped>,
}

/// The answer that was read last.
#[derive(Debug)]
struct Last {
    /// Of the body and of what came with it.
    hash: u64,
    length: usize,
    etag: Option<HeaderValue>,
    status: StatusCode,
    reading: Arc<Reading>,
}

#[derive(Debug)]
struct Damped {
    damping: Damping,
    since: Moment,
}

/// Two answers of one target are the same if these are: random keys, so that nobody can make two of one hash.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A header of a kind that readers look at.
const READ_HEADERS: [&str; 2] = ["content-type", "x-minio-server-status"];

impl Foreign {
    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Asks for an answer only if it is another one than before.
    pub(super) fn condition(&self) -> Option<(HeaderName, HeaderValue)> {
        let etag = self.last.as_ref()?.etag.clone()?;
        Some((IF_NONE_MATCH, etag))
    }

    /// The reading before, for an answer that says it has not changed.
    pub(super) fn unchanged(&self) -> Option<(StatusCode, Arc<Reading>)> {
        let last = self.last.as_ref()?;
        last.etag.as_ref()?;
        Some((last.status, Arc::clone(&last.reading)))
    }

    /// Reads an answer, unless it is the same as before.
    pub(super) fn read(
        &mut self,
        reader: &Reader,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Arc<Reading> {
        let texts: Vec<(&str, &str)> = READ_HEADERS
            .into_iter()
            .filter_map(|name| Some((name, headers.get(name)?.to_str().ok()?)))
            .collect();
        let hash = HASHER.hash_one((status.as_u16(), &texts, body));
        if let Some(last) = &self.last
            && (last.hash, last.length) == (hash, body.len())
        {
            return Arc::clone(&last.reading);
        }
        let content_type = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let mut answer = Answer::new(body)
            .http_status(status.as_u16())
            .headers(&texts);
        if let Some(content_type) = content_type {
            answer = answer.content_type(content_type);
        }
        let reading = Arc::new(read(&answer, reader.choice));
        self.last = Some(Last {
            hash,
            length: body.len(),
            etag: headers.get(ETAG).cloned(),
            status,
            reading: Arc::clone(&reading),
        });
        reading
    }

    /// The report that a reading is. `None` if it does not tell how the service is.
    pub(super) fn report(
        &mut self,
        reading: &Reading,
        id: &InstanceId,
        reader: &Reader,
        now: Moment,
    ) -> Option<Report> {
        let ends = reading.error_category == Some(ErrorCategory::ShuttingDown);
        let draining = ends && reading.overall == Overall::Unhealthy;
        let evidence = match reading.overall {
            Overall::Healthy => Some(Evidence::Up),
            Overall::Degraded => Some(Evidence::Degraded),
            Overall::Unhealthy => Some(Evidence::Down),
            Overall::Starting => None,
            Overall::Unknown => return None,
        };
        let status = match evidence {
            // Named by the answer itself, so it counts at once; what comes after it is a first result.
            None => {
                self.overall = None;
                InstanceStatus::Starting
            }
            Some(_) if draining => {
                self.overall = None;
                InstanceStatus::Healthy
            }
            Some(evidence) => {
                let damping = self
                    .overall
                    .get_or_insert_with(|| Damping::new(reader.thresholds));
                damping.observe(evidence);
                match damping.status() {
                    CheckStatus::Up | CheckStatus::Unknown => InstanceStatus::Healthy,
                    CheckStatus::Degraded => InstanceStatus::Degraded,
                    CheckStatus::Down => InstanceStatus::Unhealthy,
                }
            }
        };
        let components = self.components(reading, &id.service, reader, status, now);
        Some(Report {
            service: id.service.clone(),
            instance: id.instance.clone(),
            version: None,
            zone: None,
            host: None,
            status,
            ready: !draining
                && matches!(status, InstanceStatus::Healthy | InstanceStatus::Degraded),
            draining,
            serving: None,
            components,
        })
    }

    fn components(
        &mut self,
        reading: &Reading,
        service: &Name,
        reader: &Reader,
        whole: InstanceStatus,
        now: Moment,
    ) -> Vec<Component> {
        // Names that differ only in what names may not contain are one here, as bad as the worst.
        let mut seen: BTreeMap<Name, (CheckStatus, Option<ErrorCategory>)> = BTreeMap::new();
        for component in &reading.components {
            let Some(name) = name(&component.name) else {
                continue;
            };
            let result = (component.status, component.error_category);
            let worst = seen.entry(name).or_insert(result);
            if severity(result.0) > severity(worst.0) {
                *worst = result;
            }
        }
        let mut before = std::mem::take(&mut self.components);
        let mut components = Vec::new();
        for (name, (raw, category)) in seen {
            let mut damped = before.remove(&name).unwrap_or_else(|| Damped {
                damping: Damping::new(reader.thresholds),
                since: now,
            });
            let was = damped.damping.status();
            if let Some(evidence) = Evidence::of(raw) {
                damped.damping.observe(evidence);
            }
            // What nobody knows is unknown at once: an old result is no result.
            let status = if raw == CheckStatus::Unknown {
                CheckStatus::Unknown
            } else {
                damped.damping.status()
            };
            if status != was {
                damped.since = now;
            }
            let (scope, criticality) = match reader.label(service, &name) {
                Some(label) => (Scope::Shared, label),
                // Nothing on the map stands for it, so it speaks about this instance: as much as that says itself.
                None if whole == InstanceStatus::Unhealthy && status == CheckStatus::Down => {
                    (Scope::Local, Criticality::Hard)
                }
                None => (Scope::Local, Criticality::Soft),
            };
            let mut component = Component::new(name.clone(), status, criticality);
            component.raw_status = raw;
            component.pending = damped.damping.pending();
            component.scope = scope;
            component.error_category = category;
            component.checked_at = (raw != CheckStatus::Unknown).then_some(now);
            component.since = Some(damped.since);
            components.push(component);
            self.components.insert(name, damped);
        }
        components
    }
}

const fn severity(status: CheckStatus) -> u8 {
    match status {
        CheckStatus::Up => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Degraded => 2,
        CheckStatus::Down => 3,
    }
}

/// A foreign name by the rules of the map: what they do not allow becomes `_`.
fn name(foreign: &str) -> Option<Name> {
    let mut text = String::new();
    for letter in foreign.chars() {
        let allowed = letter.is_ascii_alphanumeric() || "-_./:@+".contains(letter);
        match allowed {
            true if text.is_empty() && !letter.is_ascii_alphanumeric() => {}
            true => text.push(letter),
            false if text.is_empty() || text.ends_with('_') => {}
            false => text.push('_'),
        }
        if text.len() == MAX_NAME_BYTES {
            break;
        }
    }
    Name::parse(text.trim_end_matches('_')).ok()
}

#[cfg(test)]
mod tests {
    use rootward_config::{Source, compile};

    use super::*;

    const CONFIG: &str = "
services:
- name: cart
  health: {url: 'http://cart:8080/actuator/health', format: spring-boot-actuator, fall: 2, rise: 2}
  dependencies: [{name: carts-db, criticality: hard}]
resources: [{name: carts-db, aliases: [db]}]
";

    struct Polled {
        foreign: Foreign,
        reader: Reader,
        id: InstanceId,
        now: u64,
    }

    impl Polled {
        fn new() -> Self {
            let file = "rootward.yaml".to_owned();
            let source = Source {
                file,
                text: CONFIG.to_owned(),
            };
            let config = compile(&[source], &BTreeMap::new()).unwrap();
            let spec = &config.targets[0];
            Self {
                foreign: Foreign::default(),
                reader: Reader::new(spec.format, spec.thresholds, Arc::new(config.map.clone())),
                id: spec.id.clone(),
                now: 0,
            }
        }

        /// The report of the next answer in one line.
        fn answer(&mut self, code: u16, body: &str) -> String {
            self.now += 10_000;
            let now = Moment::from_millis(self.now);
            let status = StatusCode::from_u16(code).unwrap();
            let reading =
                self.foreign
                    .read(&self.reader, status, &HeaderMap::new(), body.as_bytes());
            let Some(report) = self.foreign.report(&reading, &self.id, &self.reader, now) else {
                return format!("unknown: {}", reading.why);
            };
            let components: Vec<String> = report
                .components
                .iter()
                .map(|c| format!("{} {} {} {}", c.name, c.status, c.criticality, c.scope))
                .collect();
            let draining = if report.draining { ", draining" } else { "" };
            format!("{}{draining} [{}]", report.status, components.join(", "))
        }
    }

    #[test]
    fn a_foreign_answer_moves_a_status_after_as_many_as_fall_and_rise_say() {
        const UP: &str =
            r#"{"status":"UP","components":{"db":{"status":"UP"},"disk space":{"status":"UP"}}}"#;
        const DOWN: &str = r#"{"status":"DOWN","components":{"db":{"status":"DOWN"},"disk space":{"status":"DOWN"}}}"#;
        let mut polled = Polled::new();
        let lines = [
            polled.answer(200, UP),
            polled.answer(503, DOWN),
            polled.answer(503, DOWN),
            polled.answer(200, UP),
            polled.answer(200, UP),
            polled.answer(200, r#"{"status":"UNKNOWN"}"#),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
    healthy [db up hard shared, disk_space up soft local]
    healthy [db up hard shared, disk_space up soft local]
    unhealthy [db down hard shared, disk_space down hard local]
    unhealthy [db down hard shared, disk_space down hard local]
    healthy [db up hard shared, disk_space up soft local]
    unknown: read as spring-boot-actuator; its word for the whole says nothing
    ");
    }

    #[test]
    fn kf_030_a_start_and_an_end_that_are_named_count_at_once() {
        let mut polled = Polled::new();
        polled.reader.choice = Choice::Auto;
        let lines = [
            polled.answer(503, "INITIALIZING"),
            polled.answer(200, "LIVE"),
            polled.answer(503, "DRAINING"),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
    starting []
    healthy []
    healthy, draining []
    ");
    }

    #[test]
    fn the_same_answer_is_not_read_again_and_another_one_is() {
        let mut polled = Polled::new();
        let read = |polled: &mut Polled, code, body: &str| {
            let status = StatusCode::from_u16(code).unwrap();
            polled
                .foreign
                .read(&polled.reader, status, &HeaderMap::new(), body.as_bytes())
        };
        let first = read(&mut polled, 200, r#"{"status":"UP"}"#);
        let second = read(&mut polled, 200, r#"{"status":"UP"}"#);
        assert!(Arc::ptr_eq(&first, &second));
        let third = read(&mut polled, 503, r#"{"status":"UP"}"#);
        assert_eq!(
            (first.overall, third.overall),
            (Overall::Healthy, Overall::Unhealthy)
        );
    }

    #[test]
    fn foreign_names_become_names_of_the_map() {
        let shown = |text: &str| name(text).map(|name| name.to_string()).unwrap_or_default();
        assert_eq!(shown("Cache(alias='default')"), "Cache_alias_default");
        assert_eq!(shown("db/replica"), "db/replica");
        assert_eq!(shown("<default>"), "default");
        assert_eq!(shown("→"), "");
        assert_eq!(shown(&"n".repeat(500)).len(), MAX_NAME_BYTES);
    }
}
