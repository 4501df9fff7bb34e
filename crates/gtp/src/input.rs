//! Lines of input, read on a thread of their own.
//!
//! Whoever thinks can ask whether something has arrived without taking it, so nothing is ever
//! swallowed, and a search can end as soon as the first byte of the next command is there.

use std::{
    collections::VecDeque,
    io::Read,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

const CHUNK_BYTES: usize = 4096;

/// Lines that have arrived and wait to be taken.
#[derive(Clone, Default)]
pub struct Input {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    partial: Vec<u8>,
    at_end: bool,
}

impl Input {
    /// Starts to read.
    pub fn spawn(mut source: impl Read + Send + 'static) -> Input {
        let input = Input::default();
        let writer = input.clone();
        thread::spawn(move || {
            let mut chunk = [0; CHUNK_BYTES];
            loop {
                match source.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(count) => writer.push(&chunk[..count]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            writer.end();
        });
        input
    }

    /// Lines that are all there already.
    pub fn from_text(text: &str) -> Input {
        let input = Input::default();
        input.push(text.as_bytes());
        input.end();
        input
    }

    /// The next line; waits for it. `None` at the end.
    pub fn next_line(&self) -> Option<String> {
        let mut state = self.lock();
        loop {
            if let Some(line) = state.lines.pop_front() {
                return Some(line);
            }
            if state.at_end {
                return None;
            }
            state = self
                .shared
                .arrived
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a line, the beginning of one, or the end has arrived.
    pub fn is_pending(&self) -> bool {
        let state = self.lock();
        !state.lines.is_empty() || !state.partial.is_empty() || state.at_end
    }

    fn push(&self, bytes: &[u8]) {
        let mut state = self.lock();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            state.partial.extend_from_slice(&rest[..end]);
            state.finish_line();
            rest = &rest[end + 1..];
        }
        state.partial.extend_from_slice(rest);
        self.shared.arrived.notify_all();
    }

    fn end(&self) {
        let mut state = self.lock();
        if !state.partial.is_empty() {
            state.finish_line();
        }
        state.at_end = true;
        self.shared.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn finish_line(&mut self) {
        let line = String::from_utf8_lossy(&self.partial).into_owned();
        self.partial.clear();
        self.lines.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_as_they_went_in_the_last_one_unfinished() {
        let input = Input::spawn(&b"name\r\nquit\n\nlast"[..]);
        let lines: Vec<String> = std::iter::from_fn(|| input.next_line()).collect();
        assert_eq!(lines, ["name\r", "quit", "", "last"]);
        assert!(input.is_pending(), "the end counts as input");
    }

    #[test]
    fn the_first_byte_of_a_line_is_noticed_and_not_taken() {
        let input = Input::default();
        assert!(!input.is_pending());
        input.push(b"na");
        assert!(input.is_pending());
        input.push(b"me\nversion");
        assert_eq!(input.next_line().as_deref(), Some("name"));
        assert!(input.is_pending());
    }
}
