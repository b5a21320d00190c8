//! Which addresses of a name are instances: those that it lists, and for a while those that it listed.
//!
//! A name server may hand out a few of many addresses, other ones each time, and a name server that is in trouble hands
//! out none. So an address is not forgotten because one answer leaves it out: it stays as long as it says that it is
//! well, at most [`MAX_UNLISTED`]. One that is left out and does not answer well any more was removed by whoever writes
//! the name, and is gone, which is no failure. When the lookup fails, nothing changes: the last good addresses are polled.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use rootward_core::Moment;

/// The most addresses of one name that are polled. More are left out, the ones that are known first.
pub(crate) const MAX_MEMBERS: usize = 1_000;

/// How long an address is polled that its name does not list any more, although it is well.
const MAX_UNLISTED: Duration = Duration::from_secs(300);

/// The addresses of one name.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    members: BTreeMap<SocketAddr, Listed>,
}

/// What the newest answer said of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    Yes,
    /// Not since then.
    No(Moment),
}

impl Membership {
    /// Takes a good answer. `true` if other addresses are polled from now on. An empty one is no answer: a service
    /// that runs somewhere has addresses.
    pub(crate) fn look(&mut self, found: &[SocketAddr], now: Moment) -> bool {
        if found.is_empty() {
            return false;
        }
        for (address, listed) in &mut self.members {
            *listed = match (found.contains(address), *listed) {
                (true, _) => Listed::Yes,
                (false, Listed::Yes) => Listed::No(now),
                (false, since @ Listed::No(_)) => since,
            };
        }
        let before = self.members.len();
        self.members.retain(|_, listed| match *listed {
            Listed::Yes => true,
            Listed::No(since) => now - since < MAX_UNLISTED,
        });
        let mut changed = self.members.len() < before;
        for address in found {
            if self.members.len() < MAX_MEMBERS && !self.members.contains_key(address) {
                self.members.insert(*address, Listed::Yes);
                changed = true;
            }
        }
        changed
    }

    /// Takes how a poll ended that was begun at `begun`. `true` if the address is gone with that.
    pub(crate) fn polled(&mut self, address: SocketAddr, begun: Moment, well: bool) -> bool {
        match self.members.get(&address) {
            Some(Listed::No(since)) if !well && begun >= *since => {
                self.members.remove(&address);
                true
            }
            Some(Listed::Yes | Listed::No(_)) | None => false,
        }
    }

    /// Who is polled, in order.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.members.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_millis(seconds * 1_000)
    }

    fn address(n: u16) -> SocketAddr {
        format!("10.0.{}.{}:8790", n / 250, n % 250 + 1)
            .parse()
            .unwrap()
    }

    fn of(membership: &Membership) -> Vec<SocketAddr> {
        membership.addresses().collect()
    }

    #[test]
    fn every_address_is_an_instance() {
        let mut members = Membership::default();
        assert!(members.look(&[address(2), address(1)], at(0)));
        assert_eq!(of(&members), [address(1), address(2)]);
        assert!(!members.look(&[address(1), address(2)], at(10)));
    }

    #[test]
    fn a_name_that_lists_a_few_of_many_keeps_all_that_are_well() {
        let mut members = Membership::default();
        for round in 0..20 {
            members.look(
                &[address(round % 5), address((round + 1) % 5)],
                at(round.into()),
            );
            for member in of(&members) {
                assert!(!members.polled(member, at(round.into()), true));
            }
        }
        assert_eq!(of(&members).len(), 5);
    }

    #[test]
    fn what_is_left_out_and_not_well_is_gone_and_what_is_listed_is_not() {
        let mut members = Membership::default();
        members.look(&[address(1), address(2)], at(0));
        members.look(&[address(2)], at(10));
        assert!(!members.polled(address(2), at(12), false), "it is listed");
        assert!(
            !members.polled(address(1), at(9), false),
            "it was listed when it was asked"
        );
        assert!(members.polled(address(1), at(12), false));
        assert_eq!(of(&members), [address(2)]);
    }

    #[test]
    fn what_is_left_out_for_long_is_gone_however_well_it_is() {
        let mut members = Membership::default();
        members.look(&[address(1), address(2)], at(0));
        members.look(&[address(2)], at(10));
        assert!(!members.look(&[address(2)], at(309)));
        assert!(members.look(&[address(2)], at(310)));
        assert_eq!(of(&members), [address(2)]);
    }

    #[test]
    fn an_empty_answer_takes_nobody_away() {
        let mut members = Membership::default();
        members.look(&[address(1)], at(0));
        assert!(!members.look(&[], at(10)));
        assert!(!members.polled(address(1), at(20), false));
        assert_eq!(of(&members), [address(1)]);
    }

    #[test]
    fn a_name_with_countless_addresses_is_bounded_and_keeps_whom_it_had() {
        let mut members = Membership::default();
        let many: Vec<SocketAddr> = (0..3_000).map(address).collect();
        members.look(&many[2_000..], at(0));
        members.look(&many, at(10));
        assert_eq!(of(&members).len(), MAX_MEMBERS);
        assert!(of(&members).contains(&address(2_500)));
    }
}
