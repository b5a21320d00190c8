//! A small deterministic source of chance: the same seed gives the same scenario on every machine and in every release.
//!
//! SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, good enough to draw scenarios, not for secrets.

/// A source of chance.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The source that `seed` starts.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A source of its own for one purpose, so that drawing more for one purpose changes nothing for another.
    #[must_use]
    pub fn fork(&self, purpose: &str) -> Self {
        // FNV-1a, 64 bits.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in purpose.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut fork = Self::new(self.state ^ hash);
        fork.bits();
        fork
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, but not, 1.
    pub fn unit(&mut self) -> f64 {
        // 53 bits are what an f64 holds exactly; a u32 pair converts without loss.
        let bits = self.bits() >> 11;
        let high = u32::try_from(bits >> 32).unwrap_or(u32::MAX);
        let low = u32::try_from(bits & 0xffff_ffff).unwrap_or(u32::MAX);
        (f64::from(high) * 4_294_967_296.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.bits() % (high.saturating_sub(low) + 1)
    }

    /// An index below `count`; 0 when there is none.
    pub fn index(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.bits() % count).unwrap_or(0)
    }

    /// One of several things.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.index(of.len()))
    }

    /// One of several things, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, of: &[(T, f64)]) -> Option<T> {
        let total: f64 = of.iter().map(|(_, weight)| weight).sum();
        let mut at = self.unit() * total;
        for (thing, weight) in of {
            at -= weight;
            if at < 0.0 {
                return Some(*thing);
            }
        }
        of.last().map(|(thing, _)| *thing)
    }

    /// Puts things into a random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = self.index(last + 1);
            things.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(1);
        let first = [random.bits(), random.bits()];
        assert_eq!(first, [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67]);
    }

    #[test]
    fn a_fork_does_not_notice_what_is_drawn_elsewhere() {
        let root = Random::new(7);
        let (mut one, mut other) = (root.fork("noise"), root.fork("noise"));
        let _ = root.fork("faults").bits();
        assert_eq!(one.bits(), other.bits());
    }

    #[test]
    fn unit_stays_below_one_and_is_even() {
        let mut random = Random::new(3);
        let sum: f64 = (0..10_000).map(|_| random.unit()).sum();
        assert!((sum / 10_000.0 - 0.5).abs() < 0.02, "{sum}");
    }
}
