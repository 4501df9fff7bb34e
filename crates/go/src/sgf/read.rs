//! From bytes to trees.

use sgf_parse::{GameTree, SgfNode, go::Prop};

use super::{NodeId, Place, Problem, Property, SgfError, Tree, decode::decode, scan};

/// The games of a file.
#[derive(Clone, Debug)]
pub struct Collection {
    /// The games, in the order of the file. At least one.
    pub games: Vec<Tree>,
    /// The name of the encoding the file was read in.
    pub encoding: &'static str,
    /// Whether bytes that mean nothing in that encoding were replaced.
    pub had_encoding_errors: bool,
}

/// Reads a file: any encoding, with or without byte order mark, any line ends.
pub fn read(bytes: &[u8]) -> Result<Collection, SgfError> {
    let decoded = decode(bytes);
    Ok(Collection {
        games: read_text(&decoded.text)?,
        encoding: decoded.encoding,
        had_encoding_errors: decoded.had_errors,
    })
}

/// Reads the games of a text.
pub fn read_text(text: &str) -> Result<Vec<Tree>, SgfError> {
    let clean = scan::games(text)?;
    clean
        .iter()
        .enumerate()
        .map(|(index, game)| read_game(index + 1, game))
        .collect()
}

fn read_game(number: usize, clean_text: &str) -> Result<Tree, SgfError> {
    let error = |problem, property: Option<&str>| SgfError {
        place: Place {
            game: number,
            node: 1,
            property: property.map(str::to_owned),
            line: None,
        },
        problem,
    };
    let parsed = sgf_parse::parse(clean_text).map_err(|e| error(Problem::Parser(e), None))?;
    match parsed.into_iter().next() {
        Some(GameTree::GoGame(root)) => Ok(tree_from(number, root)),
        Some(GameTree::Unknown(root)) => {
            let game = root.get_property("GM").map(ToString::to_string);
            let value = game.unwrap_or_default();
            let value = value.trim_start_matches("GM[").trim_end_matches(']');
            Err(error(Problem::NotGo(value.to_owned()), Some("GM")))
        }
        None => Err(error(Problem::NoGame, None)),
    }
}

/// Nodes are taken off one by one, so that not even the longest game overflows the stack when
/// the parser's nested nodes are dropped.
fn tree_from(number: usize, root: SgfNode<Prop>) -> Tree {
    let mut tree = Tree::empty(number);
    let mut open: Vec<(Option<NodeId>, SgfNode<Prop>)> = vec![(None, root)];
    while let Some((parent, mut node)) = open.pop() {
        let id = match parent {
            Some(parent) => tree.add_child(parent),
            None => tree.root(),
        };
        tree.set_properties(id, node.properties.iter().map(property_from));
        let children = std::mem::take(&mut node.children);
        open.extend(children.into_iter().rev().map(|child| (Some(id), child)));
    }
    tree
}

/// The values as text, without escapes. Lists come from sets without an order; they are sorted
/// so that the same file always reads the same.
fn property_from(prop: &Prop) -> Property {
    match prop {
        Prop::Unknown(name, values) | Prop::Invalid(name, values) => Property {
            name: name.clone(),
            values: values.clone(),
        },
        // Few programs know the way to write two sides of a square.
        Prop::SZ((columns, rows)) if columns == rows => Property {
            name: "SZ".to_owned(),
            values: vec![columns.to_string()],
        },
        known => {
            let written = known.to_string();
            let (name, values) = written.split_once('[').unwrap_or((&written, ""));
            let mut values = split_values(values);
            values.sort_unstable();
            Property {
                name: name.to_owned(),
                values,
            }
        }
    }
}

/// Undoes `value][value]`.
fn split_values(written: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut chars = written.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => value.extend(chars.next()),
            ']' => {
                values.push(std::mem::take(&mut value));
                chars.next();
            }
            _ => value.push(char),
        }
    }
    values
}
