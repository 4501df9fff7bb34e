//! The winrate over a game as a picture.

use draw::{Anchor, Canvas, axis::Axes, style};

use crate::review::Review;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 40.0;
/// Room for a name: a row, and a letter.
const ROW_HEIGHT: f64 = 16.0;
const LETTER_WIDTH: f64 = 6.6;
/// Size of a name.
const NAME_SIZE: f64 = 12.0;

/// A picture in SVG: Black's share dark from below, White's light from above, the dearest moves
/// marked and named.
pub fn winrate_svg(review: &Review, title: &str, marked: usize) -> String {
    let last = review.positions.len().saturating_sub(1).max(1);
    let axes = Axes {
        across: (LEFT, WIDTH - RIGHT),
        down: (TOP, HEIGHT - BOTTOM),
        x_range: (0.0, last as f64),
        y_range: (0.0, 1.0),
    };
    let mut canvas = Canvas::new(WIDTH, HEIGHT, style::PAPER);
    canvas.text(
        (LEFT, 24.0),
        title,
        style::TITLE_SIZE,
        style::INK,
        Anchor::Start,
    );
    canvas.text(
        (WIDTH - RIGHT, 24.0),
        "Black's winrate by move",
        NAME_SIZE,
        style::FAINT_INK,
        Anchor::End,
    );
    draw_areas(review, &axes, &mut canvas);
    draw_axes(&axes, &mut canvas);
    draw_swings(review, &axes, marked, &mut canvas);
    canvas.to_svg()
}

fn draw_areas(review: &Review, axes: &Axes, canvas: &mut Canvas) {
    let line: Vec<(f64, f64)> = review
        .positions
        .iter()
        .enumerate()
        .map(|(index, position)| axes.at((index as f64, position.winrate_black.clamp(0.0, 1.0))))
        .collect();
    let ((left, right), (top, bottom)) = (axes.across, axes.down);
    canvas.rectangle(
        (left, top),
        (right - left, bottom - top),
        style::WHITE_SHARE,
    );
    let mut black = vec![(left, bottom)];
    black.extend(&line);
    black.push((line.last().map_or(left, |last| last.0), bottom));
    canvas.polygon(&black, style::BLACK_SHARE);
    canvas.line(&line, style::BLACK, 1.5);
}

fn draw_axes(axes: &Axes, canvas: &mut Canvas) {
    let (left, right) = axes.across;
    for percent in [0, 25, 50, 75, 100] {
        let y = axes.y(f64::from(percent) / 100.0);
        let across = [(left, y), (right, y)];
        match percent {
            50 => canvas.line(&across, style::CURVE_RAW, 1.0),
            _ => canvas.dashed_line(&across, style::CURVE_RAW),
        }
        canvas.text(
            (left - 6.0, y + 4.0),
            &format!("{percent} %"),
            NAME_SIZE,
            style::FAINT_INK,
            Anchor::End,
        );
    }
    let places = draw::axis::whole_ticks(axes.x_range.0, axes.x_range.1);
    axes.draw_places(canvas, &places, "");
}

/// Names the dearest moves in rows at the top, each joined to its place by a thin line; names that
/// would run into each other go to different rows.
fn draw_swings(review: &Review, axes: &Axes, marked: usize, canvas: &mut Canvas) {
    let mut swings = review.largest_swings(marked);
    swings.sort_by_key(|swing| swing.index);
    let mut row_ends: Vec<f64> = Vec::new();
    let mut names = Vec::new();
    for swing in swings {
        let winrate = review.positions[swing.index].winrate_black.clamp(0.0, 1.0);
        let (x, y) = axes.at((swing.index as f64, winrate));
        let name = format!(
            "{} {} -{:.0} %",
            swing.move_number,
            swing.mv,
            swing.loss * 100.0
        );
        let width = name.len() as f64 * LETTER_WIDTH;
        let start = (x - width / 2.0).clamp(LEFT + 2.0, WIDTH - RIGHT - width - 2.0);
        let free = row_ends.iter().position(|&end| end < start);
        let row = free.unwrap_or(row_ends.len());
        row_ends.resize(row_ends.len().max(row + 1), 0.0);
        row_ends[row] = start + width;
        let name_y = TOP + ROW_HEIGHT * (row as f64 + 1.0);
        canvas.line(&[(x, name_y + 3.0), (x, y)], style::MARK, 0.8);
        canvas.edged_disc((x, y), 4.0, style::MARK, style::PAPER);
        names.push((start, name_y, width, name));
    }
    // Names cover lines, and not the other way round.
    for (start, y, width, name) in names {
        canvas.rectangle(
            (start - 3.0, y - ROW_HEIGHT + 4.0),
            (width + 6.0, ROW_HEIGHT),
            style::PAPER,
        );
        canvas.text((start, y), &name, NAME_SIZE, style::MARK, Anchor::Start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::Reviewed;
    use go::{BoardSize, Color, sgf::Tree};

    fn review(winrates: &[f64]) -> Review {
        let node = Tree::new(BoardSize::NINE).root();
        let positions = winrates
            .iter()
            .enumerate()
            .map(|(index, &winrate_black)| Reviewed {
                node,
                move_number: index,
                played: (index > 0).then(|| (Color::Black, "E5".parse().unwrap())),
                to_move: Color::Black,
                winrate_black,
                visits: 1,
                best_line: Vec::new(),
            })
            .collect();
        Review { positions }
    }

    #[test]
    fn every_position_is_a_point_of_the_line_within_the_frame() {
        let svg = winrate_svg(&review(&[0.5, 1.0, 0.0, 0.25]), "A & B", 0);
        let line = svg.split("<polyline points=\"").nth(1).unwrap();
        let points: Vec<(f64, f64)> = line[..line.find('"').unwrap()]
            .split(' ')
            .map(|point| {
                let (x, y) = point.split_once(',').unwrap();
                (x.parse().unwrap(), y.parse().unwrap())
            })
            .collect();
        assert_eq!(points.len(), 4);
        assert_eq!(points[1].1, TOP);
        assert_eq!(points[2].1, HEIGHT - BOTTOM);
        assert_eq!((points[0].0, points[3].0), (LEFT, WIDTH - RIGHT));
        assert!(svg.contains("A &amp; B"));
    }

    fn names_at(svg: &str, y: f64) -> usize {
        let name = format!(
            "y=\"{y}\" font-size=\"{NAME_SIZE}\" fill=\"{}\"",
            style::MARK
        );
        svg.matches(&name).count()
    }

    #[test]
    fn neighbouring_names_stand_in_different_rows() {
        let svg = winrate_svg(&review(&[0.9, 0.6, 0.3]), "", 2);
        let named = |row: f64| {
            let y = TOP + ROW_HEIGHT * row;
            names_at(&svg, y)
        };
        // Moves 1 and 2 of a game of two are far apart: one row is enough for both.
        assert_eq!((named(1.0), named(2.0)), (2, 0));
        let crowded: Vec<f64> = (0..100)
            .map(|index| if index < 50 { 0.9 } else { 0.1 })
            .collect();
        let mut crowded = review(&crowded);
        crowded.positions[51].winrate_black = 0.05;
        let svg = winrate_svg(&crowded, "", 2);
        let first_rows = names_at(&svg, TOP + ROW_HEIGHT);
        let second_rows = names_at(&svg, TOP + 2.0 * ROW_HEIGHT);
        assert_eq!((first_rows, second_rows), (1, 1));
        let few = winrate_svg(&review(&[0.9; 3]), "", 2);
        assert!(!few.contains("<circle"));
    }

    #[test]
    fn a_game_without_moves_is_a_picture_too() {
        assert!(winrate_svg(&review(&[0.5]), "", 3).ends_with("</svg>\n"));
    }
}
