//! Who may retake a ko at once.
//!
//! After a capture of one stone that could be retaken by one stone, the retaking move is banned
//! for one turn. A side lifts the ban by a threat elsewhere that must be answered, so all that a
//! local search needs to know is how many such threats each side has: none, a number, or no end
//! of them. Whoever has no end of them is the ko master. A retake by threat uses one up; any
//! other local move or pass lets the ban lapse.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How many times a side may retake a ko against the ban.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Threats(u8);

impl Threats {
    /// No threats: every ban holds.
    pub const NONE: Threats = Threats(0);
    /// More threats than any fight can use.
    pub const ENDLESS: Threats = Threats(u8::MAX);

    /// This many threats; 255 and more count as endless.
    pub fn new(count: usize) -> Threats {
        Threats(u8::try_from(count).unwrap_or(u8::MAX))
    }

    /// The number, if there is an end to them.
    pub fn count(self) -> Option<usize> {
        (self != Self::ENDLESS).then_some(self.0 as usize)
    }

    pub(crate) fn byte(self) -> u8 {
        self.0
    }

    /// What is left after one retake; `None` if there was none to use.
    pub(crate) fn spend(self) -> Option<Threats> {
        match self.0 {
            0 => None,
            u8::MAX => Some(self),
            some => Some(Threats(some - 1)),
        }
    }
}

/// The ko threats of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ko {
    /// The threats of the side that wants to capture.
    pub attacker: Threats,
    /// The threats of the side that wants to live.
    pub defender: Threats,
}

impl Ko {
    /// The attacker retakes any ko at once: the question "is the group safe?" is asked this way.
    pub const ATTACKER: Ko = Ko {
        attacker: Threats::ENDLESS,
        defender: Threats::NONE,
    };
    /// Neither side has a threat.
    pub const NOBODY: Ko = Ko {
        attacker: Threats::NONE,
        defender: Threats::NONE,
    };
    /// The defender retakes any ko at once.
    pub const DEFENDER: Ko = Ko {
        attacker: Threats::NONE,
        defender: Threats::ENDLESS,
    };
    /// The three rules with a name, from the best for the attacker to the worst.
    pub const NAMED: [Ko; 3] = [Ko::ATTACKER, Ko::NOBODY, Ko::DEFENDER];
}

impl fmt::Display for Ko {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Ko::ATTACKER => f.write_str("attacker"),
            Ko::NOBODY => f.write_str("nobody"),
            Ko::DEFENDER => f.write_str("defender"),
            Ko { attacker, defender } => write!(f, "{}:{}", attacker.0, defender.0),
        }
    }
}

/// A ko rule that is none of the three names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown ko master {0:?}: expected attacker, nobody or defender")]
pub struct UnknownKo(String);

impl FromStr for Ko {
    type Err = UnknownKo;

    fn from_str(name: &str) -> Result<Ko, UnknownKo> {
        match name {
            "attacker" => Ok(Ko::ATTACKER),
            "nobody" => Ok(Ko::NOBODY),
            "defender" => Ok(Ko::DEFENDER),
            _ => Err(UnknownKo(name.to_owned())),
        }
    }
}
