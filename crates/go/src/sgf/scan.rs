//! Cuts a text into games and finds where it is damaged.
//!
//! `sgf-parse` reads one clean game tree but does not say where a damaged one went wrong, so
//! this pass runs first: it knows the place of everything it meets, skips what mailers and
//! web pages leave around games, and hands on each game with line breaks and names as FF\[4\]
//! writes them. It also keeps the properties as they stand, because the parser turns lists
//! into sets without an order.

use std::{iter::Peekable, str::Chars};

use super::{Place, Problem, Property, SgfError};

/// A game without damage.
#[derive(Default)]
pub(super) struct Scanned {
    pub clean: String,
    /// The properties of each node, in the order of the text.
    pub nodes: Vec<Vec<Property>>,
}

/// Each game of a text.
pub(super) fn games(text: &str) -> Result<Vec<Scanned>, SgfError> {
    let mut scanner = Scanner {
        chars: text.chars().peekable(),
        line: 1,
        place: Place::default(),
        game: Scanned::default(),
    };
    let mut games = Vec::new();
    while scanner.skip_to_game() {
        scanner.place = Place {
            game: games.len() + 1,
            ..Place::default()
        };
        scanner.game()?;
        games.push(std::mem::take(&mut scanner.game));
    }
    if games.is_empty() {
        scanner.place.game = 1;
        return Err(scanner.error(Problem::NoGame));
    }
    Ok(games)
}

/// What may come next inside a game.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    /// After `(`: a node.
    Node,
    /// In a node: properties, another node, variations, the end.
    Anything,
    /// After a variation: another one, or the end.
    Variation,
}

struct Scanner<'a> {
    chars: Peekable<Chars<'a>>,
    line: usize,
    place: Place,
    game: Scanned,
}

impl Scanner<'_> {
    /// Stops after the `(` of `(;`; anything else between games is skipped.
    fn skip_to_game(&mut self) -> bool {
        while let Some(char) = self.next() {
            if char == '(' {
                self.skip_whitespace();
                if self.chars.peek() == Some(&';') {
                    return true;
                }
            }
        }
        false
    }

    fn game(&mut self) -> Result<(), SgfError> {
        self.game.clean.push('(');
        let mut depth = 1;
        let mut expect = Expect::Node;
        while depth > 0 {
            self.place.property = None;
            self.skip_whitespace();
            let Some(char) = self.next() else {
                return Err(self.error(Problem::UnclosedGame));
            };
            match (char, expect) {
                (';', Expect::Variation) => return Err(self.error(Problem::NodeAfterVariations)),
                (';', _) => {
                    self.place.node += 1;
                    self.game.nodes.push(Vec::new());
                    self.game.clean.push(';');
                    expect = Expect::Anything;
                }
                ('(' | ')', Expect::Node) => return Err(self.error(Problem::EmptyVariation)),
                ('(', _) => {
                    depth += 1;
                    self.game.clean.push('(');
                    expect = Expect::Node;
                }
                (')', _) => {
                    depth -= 1;
                    self.game.clean.push(')');
                    expect = Expect::Variation;
                }
                ('[', _) => return Err(self.error(Problem::NoName)),
                (letter, Expect::Anything) if letter.is_ascii_alphabetic() => {
                    self.property(letter)?
                }
                (letter, _) if letter.is_ascii_alphabetic() => {
                    return Err(self.error(Problem::OutsideNode));
                }
                _ => return Err(self.error(Problem::Unexpected(char))),
            }
        }
        Ok(())
    }

    fn property(&mut self, first_letter: char) -> Result<(), SgfError> {
        let mut name = String::from(first_letter);
        while let Some(letter) = self.chars.next_if(char::is_ascii_alphabetic) {
            name.push(letter);
        }
        let capitals: String = name.chars().filter(char::is_ascii_uppercase).collect();
        if capitals.is_empty() {
            return Err(self.error(Problem::Unexpected(first_letter)));
        }
        self.game.clean.push_str(&capitals);
        self.place.property = Some(capitals.clone());
        self.skip_whitespace();
        if self.chars.peek() != Some(&'[') {
            return Err(self.error(Problem::NoValue));
        }
        let mut values = Vec::new();
        while self.chars.next_if_eq(&'[').is_some() {
            values.push(self.value()?);
            self.skip_whitespace();
        }
        let name = capitals;
        self.game
            .nodes
            .last_mut()
            .expect("a property stands in a node")
            .push(Property { name, values });
        Ok(())
    }

    /// Copies a value up to its `]` and returns it without escapes. Line breaks become one `\n`
    /// each; escaped ones vanish.
    fn value(&mut self) -> Result<String, SgfError> {
        let mut value = String::new();
        self.game.clean.push('[');
        let opening_line = self.line;
        let unclosed = |scanner: &mut Self| {
            scanner.line = opening_line;
            scanner.error(Problem::UnclosedValue)
        };
        loop {
            match self.next() {
                None => return Err(unclosed(self)),
                Some(']') => break,
                Some('\\') => match self.next() {
                    None => return Err(unclosed(self)),
                    Some('\n') => {}
                    Some(escaped) => {
                        value.push(escaped);
                        self.game.clean.extend(['\\', escaped]);
                    }
                },
                Some(char) => {
                    value.push(char);
                    self.game.clean.push(char);
                }
            }
        }
        self.game.clean.push(']');
        Ok(value)
    }

    fn skip_whitespace(&mut self) {
        while self
            .chars
            .peek()
            .is_some_and(|c| c.is_whitespace() || c.is_control())
        {
            self.next();
        }
    }

    /// The next character; each kind of line break is one `\n`.
    fn next(&mut self) -> Option<char> {
        let char = self.chars.next()?;
        let partner = match char {
            '\r' => '\n',
            '\n' => '\r',
            _ => return Some(char),
        };
        self.chars.next_if_eq(&partner);
        self.line += 1;
        Some('\n')
    }

    fn error(&self, problem: Problem) -> SgfError {
        SgfError {
            place: Place {
                line: Some(self.line),
                ..self.place.clone()
            },
            problem,
        }
    }
}
