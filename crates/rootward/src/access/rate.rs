//! How often something may happen: a rate with a burst, for each of a bounded number of keys.
//!
//! One instant is kept for each key, the time at which all that was taken is paid back (the generic cell rate
//! algorithm, ATM Forum TM 4.1). A key whose instant has passed is as good as a new one, so it can be forgotten.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// How often the full table is searched for keys to forget.
const SWEEP: Duration = Duration::from_secs(1);

/// So many a second, and so many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) per_second: u32,
    pub(crate) burst: u32,
}

impl Rate {
    fn interval(self) -> Duration {
        Duration::from_secs(1) / self.per_second
    }

    /// Takes one from what is paid back at `paid`, or says how long to wait for it.
    pub(crate) fn take(self, paid: &mut Instant, now: Instant) -> Result<(), Duration> {
        let next = (*paid).max(now) + self.interval();
        let latest = now + self.interval() * self.burst;
        if next > latest {
            return Err(next - latest);
        }
        *paid = next;
        Ok(())
    }
}

/// One rate for each key.
///
/// Keys that still owe are never forgotten to make room: nobody gets rid of a limit by filling the table. While it is
/// full, keys that are not in it share one entry, so that as many new sources as somebody can make up get what one
/// source gets, and those who were there before notice nothing.
pub(crate) struct Rates<K> {
    rate: Rate,
    most: usize,
    paid: HashMap<K, Instant>,
    shared: Option<Instant>,
    swept: Option<Instant>,
}

impl<K: Eq + Hash> Rates<K> {
    pub(crate) fn new(rate: Rate, most: usize) -> Self {
        Self {
            rate,
            most,
            paid: HashMap::new(),
            shared: None,
            swept: None,
        }
    }

    pub(crate) fn take(&mut self, key: K, now: Instant) -> Result<(), Duration> {
        if let Some(paid) = self.paid.get_mut(&key) {
            return self.rate.take(paid, now);
        }
        self.make_room(now);
        let paid = if self.paid.len() < self.most {
            self.paid.entry(key).or_insert(now)
        } else {
            self.shared.get_or_insert(now)
        };
        self.rate.take(paid, now)
    }

    fn make_room(&mut self, now: Instant) {
        let swept_lately = self.swept.is_some_and(|swept| now < swept + SWEEP);
        if self.paid.len() >= self.most && !swept_lately {
            self.paid.retain(|_, paid| *paid > now);
            self.swept = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        per_second: 10,
        burst: 50,
    };

    fn taken(rates: &mut Rates<u32>, key: u32, now: Instant) -> usize {
        (0..1000)
            .take_while(|_| rates.take(key, now).is_ok())
            .count()
    }

    #[test]
    fn a_burst_at_once_and_then_the_rate() {
        let now = Instant::now();
        let mut rates = Rates::new(RATE, 10);
        assert_eq!(taken(&mut rates, 1, now), 50);
        assert_eq!(rates.take(1, now), Err(Duration::from_millis(100)));
        assert_eq!(taken(&mut rates, 2, now), 50, "another key");
        assert_eq!(taken(&mut rates, 1, now + Duration::from_secs(1)), 10);
        assert_eq!(taken(&mut rates, 1, now + Duration::from_secs(60)), 50);
    }

    #[test]
    fn whoever_fills_the_table_resets_no_limit_and_gets_what_one_source_gets() {
        let now = Instant::now();
        let mut rates = Rates::new(RATE, 10);
        assert_eq!(taken(&mut rates, 0, now), 50);
        for key in 1..10 {
            assert!(rates.take(key, now).is_ok());
        }
        let strangers = (10..1000).filter(|key| rates.take(*key, now).is_ok());
        assert_eq!(strangers.count(), 50, "they share one entry");
        assert!(rates.take(0, now).is_err(), "still in debt");
        assert!(rates.take(1, now).is_ok(), "an old one notices nothing");
        assert_eq!(rates.paid.len(), 10);
        // Forgotten is only who owes nothing.
        let later = now + Duration::from_millis(1500);
        assert!(rates.take(1000, later).is_ok());
        assert!(rates.paid.contains_key(&0));
        assert_eq!(rates.paid.len(), 2);
    }
}
