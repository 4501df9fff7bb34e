//! From bytes to trees.

use sgf_parse::{GameTree, SgfNode, go::Prop};

use super::{
    NodeId, Place, Problem, Property, SgfError, Tree,
    decode::decode,
    scan::{self, Scanned},
};

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
    scan::games(text)?
        .into_iter()
        .enumerate()
        .map(|(index, game)| read_game(index + 1, game))
        .collect()
}

fn read_game(number: usize, scanned: Scanned) -> Result<Tree, SgfError> {
    let error = |problem, property: Option<&str>| SgfError {
        place: Place {
            game: number,
            node: 1,
            property: property.map(str::to_owned),
            line: None,
        },
        problem,
    };
    let parsed = sgf_parse::parse(&scanned.clean).map_err(|e| error(Problem::Parser(e), None))?;
    match parsed.into_iter().next() {
        Some(GameTree::GoGame(root)) => Ok(tree_from(number, root, scanned.nodes)),
        Some(GameTree::Unknown(root)) => {
            let game = root.get_property("GM").map(ToString::to_string);
            let value = game.unwrap_or_default();
            let value = value.trim_start_matches("GM[").trim_end_matches(']');
            Err(error(Problem::NotGo(value.to_owned()), Some("GM")))
        }
        None => Err(error(Problem::NoGame, None)),
    }
}

/// The parser's tree with the scanner's properties: both number nodes in the order of the
/// text. Nodes are taken off one by one, so that not even the longest game overflows the stack
/// when the parser's nested nodes are dropped.
fn tree_from(number: usize, root: SgfNode<Prop>, properties: Vec<Vec<Property>>) -> Tree {
    let mut tree = Tree::empty(number);
    let mut open: Vec<(Option<NodeId>, SgfNode<Prop>)> = vec![(None, root)];
    let mut properties = properties.into_iter();
    while let Some((parent, mut node)) = open.pop() {
        let id = match parent {
            Some(parent) => tree.add_child(parent),
            None => tree.root(),
        };
        tree.set_properties(id, properties.next().unwrap_or_default());
        let children = std::mem::take(&mut node.children);
        open.extend(children.into_iter().rev().map(|child| (Some(id), child)));
    }
    tree
}
