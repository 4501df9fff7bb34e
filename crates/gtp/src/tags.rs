//! The arguments of `lz-analyze`, `kata-analyze` and their kind: tags in any order.

use go::{BoardSize, Color, Move, Point, PointSet};
use go_player::{Restrictions, Rule, RuleKind};

use crate::kata_report::KataKeys;

/// What an analysis command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzeTags {
    /// The side to analyse.
    pub color: Color,
    /// Time between two lines; 0 asks for none.
    pub interval_centiseconds: u64,
    /// How many moves to list at least, visited or not.
    pub min_moves: usize,
    /// How many moves to list at most.
    pub max_moves: usize,
    /// Moves to avoid or to choose from.
    pub restrictions: Restrictions,
    /// What else a line of `kata-analyze` has.
    pub kata: KataKeys,
}

/// What the tags are read against.
#[derive(Clone, Copy, Debug)]
pub struct TagContext {
    /// The side to analyse if no tag names one.
    pub to_move: Color,
    /// The number of moves played.
    pub move_number: usize,
    /// The size of the board.
    pub size: BoardSize,
}

/// Reads tags (in lower case); `None` if any of them is wrong.
pub fn parse(words: &[String], context: TagContext) -> Option<AnalyzeTags> {
    let mut tags = AnalyzeTags {
        color: context.to_move,
        interval_centiseconds: 0,
        min_moves: 0,
        max_moves: usize::MAX,
        restrictions: Restrictions::default(),
        kata: KataKeys::default(),
    };
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "interval" => tags.interval_centiseconds = number(words.next()?)?,
            "minmoves" => tags.min_moves = number(words.next()?)?,
            "maxmoves" => tags.max_moves = number(words.next()?)?,
            "rootinfo" => tags.kata.root_info = truth(words.next()?)?,
            "ownership" => tags.kata.ownership = truth(words.next()?)?,
            "ownershipstdev" => tags.kata.ownership_stdev = truth(words.next()?)?,
            "movesownership" => tags.kata.moves_ownership = truth(words.next()?)?,
            "movesownershipstdev" => tags.kata.moves_ownership_stdev = truth(words.next()?)?,
            "pvvisits" => tags.kata.pv_visits = truth(words.next()?)?,
            "pvedgevisits" => tags.kata.pv_edge_visits = truth(words.next()?)?,
            "noresultvalue" => tags.kata.no_result_value = truth(words.next()?)?,
            "avoid" | "allow" => {
                let color = color(words.next()?)?;
                let named = words.next()?;
                let moves: usize = number(words.next()?)?;
                let kind = if word == "avoid" {
                    RuleKind::Avoid
                } else {
                    RuleKind::Allow
                };
                let last_move_number = context.move_number.checked_add(moves.checked_sub(1)?)?;
                let mut rule = Rule {
                    kind,
                    color,
                    points: PointSet::EMPTY,
                    pass: false,
                    resign: false,
                    last_move_number,
                };
                read_moves(named, context.size, &mut rule)?;
                tags.restrictions.add(rule).ok()?;
            }
            _ => match color(word) {
                Some(color) => tags.color = color,
                None => tags.interval_centiseconds = number(word)?,
            },
        }
    }
    Some(tags)
}

/// A colour as GTP writes it.
pub fn color(word: &str) -> Option<Color> {
    match word.to_ascii_lowercase().as_str() {
        "b" | "black" => Some(Color::Black),
        "w" | "white" => Some(Color::White),
        _ => None,
    }
}

/// A move on a board of this size.
pub fn vertex(word: &str, size: BoardSize) -> Option<Move> {
    let mv: Move = word.parse().ok()?;
    match mv {
        Move::Play(point) if !size.contains(point) => None,
        _ => Some(mv),
    }
}

/// Yes or no, as KataGo reads it.
fn truth(word: &str) -> Option<bool> {
    match word {
        "true" | "t" | "1" | "yes" | "y" => Some(true),
        "false" | "f" | "0" | "no" | "n" => Some(false),
        _ => None,
    }
}

/// A number without a sign.
fn number<N: std::str::FromStr>(word: &str) -> Option<N> {
    word.starts_with(|c: char| c.is_ascii_digit())
        .then(|| word.parse().ok())
        .flatten()
}

/// Reads a comma list of vertices, rectangles (`d4:g7`), `pass` and `resign`.
fn read_moves(list: &str, size: BoardSize, rule: &mut Rule) -> Option<()> {
    for item in list.split(',') {
        match item {
            "pass" => rule.pass = true,
            "resign" => rule.resign = true,
            _ => match item.split_once(':') {
                Some((a, b)) => rule
                    .points
                    .extend(rectangle(point(a, size)?, point(b, size)?)),
                None => rule.points.insert(point(item, size)?),
            },
        }
    }
    Some(())
}

fn point(word: &str, size: BoardSize) -> Option<Point> {
    vertex(word, size)?.point()
}

fn rectangle(a: Point, b: Point) -> impl Iterator<Item = Point> {
    let columns = a.x().min(b.x())..=a.x().max(b.x());
    let rows = a.y().min(b.y())..=a.y().max(b.y());
    columns.flat_map(move |x| rows.clone().map(move |y| Point::new(x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, to_move: Color, move_number: usize) -> Option<AnalyzeTags> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let context = TagContext {
            to_move,
            move_number,
            size: BoardSize::NINETEEN,
        };
        parse(&words, context)
    }

    fn accepted(line: &str) -> AnalyzeTags {
        read(line, Color::Black, 0).unwrap_or_else(|| panic!("{line:?} was refused"))
    }

    fn named(line: &str) -> usize {
        let tags = accepted(line);
        let rule = &tags.restrictions.rules()[0];
        rule.points.len() + usize::from(rule.pass) + usize::from(rule.resign)
    }

    #[test]
    fn tags_come_in_any_order() {
        for line in [
            "b 50",
            "50 b",
            "interval 50 b",
            "b interval 50",
            "black 50",
            "50 black",
        ] {
            let tags = accepted(line);
            assert_eq!(
                (tags.color, tags.interval_centiseconds),
                (Color::Black, 50),
                "{line}"
            );
        }
        for line in ["w 50", "50 w", "interval 50 w", "white interval 50"] {
            let tags = accepted(line);
            assert_eq!(
                (tags.color, tags.interval_centiseconds),
                (Color::White, 50),
                "{line}"
            );
        }
        let tags = accepted("minmoves 5 w avoid b a1 3 interval 100");
        assert_eq!(tags.min_moves, 5);
        assert_eq!(tags.restrictions.rules().len(), 1);
    }

    #[test]
    fn the_side_to_move_is_analysed_unless_named() {
        assert_eq!(read("100", Color::White, 1).unwrap().color, Color::White);
        assert_eq!(read("", Color::Black, 0).unwrap().color, Color::Black);
        assert_eq!(read("", Color::Black, 0).unwrap().interval_centiseconds, 0);
    }

    #[test]
    fn a_rule_holds_for_the_next_n_moves() {
        let tags = read("avoid b q16 1", Color::Black, 7).unwrap();
        assert_eq!(tags.restrictions.rules()[0].last_move_number, 7);
        let tags = read("avoid b q16 30", Color::Black, 7).unwrap();
        assert_eq!(tags.restrictions.rules()[0].last_move_number, 36);
    }

    #[test]
    fn rectangles_may_start_in_any_corner() {
        for line in ["q16:t19", "t19:q16", "q19:t16", "t16:q19"] {
            assert_eq!(named(&format!("avoid b {line} 1")), 16, "{line}");
        }
        assert_eq!(named("avoid b a1:t19 1"), 361);
        assert_eq!(named("avoid b a1:t19,pass,resign 1"), 363);
        assert_eq!(named("avoid w c3,k10,q17 1"), 3);
        assert_eq!(named("avoid w c3:c3 1"), 1);
        assert_eq!(named("avoid b pass 1"), 1);
        assert_eq!(named("avoid b d4:e5,c3,pass 2"), 6);
    }

    #[test]
    fn what_is_wrong_in_any_part_is_refused() {
        for line in [
            "interval",
            "b interval",
            "interval b",
            "interval -5",
            "minmoves",
            "minmoves x",
            "bogus",
            "b 50 bogus",
            "-50",
            "5.5",
            "avoid",
            "avoid b",
            "avoid b q16",
            "avoid b q16 0",
            "avoid b q16 -1",
            "avoid b q16 99999999999999999999",
            "avoid b q16 x",
            "avoid q16 1",
            "avoid x q16 1",
            "avoid b q16, 1",
            "avoid b ,q16 1",
            "avoid b q16: 1",
            "avoid b d4: 1",
            "avoid b :e3 1",
            "avoid b d:e3 1",
            "avoid b d4:e3:f2 1",
            "avoid b d4:pass 1",
            "avoid b z10 1",
            "avoid b i5 1",
            "avoid b a20 1",
            "avoid b a0 1",
            "allow w pass",
        ] {
            assert_eq!(read(line, Color::Black, 0), None, "{line:?}");
        }
    }

    #[test]
    fn allowing_and_avoiding_plays_of_one_colour_is_a_contradiction() {
        assert!(read("allow b q16 1 avoid b d4 1", Color::Black, 0).is_none());
        assert!(read("avoid b d4 1 allow b q16 1", Color::Black, 0).is_none());
        assert!(read("avoid b d4,pass 1 allow b q16 1", Color::Black, 0).is_none());
        assert!(read("avoid b pass 1 allow b q16 1", Color::Black, 0).is_some());
        assert!(read("allow b q16 1 avoid b pass,resign 1", Color::Black, 0).is_some());
        assert!(read("avoid b d4 1 allow w q16 1", Color::Black, 0).is_some());
        assert!(read("avoid b d4 1 avoid b q16 2", Color::Black, 0).is_some());
        assert!(read("allow b d4 1 allow b q16 2", Color::Black, 0).is_some());
    }
}
