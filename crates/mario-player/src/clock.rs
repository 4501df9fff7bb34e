//! What thinking time is counted by.
//!
//! Against a clock on the wall a player on a crowded machine loses strength to its neighbours. Where strength is
//! measured, thinking is therefore counted in processor time of the thread that thinks: half a second of it is half a
//! second on a quiet core, whatever else is running.

use std::time::{Duration, Instant};

/// Which time counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Wall-clock time.
    #[default]
    Wall,
    /// The time the thinking thread spends on a processor; where the system does not tell, the wall's.
    Processor,
}

/// A running clock, read by the thread that started it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Moment,
}

#[derive(Clone, Copy, Debug)]
enum Moment {
    Wall(Instant),
    Processor(Duration),
}

impl Clock {
    /// Starts to count.
    pub fn start(self) -> Stopwatch {
        let processor = match self {
            Clock::Wall => None,
            Clock::Processor => thread_time(),
        };
        let started = processor.map_or_else(|| Moment::Wall(Instant::now()), Moment::Processor);
        Stopwatch { started }
    }
}

impl Stopwatch {
    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        match self.started {
            Moment::Wall(start) => start.elapsed(),
            Moment::Processor(start) => thread_time().unwrap_or(start).saturating_sub(start),
        }
    }
}

/// Processor time of the current thread since it began.
#[cfg(target_os = "linux")]
fn thread_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).ok()
}

#[cfg(not(target_os = "linux"))]
fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeping takes no processor time: a sleep of 50 ms must not show as such.
    #[test]
    #[cfg(target_os = "linux")]
    fn processor_time_stands_while_the_thread_sleeps() {
        let (wall, processor) = (Clock::Wall.start(), Clock::Processor.start());
        std::thread::sleep(Duration::from_millis(50));
        assert!(processor.elapsed() < wall.elapsed());
        let before = processor.elapsed();
        let mut sum = 0_u64;
        while processor.elapsed() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(processor.elapsed() > before);
    }
}
