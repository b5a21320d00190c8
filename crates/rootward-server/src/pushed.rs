//! Instances that send their reports by themselves: which may, how many, how often, and until when they are remembered.

use std::collections::BTreeMap;
use std::time::Duration;

use rootward_config::PushSpec;
use rootward_core::{InstanceId, Moment, Name, Report, Source, Target, Thresholds};
use tokio::sync::oneshot;

/// Reports that wait for the loop. Who comes later is asked to come again.
pub(crate) const MAX_UNHEARD: usize = 64;

/// Instances of one service that send reports. Of more than one, those that are silent for long make room.
pub(crate) const MAX_INSTANCES: usize = 100;

/// The shortest time between two reports of one instance.
pub(crate) const OFTENEST: Duration = Duration::from_millis(200);

/// An instance that was silent for so many times what its last report was good for is forgotten, if another one of its
/// service is heard: it came back under another name, or there are fewer now.
const FORGOTTEN_AFTER: u32 = 3;

/// A report on its way to the loop, and where the answer goes.
#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) report: Report,
    pub(crate) terms: Terms,
    pub(crate) done: oneshot::Sender<Result<(), Refused>>,
}

/// What was sent beside the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// For how long it is good, if it says so.
    pub(crate) ttl: Option<Duration>,
    /// Its number, if it has one: of two, the higher is the newer.
    pub(crate) seq: Option<u64>,
}

/// Why a report is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No service of that name may send reports.
    Unknown,
    /// Too many instances of the service are heard already.
    TooMany,
    /// The last one came just before.
    TooOften,
    /// A newer one came before.
    Older,
}

/// A report that is taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) instance: InstanceId,
    /// Whether the list of instances, or for how long one is good, is another now.
    pub(crate) is_new: bool,
}

/// Everybody who sends reports.
#[derive(Debug, Default)]
pub(crate) struct Pushed {
    services: BTreeMap<Name, Service>,
}

#[derive(Debug)]
struct Service {
    stale_after: Duration,
    thresholds: Thresholds,
    instances: BTreeMap<Name, Instance>,
}

#[derive(Debug)]
struct Instance {
    at: Moment,
    seq: Option<u64>,
    ttl: Duration,
}

impl Instance {
    fn is_forgotten(&self, now: Moment) -> bool {
        now - self.at > self.ttl * FORGOTTEN_AFTER
    }
}

impl Pushed {
    /// Nobody yet.
    pub(crate) fn new(specs: &[PushSpec]) -> Self {
        let services = specs.iter().map(|spec| {
            let service = Service {
                stale_after: spec.stale_after,
                thresholds: spec.thresholds,
                instances: BTreeMap::new(),
            };
            (spec.service.clone(), service)
        });
        Self {
            services: services.collect(),
        }
    }

    /// Takes over who was heard before.
    pub(crate) fn succeed(&mut self, before: &mut Self) {
        for (name, service) in &mut self.services {
            if let Some(known) = before.services.get_mut(name) {
                service.instances = std::mem::take(&mut known.instances);
            }
        }
    }

    /// Takes a report, or says why not.
    pub(crate) fn take(
        &mut self,
        report: &Report,
        terms: Terms,
        now: Moment,
    ) -> Result<Taken, Refused> {
        let service = self
            .services
            .get_mut(&report.service)
            .ok_or(Refused::Unknown)?;
        let ttl = terms.ttl.unwrap_or(service.stale_after);
        let known = service.instances.get(&report.instance);
        if let Some(known) = known {
            if now - known.at < OFTENEST {
                return Err(Refused::TooOften);
            }
            // One that began anew counts from the start: its last report is too old by then, or its numbers are gone.
            let fresh = now - known.at <= known.ttl;
            if fresh && terms.seq.is_some() && terms.seq < known.seq {
                return Err(Refused::Older);
            }
        }
        let same_terms = known.is_some_and(|known| known.ttl == ttl);
        let before = service.instances.len();
        service
            .instances
            .retain(|name, known| *name == report.instance || !known.is_forgotten(now));
        let forgot = service.instances.len() < before;
        if !service.instances.contains_key(&report.instance)
            && service.instances.len() >= MAX_INSTANCES
        {
            return Err(Refused::TooMany);
        }
        let heard = Instance {
            at: now,
            seq: terms.seq,
            ttl,
        };
        service.instances.insert(report.instance.clone(), heard);
        Ok(Taken {
            instance: InstanceId {
                service: report.service.clone(),
                instance: report.instance.clone(),
            },
            is_new: !same_terms || forgot,
        })
    }

    /// What the engine is told.
    pub(crate) fn targets(&self) -> impl Iterator<Item = Target> + '_ {
        self.services.iter().flat_map(|(name, service)| {
            service.instances.iter().map(|(instance, known)| Target {
                id: InstanceId {
                    service: name.clone(),
                    instance: instance.clone(),
                },
                interval: known.ttl,
                stale_after: known.ttl,
                thresholds: service.thresholds,
                source: Source::Pushed,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::InstanceStatus;

    use super::*;
    use crate::sample;

    const PLAIN: Terms = Terms {
        ttl: None,
        seq: None,
    };

    fn pushed() -> Pushed {
        Pushed::new(&[PushSpec {
            service: sample::name("nightly"),
            stale_after: Duration::from_secs(60),
            thresholds: Thresholds::DEFAULT,
        }])
    }

    fn report(service: &str, instance: &str) -> Report {
        Report {
            service: sample::name(service),
            instance: sample::name(instance),
            version: None,
            zone: None,
            host: None,
            status: InstanceStatus::Healthy,
            ready: true,
            draining: false,
            serving: None,
            components: Vec::new(),
        }
    }

    fn at(seconds: u64) -> Moment {
        Moment::from_millis(seconds * 1_000)
    }

    #[test]
    fn who_may_not_send_comes_too_often_or_too_late_is_refused() {
        let mut pushed = pushed();
        let mut send = |service: &str, seq, millis| {
            let terms = Terms { seq, ..PLAIN };
            let taken = pushed.take(&report(service, "a"), terms, Moment::from_millis(millis));
            taken.map(|taken| taken.is_new)
        };
        assert_eq!(send("cart", None, 0), Err(Refused::Unknown));
        assert_eq!(send("nightly", Some(7), 0), Ok(true));
        assert_eq!(send("nightly", Some(8), 100), Err(Refused::TooOften));
        assert_eq!(send("nightly", Some(6), 1_000), Err(Refused::Older));
        assert_eq!(send("nightly", Some(7), 1_000), Ok(false), "sent again");
        // After its time is over it may have begun anew.
        assert_eq!(send("nightly", Some(1), 90_000), Ok(false));
    }

    #[test]
    fn instances_are_bounded_and_the_silent_make_room() {
        let mut pushed = pushed();
        for n in 0..MAX_INSTANCES {
            let name = format!("i{n}");
            assert!(pushed.take(&report("nightly", &name), PLAIN, at(0)).is_ok());
        }
        let refused = pushed.take(&report("nightly", "more"), PLAIN, at(170));
        assert_eq!(refused, Err(Refused::TooMany));
        assert!(
            pushed
                .take(&report("nightly", "more"), PLAIN, at(190))
                .is_ok()
        );
        assert_eq!(pushed.targets().count(), 1);
    }

    #[test]
    fn the_last_that_was_heard_is_never_forgotten() {
        let mut pushed = pushed();
        let _ = pushed.take(&report("nightly", "a"), PLAIN, at(0));
        let again = pushed.take(&report("nightly", "a"), PLAIN, at(100_000));
        assert_eq!(again.map(|taken| taken.is_new), Ok(false));
        assert_eq!(pushed.targets().count(), 1);
    }
}
