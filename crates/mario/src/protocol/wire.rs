//! Ties an end of the protocol to a pair of streams: standard input and output, a TCP
//! connection, or anything else that reads and writes bytes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::protocol::message::{ClientMessage, MOST_BYTES, MessageError, decode, encode};
use crate::protocol::{BrainError, Client, Server, Situation, Wish};
use crate::speed::FRAMES_PER_SECOND;

/// How the server's clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As the console's, so many times as fast.
    Console {
        /// 1 for the console's own speed.
        times: u32,
    },
    /// The clock stands at each new pill until the player has spoken about it, and runs as fast
    /// as it can otherwise.
    Patient,
}

/// Why a conversation broke off.
#[derive(Debug, Error)]
pub enum WireError {
    /// The stream failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The other side sent something that is no message.
    #[error("message {number} of the other side: {source}")]
    Message {
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        source: MessageError,
    },
    /// The player on this side failed.
    #[error("{0}")]
    Brain(BrainError),
    /// The other side left before the game was over.
    #[error("the other side left before the game was over")]
    HungUp,
}

/// Reads one line, without its newline; `None` at the end of the stream.
fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    // One byte more than allowed, so that `decode` sees that there is too much.
    let read = reader
        .by_ref()
        .take(MOST_BYTES as u64 + 1)
        .read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(Some(line))
}

fn parse<M: std::str::FromStr<Err = MessageError>>(
    line: &[u8],
    number: usize,
) -> Result<M, WireError> {
    decode(line)
        .and_then(|line| line.parse())
        .map_err(|source| WireError::Message { number, source })
}

/// Serves one game over a pair of streams, to its end. What the other side still says is in the [`Rest`].
pub fn serve(
    server: &mut Server,
    reader: impl Read + Send + 'static,
    mut writer: impl Write,
    pace: Pace,
) -> Result<Rest, WireError> {
    let lines = lines_of(reader);
    let mut numbers = 1..;
    for message in server.greeting() {
        writer.write_all(&encode(&message))?;
    }
    writer.flush()?;
    let mut next_frame = Instant::now();
    while !server.is_over() {
        let wait = match pace {
            _ if !server.is_running() => None,
            Pace::Patient if server.awaits_answer() => None,
            Pace::Patient => Some(Duration::ZERO),
            Pace::Console { .. } => Some(next_frame.saturating_duration_since(Instant::now())),
        };
        if let Some(line) = next_line(&lines, wait)? {
            let message: ClientMessage = parse(&line?, numbers.next().unwrap_or_default())?;
            for answer in server.receive(message) {
                writer.write_all(&encode(&answer))?;
            }
            writer.flush()?;
            continue;
        }
        for message in server.tick() {
            writer.write_all(&encode(&message))?;
        }
        writer.flush()?;
        if let Pace::Console { times } = pace {
            next_frame = next_frame.max(Instant::now() - Duration::from_secs(1))
                + Duration::from_secs_f64(1.0 / FRAMES_PER_SECOND / f64::from(times.max(1)));
        }
    }
    Ok(Rest(lines))
}

/// What a player says after the end of the game.
pub struct Rest(Lines);

impl Rest {
    /// Reads until the other side leaves, at most for `limit`, and forgets what it says.
    ///
    /// A connection that is closed with something unread is reset, and a slow player would never read who has won.
    pub fn read_to_end(self, limit: Duration) {
        let end = Instant::now() + limit;
        while self
            .0
            .recv_timeout(end.saturating_duration_since(Instant::now()))
            .is_ok()
        {}
    }
}

type Lines = Receiver<io::Result<Vec<u8>>>;

/// Lines as they arrive, read on a thread of their own so that the clock need not wait.
fn lines_of(reader: impl Read + Send + 'static) -> Lines {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        while let Some(line) = read_line(&mut reader).transpose() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A line that arrives within `wait`, or ever if there is none.
fn next_line(
    lines: &Lines,
    wait: Option<Duration>,
) -> Result<Option<io::Result<Vec<u8>>>, WireError> {
    match wait {
        None => lines.recv().map(Some).map_err(|_| WireError::HungUp),
        Some(wait) => match lines.recv_timeout(wait) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(WireError::HungUp),
        },
    }
}

/// Plays one game over a pair of streams, to its end; whether it was won.
pub fn play<F: FnMut(&Situation) -> Wish>(
    client: &mut Client<F>,
    reader: impl Read,
    mut writer: impl Write,
) -> Result<bool, WireError> {
    let mut reader = BufReader::new(reader);
    for number in 1.. {
        let Some(line) = read_line(&mut reader)? else {
            break;
        };
        let answers = client.receive(parse(&line, number)?);
        for answer in answers.map_err(WireError::Brain)? {
            writer.write_all(&encode(&answer))?;
        }
        writer.flush()?;
        if let Some(won) = client.won() {
            return Ok(won);
        }
    }
    Err(WireError::HungUp)
}
