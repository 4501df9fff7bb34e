//! What a search looks like in text: analysis lines, the lines on stderr, boards and maps.

use std::fmt::Write as _;

use go::{Board, BoardSize, Color, Game, Move, Point};
use go_player::{Opinion, Player, RootMove, SearchReport, Snapshot, Thought, TreeShape};

use crate::tags::AnalyzeTags;

/// Winrates, priors and bounds are printed in units of a ten-thousandth.
const ANALYSIS_UNIT: f64 = 10_000.0;
/// Policies are printed in units of a thousandth.
const HEATMAP_UNIT: f32 = 1000.0;
/// Moves without a visit that are listed all the same after thinking.
const LISTED_AT_LEAST: usize = 2;

/// A move as answers spell it: `D4`, `pass`.
pub fn vertex(mv: Move) -> String {
    mv.to_string()
}

pub fn line_of(moves: &[Move]) -> String {
    let words: Vec<String> = moves.iter().map(|&mv| vertex(mv)).collect();
    words.join(" ")
}

/// Points as answers list them.
pub fn points(points: impl IntoIterator<Item = Point>) -> String {
    let words: Vec<String> = points.into_iter().map(|point| point.to_string()).collect();
    words.join(" ")
}

/// One line of `lz-analyze`: every visited move, and more of the others until there are as many as asked for.
/// The best move is there even if nothing was visited.
pub fn analysis_line(snapshot: &Snapshot<Move>, tags: &AnalyzeTags) -> String {
    let listed = snapshot
        .moves
        .iter()
        .enumerate()
        .filter(|(order, entry)| entry.visits > 0 || *order < tags.min_moves.max(1))
        .take(tags.max_moves);
    let infos: Vec<String> = listed
        .enumerate()
        .map(|(order, (_, entry))| analysis_entry(entry, order))
        .collect();
    infos.join(" ")
}

fn analysis_entry(entry: &RootMove<Move>, order: usize) -> String {
    // KataGo rounds, and lets bounds leave the range; Leela Zero cuts.
    let units = |value: f64| match entry.weighed {
        Some(_) => (value * ANALYSIS_UNIT).round() as i64,
        None => (value.max(0.0) * ANALYSIS_UNIT) as i64,
    };
    let pv = if entry.pv.is_empty() {
        vertex(entry.mv)
    } else {
        line_of(&entry.pv)
    };
    format!(
        "info move {} visits {} winrate {} prior {} lcb {} order {order} pv {pv}",
        vertex(entry.mv),
        entry.visits,
        units(entry.winrate.unwrap_or(0.0)),
        units(entry.prior),
        units(entry.lcb.unwrap_or(0.0)),
    )
}

/// The line on stderr while thinking goes on.
pub fn progress_line(snapshot: &Snapshot<Move>) -> String {
    let best = snapshot.moves.first();
    let winrate = best.and_then(|best| best.winrate).unwrap_or(0.0);
    let pv = best.map(|best| line_of(&best.pv)).unwrap_or_default();
    format!(
        "Playouts: {}, Win: {:5.2}%, PV: {pv}",
        snapshot.visits,
        winrate * 100.0
    )
}

/// The table on stderr when thinking is over.
pub fn table(snapshot: &Snapshot<Move>, report: &SearchReport, shape: &TreeShape) -> String {
    let mut text = String::new();
    if let Some(side) = snapshot.side {
        let _ = writeln!(text, "NN eval={:.6}", side.view(snapshot.evaluation));
    }
    let listed = snapshot
        .moves
        .iter()
        .enumerate()
        .filter(|(order, entry)| entry.visits > 0 || *order < LISTED_AT_LEAST);
    for (_, entry) in listed {
        let percent = |value: Option<f64>| value.unwrap_or(0.0).max(0.0) * 100.0;
        let _ = writeln!(
            text,
            "{:>4} -> {:7} (V: {:5.2}%) (LCB: {:5.2}%) (N: {:5.2}%) PV: {}",
            vertex(entry.mv),
            entry.visits,
            percent(entry.winrate),
            percent(entry.lcb),
            entry.prior * 100.0,
            line_of(&entry.pv)
        );
    }
    let seconds = report.elapsed.as_secs_f64().max(0.01);
    let _ = writeln!(
        text,
        "{:.1} average depth, {} max depth",
        shape.average_depth(),
        shape.depth_max
    );
    let _ = writeln!(
        text,
        "{} non leaf nodes, {:.2} average children",
        shape.non_leaf_nodes,
        shape.average_children()
    );
    let _ = writeln!(
        text,
        "{} visits, {} nodes, {} playouts, {:.0} n/s",
        report.visits,
        report.nodes,
        report.playouts,
        report.playouts as f64 / seconds
    );
    text
}

/// The answer to `gomill-explain_last_move`.
pub fn explanation(thought: &Thought) -> String {
    let color = match thought.color {
        Color::Black => 'B',
        Color::White => 'W',
    };
    let mv = match thought.decision {
        go_player::Decision::Move(mv) => vertex(mv),
        go_player::Decision::Resign => "resign".to_owned(),
    };
    format!(
        "move {}, {color} => {mv}\n{}",
        thought.move_number,
        progress_line(&thought.snapshot)
    )
}

/// A policy as a map, the top row first, and the winrate.
pub fn heatmap(opinion: &Opinion, board: &Board) -> String {
    let size = board.size();
    let mut text = String::new();
    for y in (0..size.get()).rev() {
        for x in 0..size.get() {
            let point = Point::new(x, y);
            let chance = if board.is_empty(point) {
                opinion.policy[size.index(point)]
            } else {
                0.0
            };
            let _ = write!(text, "{:3} ", (chance * HEATMAP_UNIT) as u32);
        }
        text.push('\n');
    }
    let pass = (opinion.policy[size.area()] * HEATMAP_UNIT) as u32;
    let _ = write!(text, "pass: {pass}\nwinrate: {:.6}\n", opinion.winrate);
    text
}

/// The board with everything a player at it sees.
pub fn board(player: &Player) -> String {
    let game = player.game();
    let turn = |color| match color {
        Color::Black => "Black (X)",
        Color::White => "White (O)",
    };
    let prisoners = prisoners(game);
    let mut text = format!(
        "Passes: {:<13}Black (X) Prisoners: {}\n{:<21}White (O) Prisoners: {}\n",
        game.passes(),
        prisoners[Color::Black.index()],
        format!("{} to move", turn(game.to_move())),
        prisoners[Color::White.index()],
    );
    draw_stones(game, &mut text);
    for color in Color::BOTH {
        let name = match color {
            Color::Black => "Black",
            Color::White => "White",
        };
        let _ = writeln!(text, "{name} time: {}", player.clock(color));
    }
    text
}

fn draw_stones(game: &Game, text: &mut String) {
    let board = game.board();
    let size = board.size();
    let last = game.last_move().and_then(|(_, mv)| mv.point());
    let stars = go::star_points(size);
    let columns: String = (0..size.get())
        .map(|x| format!("{} ", go::column_letter(x).to_ascii_lowercase()))
        .collect();
    let _ = writeln!(text, "   {columns}");
    for y in (0..size.get()).rev() {
        let _ = write!(text, "{:2}", y + 1);
        let mut closing = ' ';
        for x in 0..size.get() {
            let point = Point::new(x, y);
            let mark = match board.stone(point) {
                Some(Color::Black) => 'X',
                Some(Color::White) => 'O',
                None if stars.contains(&point) => '+',
                None => '.',
            };
            let is_last = last == Some(point);
            text.push(if is_last { '(' } else { closing });
            text.push(mark);
            closing = if is_last { ')' } else { ' ' };
        }
        let _ = writeln!(text, "{closing}{:2}", y + 1);
    }
    let _ = writeln!(text, "   {columns}");
}

/// Stones each colour has captured since the game's first position.
fn prisoners(game: &Game) -> [usize; 2] {
    let stones = |color: Color| -> (usize, usize) {
        let first = game.positions()[0].of(color).len();
        let played = game
            .moves()
            .filter(|&(mover, mv)| mover == color && !mv.is_pass())
            .count();
        (first + played, game.board().stone_set(color).len())
    };
    Color::BOTH.map(|color| {
        let (placed, left) = stones(color.opponent());
        placed - left
    })
}

/// All strings of stones, one a line, the lines in alphabetical order.
pub fn strings(board: &Board) -> String {
    let size: BoardSize = board.size();
    let mut lines: Vec<String> = size
        .points()
        .filter(|&point| board.stone(point).is_some() && board.block(point) == point)
        .map(|head| points(board.stones(head)))
        .collect();
    lines.sort();
    lines.join("\n")
}
