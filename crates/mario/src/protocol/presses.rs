//! Button presses as text: one press a frame, `(la)` for several at once, `()` to wait.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::reach::Button;
use crate::reach::timed::Held;

/// The most frames one message may fill.
pub(crate) const MOST_FRAMES: usize = 624;

/// What happens to a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// Down if it was up, up if it was down.
    Toggle,
    /// Down: `+`.
    Close,
    /// Up: `-`.
    Open,
}

/// What happens to the buttons, frame by frame.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Presses(pub Vec<Vec<(Press, Button)>>);

/// Why a text is no list of presses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PressesError {
    /// A character that does not belong there.
    #[error("character {position} of the presses is {found:?}: expected {expected}")]
    Unexpected {
        /// Counted from 1.
        position: usize,
        /// What was found.
        found: char,
        /// What may stand there.
        expected: &'static str,
    },
    /// The text stops within a group or after a sign.
    #[error("the presses end too early: expected {0}")]
    Unfinished(&'static str),
    /// One button twice in a frame.
    #[error("character {position} of the presses names a button a second time in its frame")]
    Twice {
        /// Counted from 1.
        position: usize,
    },
    /// Too many frames.
    #[error("the presses fill {0} frames, more than 624")]
    TooMany(usize),
}

impl FromStr for Presses {
    type Err = PressesError;

    fn from_str(text: &str) -> Result<Self, PressesError> {
        const BUTTON: &str = "one of l r d a b";
        let mut frames: Vec<Vec<(Press, Button)>> = Vec::new();
        let mut group: Option<Vec<(Press, Button)>> = None;
        let mut sign: Option<Press> = None;
        for (index, found) in text.chars().enumerate() {
            let position = index + 1;
            let unexpected = |expected| PressesError::Unexpected {
                position,
                found,
                expected,
            };
            match found {
                '+' | '-' if sign.is_none() => {
                    sign = Some(if found == '+' {
                        Press::Close
                    } else {
                        Press::Open
                    });
                }
                _ if let Some(button) = Button::from_letter(found) => {
                    let press = (sign.take().unwrap_or(Press::Toggle), button);
                    match &mut group {
                        None => frames.push(vec![press]),
                        Some(group) if group.iter().any(|(_, other)| *other == button) => {
                            return Err(PressesError::Twice { position });
                        }
                        Some(group) => group.push(press),
                    }
                }
                _ if sign.is_some() => return Err(unexpected(BUTTON)),
                '(' if group.is_none() => group = Some(Vec::new()),
                ')' if let Some(done) = group.take() => frames.push(done),
                _ => return Err(unexpected("a button, a sign + or -, or a group in ( )")),
            }
        }
        if sign.is_some() {
            return Err(PressesError::Unfinished(BUTTON));
        }
        if group.is_some() {
            return Err(PressesError::Unfinished(")"));
        }
        if frames.len() > MOST_FRAMES {
            return Err(PressesError::TooMany(frames.len()));
        }
        Ok(Self(frames))
    }
}

impl fmt::Display for Presses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for frame in &self.0 {
            let alone = frame.len() == 1;
            if !alone {
                f.write_str("(")?;
            }
            for (press, button) in frame {
                match press {
                    Press::Toggle => {}
                    Press::Close => f.write_str("+")?,
                    Press::Open => f.write_str("-")?,
                }
                write!(f, "{}", button.letter())?;
            }
            if !alone {
                f.write_str(")")?;
            }
        }
        Ok(())
    }
}

impl Presses {
    /// The presses that hold exactly the given buttons in each frame, from no button held.
    pub(crate) fn holding(schedule: &[Held]) -> Self {
        let mut before = Held::NONE;
        let frames = schedule.iter().map(|&held| {
            let changed = |button: &Button| held.holds(*button) != before.holds(*button);
            let spell = |button| {
                (
                    if held.holds(button) {
                        Press::Close
                    } else {
                        Press::Open
                    },
                    button,
                )
            };
            let frame = Button::ALL.into_iter().filter(changed).map(spell).collect();
            before = held;
            frame
        });
        Self(frames.collect())
    }
}

/// The buttons held after one frame's presses.
pub fn apply(held: Held, frame: &[(Press, Button)]) -> Held {
    frame
        .iter()
        .fold(held, |held, &(press, button)| match press {
            Press::Close => held.with(button),
            Press::Open => held.without(button),
            Press::Toggle if held.holds(button) => held.without(button),
            Press::Toggle => held.with(button),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_read_and_print() {
        for text in ["", "()", "(la)(la)dddddddddddd", "+l-l(+a-b)()d"] {
            let presses: Presses = text.parse().unwrap();
            assert_eq!(presses.to_string(), text);
        }
        let one: Presses = "(l)".parse().unwrap();
        assert_eq!(one.to_string(), "l");
        let toggled: Presses = "(la)(la)d".parse().unwrap();
        let mut held = Held::NONE;
        let lefts = toggled.0.iter().map(|frame| {
            held = apply(held, frame);
            held.holds(Button::Left)
        });
        assert_eq!(lefts.collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn bad_presses_are_refused_with_their_position() {
        for (text, complaint) in [
            ("lx", "character 2 of the presses is 'x'"),
            ("(l", "the presses end too early: expected )"),
            ("l+", "the presses end too early: expected one of"),
            ("((l))", "character 2 of the presses is '('"),
            (")", "character 1 of the presses is ')'"),
            (
                "(ll)",
                "character 3 of the presses names a button a second time",
            ),
            ("+(l)", "character 2 of the presses is '('"),
        ] {
            let error = text.parse::<Presses>().unwrap_err().to_string();
            assert!(error.starts_with(complaint), "{error}");
        }
        assert_eq!(
            "l".repeat(625).parse::<Presses>(),
            Err(PressesError::TooMany(625))
        );
        assert!("l".repeat(624).parse::<Presses>().is_ok());
    }
}
