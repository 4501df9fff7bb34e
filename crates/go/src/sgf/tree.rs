//! A game as a tree of nodes with properties.

use super::{Place, Problem, SgfError};
use crate::{BoardSize, Color, Game, Move, Point, PointSet};

/// Boards up to this side write a pass as the point one beyond their edge.
const LARGEST_WITH_TT_PASS: usize = 19;

/// A node of a [`Tree`]. Numbered in the order of the file for trees that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(usize);

impl NodeId {
    /// The node's number in the order of its making: 0 for the root.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A property: its name and its values, as text without escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Capital letters.
    pub name: String,
    /// At least one value, which may be empty.
    pub values: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    properties: Vec<Property>,
}

/// A game with its variations. There is always a root.
#[derive(Clone, Debug)]
pub struct Tree {
    number: usize,
    nodes: Vec<Node>,
}

impl Tree {
    /// A tree with one node that says it is a game of Go on a board of this size, in UTF-8.
    pub fn new(size: BoardSize) -> Tree {
        let mut tree = Tree::empty(1);
        let root = tree.root();
        tree.set_text(root, "FF", "4");
        tree.set_text(root, "GM", "1");
        tree.set_text(root, "CA", "UTF-8");
        tree.set_text(root, "AP", concat!("Tengen:", env!("CARGO_PKG_VERSION")));
        tree.set_text(root, "SZ", &size.get().to_string());
        tree
    }

    /// The record of a game since its anchor: the position there, then the moves.
    pub fn from_game(game: &Game) -> Tree {
        let mut tree = Tree::new(game.size());
        let root = tree.root();
        tree.set_text(root, "KM", &game.komi().to_string());
        if game.handicap() > 0 {
            tree.set_text(root, "HA", &game.handicap().to_string());
        }
        let start = &game.positions()[0];
        for (name, color) in [("AB", Color::Black), ("AW", Color::White)] {
            if !start.of(color).is_empty() {
                tree.set_points(root, name, start.of(color).iter());
            }
        }
        let first = game
            .moves()
            .next()
            .map_or(game.to_move(), |(color, _)| color);
        let is_setup = !start.of(Color::Black).is_empty() || !start.of(Color::White).is_empty();
        if is_setup || first == Color::White {
            tree.set_text(root, "PL", color_letter(first));
        }
        let mut last = root;
        for (color, mv) in game.moves() {
            last = tree.add_move(last, color, mv);
        }
        tree
    }

    /// A tree with an empty root, the `number`th of its collection.
    pub(super) fn empty(number: usize) -> Tree {
        Tree {
            number,
            nodes: vec![Node::default()],
        }
    }

    /// Which game of its collection this is, counted from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The first node.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// Every node, in the order of their making: a parent before its children.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// The node before this one; none before the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0].parent
    }

    /// The nodes after this one: the main continuation first, then variations.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[node.0].children
    }

    /// The nodes from the root to this one, both included.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> =
            std::iter::successors(Some(node), |&node| self.parent(node)).collect();
        path.reverse();
        path
    }

    /// The root and all first continuations.
    pub fn main_line(&self) -> Vec<NodeId> {
        let first = |&node: &NodeId| self.children(node).first().copied();
        std::iter::successors(Some(self.root()), first).collect()
    }

    /// Adds a node after all other children of `parent`.
    pub fn add_child(&mut self, parent: NodeId) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes.push(Node {
            parent: Some(parent),
            ..Node::default()
        });
        self.nodes[parent.0].children.push(id);
        id
    }

    /// Adds a node with a move.
    pub fn add_move(&mut self, parent: NodeId, color: Color, mv: Move) -> NodeId {
        let id = self.add_child(parent);
        let value = mv
            .point()
            .map(|point| self.point_text(point))
            .unwrap_or_default();
        self.set_text(id, color_letter(color), &value);
        id
    }

    /// Makes a node the main continuation of its parent.
    pub fn make_first(&mut self, node: NodeId) {
        if let Some(parent) = self.parent(node) {
            let children = &mut self.nodes[parent.0].children;
            if let Some(at) = children.iter().position(|&child| child == node) {
                children[..=at].rotate_right(1);
            }
        }
    }

    /// Cuts a node and what follows off: no walk from the root meets it, and it is not written. Other nodes keep their
    /// numbers. The root stays.
    pub fn detach(&mut self, node: NodeId) {
        if let Some(parent) = self.nodes[node.0].parent.take() {
            self.nodes[parent.0].children.retain(|&child| child != node);
        }
    }

    /// The properties of a node, in the order of the file.
    pub fn properties(&self, node: NodeId) -> &[Property] {
        &self.nodes[node.0].properties
    }

    /// All values of a property, none if the node does not have it.
    pub fn values<'a>(&'a self, node: NodeId, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.properties(node)
            .iter()
            .filter(move |property| property.name == name)
            .flat_map(|property| property.values.iter().map(String::as_str))
    }

    /// The first value of a property.
    pub fn text<'a>(&'a self, node: NodeId, name: &'a str) -> Option<&'a str> {
        self.values(node, name).next()
    }

    /// The points a property lists: setup stones, marks, territory. Rectangles are spelt out.
    pub fn points(&self, node: NodeId, name: &str) -> Result<PointSet, SgfError> {
        let size = self.size()?;
        let mut points = PointSet::EMPTY;
        for value in self.values(node, name).filter(|value| !value.is_empty()) {
            let refuse = || self.bad_value(node, name, value, "a point of the board");
            let (from, to) = value.split_once(':').unwrap_or((value, value));
            let from = parse_point(size, from).ok_or_else(refuse)?;
            let to = parse_point(size, to).ok_or_else(refuse)?;
            let columns = from.x().min(to.x())..=from.x().max(to.x());
            for x in columns {
                let rows = from.y().min(to.y())..=from.y().max(to.y());
                points.extend(rows.map(|y| Point::new(x, y)));
            }
        }
        Ok(points)
    }

    /// The moves of a node: one in a proper file, none in setup and comment nodes.
    pub fn moves(&self, node: NodeId) -> Result<Vec<(Color, Move)>, SgfError> {
        let mut moves = Vec::new();
        for property in self.properties(node) {
            let color = match property.name.as_str() {
                "B" => Color::Black,
                "W" => Color::White,
                _ => continue,
            };
            for value in &property.values {
                let mv = parse_move(self.size()?, value).ok_or_else(|| {
                    self.bad_value(node, &property.name, value, "a move on the board")
                })?;
                moves.push((color, mv));
            }
        }
        Ok(moves)
    }

    /// Gives a property these values, replacing what it had. Without values it goes away.
    pub fn set(&mut self, node: NodeId, name: &str, values: Vec<String>) {
        let properties = &mut self.nodes[node.0].properties;
        let at = properties.iter().position(|property| property.name == name);
        match at {
            Some(at) if values.is_empty() => {
                properties.remove(at);
            }
            Some(at) => properties[at].values = values,
            None if values.is_empty() => {}
            None => properties.push(Property {
                name: name.to_owned(),
                values,
            }),
        }
    }

    /// Gives a property one value, as plain text: escaping is the writer's work.
    pub fn set_text(&mut self, node: NodeId, name: &str, text: &str) {
        self.set(node, name, vec![text.to_owned()]);
    }

    /// Gives a property a list of points, such as `AB` or `MA`.
    pub fn set_points(
        &mut self,
        node: NodeId,
        name: &str,
        points: impl IntoIterator<Item = Point>,
    ) {
        let mut values: Vec<String> = points.into_iter().map(|p| self.point_text(p)).collect();
        values.sort_unstable();
        self.set(node, name, values);
    }

    /// Writes texts on points (`LB`).
    pub fn set_labels<'a>(
        &mut self,
        node: NodeId,
        labels: impl IntoIterator<Item = (Point, &'a str)>,
    ) {
        let labels = labels.into_iter();
        let values = labels.map(|(point, text)| format!("{}:{text}", self.point_text(point)));
        let values = values.collect();
        self.set(node, "LB", values);
    }

    pub(super) fn set_properties(&mut self, node: NodeId, properties: Vec<Property>) {
        self.nodes[node.0].properties = properties;
    }

    /// An error about a property of a node.
    pub(super) fn error(&self, node: NodeId, name: &str, problem: Problem) -> SgfError {
        SgfError {
            place: Place {
                game: self.number,
                node: node.0 + 1,
                property: Some(name.to_owned()),
                line: None,
            },
            problem,
        }
    }

    pub(super) fn bad_value(
        &self,
        node: NodeId,
        name: &str,
        value: &str,
        expected: &'static str,
    ) -> SgfError {
        let value = value.to_owned();
        self.error(node, name, Problem::BadValue { value, expected })
    }

    /// SGF counts rows from the top.
    fn point_text(&self, point: Point) -> String {
        let side = self.size().unwrap_or(BoardSize::NINETEEN).get();
        let row = (side - 1).saturating_sub(point.y());
        [point.x(), row]
            .map(|at| (b'a' + at as u8) as char)
            .iter()
            .collect()
    }
}

/// The letter of a colour, also the name of its move property.
pub(super) fn color_letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

fn parse_point(size: BoardSize, text: &str) -> Option<Point> {
    let &[column, row] = text.as_bytes() else {
        return None;
    };
    let x = usize::from(column.checked_sub(b'a')?);
    let y_from_top = usize::from(row.checked_sub(b'a')?);
    if x >= size.get() || y_from_top >= size.get() {
        return None;
    }
    Some(Point::new(x, size.get() - 1 - y_from_top))
}

fn parse_move(size: BoardSize, text: &str) -> Option<Move> {
    let is_pass = text.is_empty() || (text == "tt" && size.get() <= LARGEST_WITH_TT_PASS);
    if is_pass {
        return Some(Move::Pass);
    }
    parse_point(size, text).map(Move::Play)
}
