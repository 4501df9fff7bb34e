//! The clocks of a game record: its rules of time, and what each side had left.

use go::{
    Color,
    sgf::{NodeId, Overtime, Tree},
};
use go_player::{
    Player,
    clock::{CENTISECONDS_PER_SECOND, Centiseconds, TimeControl},
};

use super::time::MOST_SECONDS;

/// Time left, and the properties that say so: of the period if there are stones or periods left, else of the main time.
const TIME_LEFT: [(Color, &str, &str); 2] =
    [(Color::Black, "BL", "OB"), (Color::White, "WL", "OW")];
/// What marks an increment in the description of the overtime.
const FISCHER: &str = "fischer";

/// What a record says about time at one of its nodes.
pub(super) struct RecordTime {
    control: TimeControl,
    left: Vec<(Color, Centiseconds, u32)>,
}

impl RecordTime {
    /// The clocks at `node`; none if the record has no rules of time. Numbers that make no sense are passed over.
    pub(super) fn at(tree: &Tree, node: NodeId) -> Option<RecordTime> {
        let control = control(tree)?;
        let path = tree.path(node);
        let left = TIME_LEFT.into_iter().filter_map(|(color, time, stones)| {
            let latest = |&node: &NodeId| Some((node, centiseconds(tree.text(node, time)?)?));
            let (node, left) = path.iter().rev().find_map(latest)?;
            let stones = tree
                .text(node, stones)
                .and_then(|text| text.trim().parse().ok());
            Some((color, left, stones.unwrap_or(0)))
        });
        Some(RecordTime {
            control,
            left: left.collect(),
        })
    }

    /// Sets a player's clocks.
    pub(super) fn set(&self, player: &mut Player) {
        player.set_time(self.control);
        for &(color, left, stones) in &self.left {
            player.set_time_left(color, left, stones);
        }
    }
}

fn control(tree: &Tree) -> Option<TimeControl> {
    let limits = tree.time_limits().ok()?;
    // Overtime alone is a game that starts in overtime.
    let main = to_centiseconds(limits.main_seconds.unwrap_or(0.0))?;
    Some(match limits.overtime {
        Some(Overtime::Canadian { stones, seconds }) if stones > 0 => TimeControl::Canadian {
            main,
            period: to_centiseconds(seconds)?,
            stones,
        },
        Some(Overtime::ByoYomi { periods, seconds }) if periods > 0 => TimeControl::ByoYomi {
            main,
            period: to_centiseconds(seconds)?,
            periods,
        },
        Some(Overtime::Other(text)) if increment(&text).is_some() => TimeControl::Fischer {
            main,
            increment: increment(&text)?,
        },
        _ if limits.main_seconds.is_none() => return None,
        _ => TimeControl::Absolute { main },
    })
}

/// The increment of `30 fischer`.
fn increment(overtime: &str) -> Option<Centiseconds> {
    centiseconds(overtime.trim().to_ascii_lowercase().strip_suffix(FISCHER)?)
}

fn centiseconds(text: &str) -> Option<Centiseconds> {
    text.trim().parse().ok().and_then(to_centiseconds)
}

/// Time that was exceeded is written as less than nothing.
fn to_centiseconds(seconds: f64) -> Option<Centiseconds> {
    let is_time = seconds.is_finite() && seconds <= MOST_SECONDS;
    is_time.then_some((seconds.max(0.0) * CENTISECONDS_PER_SECOND as f64).round() as Centiseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_the_end(record: &str) -> Option<RecordTime> {
        let collection = go::sgf::read(record.as_bytes()).unwrap();
        let tree = &collection.games[0];
        RecordTime::at(tree, *tree.main_line().last().unwrap())
    }

    #[test]
    fn the_latest_time_of_each_side_counts() {
        let time = at_the_end(
            "(;SZ[9]TM[600]OT[5x30 byo-yomi];B[ee]BL[580.5];W[ce]WL[590];B[ge]BL[12.3]OB[4];W[cc])",
        );
        let left = time.unwrap().left;
        assert_eq!(left, [(Color::Black, 1230, 4), (Color::White, 59_000, 0)]);
    }

    #[test]
    fn overtime_ends_with_the_node_that_does_not_name_it() {
        let time = at_the_end("(;SZ[9]TM[0]OT[10/60 Canadian];B[ee]BL[20]OB[3];W[ce];B[ge]BL[60])");
        assert_eq!(time.unwrap().left, [(Color::Black, 6000, 0)]);
    }

    #[test]
    fn rules_are_read_in_all_forms_that_are_written() {
        let control = |root: &str| at_the_end(&format!("(;SZ[9]{root})")).map(|time| time.control);
        let fischer = TimeControl::Fischer {
            main: 30_000,
            increment: 1050,
        };
        assert_eq!(control("TM[300]OT[10.5 fischer]"), Some(fischer));
        let canadian = TimeControl::Canadian {
            main: 0,
            period: 60_000,
            stones: 25,
        };
        assert_eq!(control("OT[25/600 Canadian]"), Some(canadian));
        let absolute = TimeControl::Absolute { main: 30_000 };
        assert_eq!(control("TM[300]OT[as we like]"), Some(absolute));
        assert_eq!(control("TM[300]OT[0/600 Canadian]"), Some(absolute));
        assert_eq!(control("OT[as we like]BL[30]"), None);
        assert_eq!(control("TM[soon]BL[30]"), None);
        assert_eq!(control("BL[30]"), None);
    }

    #[test]
    fn what_is_no_time_is_passed_over_and_exceeded_time_is_none_left() {
        let time = at_the_end("(;SZ[9]TM[600];B[ee]BL[500];W[ce]WL[-3];B[ge]BL[NaN])").unwrap();
        assert_eq!(time.left, [(Color::Black, 50_000, 0), (Color::White, 0, 0)]);
    }
}
