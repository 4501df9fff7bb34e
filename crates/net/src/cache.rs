//! A bounded memory of evaluations, shared by all threads of a search.
//!
//! The caller's key must cover everything the network sees. Entries live in shards, each behind its own lock; when a
//! shard is full, a hand goes round it and drops the first entry that was not asked for since its last visit (the
//! CLOCK rule), which is nearly as good as dropping the least recently used and needs no list to be kept in order.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks one cache is divided into; more than there are threads, so that two rarely meet.
const SHARDS: usize = 32;
/// What the tables of a shard need for one entry beside key and value: slot flags, hash table slot and its slack.
const ENTRY_OVERHEAD: usize = 48;

/// A key that is already a good hash, such as a Zobrist hash.
pub trait CacheKey: Copy + Eq + Hash + Send {
    /// 64 well mixed bits of it.
    fn mixed(self) -> u64;
}

impl CacheKey for u64 {
    fn mixed(self) -> u64 {
        self
    }
}

impl CacheKey for u128 {
    fn mixed(self) -> u64 {
        (self >> 64) as u64 ^ self as u64
    }
}

/// How a cache has been used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Questions answered.
    pub hits: u64,
    /// Questions not answered.
    pub misses: u64,
    /// Entries ever stored.
    pub insertions: u64,
    /// Entries dropped for lack of room.
    pub evictions: u64,
    /// Entries held now.
    pub entries: usize,
    /// Bytes held now.
    pub bytes: usize,
}

/// A map from keys to values that never holds more than a given number of bytes.
pub struct Cache<K, V> {
    shards: Box<[Mutex<Shard<K, V>>]>,
    hits: AtomicU64,
    misses: AtomicU64,
    insertions: AtomicU64,
    evictions: AtomicU64,
}

struct Shard<K, V> {
    places: HashMap<K, usize, BuildHasherDefault<Premixed>>,
    slots: Vec<Slot<K, V>>,
    hand: usize,
    bytes: usize,
    capacity: usize,
}

struct Slot<K, V> {
    key: K,
    value: V,
    bytes: usize,
    asked_for: bool,
}

impl<K: CacheKey, V: Clone + Send> Cache<K, V> {
    /// An empty cache of at most `bytes` bytes; 0 turns it off.
    pub fn new(bytes: usize) -> Self {
        let shard = || {
            Mutex::new(Shard {
                places: HashMap::default(),
                slots: Vec::new(),
                hand: 0,
                bytes: 0,
                capacity: bytes / SHARDS,
            })
        };
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            insertions: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
        }
    }

    /// The value stored under `key`, if it is still there.
    pub fn get(&self, key: K) -> Option<V> {
        let found = self.shard(key).get(key);
        let counter = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Stores `value`, which owns `heap_bytes` bytes beside itself, dropping others if need be.
    ///
    /// A value too large for its share of the cache is not stored.
    pub fn insert(&self, key: K, value: V, heap_bytes: usize) {
        let bytes = size_of::<Slot<K, V>>() + size_of::<K>() + ENTRY_OVERHEAD + heap_bytes;
        let Some(evicted) = self.shard(key).insert(key, value, bytes) else {
            return;
        };
        self.insertions.fetch_add(1, Ordering::Relaxed);
        self.evictions.fetch_add(evicted, Ordering::Relaxed);
    }

    /// Forgets everything but the statistics.
    pub fn clear(&self) {
        for shard in &self.shards {
            let mut shard = lock(shard);
            let capacity = shard.capacity;
            *shard = Shard {
                places: HashMap::default(),
                slots: Vec::new(),
                hand: 0,
                bytes: 0,
                capacity,
            };
        }
    }

    /// How it has been used so far.
    pub fn statistics(&self) -> CacheStatistics {
        let (mut entries, mut bytes) = (0, 0);
        for shard in &self.shards {
            let shard = lock(shard);
            entries += shard.slots.len();
            bytes += shard.bytes;
        }
        CacheStatistics {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            insertions: self.insertions.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
            entries,
            bytes,
        }
    }

    fn shard(&self, key: K) -> MutexGuard<'_, Shard<K, V>> {
        // The high bits: the hash table inside a shard uses the low ones.
        lock(&self.shards[(key.mixed() >> 59) as usize % SHARDS])
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A shard is consistent between any two statements, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: CacheKey, V: Clone> Shard<K, V> {
    fn get(&mut self, key: K) -> Option<V> {
        let place = *self.places.get(&key)?;
        let slot = &mut self.slots[place];
        slot.asked_for = true;
        Some(slot.value.clone())
    }

    /// How many entries were dropped for it, or `None` if it was not stored.
    fn insert(&mut self, key: K, value: V, bytes: usize) -> Option<u64> {
        if bytes > self.capacity {
            return None;
        }
        if let Some(&place) = self.places.get(&key) {
            self.remove(place);
        }
        let mut evicted = 0;
        while self.bytes + bytes > self.capacity {
            let place = self.next_victim();
            self.remove(place);
            evicted += 1;
        }
        self.places.insert(key, self.slots.len());
        self.slots.push(Slot {
            key,
            value,
            bytes,
            asked_for: false,
        });
        self.bytes += bytes;
        Some(evicted)
    }

    fn next_victim(&mut self) -> usize {
        loop {
            self.hand = if self.hand + 1 < self.slots.len() {
                self.hand + 1
            } else {
                0
            };
            let slot = &mut self.slots[self.hand];
            if !std::mem::take(&mut slot.asked_for) {
                return self.hand;
            }
        }
    }

    fn remove(&mut self, place: usize) {
        let slot = self.slots.swap_remove(place);
        self.bytes -= slot.bytes;
        self.places.remove(&slot.key);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.key, place);
        }
    }
}

/// Passes a key that is already a hash through.
#[derive(Default)]
struct Premixed(u64);

impl Hasher for Premixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 ^= number;
    }

    fn write_u128(&mut self, number: u128) {
        self.0 ^= number.mixed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Spreads small numbers over all 64 bits, as a Zobrist hash does.
    fn spread(number: u64) -> u64 {
        number
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(17)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn an_entry_asked_for_outlives_one_that_was_not() {
        let cache: Cache<u64, [u64; 32]> = Cache::new(1 << 20);
        let capacity = (1 << 20) / (size_of::<Slot<u64, [u64; 32]>>() + 8 + ENTRY_OVERHEAD) as u64;
        cache.insert(spread(0), [7; 32], 0);
        for number in 1..20 * capacity {
            cache.insert(spread(number), [number; 32], 0);
            assert_eq!(
                cache.get(spread(0)),
                Some([7; 32]),
                "after {number} insertions"
            );
        }
        assert!(cache.statistics().evictions > 0);
        assert_eq!(cache.get(spread(1)), None);
    }

    #[test]
    fn a_cache_of_no_bytes_stores_nothing() {
        let cache: Cache<u128, u8> = Cache::new(0);
        cache.insert(1, 1, 0);
        assert_eq!(cache.get(1), None);
        assert_eq!(
            cache.statistics(),
            CacheStatistics {
                misses: 1,
                ..Default::default()
            }
        );
    }

    #[test]
    fn threads_agree_on_what_is_stored() {
        let cache: Cache<u64, u64> = Cache::new(1 << 16);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let cache = &cache;
                scope.spawn(move || {
                    for number in 0..5_000 {
                        let key = spread(number % 700 + thread);
                        if let Some(value) = cache.get(key) {
                            assert_eq!(value, key ^ 1);
                        }
                        cache.insert(key, key ^ 1, 0);
                    }
                });
            }
        });
        let statistics = cache.statistics();
        assert_eq!(statistics.hits + statistics.misses, 20_000);
        assert!(statistics.bytes <= 1 << 16);
    }

    proptest! {
        #[test]
        fn it_never_answers_wrongly_and_never_outgrows_its_bytes(
            questions in prop::collection::vec((0u64..300, any::<bool>(), 0usize..200), 1..600),
        ) {
            let limit = 40_000;
            let cache: Cache<u64, u64> = Cache::new(limit);
            let mut truth = HashMap::new();
            for (number, store, heap) in questions {
                let key = spread(number);
                if store {
                    let value = truth.len() as u64;
                    truth.insert(key, value);
                    cache.insert(key, value, heap);
                    prop_assert_eq!(cache.get(key), Some(value));
                } else if let Some(value) = cache.get(key) {
                    prop_assert_eq!(Some(&value), truth.get(&key));
                }
                let statistics = cache.statistics();
                prop_assert!(statistics.bytes <= limit);
                prop_assert!(statistics.entries as u64 <= statistics.insertions - statistics.evictions);
            }
        }
    }
}
