//! A finished game, looked at move by move: who stood how, what was best, which moves cost most.
//!
//! Every position is searched. A search can overlook what the next position makes plain, so positions are judged in
//! hindsight: a position is at least as good for the side to move as the one after the move that was really made.
//! Going back from the end of the game, this moves the blame for a surprise to the move that allowed it, and a move's
//! cost is never negative.

use std::fmt::Write as _;

use go::{
    Color, Game, Komi, Move, Rules,
    sgf::{NodeId, SgfError, Tree},
};
use thiserror::Error;

use crate::{
    player::{Player, PlayerError},
    restriction::Restrictions,
    scoring::Settled,
    think::Snapshot,
};

/// A move that lost less winning chance is no mistake.
const SMALLEST_LOSS: f64 = 0.05;
/// The same in points, where the network predicts the score.
const SMALLEST_POINTS: f64 = 1.5;

/// Why a game cannot be reviewed.
#[derive(Debug, Error)]
pub enum ReviewError {
    /// The record is damaged.
    #[error(transparent)]
    Sgf(#[from] SgfError),
    /// The network cannot play this board.
    #[error(transparent)]
    Player(#[from] PlayerError),
}

/// A position of the game.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// Its node in the record.
    pub node: NodeId,
    /// Moves played before it.
    pub move_number: usize,
    /// The move that led here.
    pub played: Option<(Color, Move)>,
    /// Whose turn it is.
    pub to_move: Color,
    /// Black's winning chance as the search found it.
    pub winrate_black: f64,
    /// The score, if the network predicts it.
    pub score: Option<ReviewedScore>,
    /// Visits behind it.
    pub visits: u64,
    /// The line the search expects, its best move first.
    pub best_line: Vec<Move>,
}

/// What a network says about the score of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewedScore {
    /// Points that Black is ahead.
    pub lead_black: f64,
    /// The standard deviation of the final score.
    pub spread: f64,
    /// Who will own each point, from -1 (White) to 1 (Black), row by row from the bottom.
    pub ownership_black: Vec<f32>,
}

/// A move and what it cost, in hindsight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// Where in [`Review::positions`] the move led.
    pub index: usize,
    /// The number of the move, from 1.
    pub move_number: usize,
    /// Who played it.
    pub color: Color,
    pub mv: Move,
    /// Winning chance lost by it, for who played it.
    pub loss: f64,
    /// Points lost by it, if the network predicts the score.
    pub points: Option<f64>,
    /// The move the search would have made, unless it is the one that was made.
    pub better: Option<Move>,
}

impl Swing {
    /// Whether it cost enough to be called a mistake.
    fn is_mistake(&self) -> bool {
        match self.points {
            Some(points) => points >= SMALLEST_POINTS,
            None => self.loss >= SMALLEST_LOSS,
        }
    }

    /// What mistakes are sorted by.
    fn cost(&self) -> f64 {
        self.points.unwrap_or(self.loss)
    }

    /// What it cost, for people: `4.5 points, 12.0 %` or `12.0 %`.
    pub fn cost_text(&self) -> String {
        let percent = format!("{:.1} %", self.loss * 100.0);
        match self.points {
            Some(points) => format!("{points:.1} points, {percent}"),
            None => percent,
        }
    }
}

/// A reviewed game.
#[derive(Clone, Debug)]
pub struct Review {
    /// Every position of the main line.
    pub positions: Vec<Reviewed>,
}

impl Review {
    /// Looks at every position of a record's main line with the player's limits. `on_position` is called after each
    /// search, with its node and the player who has searched it.
    pub fn of(
        player: &mut Player,
        tree: &Tree,
        on_position: &mut dyn FnMut(NodeId, &Player),
    ) -> Result<Review, ReviewError> {
        let line = tree.main_line();
        let komi = tree.komi()?.unwrap_or(Komi::SEVEN_AND_A_HALF);
        let rules = stated_rules(tree);
        let mut positions = Vec::with_capacity(line.len());
        for &node in &line {
            let mut game = tree.game_at(node)?;
            game.set_komi(komi);
            let played = game
                .last_move()
                .filter(|_| !tree.moves(node).is_ok_and(|moves| moves.is_empty()));
            positions.push(look(player, game, rules, node, played)?);
            on_position(node, player);
        }
        Ok(Review { positions })
    }

    /// Black's winning chance at each position, in hindsight.
    pub fn winrates_black(&self) -> Vec<f64> {
        self.in_hindsight(|position| Some(position.winrate_black))
            .into_iter()
            .flatten()
            .collect()
    }

    /// Points that Black is ahead at each position, in hindsight; nothing if the network does not predict the score.
    pub fn leads_black(&self) -> Option<Vec<f64>> {
        self.in_hindsight(|position| position.score.as_ref().map(|score| score.lead_black))
            .into_iter()
            .collect()
    }

    fn in_hindsight(&self, value: impl Fn(&Reviewed) -> Option<f64>) -> Vec<Option<f64>> {
        let mut values: Vec<Option<f64>> = self.positions.iter().map(value).collect();
        for index in (1..values.len()).rev() {
            let Some(color) = self.mover(index) else {
                continue;
            };
            values[index - 1] =
                values[index - 1]
                    .zip(values[index])
                    .map(|(now, next)| match color {
                        Color::Black => now.max(next),
                        Color::White => now.min(next),
                    });
        }
        values
    }

    /// Who made the move that led to a position, if it was that side's turn.
    fn mover(&self, index: usize) -> Option<Color> {
        let (color, _) = self.positions[index].played?;
        (color == self.positions[index - 1].to_move).then_some(color)
    }

    /// Every move with what it cost, in the order of the game. Of a colour that plays twice in a row the second move is
    /// left out: what was looked at before it was the other side's turn.
    pub fn swings(&self) -> Vec<Swing> {
        let winrates = self.winrates_black();
        let leads = self.leads_black();
        let lost = |values: &[f64], index: usize, color| match color {
            Color::Black => values[index - 1] - values[index],
            Color::White => values[index] - values[index - 1],
        };
        (1..self.positions.len())
            .filter_map(|index| {
                let color = self.mover(index)?;
                let position = &self.positions[index];
                let (_, mv) = position.played?;
                let best = self.positions[index - 1].best_line.first().copied();
                Some(Swing {
                    index,
                    move_number: position.move_number,
                    color,
                    mv,
                    loss: lost(&winrates, index, color),
                    points: leads.as_ref().map(|leads| lost(leads, index, color)),
                    better: best.filter(|&best| best != mv),
                })
            })
            .collect()
    }

    /// The moves that cost most, the dearest first, by points where the network predicts the score. What cost next to
    /// nothing is not among them.
    pub fn largest_swings(&self, count: usize) -> Vec<Swing> {
        let mut swings = self.swings();
        swings.retain(Swing::is_mistake);
        swings.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
        swings.truncate(count);
        swings
    }

    /// Writes what was found into the record: a comment, a winrate and a score at each position, and at the
    /// `marked` dearest moves a mark and the better line as a variation.
    pub fn annotate(&self, tree: &mut Tree, marked: usize) {
        let dearest = self.largest_swings(marked);
        let swings = self.swings();
        let winrates = self.winrates_black();
        let leads = self.leads_black();
        for (index, position) in self.positions.iter().enumerate() {
            let swing = swings.iter().find(|swing| swing.index == index);
            let lead = leads.as_ref().map(|leads| leads[index]);
            let remark = remark(position, winrates[index], lead, swing);
            let comment = match tree.text(position.node, "C") {
                Some(before) if !before.is_empty() => format!("{remark}\n\n{before}"),
                _ => remark,
            };
            tree.set_text(position.node, "C", &comment);
            // Sabaki draws its winrate graph from this property.
            tree.set_text(
                position.node,
                "SBKV",
                &format!("{:.2}", winrates[index] * 100.0),
            );
            if let Some(lead) = lead {
                // SGF's own property for an estimated score: positive is good for Black.
                tree.set_text(position.node, "V", &format!("{lead:.1}"));
            }
        }
        for swing in dearest {
            let before = &self.positions[swing.index - 1];
            let node = self.positions[swing.index].node;
            tree.set_text(node, "BM", "1");
            // A hotspot: programs jump from one to the next.
            tree.set_text(node, "HO", "1");
            if swing.better.is_none() {
                continue;
            }
            let mut node = before.node;
            let mut color = swing.color;
            for &mv in &before.best_line {
                node = tree.add_move(node, color, mv);
                color = color.opponent();
            }
            if node != before.node {
                let text = format!("Better than {} by {}.", swing.mv, swing.cost_text());
                tree.set_text(node, "C", &text);
            }
        }
    }
}

/// The rules a record names, if it names any that are known.
fn stated_rules(tree: &Tree) -> Option<Rules> {
    tree.text(tree.root(), "RU")?.parse().ok()
}

/// Searches a position, or settles it if the game is over.
fn look(
    player: &mut Player,
    mut game: Game,
    rules: Option<Rules>,
    node: NodeId,
    played: Option<(Color, Move)>,
) -> Result<Reviewed, PlayerError> {
    let tells_rules = player.judge().encoder().as_leela().is_none();
    if let Some(rules) = rules.filter(|_| tells_rules) {
        game.set_rules(rules);
    }
    let (to_move, move_number, is_over) = (game.to_move(), game.move_number(), game.is_over());
    player.set_game(game.clone())?;
    let (snapshot, report) = player.analyze(&Restrictions::default(), &|| false, &mut ())?;
    let mut winrate_black = snapshot.value;
    let mut score = predicted_score(player, &snapshot)?;
    if is_over {
        game.set_rules(rules.unwrap_or(*game.rules()));
        let lead = settled_lead(&game, score.as_ref());
        winrate_black = match lead.total_cmp(&0.0) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        if let Some(score) = &mut score {
            score.lead_black = lead;
        }
    }
    let best = snapshot.moves.first().filter(|_| !is_over);
    let best_line = best.map(|best| best.pv.clone());
    Ok(Reviewed {
        node,
        move_number,
        played,
        to_move,
        winrate_black,
        score,
        visits: report.visits,
        best_line: best_line.unwrap_or_default(),
    })
}

/// What the search says about the score of the player's position, or where a finished game was not searched, the network.
fn predicted_score(
    player: &Player,
    snapshot: &Snapshot,
) -> Result<Option<ReviewedScore>, PlayerError> {
    if let Some((weighed, owners)) = snapshot.weighed.as_ref().zip(player.view().ownership(None)) {
        return Ok(Some(ReviewedScore {
            lead_black: weighed.means.lead,
            spread: weighed.means.spread(),
            ownership_black: owners.mean.iter().map(|&owner| owner as f32).collect(),
        }));
    }
    if player.judge().encoder().as_leela().is_some() {
        return Ok(None);
    }
    let opinion = player.opinion(None)?;
    let sign = match player.game().to_move() {
        Color::Black => 1.0,
        Color::White => -1.0,
    };
    Ok(opinion
        .score
        .zip(opinion.ownership)
        .map(|(score, ownership)| ReviewedScore {
            lead_black: f64::from(sign * score.lead),
            spread: f64::from(score.spread()),
            ownership_black: ownership.iter().map(|owner| sign * owner).collect(),
        }))
}

/// Black's lead at the end of a game, dead stones taken off.
fn settled_lead(game: &Game, score: Option<&ReviewedScore>) -> f64 {
    let settled = match score {
        Some(score) => Settled::by_ownership(game, &score.ownership_black),
        None => Settled::by_playouts(game),
    };
    f64::from(settled.score.lead(Color::Black))
}

fn remark(
    position: &Reviewed,
    winrate_black: f64,
    lead: Option<f64>,
    swing: Option<&Swing>,
) -> String {
    let mut text = format!("Black {:.1} %", winrate_black * 100.0);
    if let Some(lead) = lead {
        let _ = write!(text, ", {}", lead_text(lead));
    }
    if let Some(swing) = swing {
        let percent = change_text(-swing.loss * 100.0);
        let _ = write!(text, " ({} {percent} %", swing.color);
        if let Some(points) = swing.points {
            let _ = write!(text, ", {} points", change_text(-points));
        }
        text.push(')');
    }
    if !position.best_line.is_empty() {
        let line: Vec<String> = position.best_line.iter().map(Move::to_string).collect();
        let _ = write!(text, "\nBest for {}: {}", position.to_move, line.join(" "));
    }
    let _ = write!(text, "\n{} visits", position.visits);
    text
}

/// A change to a tenth with its sign, none for nothing.
fn change_text(change: f64) -> String {
    match (change * 10.0).round() {
        0.0 => "0.0".to_owned(),
        _ => format!("{change:+.1}"),
    }
}

/// A lead as scores are written, to a tenth: `B+3.4`.
pub(crate) fn lead_text(lead_black: f64) -> String {
    let leader = if lead_black < 0.0 { 'W' } else { 'B' };
    format!("{leader}+{:.1}", lead_black.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    fn review(tree: &Tree, winrates: &[f64]) -> Review {
        let positions = tree
            .main_line()
            .into_iter()
            .zip(winrates)
            .enumerate()
            .map(|(index, (node, &winrate_black))| Reviewed {
                node,
                move_number: index,
                played: tree.moves(node).unwrap().first().copied(),
                to_move: match index.is_multiple_of(2) {
                    true => Color::Black,
                    false => Color::White,
                },
                winrate_black,
                score: None,
                visits: 10,
                best_line: vec!["C3".parse().unwrap(), "G7".parse().unwrap()],
            })
            .collect();
        Review { positions }
    }

    fn tree() -> Tree {
        let mut tree = Tree::new(BoardSize::NINE);
        let mut node = tree.root();
        let moves = [
            (Color::Black, "E5"),
            (Color::White, "E3"),
            (Color::Black, "A1"),
        ];
        for (color, vertex) in moves {
            node = tree.add_move(node, color, vertex.parse().unwrap());
        }
        tree
    }

    #[test]
    fn a_swing_is_what_its_mover_lost() {
        let review = review(&tree(), &[0.5, 0.4, 0.7, 0.2]);
        let losses: Vec<f64> = review.swings().iter().map(|swing| swing.loss).collect();
        let expected = [0.1, 0.3, 0.5];
        assert!(
            losses
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
        let dearest = review.largest_swings(2);
        assert_eq!(dearest[0].mv.to_string(), "A1");
        assert_eq!(dearest[1].color, Color::White);
    }

    #[test]
    fn what_was_the_other_sides_turn_is_not_held_against_a_move() {
        let mut review = review(&tree(), &[0.5, 0.4, 0.7, 0.2]);
        review.positions[2].to_move = Color::White;
        let moves: Vec<usize> = review.swings().iter().map(|swing| swing.index).collect();
        assert_eq!(moves, [1, 2]);
    }

    #[test]
    fn nothing_that_gained_or_cost_next_to_nothing_is_marked() {
        let mut gaining = review(&tree(), &[0.5, 0.6, 0.5, 0.6]);
        assert!(gaining.largest_swings(5).is_empty());
        gaining.positions[3].winrate_black = 0.47;
        assert!(gaining.largest_swings(5).is_empty());
        gaining.positions[3].winrate_black = 0.1;
        assert_eq!(gaining.largest_swings(5).len(), 1);
    }

    #[test]
    fn a_jump_of_the_graph_is_always_somebodys_mistake() {
        // Black's own move brings it from 4 % to 90 %: White's move before had allowed it, whatever the search thought.
        let mut surprised = review(&tree(), &[0.05, 0.06, 0.04, 0.9]);
        surprised.positions[1].best_line = vec!["E3".parse().unwrap()];
        surprised.positions[2].best_line = vec!["A1".parse().unwrap()];
        let mistakes = surprised.largest_swings(5);
        assert_eq!(mistakes.len(), 1);
        assert_eq!(
            (mistakes[0].mv.to_string(), mistakes[0].color),
            ("E3".into(), Color::White)
        );
        assert!((mistakes[0].loss - 0.84).abs() < 1e-9);
        assert_eq!(mistakes[0].better, None, "the search had nothing better");
        assert_eq!(surprised.winrates_black(), [0.06, 0.06, 0.9, 0.9]);
    }

    #[test]
    fn a_short_wrong_peak_blames_nobody() {
        let peak = review(&tree(), &[0.5, 0.9, 0.5, 0.5]);
        assert_eq!(peak.winrates_black(), [0.5; 4]);
        assert!(peak.largest_swings(5).is_empty());
    }

    #[test]
    fn points_go_before_chances_where_they_are_known() {
        let mut scored = review(&tree(), &[0.5, 0.5, 0.5, 0.2]);
        for (position, lead_black) in scored.positions.iter_mut().zip([0.0, -4.0, -3.0, -5.0]) {
            position.score = Some(ReviewedScore {
                lead_black,
                spread: 9.0,
                ownership_black: vec![0.0; 81],
            });
        }
        let mistakes = scored.largest_swings(5);
        let points: Vec<Option<f64>> = mistakes.iter().map(|swing| swing.points).collect();
        // Black lost four points, later two; White's one is below the threshold.
        assert_eq!(points, [Some(4.0), Some(2.0)]);
        assert_eq!(mistakes[0].cost_text(), "4.0 points, 0.0 %");
        let mut tree = tree();
        scored.annotate(&mut tree, 5);
        let first = tree.main_line()[1];
        assert_eq!(tree.text(first, "V"), Some("-4.0"));
        assert_eq!(tree.text(first, "HO"), Some("1"));
        assert!(
            tree.text(first, "C")
                .unwrap()
                .starts_with("Black 50.0 %, W+4.0 (black 0.0 %, -4.0 points)")
        );
    }

    #[test]
    fn the_record_gets_comments_winrates_and_better_lines() {
        let mut tree = tree();
        let last = *tree.main_line().last().unwrap();
        tree.set_text(last, "C", "a remark of the players");
        review(&tree, &[0.5, 0.5, 0.5, 0.2]).annotate(&mut tree, 3);
        let comment = tree.text(last, "C").unwrap();
        assert!(
            comment.starts_with("Black 20.0 % (black -30.0 %)"),
            "{comment}"
        );
        assert!(comment.ends_with("a remark of the players"));
        assert_eq!(tree.text(last, "SBKV"), Some("20.00"));
        assert_eq!(tree.text(last, "BM"), Some("1"));
        let before = tree.parent(last).unwrap();
        assert_eq!(tree.children(before).len(), 2);
        let variation = tree.children(before)[1];
        assert_eq!(tree.moves(variation).unwrap()[0].1.to_string(), "C3");
        assert_eq!(tree.main_line().len(), 4, "the game stays the main line");
    }
}
