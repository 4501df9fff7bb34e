//! A document as the page draws it.

use go::{BoardSize, Color, Game, Move, Point, sgf::NodeId};
use serde_json::{Value, json};

use crate::{
    document::{Document, You, damaged},
    wire::Failure,
};

/// Nodes a tree is drawn with; a larger one is shown as its present line only.
const MOST_DRAWN_NODES: usize = 4000;

impl Document {
    /// A title for lists: who played whom.
    pub fn title(&self) -> String {
        let root = self.tree.root();
        let name = |property| {
            self.tree
                .text(root, property)
                .filter(|text| !text.is_empty())
        };
        match (name("GN"), name("PB"), name("PW")) {
            (_, Some(black), Some(white)) => format!("{black} – {white}"),
            (Some(name), _, _) => name.to_owned(),
            _ if self.table.problem.is_some() => "Problem".to_owned(),
            _ => "Game".to_owned(),
        }
    }

    /// A line for lists of documents.
    pub fn summary(&self) -> Value {
        let moves = self.tree.main_line().len() - 1;
        let kind = if self.table.problem.is_some() {
            "problem"
        } else {
            "game"
        };
        let size = self.tree.size().map_or(19, BoardSize::get);
        json!({
            "doc": self.id, "title": self.title(), "moves": moves, "kind": kind, "size": size,
            "stones": self.game().map(|game| stones_text(&game)).unwrap_or_default(),
            "notes": self.notes,
        })
    }

    /// The whole state as the page draws it.
    pub fn to_json(&self) -> Result<Value, Failure> {
        let game = self.game().map_err(damaged)?;
        let (board, color) = (game.board(), game.to_move());
        let illegal: Vec<String> = board
            .empty_set()
            .iter()
            .filter(|&point| !game.is_legal(color, Move::Play(point)))
            .map(|point| point.to_string())
            .collect();
        let own_move = self.tree.moves(self.node).map_err(damaged)?;
        let root = self.tree.root();
        let over = match self.loser {
            Some(_) => self.tree.text(root, "RE").map(str::to_owned),
            None => game.is_over().then(|| self.result(&game)),
        };
        let state = match (&over, self.owes_move(), self.table.you) {
            (Some(_), ..) => "over",
            (None, true, _) => "theirs",
            (None, false, You::Both) => "idle",
            (None, false, _) => "yours",
        };
        Ok(json!({
            "on": "doc", "doc": self.id, "rev": self.rev, "node": self.node.index(), "title": self.title(),
            "size": game.size().get(), "stones": stones_text(&game), "turn": color_name(color),
            "last": own_move.last().map(|(_, mv)| mv.to_string()),
            "move_number": self.move_number(self.node), "komi": game.komi().points_for_white(),
            "handicap": game.handicap(), "rules": self.rules().and_then(|rules| rules.name()), "captures": captures(&game), "illegal": illegal,
            "line": self.line().iter().map(|&node| self.step(node)).collect::<Vec<_>>(),
            "tree": self.drawn_tree(), "state": state, "over": over, "table": self.table,
            "names": {
                "black": self.tree.text(root, "PB"), "white": self.tree.text(root, "PW"),
                "result": self.tree.text(root, "RE"), "date": self.tree.text(root, "DT"),
            },
            "comment": self.tree.text(self.node, "C"), "marks": self.marks(),
            "told_komi": self.told_komi, "clock": self.clock_json(color), "notes": self.notes,
        }))
    }

    /// The result of a finished game: as it was counted, or else with every stone alive.
    fn result(&self, game: &Game) -> String {
        let is_end = self.tree.main_line().last() == Some(&self.node);
        let counted = self.tree.text(self.tree.root(), "RE").filter(|_| is_end);
        counted.map_or_else(|| game.score().to_string(), str::to_owned)
    }

    fn move_number(&self, node: NodeId) -> usize {
        let path = self.tree.path(node);
        path.iter()
            .filter(|&&node| self.tree.moves(node).is_ok_and(|moves| !moves.is_empty()))
            .count()
    }

    /// `[node, colour and move]` of a step of the line.
    fn step(&self, node: NodeId) -> Value {
        let played = self
            .tree
            .moves(node)
            .ok()
            .and_then(|moves| moves.first().copied());
        match played {
            Some((color, mv)) => json!([node.index(), color_name(color), mv.to_string()]),
            None => json!([node.index(), null, null]),
        }
    }

    /// `[node, parent, colour letter]` of every node in the order of a walk; nothing where that would be too much.
    fn drawn_tree(&self) -> Value {
        if self.tree.nodes().len() > MOST_DRAWN_NODES {
            return Value::Null;
        }
        let mut walk = Vec::new();
        let mut open = vec![self.tree.root()];
        while let Some(node) = open.pop() {
            let parent = self.tree.parent(node).map(NodeId::index);
            let color = match self
                .tree
                .moves(node)
                .ok()
                .and_then(|moves| moves.first().copied())
            {
                Some((Color::Black, _)) => "b",
                Some((Color::White, _)) => "w",
                None => "-",
            };
            walk.push(json!([node.index(), parent, color]));
            open.extend(self.tree.children(node).iter().rev());
        }
        walk.into()
    }

    /// Marks of the record at this node.
    fn marks(&self) -> Value {
        let mut marks = serde_json::Map::new();
        for (property, kind) in [
            ("TR", "triangle"),
            ("SQ", "square"),
            ("CR", "circle"),
            ("MA", "cross"),
        ] {
            if let Ok(points) = self.tree.points(self.node, property) {
                for point in points.iter() {
                    marks.insert(point.to_string(), kind.into());
                }
            }
        }
        for label in self.tree.values(self.node, "LB") {
            if let Some((at, text)) = label.split_once(':')
                && let Some(point) = self.sgf_point(at)
            {
                let text: String = text.chars().take(3).collect();
                marks.insert(point.to_string(), format!("={text}").into());
            }
        }
        marks.into()
    }

    fn sgf_point(&self, text: &str) -> Option<Point> {
        let side = self.tree.size().ok()?.get();
        let &[column, row] = text.as_bytes() else {
            return None;
        };
        let (x, row): (usize, usize) = (
            column.checked_sub(b'a')?.into(),
            row.checked_sub(b'a')?.into(),
        );
        (x < side && row < side).then(|| Point::new(x, side - 1 - row))
    }
}

/// `black` or `white`.
pub fn color_name(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

/// Rows from the top, `.XO`.
pub fn stones_text(game: &Game) -> String {
    let (board, side) = (game.board(), game.size().get());
    let row = |y: usize| (0..side).map(move |x| Point::new(x, y));
    (0..side)
        .rev()
        .flat_map(row)
        .map(|point| match board.stone(point) {
            Some(Color::Black) => 'X',
            Some(Color::White) => 'O',
            None => '.',
        })
        .collect()
}

/// Stones taken by each side since the anchor.
fn captures(game: &Game) -> Value {
    let mut taken = [0usize; 2];
    let positions = game.positions();
    for (pair, (color, mv)) in positions.windows(2).zip(game.moves()) {
        let opponent = color.opponent();
        let lost = |side: Color, played: usize| {
            (pair[0].of(side).len() + played).saturating_sub(pair[1].of(side).len())
        };
        taken[color.index()] += lost(opponent, 0);
        taken[opponent.index()] += lost(color, usize::from(!mv.is_pass()));
    }
    json!({ "black": taken[Color::Black.index()], "white": taken[Color::White.index()] })
}
