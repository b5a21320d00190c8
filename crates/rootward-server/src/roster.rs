//! Who is polled: the instances that are written in the configuration, and those that names resolve to.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rootward_config::DnsSpec;
use rootward_core::{InstanceId, Moment, Name, Source, Target};

use crate::discovery::membership::Membership;
use crate::poller::Ask;
use crate::pushed::Pushed;

/// Everyone who is polled, and how.
#[derive(Debug)]
pub(crate) struct Roster {
    written: Vec<(Target, Ask)>,
    named: BTreeMap<Name, Named>,
    pub(crate) pushed: Pushed,
}

/// A service whose instances are the addresses of a name.
#[derive(Debug)]
pub(crate) struct Named {
    /// How each of them is asked, but for the address.
    ask: Ask,
    interval: Duration,
    stale_after: Duration,
    thresholds: rootward_core::Thresholds,
    members: Membership,
    /// The members by their names as instances.
    by_name: BTreeMap<Name, SocketAddr>,
    /// The newest lookup failed.
    lost: bool,
}

impl Named {
    /// Nobody yet. The members are asked for what `like` says, under their own names.
    pub(crate) fn new(ask: Ask, like: &DnsSpec) -> Self {
        Self {
            ask,
            interval: like.interval,
            stale_after: like.stale_after,
            thresholds: like.thresholds,
            members: Membership::default(),
            by_name: BTreeMap::new(),
            lost: false,
        }
    }

    fn look(&mut self, found: &[SocketAddr], now: Moment) -> bool {
        let changed = self.members.look(found, now);
        if changed {
            let members = self.members.addresses();
            self.by_name = members.map(|address| (name(address), address)).collect();
        }
        changed
    }

    fn polled(&mut self, instance: &Name, begun: Moment, well: bool) -> bool {
        let Some(address) = self.by_name.get(instance).copied() else {
            return false;
        };
        let gone = self.members.polled(address, begun, well);
        if gone {
            self.by_name.remove(instance);
        }
        gone
    }

    fn ids(&self, service: &Name) -> impl Iterator<Item = (InstanceId, SocketAddr)> {
        self.by_name.iter().map(move |(instance, address)| {
            let id = InstanceId {
                service: service.clone(),
                instance: instance.clone(),
            };
            (id, *address)
        })
    }
}

/// An address as the name of an instance, as `rootward_config` makes it from a URL: an IPv6 address has no brackets,
/// which names may not contain, and a digit in front where it begins with `::`.
fn name(address: SocketAddr) -> Name {
    let ip = address.ip().to_string();
    let digit = if ip.starts_with(':') { "0" } else { "" };
    let text = format!("{digit}{ip}:{}", address.port());
    Name::parse(&text)
        .expect("digits, letters, dots and colons, beginning with a digit or a letter")
}

impl Roster {
    pub(crate) const fn new(
        written: Vec<(Target, Ask)>,
        named: BTreeMap<Name, Named>,
        pushed: Pushed,
    ) -> Self {
        Self {
            written,
            named,
            pushed,
        }
    }

    /// Takes over the members of names that are looked up as before, so that nobody is forgotten until the next lookup.
    pub(crate) fn succeed(&mut self, before: &mut Self) {
        self.pushed.succeed(&mut before.pushed);
        for (service, named) in &mut self.named {
            if let Some(known) = before.named.get_mut(service)
                && known.ask.target == named.ask.target
            {
                named.members = std::mem::take(&mut known.members);
                named.by_name = std::mem::take(&mut known.by_name);
                named.lost = known.lost;
            }
        }
    }

    /// How many are polled now.
    pub(crate) fn len(&self) -> usize {
        let found = self.named.values().map(|named| named.by_name.len());
        self.written.len() + found.sum::<usize>()
    }

    /// The names to look up, and how often their addresses are polled.
    pub(crate) fn names(
        &self,
    ) -> impl Iterator<Item = (Name, rootward_fetch::Target, Duration)> + '_ {
        self.named.iter().map(|(service, named)| {
            let target = named.ask.target.clone();
            (service.clone(), target, named.interval)
        })
    }

    /// What the engine is told.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let found = self.named.iter().flat_map(|(service, named)| {
            named.ids(service).map(move |(id, _)| Target {
                id,
                interval: named.interval,
                stale_after: named.stale_after,
                thresholds: named.thresholds,
                source: Source::Polled,
            })
        });
        let written = self.written.iter().map(|(target, _)| target.clone());
        written.chain(found).chain(self.pushed.targets()).collect()
    }

    /// What the poller is told.
    pub(crate) fn asks(&self) -> BTreeMap<InstanceId, Ask> {
        let found = self.named.iter().flat_map(|(service, named)| {
            named.ids(service).map(move |(id, address)| {
                let ask = Ask {
                    target: named.ask.target.clone().pinned(&[address]),
                    asked: named.ask.asked.clone(),
                    timeout: named.ask.timeout,
                    reader: named.ask.reader.clone(),
                    headers: Arc::clone(&named.ask.headers),
                };
                (id, ask)
            })
        });
        let written = self.written.iter();
        let written = written.map(|(target, ask)| (target.id.clone(), ask.clone()));
        written.chain(found).collect()
    }

    /// Takes whether a lookup failed. `true` if that is news: a name that stays lost is said once.
    pub(crate) fn lost(&mut self, service: &Name, lost: bool) -> bool {
        self.named
            .get_mut(service)
            .is_some_and(|named| std::mem::replace(&mut named.lost, lost) != lost)
    }

    /// Takes the addresses of a name. `true` if others are polled from now on.
    pub(crate) fn look(&mut self, service: &Name, found: &[SocketAddr], now: Moment) -> bool {
        self.named
            .get_mut(service)
            .is_some_and(|named| named.look(found, now))
    }

    /// Takes how a poll ended. `true` if its instance is gone with that.
    pub(crate) fn polled(&mut self, instance: &InstanceId, begun: Moment, well: bool) -> bool {
        self.named
            .get_mut(&instance.service)
            .is_some_and(|named| named.polled(&instance.instance, begun, well))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_name_that_stays_lost_is_news_once_and_so_is_its_return() {
        let mut config = sample::unreachable_front();
        let like = config.targets.remove(0);
        let service = like.id.service.clone();
        config.dns.push(DnsSpec {
            service: service.clone(),
            url: "http://front:8790/health".into(),
            roots: None,
            auth: None,
            format: like.format,
            interval: like.interval,
            timeout: like.timeout,
            stale_after: like.stale_after,
            thresholds: like.thresholds,
        });
        let mut roster = crate::setup::roster(&config).expect("it can be asked");
        let news = [true, true, true, false, false].map(|lost| roster.lost(&service, lost));
        assert_eq!(news, [true, false, false, true, false]);
    }
}
