//! Slows down whoever shows wrong tokens, without locking out whoever shows a right one.
//!
//! Five failures in a minute are answered; from the fifth on a source waits, first a second, then twice as long after
//! each further failure, up to a minute. While it waits, what it shows is not even looked at. A minute after the last
//! wait all is forgotten, so nothing is locked for good.
//!
//! A source is often shared: this machine, a proxy, a network behind one address. So what is shown with the id of an
//! accepted token is counted apart from everything else. A poller that goes on showing a token of last year makes
//! nobody wait who has the right one.
//!
//! The same is counted for each accepted token, against many sources that guess at one. Its id is public, so that count
//! must not keep out whoever has the token: it is used only against sources that have failed themselves. A source
//! without a failure is always looked at, and what it shows is right or counts as its first.
//!
//! At most [`MAX_FAILING`] sources are remembered, and none is forgotten before its time to make room. While the table
//! is full, further sources are remembered together: what they show is looked at, and if it is wrong the answer is to
//! wait. So whoever has many addresses resets nobody's wait, and keeps nobody out who has a token; the price is that
//! each further address may guess without waiting, which 256 random bits can bear.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::telemetry::Journal;

use super::source::Source;
use super::token::TokenId;
use super::tokens::MAX_TOKENS;

/// How many failures in [`WINDOW`] are answered before waiting begins.
const FREE: u32 = 5;

const WINDOW: Duration = Duration::from_secs(60);

/// The first wait.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long after the last wait everything is forgotten.
const FORGET: Duration = Duration::from_secs(60);

/// The most failing sources that are remembered.
pub(super) const MAX_FAILING: usize = 1024;

/// How often the full table is searched for sources to forget.
const SWEEP: Duration = Duration::from_secs(1);

/// How often one source is written about in the log.
const EVENT: Duration = Duration::from_secs(60);

/// The failures of one source, or at one token.
#[derive(Debug, Clone, Copy)]
struct Strikes {
    window_began: Instant,
    in_window: u32,
    waits: u32,
    wait_until: Instant,
    forget_at: Instant,
    logged: Option<Instant>,
}

impl Strikes {
    fn new(now: Instant) -> Self {
        Self {
            window_began: now,
            in_window: 0,
            waits: 0,
            wait_until: now,
            forget_at: now,
            logged: None,
        }
    }

    fn fail(&mut self, now: Instant) {
        if now >= self.forget_at {
            *self = Self {
                logged: self.logged,
                ..Self::new(now)
            };
        }
        if self.waits == 0 {
            if now >= self.window_began + WINDOW {
                self.window_began = now;
                self.in_window = 0;
            }
            self.in_window += 1;
        }
        if self.in_window >= FREE {
            let doubled = 1_u32.checked_shl(self.waits).unwrap_or(u32::MAX);
            self.wait_until = now + FIRST_WAIT.saturating_mul(doubled).min(LONGEST_WAIT);
            self.waits += 1;
        }
        self.forget_at = self.wait_until.max(now) + FORGET;
    }

    fn wait(&self, now: Instant) -> Option<Duration> {
        (now < self.wait_until).then(|| self.wait_until - now)
    }

    fn is_forgotten(&self, now: Instant) -> bool {
        now >= self.forget_at
    }

    /// Whether a line in the log is due, which is then written.
    fn is_loud(&mut self, now: Instant) -> bool {
        let due = self.logged.is_none_or(|logged| now >= logged + EVENT);
        if due {
            self.logged = Some(now);
        }
        due
    }
}

/// Who guesses, and at which accepted token if it says so.
type Guesser = (Source, Option<TokenId>);

/// All failures that are remembered.
#[derive(Default)]
pub(super) struct Failures {
    sources: HashMap<Guesser, Strikes>,
    /// Further sources, while the table is full.
    crowd: Option<Strikes>,
    tokens: Vec<(TokenId, Strikes)>,
    swept: Option<Instant>,
    journal: Journal,
}

impl Failures {
    pub(super) fn new(journal: Journal) -> Self {
        Self {
            journal,
            ..Self::default()
        }
    }

    /// How long this source must wait before what it shows is looked at; none if it is looked at now.
    pub(super) fn wait(
        &mut self,
        source: Source,
        token: Option<TokenId>,
        now: Instant,
    ) -> Option<Duration> {
        let guesser = (source, token);
        let own = self.sources.get(&guesser)?;
        if own.is_forgotten(now) {
            self.sources.remove(&guesser);
            return None;
        }
        let of_token = token.and_then(|token| {
            let (_, strikes) = self.tokens.iter().find(|(id, _)| *id == token)?;
            strikes.wait(now)
        });
        own.wait(now).max(of_token)
    }

    /// Counts a failure, and says how long to wait if the answer is to be that.
    pub(super) fn fail(
        &mut self,
        source: Source,
        token: Option<TokenId>,
        now: Instant,
    ) -> Option<Duration> {
        let wait_for_token = token.and_then(|token| self.fail_token(token, now));
        self.make_room(now);
        let guesser = (source, token);
        let is_known = self.sources.contains_key(&guesser);
        let is_crowd = !is_known && self.sources.len() >= MAX_FAILING;
        let strikes = if is_crowd {
            self.crowd.get_or_insert_with(|| Strikes::new(now))
        } else {
            let fresh = Strikes::new(now);
            self.sources.entry(guesser).or_insert(fresh)
        };
        strikes.fail(now);
        let wait = strikes.wait(now);
        if (wait.is_some() || is_crowd) && strikes.is_loud(now) {
            self.log(if is_crowd { None } else { Some(source) }, token);
        }
        if is_crowd {
            // There is nobody to remember it for, so each is asked to wait as long as anybody.
            return Some(LONGEST_WAIT);
        }
        // The failure that begins a wait is answered as a failure; the wait is for what comes next.
        wait_for_token
    }

    /// How long it is to be waited for this token because of earlier failures.
    fn fail_token(&mut self, token: TokenId, now: Instant) -> Option<Duration> {
        let at = self.tokens.iter().position(|(id, _)| *id == token);
        let at = at.unwrap_or_else(|| {
            // Only ids of accepted tokens come here, so whoever is pushed out was replaced long ago.
            if self.tokens.len() >= 2 * MAX_TOKENS {
                self.tokens.remove(0);
            }
            self.tokens.push((token, Strikes::new(now)));
            self.tokens.len() - 1
        });
        let (_, strikes) = &mut self.tokens[at];
        let wait = strikes.wait(now);
        strikes.fail(now);
        wait
    }

    fn log(&self, source: Option<Source>, token: Option<TokenId>) {
        let source = source.map_or_else(|| "many".to_owned(), |source| source.to_string());
        let token = token.map(|token| token.to_string());
        self.journal.say(move || {
            tracing::warn!(target: "rootward", source, token, "wrong tokens are shown: it must wait");
        });
    }

    fn make_room(&mut self, now: Instant) {
        let swept_lately = self.swept.is_some_and(|swept| now < swept + SWEEP);
        if self.sources.len() >= MAX_FAILING && !swept_lately {
            self.sources.retain(|_, strikes| !strikes.is_forgotten(now));
            self.swept = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use super::*;
    use crate::access::captured::Captured;
    use crate::access::token::Token;

    fn source(number: u32) -> Source {
        let address = Ipv4Addr::from_bits(0xc633_6400 + number);
        Source::of(Some(SocketAddr::from((address, 1))))
    }

    fn id(seed: u8) -> TokenId {
        Token::from_random([seed; 40]).digest().token_id()
    }

    #[test]
    fn five_failures_are_answered_and_then_the_waits_double_up_to_a_minute() {
        let mut failures = Failures::default();
        let mut now = Instant::now();
        for _ in 0..5 {
            assert_eq!(failures.wait(source(1), None, now), None);
            assert_eq!(failures.fail(source(1), None, now), None);
            now += Duration::from_secs(1);
        }
        now -= Duration::from_secs(1);
        let mut waits = Vec::new();
        for _ in 0..9 {
            let wait = failures.wait(source(1), None, now).expect("it waits");
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(failures.wait(source(1), None, now), None, "looked at again");
            failures.fail(source(1), None, now);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(failures.wait(source(2), None, now), None, "another source");
        // A quiet minute after the wait, and all is forgotten.
        now += LONGEST_WAIT + FORGET;
        assert_eq!(failures.wait(source(1), None, now), None);
        failures.fail(source(1), None, now);
        assert_eq!(failures.wait(source(1), None, now), None);
    }

    #[test]
    fn a_source_that_waits_is_written_about_once_a_minute() {
        let (log, _guard) = Captured::begin();
        let journal = Journal::default();
        let mut failures = Failures::new(journal.clone());
        let mut now = Instant::now();
        for _ in 0..1000 {
            if failures.wait(source(1), None, now).is_none() {
                failures.fail(source(1), Some(id(1)), now);
            }
            now += Duration::from_millis(600);
        }
        journal.write();
        let lines = log.take();
        // Ten minutes; how often it fails in a minute gets less and less.
        assert!((5..=10).contains(&lines.len()), "{lines:#?}");
        insta::assert_snapshot!(lines[0], @r#"WARN rootward: wrong tokens are shown: it must wait source="198.51.100.1" token="rw1_0101010101010101""#);
    }

    #[test]
    fn one_failure_every_fifteen_seconds_is_no_guessing() {
        let mut failures = Failures::default();
        let mut now = Instant::now();
        for _ in 0..100 {
            assert_eq!(failures.wait(source(1), None, now), None);
            failures.fail(source(1), None, now);
            now += Duration::from_secs(15);
        }
    }

    #[test]
    fn a_poller_with_an_old_token_does_not_lock_out_who_has_the_right_one_behind_the_same_address()
    {
        let mut failures = Failures::default();
        let now = Instant::now();
        for _ in 0..100 {
            failures.fail(source(1), None, now);
        }
        assert!(failures.wait(source(1), None, now).is_some());
        assert_eq!(failures.wait(source(1), Some(id(1)), now), None);
        // Whoever guesses at that very token waits as well.
        for _ in 0..5 {
            failures.fail(source(1), Some(id(1)), now);
        }
        assert!(failures.wait(source(1), Some(id(1)), now).is_some());
    }

    #[test]
    fn many_sources_that_guess_at_one_token_wait_and_a_source_without_a_failure_is_looked_at() {
        let mut failures = Failures::default();
        let now = Instant::now();
        let waits = (0..20).map(|n| failures.fail(source(n), Some(id(1)), now));
        let waits: Vec<_> = waits.map(|wait| wait.is_some()).collect();
        assert_eq!(waits.iter().position(|waits| *waits), Some(5), "{waits:?}");
        assert!(failures.wait(source(3), Some(id(1)), now).is_some());
        assert_eq!(failures.wait(source(3), Some(id(2)), now), None);
        assert_eq!(failures.wait(source(3), None, now), None);
        assert_eq!(failures.wait(source(99), Some(id(1)), now), None);
    }

    #[test]
    fn a_full_table_forgets_nobody_and_still_looks_at_everybody_else() {
        let mut failures = Failures::default();
        let now = Instant::now();
        for number in 0..u32::try_from(MAX_FAILING).expect("small") {
            for _ in 0..5 {
                assert_eq!(failures.fail(source(number), None, now), None);
            }
        }
        for number in 5000..6000 {
            assert_eq!(failures.wait(source(number), None, now), None);
            let wait = failures.fail(source(number), None, now);
            assert_eq!(wait, Some(LONGEST_WAIT));
        }
        assert!(failures.wait(source(0), None, now).is_some());
        assert_eq!(failures.sources.len(), MAX_FAILING);
        let later = now + FIRST_WAIT + FORGET;
        assert_eq!(failures.fail(source(5000), None, later), None);
        assert_eq!(failures.sources.len(), 1);
    }
}
