//! Where a request comes from, as limits count it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// One source of requests.
///
/// An IPv6 host has a network of 64 bits to choose its address from (RFC 4291, section 2.5.4), so the network is what
/// is counted. Headers in which a proxy says for whom it asks can be written by anybody and do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6(u64),
    /// A connection whose peer nobody told us.
    Unknown,
}

impl Source {
    pub(crate) fn of(peer: Option<SocketAddr>) -> Self {
        match peer.map(|peer| peer.ip().to_canonical()) {
            Some(IpAddr::V4(address)) => Self::V4(address),
            Some(IpAddr::V6(address)) => {
                let network = address.to_bits() >> 64;
                Self::V6(u64::try_from(network).unwrap_or(u64::MAX))
            }
            None => Self::Unknown,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::V6(network) => {
                write!(f, "{}/64", Ipv6Addr::from_bits(u128::from(*network) << 64))
            }
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_ipv4_address_or_an_ipv6_network() {
        let source = |text: &str| Source::of(Some(text.parse().expect("an address")));
        assert_eq!(source("192.0.2.7:1"), source("192.0.2.7:2"));
        assert_eq!(source("[::ffff:192.0.2.7]:1"), source("192.0.2.7:2"));
        assert_ne!(source("192.0.2.7:1"), source("192.0.2.8:1"));
        assert_eq!(source("[2001:db8::1]:1"), source("[2001:db8::ffff:1]:1"));
        assert_ne!(source("[2001:db8::1]:1"), source("[2001:db8:0:1::1]:1"));
        assert_eq!(source("[2001:db8::1]:1").to_string(), "2001:db8::/64");
        assert_eq!(Source::of(None).to_string(), "unknown");
    }
}
