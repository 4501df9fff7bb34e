//! The memory of the search: proof and disproof numbers by position.
//!
//! Only what holds on every path is kept as solved. The table starts small, doubles while it may,
//! and then gives up the entries that cost least to find.

use crate::search::bits::Bits;
use crate::search::patterns::Patterns;

/// A number that stands for "never": a proof number of a disproved node and the reverse.
pub(crate) const INFINITE: u32 = 1 << 30;

/// What is known of a position with a side to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<B> {
    /// The half of the key that also chooses the bucket.
    low_key: u64,
    /// How hard it still looks to prove that the target is captured.
    pub pn: u32,
    /// How hard it still looks to prove that it is not.
    pub dn: u32,
    /// The relevance zone, once solved.
    pub zone: B,
    /// Nodes spent below.
    work: u32,
}

impl<B: Bits> Entry<B> {
    const VACANT: Entry<B> = Entry {
        low_key: 0,
        pn: 0,
        dn: 0,
        zone: B::NONE,
        work: 0,
    };

    /// Nodes spent below.
    pub fn work(&self) -> u32 {
        self.work
    }
}

/// Entries that compete for a place.
const BUCKET: usize = 8;

/// Entries to start with.
const FIRST_ENTRIES: usize = 1 << 10;

/// The table grows when this share (of 8) is in use.
const FULL_EIGHTHS: usize = 4;

/// The tag of a place nobody uses.
const NO_TAG: u64 = 0;

/// The other half of each key of a bucket: one cache line, so that most questions about unknown
/// positions are answered by looking at one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Tags([u64; BUCKET]);

/// The share of the memory that patterns get, as a divisor.
const PATTERN_SHARE: usize = 8;

pub(crate) struct Table<B> {
    /// Solved positions by what they rest on.
    pub patterns: Patterns<B>,
    tags: Vec<Tags>,
    entries: Vec<Entry<B>>,
    used: usize,
    most_entries: usize,
}

impl<B: Bits> Table<B> {
    /// An empty table that never takes more than `bytes`.
    pub fn new(bytes: usize) -> Table<B> {
        let affordable = (bytes / (size_of::<Entry<B>>() + size_of::<u64>())).max(BUCKET);
        let most_entries = 1 << affordable.ilog2();
        let mut table = Table {
            patterns: Patterns::new(bytes / PATTERN_SHARE),
            tags: Vec::new(),
            entries: Vec::new(),
            used: 0,
            most_entries,
        };
        table.clear(FIRST_ENTRIES.min(most_entries));
        table
    }

    /// Entries in use.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.used
    }

    #[inline]
    pub fn get(&self, key: u128) -> Option<&Entry<B>> {
        let bucket = self.bucket(key);
        let (tag, low_key) = split(key);
        (0..BUCKET)
            .filter(|&at| self.tags[bucket].0[at] == tag)
            .map(|at| &self.entries[bucket * BUCKET + at])
            .find(|entry| entry.low_key == low_key)
    }

    pub fn put(&mut self, key: u128, pn: u32, dn: u32, zone: B, work: u32) {
        let bucket = self.bucket(key);
        let (tag, low_key) = split(key);
        let tags = &mut self.tags[bucket].0;
        let entries = &mut self.entries[bucket * BUCKET..][..BUCKET];
        let same = (0..BUCKET).find(|&at| tags[at] == tag && entries[at].low_key == low_key);
        let free = || (0..BUCKET).find(|&at| tags[at] == NO_TAG);
        let cheapest = || (0..BUCKET).min_by_key(|&at| entries[at].work);
        let place = same.or_else(free).or_else(cheapest).unwrap_or(0);
        let spent = same.map_or(0, |at| entries[at].work);
        self.used += usize::from(tags[place] == NO_TAG);
        tags[place] = tag;
        entries[place] = Entry {
            low_key,
            pn,
            dn,
            zone,
            work: spent.saturating_add(work),
        };
        if self.used * 8 > self.entries.len() * FULL_EIGHTHS
            && self.entries.len() < self.most_entries
        {
            self.grow();
        }
    }

    fn clear(&mut self, entries: usize) {
        self.tags = vec![Tags([NO_TAG; BUCKET]); entries / BUCKET];
        self.entries = vec![Entry::VACANT; entries];
        self.used = 0;
    }

    fn grow(&mut self) {
        let old_tags = std::mem::take(&mut self.tags);
        let old_entries = std::mem::take(&mut self.entries);
        self.clear(old_entries.len() * 2);
        let old_tags = old_tags.iter().flat_map(|tags| &tags.0);
        for (&tag, &entry) in old_tags.zip(&old_entries) {
            if tag == NO_TAG {
                continue;
            }
            let bucket = self.bucket(u128::from(entry.low_key));
            let tags = &mut self.tags[bucket].0;
            if let Some(at) = (0..BUCKET).find(|&at| tags[at] == NO_TAG) {
                tags[at] = tag;
                self.entries[bucket * BUCKET + at] = entry;
                self.used += 1;
            }
        }
    }

    /// The bucket of a key, chosen by its low half.
    #[inline]
    fn bucket(&self, key: u128) -> usize {
        key as usize & (self.tags.len() - 1)
    }
}

/// The tag of a key (never that of a vacant place) and the half that chooses the bucket.
#[inline]
fn split(key: u128) -> (u64, u64) {
    (((key >> 64) as u64).max(1), key as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_keeps_the_dearest_entries_of_a_bucket() {
        let mut table = Table::<u64>::new(BUCKET * (size_of::<Entry<u64>>() + size_of::<u64>()));
        for key in 1..=20u128 {
            table.put(key << 64, 1, 1, 0, key as u32);
        }
        assert_eq!(table.len(), BUCKET);
        assert!(table.get(20 << 64).is_some());
        assert!(table.get(1 << 64).is_none());
    }

    #[test]
    fn growing_loses_nothing() {
        let mut table = Table::<u64>::new(1 << 24);
        let key = |n: u64| u128::from(base::mix(n)) | u128::from(n) << 64;
        for n in 0..20_000 {
            table.put(key(n), n as u32, 1, 0, 1);
        }
        let kept = (0..20_000)
            .filter(|&n| table.get(key(n)).is_some_and(|entry| entry.pn == n as u32))
            .count();
        // A bucket may overflow before the table doubles; that is rare.
        assert!(kept > 19_000, "{kept}");
    }
}
