//! From trees to text.

use std::fmt;

use super::{NodeId, Tree};

/// Nodes a line: short enough for any mailer, long enough to skim.
const NODES_PER_LINE: usize = 10;

/// Values of these properties are two parts with a colon between; further colons are text.
const COMPOSED: [&str; 5] = ["LB", "AP", "FG", "AR", "LN"];

enum Piece {
    Node(NodeId),
    Open,
    Close,
}

impl fmt::Display for Tree {
    /// Writes the game in FF\[4\]. A collection is its games one after the other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = vec![Piece::Close, Piece::Node(self.root()), Piece::Open];
        let mut nodes_on_line = 0;
        while let Some(piece) = pieces.pop() {
            match piece {
                Piece::Open => f.write_str("(")?,
                Piece::Close => f.write_str(")")?,
                Piece::Node(node) => {
                    if nodes_on_line == NODES_PER_LINE {
                        f.write_str("\n")?;
                        nodes_on_line = 0;
                    }
                    nodes_on_line += 1;
                    self.write_node(node, f)?;
                    if let [only] = self.children(node) {
                        pieces.push(Piece::Node(*only));
                        continue;
                    }
                    for &child in self.children(node).iter().rev() {
                        pieces.extend([Piece::Close, Piece::Node(child), Piece::Open]);
                    }
                }
            }
        }
        f.write_str("\n")
    }
}

impl Tree {
    fn write_node(&self, node: NodeId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(";")?;
        for property in self.properties(node) {
            f.write_str(&property.name)?;
            let is_composed = COMPOSED.contains(&property.name.as_str());
            for value in &property.values {
                write!(f, "[{}]", Escaped { value, is_composed })?;
            }
        }
        Ok(())
    }
}

struct Escaped<'a> {
    value: &'a str,
    is_composed: bool,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut colons = 0;
        for char in self.value.chars() {
            colons += usize::from(char == ':');
            if matches!(char, ']' | '\\') || (char == ':' && self.is_composed && colons > 1) {
                f.write_str("\\")?;
            }
            write!(f, "{char}")?;
        }
        Ok(())
    }
}
