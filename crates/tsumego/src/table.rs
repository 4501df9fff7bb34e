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
    used: bool,
}

impl<B: Bits> Entry<B> {
    const VACANT: Entry<B> = Entry {
        key: 0,
        pn: 0,
        dn: 0,
        zone: B::NONE,
        work: 0,
        used: false,
    };
}

/// Entries that compete for a place.
const BUCKET: usize = 8;

/// Entries to start with.
const FIRST_ENTRIES: usize = 1 << 12;

/// The table grows when this share (of 8) is in use.
const FULL_EIGHTHS: usize = 4;

pub(crate) struct Table<B> {
    entries: Vec<Entry<B>>,
    used: usize,
    most_entries: usize,
}

impl<B: Bits> Table<B> {
    /// An empty table that never takes more than `bytes`.
    pub fn new(bytes: usize) -> Table<B> {
        let affordable = (bytes / size_of::<Entry<B>>()).max(BUCKET);
        let most_entries = 1 << affordable.ilog2();
        Table {
            entries: vec![Entry::VACANT; FIRST_ENTRIES.min(most_entries)],
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
        self.bucket(key)
            .iter()
            .find(|entry| entry.used && entry.key == key)
    }

    pub fn put(&mut self, key: u128, pn: u32, dn: u32, zone: B, work: u32) {
        let start = self.bucket_start(key);
        let bucket = &mut self.entries[start..start + BUCKET];
        let mut at = 0;
        for place in 0..BUCKET {
            if !bucket[place].used || bucket[place].key == key {
                at = place;
                break;
            }
            if bucket[place].work < bucket[at].work {
                at = place;
            }
        }
        let place = &mut bucket[at];
        let spent = if place.used && place.key == key {
            place.work
        } else {
            0
        };
        self.used += usize::from(!place.used);
        *place = Entry {
            key,
            pn,
            dn,
            zone,
            work: spent.saturating_add(work),
            used: true,
        };
        if self.used * 8 > self.entries.len() * FULL_EIGHTHS
            && self.entries.len() < self.most_entries
        {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let doubled = vec![Entry::VACANT; self.entries.len() * 2];
        let old = std::mem::replace(&mut self.entries, doubled);
        self.used = 0;
        for entry in old.into_iter().filter(|entry| entry.used) {
            let start = self.bucket_start(entry.key);
            let bucket = &mut self.entries[start..start + BUCKET];
            if let Some(place) = bucket.iter_mut().find(|place| !place.used) {
                *place = entry;
                self.used += 1;
            }
        }
    }

    #[inline]
    fn bucket_start(&self, key: u128) -> usize {
        (key as usize & (self.entries.len() - 1)) & !(BUCKET - 1)
    }

    #[inline]
    fn bucket(&self, key: u128) -> &[Entry<B>] {
        let start = self.bucket_start(key);
        &self.entries[start..start + BUCKET]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_keeps_the_dearest_entries_of_a_bucket() {
        let mut table = Table::<u64>::new(BUCKET * size_of::<Entry<u64>>());
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
