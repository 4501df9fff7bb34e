//! The terminal while a game is on it: taken over on entry, given back in every case.

use std::io::{self, Stdout, Write, stdout};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
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

    /// Shows rows of text from the top left corner.
    pub fn show(&mut self, rows: &[String]) -> io::Result<()> {
        let mut picture = String::new();
        for row in rows {
            picture += row;
            picture += "\x1b[K\r\n";
        }
        execute!(self.out, MoveTo(0, 0))?;
        self.out.write_all(picture.as_bytes())?;
        execute!(self.out, Clear(ClearType::FromCursorDown))?;
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

/// Errors are ignored: there is nobody left to tell.
fn give_back() {
    let _ = execute!(stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}
