//! The terminal while a game is on it: taken over on entry, given back in every case.

use std::io::{self, Stdout, Write, stdout};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, MoveToNextLine, Show};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};

/// A terminal in raw mode on its second screen. Dropping it gives the terminal back, on a panic
/// too: the hook runs before the message is printed.
pub struct Stage {
    out: Stdout,
}

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Left,
    Right,
    Down,
    Clockwise,
    Counterclockwise,
    Pause,
    Quit,
}

impl Stage {
    pub fn enter() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        enable_raw_mode()?;
        let mut out = stdout();
        execute!(out, EnterAlternateScreen, Hide, Clear(ClearType::All))?;
        Ok(Self { out })
    }

    /// Shows rows of text from the top left corner, or, where they do not fit, how large the terminal must be.
    pub fn show(&mut self, rows: &[String]) -> io::Result<()> {
        let rows = match size() {
            Ok(space) => fitting(rows, space),
            Err(_) => rows.to_vec(),
        };
        // Without a line end after the last row: it would scroll a terminal that is just tall enough.
        let picture = rows.join("\x1b[K\r\n") + "\x1b[K";
        execute!(self.out, MoveTo(0, 0))?;
        self.out.write_all(picture.as_bytes())?;
        if rows.len() < usize::from(size().map_or(u16::MAX, |space| space.1)) {
            execute!(
                self.out,
                MoveToNextLine(1),
                Clear(ClearType::FromCursorDown)
            )?;
        }
        self.out.flush()
    }

    /// The next key within `wait`, if one is pressed that means something.
    pub fn key(&mut self, wait: Duration) -> io::Result<Option<Key>> {
        if !poll(wait)? {
            return Ok(None);
        }
        let Event::Key(key) = read()? else {
            return Ok(None);
        };
        if key.kind == KeyEventKind::Release {
            return Ok(None);
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        Ok(match key.code {
            KeyCode::Char('c' | 'd') if control => Some(Key::Quit),
            KeyCode::Left | KeyCode::Char('h' | 'a') => Some(Key::Left),
            KeyCode::Right | KeyCode::Char('l' | 'd') => Some(Key::Right),
            KeyCode::Down | KeyCode::Char('j' | 's') => Some(Key::Down),
            KeyCode::Up | KeyCode::Char('x' | 'k' | ' ') => Some(Key::Clockwise),
            KeyCode::Char('z' | 'y') => Some(Key::Counterclockwise),
            KeyCode::Char('p') => Some(Key::Pause),
            KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
            _ => None,
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        give_back();
    }
}

/// The rows, or a sentence instead of a picture that would be cut off. `space` is columns and lines.
fn fitting(rows: &[String], space: (u16, u16)) -> Vec<String> {
    let wide = rows.iter().map(|row| visible_width(row)).max().unwrap_or(0);
    if wide <= usize::from(space.0) && rows.len() <= usize::from(space.1) {
        return rows.to_vec();
    }
    let sentence = format!(
        "This terminal is {} x {}; the game needs {wide} x {}. Make it larger, or q to quit.",
        space.0,
        space.1,
        rows.len()
    );
    let letters: Vec<char> = sentence.chars().collect();
    let lines = letters.chunks(usize::from(space.0).max(1));
    let lines = lines.take(usize::from(space.1));
    lines.map(|line| line.iter().collect()).collect()
}

/// Characters that are seen: all but the codes for colours.
fn visible_width(row: &str) -> usize {
    let mut in_code = false;
    let is_seen = |letter: char| {
        in_code |= letter == '\x1b';
        let seen = !in_code;
        in_code &= letter != 'm';
        seen
    };
    row.chars().map(is_seen).filter(|&seen| seen).count()
}

/// Errors are ignored: the program ends anyway.
fn give_back() {
    let _ = execute!(stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_does_not_fit_is_replaced_by_a_sentence() {
        let rows = vec![format!("\x1b[1;38;5;9m@@\x1b[0m{}", " ".repeat(38)); 18];
        assert_eq!(fitting(&rows, (40, 18)), rows);
        for space in [(39, 18), (40, 17), (1, 1), (0, 0)] {
            let shown = fitting(&rows, space);
            assert!(shown.len() <= usize::from(space.1), "{space:?}");
            let fits = |row: &String| row.chars().count() <= usize::from(space.0).max(1);
            assert!(shown.iter().all(fits), "{space:?}");
            assert!(!shown.concat().contains('@'));
        }
        let shown = fitting(&rows, (80, 17)).concat();
        assert!(shown.contains("80 x 17") && shown.contains("40 x 18"));
    }
}
