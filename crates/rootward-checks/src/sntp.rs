//! One question to a time server: SNTP version 4 (RFC 4330), a datagram of 48 bytes in each direction.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, SystemTime};

use rootward::{ErrorCategory, Failure};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::io_error;
use crate::open::{Difference, seconds};

const LENGTH: usize = 48;

/// From 1900, where NTP begins to count, to 1970.
const TO_1970: u64 = 2_208_988_800;

/// One era of NTP: 2^32 seconds. The second begins in 2036 (RFC 4330, section 3).
const ERA: u64 = 1 << 32;

/// Asks the first address. The socket is closed when the future is dropped.
pub(crate) async fn ask(
    addresses: &[SocketAddr],
    limit: Duration,
    now: fn() -> SystemTime,
) -> Result<Difference, Failure> {
    let Some(server) = addresses.first() else {
        return Err(Failure::new(ErrorCategory::Dns));
    };
    timeout(limit, exchange(*server, now))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::new(ErrorCategory::Timeout)
                .because("the time server did not answer in time"))
        })
}

async fn exchange(server: SocketAddr, now: fn() -> SystemTime) -> Result<Difference, Failure> {
    let here = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let failed = |error: std::io::Error| io_error::failure(&error).caused_by(error);
    let socket = UdpSocket::bind(here).await.map_err(failed)?;
    // Connected: only that server's datagrams come in, and that nothing listens is heard.
    socket.connect(server).await.map_err(failed)?;
    let sent = now();
    let question = question(sent);
    socket.send(&question).await.map_err(failed)?;
    let mut datagram = [0; LENGTH + 1];
    loop {
        let length = socket.recv(&mut datagram).await.map_err(failed)?;
        let received = now();
        let answer = datagram.get(..length).unwrap_or_default();
        // Else it answers somebody else's question, or an older one.
        if let Some((there_in, there_out)) = read(answer, &question)? {
            return Ok(difference(sent, there_in, there_out, received));
        }
    }
}

/// Version 4, from a client. The time of sending comes back in the answer, and shows that it is the answer.
fn question(sent: SystemTime) -> [u8; LENGTH] {
    let mut question = [0; LENGTH];
    question[0] = 4 << 3 | 3;
    question[40..].copy_from_slice(&to_ntp(sent).to_be_bytes());
    question
}

/// When the question came in and the answer went out, by the server's clock; `None` if it answers another question.
fn read(
    answer: &[u8],
    question: &[u8; LENGTH],
) -> Result<Option<(SystemTime, SystemTime)>, Failure> {
    let wrong = |category, reason: &'static str| Err(Failure::new(category).because(reason));
    let protocol = ErrorCategory::Protocol;
    let Ok(answer) = <&[u8; LENGTH]>::try_from(answer) else {
        return wrong(protocol, "the datagram is no answer of a time server");
    };
    if answer[0] & 0b111 != 4 {
        return wrong(protocol, "the datagram is no answer of a time server");
    }
    if answer[24..32] != question[40..] {
        return Ok(None);
    }
    match (answer[1], &answer[12..16]) {
        (0, b"RATE") => {
            return wrong(
                ErrorCategory::RateLimited,
                "the time server is asked too often",
            );
        }
        (0, _) => {
            return wrong(
                ErrorCategory::NotServing,
                "the time server does not serve us",
            );
        }
        (1..=15, _) if answer[0] >> 6 != 3 => {}
        _ => {
            return wrong(
                ErrorCategory::NotReady,
                "the clock of the time server is not set",
            );
        }
    }
    let time = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&answer[at..at + 8]);
        from_ntp(u64::from_be_bytes(bytes))
    };
    Ok(Some((time(32), time(40))))
}

/// RFC 4330, section 5.
fn difference(
    sent: SystemTime,
    there_in: SystemTime,
    there_out: SystemTime,
    received: SystemTime,
) -> Difference {
    let way = seconds(received, sent) - seconds(there_out, there_in);
    Difference {
        ahead: f64::midpoint(seconds(there_in, sent), seconds(there_out, received)),
        uncertain: way.max(0.0) / 2.0,
    }
}

/// Seconds since 1900 and their 2^32ths.
fn to_ntp(time: SystemTime) -> u64 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let fraction = (u64::from(since.subsec_nanos()) << 32) / 1_000_000_000;
    (since.as_secs().wrapping_add(TO_1970) % ERA) << 32 | fraction
}

/// With the first bit set it is a time before 2036, else one after it.
fn from_ntp(ntp: u64) -> SystemTime {
    let seconds = ntp >> 32;
    let seconds = if seconds >= ERA / 2 {
        seconds
    } else {
        seconds + ERA
    };
    let nanos = (ntp % ERA * 1_000_000_000) >> 32;
    let since = Duration::from_secs(seconds.saturating_sub(TO_1970)) + Duration::from_nanos(nanos);
    SystemTime::UNIX_EPOCH + since
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
    }

    #[test]
    fn times_go_there_and_back_on_both_sides_of_2036() {
        for millis in [
            1_796_008_360_250,
            2_085_978_495_500,
            2_085_978_496_000,
            4_000_000_000_750,
        ] {
            assert_eq!(from_ntp(to_ntp(at(millis))), at(millis), "{millis}");
        }
        // RFC 4330, section 3: 7 February 2036, 06:28:16 UTC, is zero.
        assert_eq!(to_ntp(at(2_085_978_496_000)), 0);
    }

    #[test]
    fn the_way_there_and_back_is_not_held_against_the_clock() {
        // A server that is 10 s ahead; 40 ms there, 5 ms inside, 20 ms back.
        let found = difference(at(100_000), at(110_040), at(110_045), at(100_065));
        assert!((found.ahead - 10.01).abs() < 1e-6, "{found:?}");
        assert!((found.uncertain - 0.03).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn what_is_no_good_answer_has_its_words() {
        let question = question(at(100_000));
        let mut good = [0; LENGTH];
        good[0] = 4 << 3 | 4;
        good[1] = 2;
        good[24..32].copy_from_slice(&question[40..]);
        let changed = |change: &dyn Fn(&mut [u8; LENGTH])| {
            let mut answer = good;
            change(&mut answer);
            match read(&answer, &question) {
                Ok(Some(_)) => "good".to_owned(),
                Ok(None) => "not ours".to_owned(),
                Err(failure) => format!("{}, {failure}", failure.category()),
            }
        };
        let said = [
            changed(&|_| ()),
            changed(&|answer| answer[0] = 4 << 3 | 3),
            changed(&|answer| answer[31] ^= 1),
            changed(&|answer| answer[0] |= 0b1100_0000),
            changed(&|answer| answer[1] = 16),
            changed(&|answer| answer[1] = 0),
            changed(&|answer| {
                answer[1] = 0;
                answer[12..16].copy_from_slice(b"RATE");
            }),
        ];
        insta::assert_snapshot!(said.join("\n"), @"
good
protocol, the datagram is no answer of a time server
not ours
not_ready, the clock of the time server is not set
not_ready, the clock of the time server is not set
not_serving, the time server does not serve us
rate_limited, the time server is asked too often
");
        assert!(read(b"hunter2", &question).is_err());
    }
}
