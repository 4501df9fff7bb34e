//! The memory of the search: proof and disproof numbers by position.
//!
//! Only what holds on every path is kept as solved. The table starts small, doubles while it may,
//! and then gives up the entries that cost least to find.

use crate::bits::Bits;

/// A number that stands for "never": a proof number of a disproved node and the reverse.
pub(crate) const INFINITE: u32 = 1 << 30;

/// What is known of a position with a side to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<B> {
    key: u128,
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
        key: 0,
        pn: 0,
        dn: 0,
        zone: B::NONE,
        work: 0,
    };
}

/// Entries that compete for a place.
const BUCKET: usize = 8;

/// Entries to start with.
const FIRST_ENTRIES: usize = 1 << 12;

/// The table grows when this share (of 8) is in use.
const FULL_EIGHTHS: usize = 4;

/// The tag of a place nobody uses.
const NO_TAG: u64 = 0;

pub(crate) struct Table<B> {
    /// Half of each entry's key. The tags of a bucket share a cache line, so that most questions
    /// about unknown positions are answered by looking at one.
    tags: Vec<u64>,
    entries: Vec<Entry<B>>,
    used: usize,
    most_entries: usize,
}

impl<B: Bits> Table<B> {
    /// An empty table that never takes more than `bytes`.
    pub fn new(bytes: usize) -> Table<B> {
        let affordable = (bytes / (size_of::<Entry<B>>() + size_of::<u64>())).max(BUCKET);
        let most_entries = 1 << affordable.ilog2();
        let entries = FIRST_ENTRIES.min(most_entries);
        Table {
            tags: vec![NO_TAG; entries],
            entries: vec![Entry::VACANT; entries],
            used: 0,
            most_entries,
        }
    }

    /// Entries in use.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.used
    }

    #[inline]
    pub fn get(&self, key: u128) -> Option<&Entry<B>> {
        let start = self.bucket_start(key);
        let tag = tag_of(key);
        let tags = &self.tags[start..start + BUCKET];
        tags.iter()
            .enumerate()
            .filter(|&(_, &found)| found == tag)
            .map(|(place, _)| &self.entries[start + place])
            .find(|entry| entry.key == key)
    }

    pub fn put(&mut self, key: u128, pn: u32, dn: u32, zone: B, work: u32) {
        let start = self.bucket_start(key);
        let tag = tag_of(key);
        let tags = &self.tags[start..start + BUCKET];
        let entries = &self.entries[start..start + BUCKET];
        let same = (0..BUCKET).find(|&at| tags[at] == tag && entries[at].key == key);
        let free = || (0..BUCKET).find(|&at| tags[at] == NO_TAG);
        let cheapest = || (0..BUCKET).min_by_key(|&at| entries[at].work);
        let place = start + same.or_else(free).or_else(cheapest).unwrap_or(0);
        let spent = same.map_or(0, |at| entries[at].work);
        self.used += usize::from(self.tags[place] == NO_TAG);
        self.tags[place] = tag;
        self.entries[place] = Entry {
            key,
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

    fn grow(&mut self) {
        let doubled = self.entries.len() * 2;
        let tags = std::mem::replace(&mut self.tags, vec![NO_TAG; doubled]);
        let entries = std::mem::replace(&mut self.entries, vec![Entry::VACANT; doubled]);
        self.used = 0;
        for (tag, entry) in tags.into_iter().zip(entries) {
            if tag == NO_TAG {
                continue;
            }
            let start = self.bucket_start(entry.key);
            if let Some(at) = (start..start + BUCKET).find(|&at| self.tags[at] == NO_TAG) {
                self.tags[at] = tag;
                self.entries[at] = entry;
                self.used += 1;
            }
        }
    }

    #[inline]
    fn bucket_start(&self, key: u128) -> usize {
        (key as usize & (self.entries.len() - 1)) & !(BUCKET - 1)
    }
}

/// The half of a key that does not choose the bucket; never the tag of a vacant place.
#[inline]
fn tag_of(key: u128) -> u64 {
    ((key >> 64) as u64).max(1)
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
        let key = |n: u64| u128::from(crate::field::split_mix(n)) | u128::from(n) << 64;
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
