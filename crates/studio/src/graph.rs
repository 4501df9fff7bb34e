//! The graph of a game: what every position of the present line was worth, what every move cost, which moves cost most.

use go::{Color, Move};
use serde_json::{Value, json};

use crate::{document::Document, opinion::Opinion, state::color_name};

/// A loss below this is no mistake to list: two percent.
const LEAST_LOSS: f64 = 0.02;
/// Opinions of fewer visits are drawn hollow and count for nothing. 0 visits means that a file did not say.
const FEW_VISITS: u64 = 10;
/// Mistakes listed for both sides together.
const MOST_MISTAKES: usize = 40;

/// A step of the line.
pub struct GraphPoint {
    pub node: usize,
    /// The number of the move that led here.
    pub number: usize,
    pub played: Option<(Color, Move)>,
    /// What was thought of the position.
    pub opinion: Option<Opinion>,
    /// What the move lost, for who played it.
    pub loss: Option<f64>,
    /// What was better.
    pub better: Option<Move>,
}

/// The graph of the present line.
pub fn points(document: &Document) -> Vec<GraphPoint> {
    let mut points: Vec<GraphPoint> = Vec::new();
    let mut number = 0;
    for node in document.line() {
        let played = document
            .tree
            .moves(node)
            .ok()
            .and_then(|moves| moves.first().copied());
        number += usize::from(played.is_some());
        let opinion = document.opinions.get(&node).cloned();
        let (loss, better) = match (points.last(), played, &opinion) {
            (Some(before), Some(played), Some(after)) => cost(before, played, after),
            _ => (None, None),
        };
        points.push(GraphPoint {
            node: node.index(),
            number,
            played,
            opinion,
            loss,
            better,
        });
    }
    points
}

/// What a move cost. The search's own first choice costs nothing, nor does a pass that answers a pass.
fn cost(
    before: &GraphPoint,
    (color, mv): (Color, Move),
    after: &Opinion,
) -> (Option<f64>, Option<Move>) {
    let Some(opinion) = &before.opinion else {
        return (None, None);
    };
    let counts = |opinion: &Opinion| opinion.visits == 0 || opinion.visits >= FEW_VISITS;
    let answers_pass = mv.is_pass() && before.played.is_some_and(|(_, mv)| mv.is_pass());
    let twice_in_a_row = before.played.is_some_and(|(last, _)| last == color);
    if !counts(opinion) || !counts(after) || answers_pass || twice_in_a_row {
        return (None, None);
    }
    let best = opinion.line.first().copied();
    if best == Some(mv) {
        return (Some(0.0), None);
    }
    let gained_by_black = after.winrate_black - opinion.winrate_black;
    let loss = match color {
        Color::Black => -gained_by_black,
        Color::White => gained_by_black,
    };
    (Some(loss.max(0.0)), best)
}

/// The event that draws the graph.
pub fn to_json(document: &Document) -> Value {
    let points = points(document);
    let mut mistakes: Vec<&GraphPoint> = points
        .iter()
        .filter(|point| point.loss.is_some_and(|loss| loss >= LEAST_LOSS))
        .collect();
    mistakes.sort_by(|a, b| b.loss.unwrap_or(0.0).total_cmp(&a.loss.unwrap_or(0.0)));
    mistakes.truncate(MOST_MISTAKES);
    let drawn: Vec<Value> = points
        .iter()
        .map(|point| {
            let opinion = point.opinion.as_ref();
            json!({
                "node": point.node, "number": point.number,
                "winrate_black": opinion.map(|opinion| opinion.winrate_black),
                "lead_black": opinion.and_then(|opinion| opinion.lead_black),
                "visits": opinion.map(|opinion| opinion.visits),
                "hollow": opinion.is_some_and(|opinion| (1..FEW_VISITS).contains(&opinion.visits)),
                "loss": point.loss, "color": point.played.map(|(color, _)| color_name(color)),
            })
        })
        .collect();
    let listed: Vec<Value> = mistakes
        .iter()
        .filter_map(|point| {
            let (color, mv) = point.played?;
            Some(json!({
                "node": point.node, "number": point.number, "color": color_name(color), "at": mv.to_string(),
                "loss": point.loss, "better": point.better.map(|mv| mv.to_string()),
            }))
        })
        .collect();
    json!({
        "on": "graph", "doc": document.id, "points": drawn, "mistakes": listed,
        "players": [table(&points, Color::Black), table(&points, Color::White)],
    })
}

/// A player's moves in figures.
fn table(points: &[GraphPoint], color: Color) -> Value {
    let judged: Vec<(usize, f64)> = points
        .iter()
        .filter(|point| point.played.is_some_and(|(player, _)| player == color))
        .filter_map(|point| Some((point.number, point.loss?)))
        .collect();
    let mean = |losses: &[f64]| match losses.len() {
        0 => None,
        count => Some(losses.iter().sum::<f64>() / count as f64),
    };
    let losses: Vec<f64> = judged.iter().map(|&(_, loss)| loss).collect();
    let best = losses.iter().filter(|&&loss| loss == 0.0).count();
    let moves = points.last().map_or(0, |point| point.number);
    let third = moves.div_ceil(3).max(1);
    let phases = ["opening", "middle", "end"];
    let worst = (0..phases.len())
        .filter_map(|phase| {
            let part: Vec<f64> = judged
                .iter()
                .filter(|(number, _)| number.saturating_sub(1) / third == phase)
                .map(|&(_, loss)| loss)
                .collect();
            Some((phases[phase], mean(&part)?))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1));
    json!({
        "color": color_name(color), "moves": judged.len(), "mean_loss": mean(&losses),
        "best_share": (!losses.is_empty()).then(|| best as f64 / losses.len() as f64),
        "worst_phase": worst.map(|(phase, _)| phase),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::{BoardSize, Komi};

    fn document(winrates: &[f64]) -> Document {
        let mut document =
            Document::empty("test".into(), BoardSize::NINE, Komi::SEVEN_AND_A_HALF, 0).unwrap();
        for vertex in ["E5", "C3", "G7"].iter().take(winrates.len() - 1) {
            document.play(vertex.parse().unwrap()).unwrap();
        }
        for (node, &winrate_black) in document.tree.main_line().into_iter().zip(winrates) {
            let opinion = Opinion {
                visits: 100,
                winrate_black,
                lead_black: None,
                line: vec!["E5".parse().unwrap()],
            };
            document.opinions.insert(node, opinion);
        }
        document
    }

    #[test]
    fn a_loss_belongs_to_who_played_and_is_never_negative() {
        let points = points(&document(&[0.5, 0.3, 0.6, 0.7]));
        assert_eq!(points[1].loss, Some(0.0), "the search's own choice");
        assert!((points[2].loss.unwrap() - 0.3).abs() < 1e-9);
        assert_eq!(points[3].loss, Some(0.0), "a gain is no loss");
        assert_eq!(points[2].better, Some("E5".parse().unwrap()));
    }

    #[test]
    fn positions_with_few_visits_count_for_nothing() {
        let mut document = document(&[0.5, 0.5, 0.9]);
        let node = document.tree.main_line()[1];
        document.opinions.get_mut(&node).unwrap().visits = 3;
        let graph = to_json(&document);
        assert!(graph["mistakes"].as_array().unwrap().is_empty());
        assert_eq!(graph["points"][1]["hollow"], true);
    }

    #[test]
    fn the_dearest_mistake_is_first() {
        let graph = to_json(&document(&[0.5, 0.5, 0.6, 0.2]));
        let moves: Vec<&str> = graph["mistakes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["at"].as_str().unwrap())
            .collect();
        assert_eq!(moves, ["G7", "C3"]);
    }
}
