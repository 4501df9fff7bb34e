//! What is wrong in a file, and where.

use std::fmt;

use thiserror::Error;

use crate::{Illegal, SetupError};

/// A place in a file. Games and nodes count from 1 in the order of the file; node 0 is the
/// place before a game's first node, game 0 the file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The game in the collection.
    pub game: usize,
    /// The node in the game.
    pub node: usize,
    /// The property of the node, if the problem lies in one.
    pub property: Option<String>,
    /// The line of the text, known for problems of syntax.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.game {
            0 => f.write_str("the file")?,
            game => write!(f, "game {game}")?,
        }
        if self.node > 0 {
            write!(f, ", node {}", self.node)?;
        }
        if let Some(property) = &self.property {
            write!(f, ", property {property}")?;
        }
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum Problem {
    /// The text holds no game.
    #[error("there is no game: expected `(;`")]
    NoGame,
    /// The game is not Go.
    #[error("the game is not Go but GM[{0}]")]
    NotGo(String),
    /// The text ends inside a game.
    #[error("the text ends before the game does: a `)` is missing")]
    UnclosedGame,
    /// The text ends inside a value.
    #[error("the value has no end: a `]` is missing")]
    UnclosedValue,
    /// A property has no value.
    #[error("the property has no value: expected `[`")]
    NoValue,
    /// A value has no property.
    #[error("there is a value without a property name")]
    NoName,
    /// A property stands outside of any node.
    #[error("the property stands outside a node: a `;` is missing")]
    OutsideNode,
    /// A variation starts before the first node of the one around it.
    #[error("a variation starts where a node was expected")]
    EmptyVariation,
    /// A node follows the variations that should have ended the sequence.
    #[error("a node follows after variations")]
    NodeAfterVariations,
    /// A character that means nothing here.
    #[error("`{0}` was not expected")]
    Unexpected(char),
    /// The parser refused the text for another reason.
    #[error("{0}")]
    Parser(sgf_parse::SgfParseError),
    /// A value is not of the kind its property takes.
    #[error("`{value}` is not {expected}")]
    BadValue {
        /// The value in the file.
        value: String,
        /// What the property takes.
        expected: &'static str,
    },
    /// A recorded move cannot be played.
    #[error("{0}")]
    Move(#[from] Illegal),
    /// Setup stones make no position.
    #[error("{0}")]
    Setup(#[from] SetupError),
}

/// A problem and its place.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{place}: {problem}")]
pub struct SgfError {
    pub place: Place,
    #[source]
    pub problem: Problem,
}
