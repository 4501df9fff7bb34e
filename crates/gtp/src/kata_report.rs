//! What a search looks like to KataGo's clients: `kata-analyze` and `kata-raw-nn`.

use std::fmt::Write as _;

use go::{BoardSize, Color, Move, Point, Symmetry};
use go_player::{Opinion, RootMove, Snapshot, View, Weighed};

use crate::{
    report::{line_of, vertex},
    tags::AnalyzeTags,
};

/// Significant digits of numbers in analysis lines.
const DIGITS: usize = 6;
/// What is printed for what a network does not say.
const UNSAID: f64 = -1.0;

/// Which extra parts an analysis line has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KataKeys {
    /// What is known of the root.
    pub root_info: bool,
    /// Who owns each point.
    pub ownership: bool,
    /// How much the tree disagrees about it.
    pub ownership_stdev: bool,
    /// The same after each move.
    pub moves_ownership: bool,
    /// The same after each move.
    pub moves_ownership_stdev: bool,
    /// Visits along each line.
    pub pv_visits: bool,
    /// Visits of the moves along each line; the same in a tree.
    pub pv_edge_visits: bool,
    /// The chance of a game without result.
    pub no_result_value: bool,
}

/// How numbers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// As short as six digits allow: `55`.
    Short,
    /// Always with a decimal point: `55.0`.
    Pointed,
}

/// Whose view numbers are printed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Perspective {
    /// The side to move.
    #[default]
    Mover,
    /// One colour, whoever moves.
    Always(Color),
}

/// A line of `kata-analyze`.
pub struct KataLine<'a> {
    pub view: &'a View<'a>,
    /// What was asked for.
    pub tags: &'a AnalyzeTags,
    pub size: BoardSize,
    /// How numbers look.
    pub numbers: Numbers,
    /// Symmetries of the root: moves that they make of others were not searched.
    pub symmetries: &'a [Symmetry],
    /// Whose view numbers are printed from.
    pub perspective: Perspective,
}

impl KataLine<'_> {
    /// The line, empty while there is nothing to tell.
    pub fn text(&self) -> String {
        let snapshot = self.view.snapshot();
        let Some(side) = snapshot.side else {
            return String::new();
        };
        let mover = match side {
            search_side if search_side.view(1.0) > 0.5 => Color::Black,
            _ => Color::White,
        };
        let mut parts = Vec::new();
        let listed = snapshot.moves.iter().enumerate();
        let listed =
            listed.filter(|(order, entry)| entry.visits > 0 || *order < self.tags.min_moves);
        for (_, entry) in listed.take(self.tags.max_moves) {
            let order = parts.len();
            parts.push(self.entry(entry, mover, order, None));
            for (image, symmetry) in self.images(entry.mv) {
                let order = parts.len();
                parts.push(self.entry(entry, mover, order, Some((image, symmetry))));
            }
        }
        parts.truncate(self.tags.max_moves);
        if self.tags.kata.root_info {
            parts.push(self.root_info(&snapshot, mover));
        }
        let keys = &self.tags.kata;
        if (keys.ownership || keys.ownership_stdev)
            && let Some(owners) = self.view.ownership(None)
        {
            if keys.ownership {
                let map = self.map(&owners.mean, self.sign(mover), None);
                parts.push(format!("ownership {map}"));
            }
            if keys.ownership_stdev {
                let map = self.map(&owners.deviation, 1.0, None);
                parts.push(format!("ownershipStdev {map}"));
            }
        }
        parts.join(" ")
    }

    fn entry(
        &self,
        entry: &RootMove,
        mover: Color,
        order: usize,
        image: Option<(Move, Symmetry)>,
    ) -> String {
        let of = |mv: Move| image.map_or(mv, |(_, symmetry)| symmetry.apply(self.size, mv));
        let number = |value: f64| self.number(value);
        let mut text = format!(
            "info move {} visits {} edgeVisits {}",
            vertex(of(entry.mv)),
            entry.visits,
            entry.visits
        );
        if let Some(weighed) = &entry.weighed {
            let turn = self.turn(mover);
            let _ = write!(text, " utility {}", number(turn * weighed.utility));
        }
        let winrate = self.winrate(entry.winrate.unwrap_or(0.0), mover);
        let _ = write!(text, " winrate {}", number(winrate));
        if let Some(weighed) = &entry.weighed {
            self.write_score(&mut text, weighed, mover);
        }
        let _ = write!(text, " prior {}", number(entry.prior));
        let lcb = self.winrate(entry.lcb.unwrap_or(0.0), mover);
        let _ = write!(text, " lcb {}", number(lcb));
        if let Some(weighed) = &entry.weighed {
            let bound = self.turn(mover) * weighed.utility_lcb;
            let _ = write!(
                text,
                " utilityLcb {} weight {}",
                number(bound),
                number(weighed.weight)
            );
        }
        if image.is_some() {
            let _ = write!(text, " isSymmetryOf {}", vertex(entry.mv));
        }
        let line: Vec<Move> = entry.pv.iter().map(|&mv| of(mv)).collect();
        let _ = write!(text, " order {order} pv {}", line_of(&line));
        let visits = || {
            let words: Vec<String> = entry.pv_visits.iter().map(u32::to_string).collect();
            words.join(" ")
        };
        let keys = &self.tags.kata;
        if keys.pv_visits {
            let _ = write!(text, " pvVisits {}", visits());
        }
        if keys.pv_edge_visits {
            let _ = write!(text, " pvEdgeVisits {}", visits());
        }
        if (keys.moves_ownership || keys.moves_ownership_stdev)
            && let Some(owners) = self.view.ownership(Some(entry.mv))
        {
            let symmetry = image.map(|(_, symmetry)| symmetry);
            if keys.moves_ownership {
                let map = self.map(&owners.mean, self.sign(mover), symmetry);
                let _ = write!(text, " movesOwnership {map}");
            }
            if keys.moves_ownership_stdev {
                let map = self.map(&owners.deviation, 1.0, symmetry);
                let _ = write!(text, " movesOwnershipStdev {map}");
            }
        }
        text
    }

    fn write_score(
        &self,
        text: &mut String,
        weighed: &Weighed<go_player::ScoreMeans>,
        mover: Color,
    ) {
        let sign = self.sign(mover);
        let means = &weighed.means;
        let lead = self.number(sign * means.lead);
        let _ = write!(
            text,
            " scoreMean {lead} scoreStdev {} scoreLead {lead} scoreSelfplay {}",
            self.number(means.spread()),
            self.number(sign * means.score_mean)
        );
        if self.tags.kata.no_result_value {
            let _ = write!(text, " noResultValue {}", self.number(means.no_result));
        }
    }

    fn root_info(&self, snapshot: &Snapshot, mover: Color) -> String {
        let mut text = format!("rootInfo visits {}", snapshot.visits);
        let sign = self.sign(mover);
        if let Some(weighed) = &snapshot.weighed {
            let _ = write!(text, " utility {}", self.number(sign * weighed.utility));
        }
        let black = snapshot.value;
        let winrate = if sign > 0.0 { black } else { 1.0 - black };
        let _ = write!(text, " winrate {}", self.number(winrate));
        if let Some(weighed) = &snapshot.weighed {
            self.write_score(&mut text, weighed, mover);
            let _ = write!(text, " weight {}", self.number(weighed.weight));
        }
        let score = self.view.raw().and_then(|opinion| opinion.score);
        let errors = score.and_then(|score| score.errors);
        let winrate_error = errors.map_or(UNSAID, |errors| f64::from(errors.win_loss));
        let score_error = errors.map_or(UNSAID, |errors| f64::from(errors.score));
        let time = score.and_then(|score| score.variance_time);
        let _ = write!(
            text,
            " rawStWrError {} rawStScoreError {} rawVarTimeLeft {}",
            self.number(winrate_error),
            self.number(score_error),
            self.number(time.map_or(UNSAID, f64::from))
        );
        text
    }

    /// A map of the board, row by row from the top left.
    fn map(&self, values: &[f64], sign: f64, symmetry: Option<Symmetry>) -> String {
        let mut words = Vec::with_capacity(values.len());
        for y in (0..self.size.get()).rev() {
            for x in 0..self.size.get() {
                let point = Point::new(x, y);
                // The value at an image is that of the point it is the image of.
                let from = symmetry.map_or(point, |s| s.inverse().point(self.size, point));
                words.push(self.number(sign * values[self.size.index(from)]));
            }
        }
        words.join(" ")
    }

    /// Other moves that symmetry makes of this one.
    fn images(&self, mv: Move) -> Vec<(Move, Symmetry)> {
        let mut images: Vec<(Move, Symmetry)> = Vec::new();
        for &symmetry in self.symmetries {
            let image = symmetry.apply(self.size, mv);
            if image != mv && images.iter().all(|other| other.0 != image) {
                images.push((image, symmetry));
            }
        }
        images
    }

    /// 1 if Black's numbers are printed as they are.
    fn sign(&self, mover: Color) -> f64 {
        let seen_by = match self.perspective {
            Perspective::Mover => mover,
            Perspective::Always(color) => color,
        };
        match seen_by {
            Color::Black => 1.0,
            Color::White => -1.0,
        }
    }

    /// 1 if the mover's numbers are printed as they are.
    fn turn(&self, mover: Color) -> f64 {
        match self.perspective {
            Perspective::Always(color) if color != mover => -1.0,
            _ => 1.0,
        }
    }

    fn winrate(&self, for_mover: f64, mover: Color) -> f64 {
        if self.turn(mover) > 0.0 {
            for_mover
        } else {
            1.0 - for_mover
        }
    }

    fn number(&self, value: f64) -> String {
        let text = six_digits(value);
        let has_point = text.contains(['.', 'e']);
        if self.numbers == Numbers::Pointed && !has_point {
            return format!("{text}.0");
        }
        text
    }
}

/// A number with six significant digits, as C++ streams print it.
pub fn six_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0" } else { "0.0" }.to_owned();
    }
    // Rounding may carry into another digit, so the exponent is read off the rounded number.
    let scientific = format!("{value:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS as i32).contains(&exponent) {
        let decimals = (DIGITS as i32 - 1 - exponent).max(0) as usize;
        return trimmed(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

fn trimmed(text: &str) -> String {
    if !text.contains('.') {
        return text.to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The answer to `kata-raw-nn` for one symmetry. Everything is White's view but the policy, which is the mover's.
pub fn raw_network(
    opinion: &Opinion,
    symmetry: Symmetry,
    to_move: Color,
    size: BoardSize,
    is_legal: &dyn Fn(Point) -> bool,
) -> String {
    let sign = match to_move {
        Color::White => 1.0,
        Color::Black => -1.0,
    };
    let half_no_result = 0.5 * opinion.no_result;
    let (win, loss) = (
        opinion.winrate - half_no_result,
        1.0 - opinion.winrate - half_no_result,
    );
    let (white_win, white_loss) = match to_move {
        Color::White => (win, loss),
        Color::Black => (loss, win),
    };
    let mut text = format!(
        "symmetry {}\nwhiteWin {white_win:.6}\nwhiteLoss {white_loss:.6}\nnoResult {:.6}\n",
        symmetry.number(),
        opinion.no_result
    );
    if let Some(score) = &opinion.score {
        let errors = score.errors;
        let _ = write!(
            text,
            "whiteLead {:.3}\nwhiteScoreSelfplay {:.3}\nwhiteScoreSelfplaySq {:.3}\nvarTimeLeft {:.3}\n\
             shorttermWinlossError {:.3}\nshorttermScoreError {:.3}\n",
            sign * score.lead,
            sign * score.mean,
            score.mean_square,
            score.variance_time.unwrap_or(UNSAID as f32),
            errors.map_or(UNSAID as f32, |errors| errors.win_loss),
            errors.map_or(UNSAID as f32, |errors| errors.score),
        );
    }
    let rows = |text: &mut String, cell: &dyn Fn(Point) -> String| {
        for y in (0..size.get()).rev() {
            let cells: Vec<String> = (0..size.get()).map(|x| cell(Point::new(x, y))).collect();
            let _ = writeln!(text, "{}", cells.join(" "));
        }
    };
    text.push_str("policy\n");
    rows(&mut text, &|point| {
        if is_legal(point) {
            format!("{:8.6}", opinion.policy[size.index(point)])
        } else {
            "    NAN ".to_owned()
        }
    });
    let _ = writeln!(text, "policyPass {:8.6}", opinion.policy[size.area()]);
    if let Some(owners) = &opinion.ownership {
        text.push_str("whiteOwnership\n");
        rows(&mut text, &|point| {
            format!("{:9.7}", sign * owners[size.index(point)])
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_cpp_stream() {
        for (value, text) in [
            (-0.121_661_2, "-0.121661"),
            (0.535_870_4, "0.53587"),
            (55.0, "55"),
            (14.442_84, "14.4428"),
            (0.0, "0"),
            (-0.061_147_62, "-0.0611476"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_011_866_04, "1.1866e-05"),
            (0.999_999_96, "1"),
            (999_999.6, "1e+06"),
            (0.000_123_456_7, "0.000123457"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
