//! Random numbers from a seed. The same seed gives the same numbers on every machine.

/// A generator of the SplitMix64 family.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a generator for one part of a round, so that the order of threads does not change its numbers.
    pub(super) fn part(&self, number: u64) -> Self {
        let mut part = Self(self.0 ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03));
        part.next();
        part
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a number from `low` to `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns true in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            return None;
        }
        items.get(self.below(items.len() as u64) as usize)
    }

    /// Returns one of the items, each as often as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, items: &[(T, u64)]) -> Option<T> {
        let sum: u64 = items.iter().map(|(_, weight)| weight).sum();
        if sum == 0 {
            return None;
        }
        let mut at = self.below(sum);
        for (item, weight) in items {
            if at < *weight {
                return Some(*item);
            }
            at -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_numbers_and_weights_count() {
        let numbers = |seed| (0..4).map(|_| Random::new(seed).part(7).below(1000)).collect::<Vec<_>>();
        assert_eq!(numbers(3), numbers(3));
        assert_ne!(Random::new(3).part(1).below(1 << 40), Random::new(3).part(2).below(1 << 40));
        let mut random = Random::new(9);
        assert!((0..100).all(|_| random.weighted(&[('a', 0), ('b', 3)]) == Some('b')));
        assert!((0..100).all(|_| (5..=6).contains(&random.between(5, 6))));
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
