//! Where a search must stop: nodes, time, memory, or when its caller asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Where a search must stop, whatever it has found.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Positions expanded.
    pub nodes: u64,
    /// Processor time of the searching thread.
    pub processor_time: Option<Duration>,
    /// Wall-clock time.
    pub wall_time: Option<Duration>,
    /// Bytes for the transposition table.
    pub memory: usize,
    interrupt: Option<Arc<AtomicBool>>,
}

impl Default for Limits {
    /// No limit on nodes or time, 256 MiB of memory.
    fn default() -> Limits {
        const DEFAULT_TABLE_BYTES: usize = 256 << 20;
        Limits {
            nodes: u64::MAX,
            processor_time: None,
            wall_time: None,
            memory: DEFAULT_TABLE_BYTES,
            interrupt: None,
        }
    }
}

impl Limits {
    /// At most this many nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> Limits {
        self.nodes = nodes;
        self
    }

    /// At most this long on the processor: what other programs take does not count.
    #[must_use]
    pub fn with_processor_time(mut self, time: Duration) -> Limits {
        self.processor_time = Some(time);
        self
    }

    /// At most this long by the clock on the wall.
    #[must_use]
    pub fn with_wall_time(mut self, time: Duration) -> Limits {
        self.wall_time = Some(time);
        self
    }

    /// At most this many bytes of table.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Limits {
        self.memory = bytes;
        self
    }

    /// Stops soon after the flag is set.
    #[must_use]
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Limits {
        self.interrupt = Some(flag);
        self
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Measures a search against its limits on time.
pub(crate) struct Clock {
    wall: Instant,
    processor: Duration,
}

impl Clock {
    pub fn start() -> Clock {
        Clock {
            wall: Instant::now(),
            processor: thread_time(),
        }
    }

    pub fn is_late(&self, limits: &Limits) -> bool {
        limits
            .processor_time
            .is_some_and(|most| thread_time().saturating_sub(self.processor) > most)
            || limits
                .wall_time
                .is_some_and(|most| self.wall.elapsed() > most)
    }
}

/// The processor time the current thread has used; zero where the system does not say.
pub fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What other programs take, and waiting, count for the wall alone.
    #[test]
    fn a_thread_that_sleeps_is_late_by_the_wall_and_not_by_the_processor() {
        let clock = Clock::start();
        thread::sleep(Duration::from_millis(60));
        let most = Duration::from_millis(40);
        assert!(clock.is_late(&Limits::default().with_wall_time(most)));
        assert!(!clock.is_late(&Limits::default().with_processor_time(most)));
        while thread_time().saturating_sub(clock.processor) <= most {
            std::hint::spin_loop();
        }
        assert!(clock.is_late(&Limits::default().with_processor_time(most)));
    }
}
