//! Who is let in where, asked as a caller asks.

use http::HeaderValue;

use super::*;
use crate::access::{Token, Tokens};
use crate::probe::Endpoint;

const WALL: SystemTime = SystemTime::UNIX_EPOCH;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Stranger,
    UnknownPeer,
    Here,
    BehindProxyHere,
    RightToken,
    RightTokenUnknownPeer,
    WrongToken,
    WrongTokenHere,
    TwoTokens,
    BasicPassword,
    TokenInAnotherHeader,
}

const ROLES: [Role; 11] = [
    Role::Stranger,
    Role::UnknownPeer,
    Role::Here,
    Role::BehindProxyHere,
    Role::RightToken,
    Role::RightTokenUnknownPeer,
    Role::WrongToken,
    Role::WrongTokenHere,
    Role::TwoTokens,
    Role::BasicPassword,
    Role::TokenInAnotherHeader,
];

fn token(seed: u8) -> Token {
    Token::from_random([seed; 40])
}

fn gate(access: Access) -> Gate {
    let access = access.tokens(Tokens::digests([token(1).digest().to_string()]));
    Gate::new(&access, Journal::default(), Instant::now(), WALL).expect("no problems")
}

fn peer(address: &str) -> Caller {
    Caller::from(Some(address.parse().expect("an address")))
}

fn bearer_of(token: &Token) -> HeaderValue {
    HeaderValue::try_from(format!("Bearer {}", token.expose())).expect("a header")
}

fn request(role: Role) -> (Caller, HeaderMap) {
    let mut headers = HeaderMap::new();
    let peer = match role {
        Role::UnknownPeer | Role::RightTokenUnknownPeer => Caller::default(),
        Role::Here | Role::BehindProxyHere | Role::WrongTokenHere => peer("[::1]:4000"),
        Role::Stranger
        | Role::RightToken
        | Role::WrongToken
        | Role::TwoTokens
        | Role::BasicPassword
        | Role::TokenInAnotherHeader => peer("192.0.2.7:4000"),
    };
    match role {
        Role::Stranger | Role::UnknownPeer | Role::Here => {}
        Role::BehindProxyHere => {
            headers.insert("x-forwarded-for", HeaderValue::from_static("127.0.0.1"));
        }
        Role::RightToken | Role::RightTokenUnknownPeer => {
            headers.insert(AUTHORIZATION, bearer_of(&token(1)));
        }
        Role::WrongToken | Role::WrongTokenHere => {
            headers.insert(AUTHORIZATION, bearer_of(&token(2)));
        }
        Role::TwoTokens => {
            headers.append(AUTHORIZATION, bearer_of(&token(1)));
            headers.append(AUTHORIZATION, bearer_of(&token(1)));
        }
        Role::BasicPassword => {
            headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic YTpi"));
        }
        Role::TokenInAnotherHeader => {
            headers.insert("x-token", bearer_of(&token(1)));
        }
    }
    (peer, headers)
}

#[test]
fn a_proxy_or_a_browser_on_this_machine_does_not_pass_for_a_caller_on_it() {
    let gate = gate(Access::loopback());
    let told = |name: &'static str, value: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        let level = Endpoint::Health.level();
        gate.admit(
            level,
            &peer("127.0.0.1:4000"),
            &headers,
            Instant::now(),
            || WALL,
        )
    };
    for host in [
        "127.0.0.1:8790",
        "127.0.1.1",
        "[::1]:8790",
        "localhost:8790",
        "LocalHost",
        "localhost.",
        "cart.localhost:80",
        "cart",
    ] {
        assert_eq!(told("host", host), Ok(Principal::Loopback), "{host}");
    }
    for host in [
        "shop.example.com",
        "rebound.attacker.example:8790",
        "127.0.0.1.nip.io",
        "localhost.example",
        "shop.example.",
        "user@a b",
        "",
    ] {
        assert_eq!(told("host", host), Err(Refusal::Stranger), "{host}");
    }
    for (name, value) in [
        ("forwarded", "for=192.0.2.7"),
        ("via", "1.1 proxy"),
        ("x-real-ip", "192.0.2.7"),
        ("x-forwarded-for", "192.0.2.7"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "shop.example.com"),
    ] {
        assert_eq!(told(name, value), Err(Refusal::Stranger), "{name}");
    }
}

/// What is to be public. A new route fails the test below until somebody has decided and written it here.
fn is_for_everybody(path: &str) -> Option<bool> {
    match path {
        "/livez" | "/readyz" | "/healthz" | "/startupz" | "/status" => Some(true),
        "/health" | "/health/deep" | "/metrics" => Some(false),
        _ => None,
    }
}

#[test]
fn kf_097_every_route_for_every_role() {
    for endpoint in Endpoint::ALL {
        let path = endpoint.path();
        let open = is_for_everybody(path).unwrap_or_else(|| panic!("{path} has no entry"));
        for role in ROLES {
            let gate = gate(Access::loopback());
            let (peer, headers) = request(role);
            let known = matches!(
                role,
                Role::Here | Role::RightToken | Role::RightTokenUnknownPeer
            );
            let decided = gate.admit(endpoint.level(), &peer, &headers, Instant::now(), || WALL);
            let expected = if open || known {
                Ok(())
            } else {
                Err(Refusal::Stranger)
            };
            assert_eq!(decided.map(drop), expected, "{path} for {role:?}");
        }
    }
}

#[test]
fn loopback_can_be_shut_and_metrics_can_be_opened() {
    let gate = gate(Access::loopback().without_loopback().open_metrics());
    let admit = |level, role| {
        let (peer, headers) = request(role);
        gate.admit(level, &peer, &headers, Instant::now(), || WALL)
            .is_ok()
    };
    assert!(!admit(Level::Detailed, Role::Here));
    assert!(!admit(Level::Deep, Role::Here));
    assert!(admit(Level::Deep, Role::RightToken));
    assert!(admit(Level::Metrics, Role::Stranger));
    assert!(admit(Level::Metrics, Role::WrongToken));
}

fn refused(gate: &Gate, level: Level, role: Role, times: usize, now: Instant) -> usize {
    let (peer, headers) = request(role);
    (0..times)
        .filter(|_| gate.admit(level, &peer, &headers, now, || WALL).is_err())
        .count()
}

#[test]
fn each_level_has_its_limit_and_the_open_ones_have_none() {
    let gate = gate(Access::loopback());
    let now = Instant::now();
    let refused = |level, role, now| refused(&gate, level, role, 1000, now);
    assert_eq!(refused(Level::Open, Role::Stranger, now), 0);
    assert_eq!(refused(Level::Public, Role::Stranger, now), 950);
    assert_eq!(refused(Level::Detailed, Role::Here, now), 980);
    assert_eq!(refused(Level::Deep, Role::RightToken, now), 980);
    let later = now + Duration::from_secs(1);
    assert_eq!(refused(Level::Public, Role::Stranger, later), 990);
    assert_eq!(refused(Level::Metrics, Role::Here, later), 980);
    let (peer, headers) = request(Role::Here);
    let wait = gate.admit(Level::Detailed, &peer, &headers, later, || WALL);
    assert_eq!(wait, Err(Refusal::TooMany(Duration::from_millis(50))));
}

#[test]
fn a_benchmark_may_ask_as_often_as_it_wants() {
    let gate = gate(Access::loopback().unlimited_rates());
    let now = Instant::now();
    assert_eq!(refused(&gate, Level::Detailed, Role::Here, 5000, now), 0);
    assert_eq!(refused(&gate, Level::Public, Role::Stranger, 5000, now), 0);
}

/// A guesser waits, and the rightful token from another source is let in all the time.
#[test]
fn a_guesser_waits_and_the_rightful_does_not() {
    let gate = gate(Access::loopback());
    let mut now = Instant::now();
    let mut random = [1; 40];
    random[20] = 9;
    let mut guess = HeaderMap::new();
    guess.insert(AUTHORIZATION, bearer_of(&Token::from_random(random)));
    let (rightful, right) = request(Role::RightToken);
    let guesser = peer("198.51.100.1:1");
    for attempt in 0..3000 {
        let decided = gate.admit(Level::Detailed, &guesser, &guess, now, || WALL);
        if attempt < 5 {
            assert_eq!(decided, Err(Refusal::Stranger));
        }
        assert!(decided.is_err());
        let decided = gate.admit(Level::Detailed, &rightful, &right, now, || WALL);
        assert!(decided.is_ok(), "{decided:?} after {attempt} guesses");
        now += Duration::from_millis(100);
    }
    // Even what is right is not looked at there, for a minute at most.
    let decided = gate.admit(Level::Detailed, &guesser, &right, now, || WALL);
    assert!(matches!(decided, Err(Refusal::TooMany(wait)) if wait <= Duration::from_secs(60)));
    now += Duration::from_secs(60);
    let decided = gate.admit(Level::Detailed, &guesser, &right, now, || WALL);
    assert!(decided.is_ok());
}

#[test]
fn tokens_are_not_replaced_where_there_were_none() {
    let gate = Gate::new(
        &Access::loopback(),
        Journal::default(),
        Instant::now(),
        WALL,
    );
    let gate = gate.expect("no problems");
    assert_eq!(gate.set_tokens(Vec::new()), Err(TokensError::NotUsed));
    let three = (1..=3).map(|seed| token(seed).digest()).collect();
    let gate = self::gate(Access::loopback());
    assert_eq!(gate.set_tokens(three), Err(TokensError::TooMany(3)));
    let (peer, headers) = request(Role::RightToken);
    let decided = gate.admit(Level::Detailed, &peer, &headers, Instant::now(), || WALL);
    assert!(decided.is_ok(), "the ones before stay");
}
