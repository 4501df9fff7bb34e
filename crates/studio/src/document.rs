//! A document: a game record with a place in it, how it is played, and what was thought about it.
//!
//! Documents are the server's. Several tabs may look at one, so every change has a number (`rev`): who asks for a change
//! says which state he saw, and is told the present one when it is another.

use std::collections::{BTreeSet, HashMap};

use go::{
    BoardSize, Color, Game, Komi, Move, Point, Rules, fixed_handicap,
    sgf::{NodeId, SgfError, Tree},
};
use serde::Deserialize;

pub use crate::table::{Level, ProblemMarks, Table, You};
use crate::{
    clock::TurnClock,
    opinion::{Opinion, read_opinion, write_opinion},
    wire::Failure,
};

/// Root property of ours that keeps how a game is played.
const TABLE_PROPERTY: &str = "XTABLE";
/// Nodes a document may have.
const MOST_NODES: usize = 200_000;

pub struct Document {
    /// Its name in addresses.
    pub id: String,
    /// The number of the last change.
    pub rev: u64,
    /// The record.
    pub tree: Tree,
    /// The place in it.
    pub node: NodeId,
    /// How it is played.
    pub table: Table,
    /// Who lost without a count: by resigning, or on time.
    pub loser: Option<Color>,
    /// What was thought, by node.
    pub opinions: HashMap<NodeId, Opinion>,
    /// A sentence about the file it came from.
    pub notes: Vec<String>,
    /// Whether it changed since it was saved.
    pub is_dirty: bool,
    /// The komi that is told to the network, when it follows the game.
    pub told_komi: Option<[f64; 2]>,
    /// The time of the move under way.
    pub turn_clock: TurnClock,
}

impl Document {
    /// A document of a record, at the end of its main line.
    pub fn new(id: String, tree: Tree) -> Document {
        let root = tree.root();
        let table = tree
            .text(root, TABLE_PROPERTY)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let node = *tree.main_line().last().unwrap_or(&root);
        let opinions = tree
            .nodes()
            .filter_map(|node| Some((node, read_opinion(&tree, node)?)))
            .collect();
        let loser = match tree.text(root, "RE") {
            Some("B+R" | "B+Resign" | "B+T" | "B+Time") => Some(Color::White),
            Some("W+R" | "W+Resign" | "W+T" | "W+Time") => Some(Color::Black),
            _ => None,
        };
        let mut document = Document {
            id,
            rev: 1,
            tree,
            node,
            table,
            loser,
            opinions,
            notes: Vec::new(),
            is_dirty: true,
            told_komi: None,
            turn_clock: TurnClock::default(),
        };
        if document.loser.is_none() {
            document.turn_begins();
        }
        document
    }

    /// An empty board, or one with handicap stones.
    pub fn empty(
        id: String,
        size: BoardSize,
        komi: Komi,
        handicap: usize,
    ) -> Result<Document, Failure> {
        let mut game = Game::new(size, komi);
        if handicap > 0 {
            let points = fixed_handicap(size, handicap).ok_or_else(|| {
                Failure::new(
                    "handicap",
                    format!("a board of {size} has no fixed places for {handicap} stones: place them by hand"),
                )
            })?;
            game.place_handicap(&points)
                .map_err(|error| Failure::new("handicap", error.to_string()))?;
        }
        Ok(Document::new(id, Tree::from_game(&game)))
    }

    /// The game at the present place.
    pub fn game(&self) -> Result<Game, SgfError> {
        self.game_at(self.node)
    }

    /// The game at a node, with the komi of the record or the usual one.
    pub fn game_at(&self, node: NodeId) -> Result<Game, SgfError> {
        let mut game = self.tree.game_at(node)?;
        if let Some(rules) = self.rules() {
            game.set_rules(rules);
        }
        game.set_komi(self.komi());
        Ok(game)
    }

    /// White's compensation.
    pub fn komi(&self) -> Komi {
        let stated = self.tree.komi().ok().flatten();
        stated.unwrap_or(Komi::SEVEN_AND_A_HALF)
    }

    /// The rules that the record names, if they are known here.
    pub fn rules(&self) -> Option<Rules> {
        self.tree.text(self.tree.root(), "RU")?.parse().ok()
    }

    /// The result of a finished game, once it is counted.
    pub fn set_result(&mut self, result: &str) {
        let root = self.tree.root();
        if self.tree.text(root, "RE") != Some(result) {
            self.tree.set_text(root, "RE", result);
            self.changed();
        }
    }

    /// Whether the engine plays this colour.
    pub fn is_engine(&self, color: Color) -> bool {
        match self.table.you {
            You::Black => color == Color::White,
            You::White => color == Color::Black,
            You::Both => false,
            You::None => true,
        }
    }

    /// Whether the engine owes a move at the present place, which ends its line.
    pub fn owes_move(&self) -> bool {
        let Ok(game) = self.game() else { return false };
        !game.is_over() && self.loser.is_none() && self.is_engine(game.to_move())
    }

    /// A node by its number, if it is part of the tree.
    pub fn node_by_number(&self, number: usize) -> Result<NodeId, Failure> {
        let node = self.tree.nodes().nth(number);
        node.filter(|&node| self.tree.path(node).first() == Some(&self.tree.root()))
            .ok_or_else(|| Failure::new("node", format!("there is no node {number}")))
    }

    /// Plays a move at the present place, or follows the one that is there.
    pub fn play(&mut self, mv: Move) -> Result<(), Failure> {
        let game = self.game().map_err(damaged)?;
        let color = game.to_move();
        if self.loser.is_some() {
            return Err(Failure::new(
                "over",
                "the game is over: take the last move back to go on",
            ));
        }
        game.check(color, mv)
            .map_err(|reason| Failure::new(illegal_code(&reason), reason.to_string()).at(mv))?;
        let existing = self
            .tree
            .children(self.node)
            .iter()
            .copied()
            .find(|&child| {
                self.tree
                    .moves(child)
                    .is_ok_and(|moves| moves == [(color, mv)])
            });
        let was_timed = self.is_timed();
        let Ok(left) = self.stop_clock(color) else {
            self.lose_on_time(color);
            return Ok(());
        };
        let child = match existing {
            Some(child) => child,
            None if self.tree.nodes().len() >= MOST_NODES => {
                return Err(Failure::new(
                    "full",
                    "the record has no room for more moves",
                ));
            }
            None => self.tree.add_move(self.node, color, mv),
        };
        if self.table.you != You::Both {
            self.tree.make_first(child);
        }
        self.node = child;
        if let Some(left) = left.filter(|_| existing.is_none() || was_timed) {
            self.write_clock(color, left);
        }
        self.turn_begins();
        self.changed();
        Ok(())
    }

    /// Someone gives up.
    pub fn resign(&mut self, color: Color) {
        self.lose(color, "Resign");
    }

    /// Someone has no time left.
    pub fn lose_on_time(&mut self, color: Color) {
        self.lose(color, "Time");
    }

    fn lose(&mut self, color: Color, how: &str) {
        self.loser = Some(color);
        let winner = match color {
            Color::Black => 'W',
            Color::White => 'B',
        };
        let root = self.tree.root();
        self.tree.set_text(root, "RE", &format!("{winner}+{how}"));
        self.changed();
    }

    /// Goes to another place.
    pub fn go_to(&mut self, node: NodeId) {
        self.node = node;
        self.changed();
    }

    /// Takes the last move back, and in a game the engine's too, so that it is the user's turn.
    pub fn take_back(&mut self) -> Result<(), Failure> {
        let root = self.tree.root();
        if self.loser.take().is_some() {
            self.tree.set(root, "RE", Vec::new());
        } else if self.tree.parent(self.node).is_none() {
            return Err(Failure::new("start", "there is no move to take back"));
        }
        let engine_moves = |document: &Document| {
            document
                .game()
                .is_ok_and(|game| document.is_engine(game.to_move()))
        };
        if let Some(parent) = self.tree.parent(self.node) {
            self.node = parent;
        }
        if matches!(self.table.you, You::Black | You::White)
            && engine_moves(self)
            && let Some(parent) = self.tree.parent(self.node)
        {
            self.node = parent;
        }
        self.turn_begins();
        self.changed();
        Ok(())
    }

    /// Removes the present node and what follows.
    pub fn delete(&mut self) -> Result<(), Failure> {
        let Some(parent) = self.tree.parent(self.node) else {
            return Err(Failure::new(
                "start",
                "the start of a game cannot be removed",
            ));
        };
        self.tree.detach(self.node);
        self.node = parent;
        self.changed();
        Ok(())
    }

    /// Makes the present line the main line.
    pub fn promote(&mut self) {
        for node in self.tree.path(self.node) {
            self.tree.make_first(node);
        }
        self.changed();
    }

    /// Changes stones, turn, comment at the present place. Stones on a node with a move go to a new node.
    pub fn edit(&mut self, edit: &Edit) -> Result<(), Failure> {
        let game = self.game().map_err(damaged)?;
        let mut sets = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        for (vertex, sign) in &edit.set {
            let point: Point = parse_point(vertex, game.size())?;
            let index = match sign.as_str() {
                "b" => 0,
                "w" => 1,
                "e" => 2,
                _ => return Err(Failure::new("fields", "a point is set to b, w or e").at(vertex)),
            };
            sets[index].insert(point);
        }
        if !edit.set.is_empty() {
            let mut probe = game.clone();
            let [black, white, empty] = [0, 1, 2].map(|i| sets[i].iter().copied().collect());
            probe
                .set_up(&black, &white, &empty)
                .map_err(|error| Failure::new("setup", error.to_string()))?;
            let is_move = !self.tree.moves(self.node).map_err(damaged)?.is_empty();
            if is_move || !self.tree.children(self.node).is_empty() {
                self.node = self.tree.add_child(self.node);
            }
            self.write_setup(&sets)?;
        }
        if let Some(turn) = &edit.turn {
            let letter = match turn.as_str() {
                "black" => "B",
                "white" => "W",
                _ => return Err(Failure::new("fields", "`turn` is black or white")),
            };
            self.tree.set_text(self.node, "PL", letter);
        }
        if let Some(comment) = &edit.comment {
            let comment: String = comment.chars().take(20_000).collect();
            let values = if comment.is_empty() {
                vec![]
            } else {
                vec![comment]
            };
            self.tree.set(self.node, "C", values);
        }
        self.changed();
        Ok(())
    }

    /// Adds stones to the setup of the present node: the last word about a point counts.
    fn write_setup(&mut self, sets: &[BTreeSet<Point>; 3]) -> Result<(), Failure> {
        let new: BTreeSet<Point> = sets.iter().flatten().copied().collect();
        for (name, points) in ["AB", "AW", "AE"].into_iter().zip(sets) {
            let old = self.tree.points(self.node, name).map_err(damaged)?;
            let kept = old.iter().filter(|point| !new.contains(point));
            let all: BTreeSet<Point> = kept.chain(points.iter().copied()).collect();
            self.tree.set_points(self.node, name, all);
        }
        Ok(())
    }

    /// Something changed: whoever saw the state before must look again.
    pub fn changed(&mut self) {
        self.rev += 1;
        self.is_dirty = true;
    }

    /// The nodes from the root over the present place to the end.
    pub fn line(&self) -> Vec<NodeId> {
        let mut line = self.tree.path(self.node);
        let mut last = self.node;
        while let Some(&next) = self.tree.children(last).first() {
            line.push(next);
            last = next;
        }
        line
    }

    /// The record as it is saved: with what we need to open it again as it is.
    pub fn to_saved(&self) -> String {
        let mut tree = self.tree.clone();
        let root = tree.root();
        tree.set_text(root, "CA", "UTF-8");
        if let Ok(table) = serde_json::to_string(&self.table) {
            tree.set_text(root, TABLE_PROPERTY, &table);
        }
        for (&node, opinion) in &self.opinions {
            write_opinion(&mut tree, node, opinion);
        }
        tree.to_string()
    }
}

/// Changes at a place.
#[derive(Debug, Default, Deserialize)]
pub struct Edit {
    /// Points and what they become: `b`, `w`, `e`.
    #[serde(default)]
    pub set: HashMap<String, String>,
    /// Whose turn it is.
    pub turn: Option<String>,
    pub comment: Option<String>,
}

/// A record that cannot be replayed.
pub fn damaged(error: SgfError) -> Failure {
    Failure::new("record", error.to_string())
}

/// A vertex on a board of this size.
pub fn parse_point(vertex: &str, size: BoardSize) -> Result<Point, Failure> {
    let point: Point = vertex
        .parse()
        .map_err(|error: go::VertexError| Failure::new("vertex", error.to_string()))?;
    if point.x() >= size.get() || point.y() >= size.get() {
        return Err(Failure::new(
            "vertex",
            format!("{vertex} is not on a board of {size}"),
        ));
    }
    Ok(point)
}

fn illegal_code(reason: &go::Illegal) -> &'static str {
    match reason {
        go::Illegal::OffBoard => "off-board",
        go::Illegal::Occupied => "occupied",
        go::Illegal::Suicide => "suicide",
        go::Illegal::Ko => "ko",
        go::Illegal::Superko => "superko",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::stones_text;

    fn game_of(moves: &str) -> Document {
        let mut document =
            Document::empty("test".into(), BoardSize::NINE, Komi::SEVEN_AND_A_HALF, 0).unwrap();
        for vertex in moves.split_whitespace() {
            document.play(vertex.parse().unwrap()).unwrap();
        }
        document
    }

    #[test]
    fn a_saved_document_opens_as_it_was() {
        let mut document = game_of("E5 C3 G7");
        document.table.you = You::Black;
        let opinion = Opinion {
            visits: 120,
            winrate_black: 0.4321,
            lead_black: Some(-2.5),
            line: vec!["D4".parse().unwrap(), Move::Pass],
        };
        document.opinions.insert(document.node, opinion.clone());
        let saved = document.to_saved();
        let tree = go::sgf::read(saved.as_bytes()).unwrap().games.remove(0);
        let again = Document::new("test".into(), tree);
        assert_eq!(again.table, document.table);
        assert_eq!(again.opinions[&again.node], opinion);
        assert_eq!(
            stones_text(&again.game().unwrap()),
            stones_text(&document.game().unwrap())
        );
    }

    #[test]
    fn taking_back_in_a_game_returns_to_the_users_turn() {
        let mut document = game_of("E5 C3 G7 G3");
        document.table.you = You::Black;
        document.take_back().unwrap();
        assert_eq!(document.game().unwrap().move_number(), 2);
        document.play("D4".parse().unwrap()).unwrap();
        document.take_back().unwrap();
        assert_eq!(
            document.game().unwrap().move_number(),
            2,
            "the engine had not answered yet"
        );
        document.table.you = You::Both;
        document.take_back().unwrap();
        assert_eq!(document.game().unwrap().move_number(), 1);
    }

    #[test]
    fn an_illegal_move_changes_nothing() {
        let mut document = game_of("E5");
        let before = document.rev;
        let failure = document.play("E5".parse().unwrap()).unwrap_err();
        assert_eq!(
            (failure.code, failure.at.as_deref()),
            ("occupied", Some("E5"))
        );
        assert_eq!(document.rev, before);
    }

    #[test]
    fn stones_are_edited_on_a_node_of_their_own() {
        let mut document = game_of("E5");
        let set = [("A1", "b"), ("E5", "e"), ("B2", "w")];
        let set = set
            .map(|(at, sign)| (at.to_owned(), sign.to_owned()))
            .into();
        document
            .edit(&Edit {
                set,
                ..Edit::default()
            })
            .unwrap();
        let text = stones_text(&document.game().unwrap());
        assert_eq!(text.matches('X').count(), 1);
        assert_eq!(text.matches('O').count(), 1);
        let set = [("A1".to_owned(), "w".to_owned())].into();
        document
            .edit(&Edit {
                set,
                ..Edit::default()
            })
            .unwrap();
        assert_eq!(
            stones_text(&document.game().unwrap()).matches('O').count(),
            2
        );
        let tree = document.tree.clone();
        assert_eq!(
            tree.nodes().len(),
            3,
            "the second edit changed the same node"
        );
    }
}
