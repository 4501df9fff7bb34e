//! The winrate over a game as a picture.

use std::fmt::Write as _;

use crate::review::Review;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 40.0;
/// Moves between two marks of the axis, the first that gives few enough.
const STEPS: [usize; 6] = [5, 10, 20, 50, 100, 200];
const MOST_MARKS: usize = 12;
/// The colour of marked moves.
const MARK: &str = "#c8321f";
/// Room for a name: a row, and a letter.
const ROW_HEIGHT: f64 = 16.0;
const LETTER_WIDTH: f64 = 6.6;

/// A picture in SVG: Black's share dark from below, White's light from above, the dearest moves
/// marked and named.
pub fn winrate_svg(review: &Review, title: &str, marked: usize) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\" fill=\"#222222\">{}</text>\n",
        escape(title)
    );
    let scale = Scale {
        last: review.positions.len().saturating_sub(1).max(1),
    };
    draw_areas(review, &scale, &mut svg);
    draw_axes(&scale, &mut svg);
    draw_swings(review, &scale, marked, &mut svg);
    svg.push_str("</svg>\n");
    svg
}

/// From positions and winrates to the picture.
struct Scale {
    last: usize,
}

impl Scale {
    fn x(&self, index: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * index as f64 / self.last as f64
    }

    fn y(&self, winrate_black: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - winrate_black.clamp(0.0, 1.0))
    }
}

fn draw_areas(review: &Review, scale: &Scale, svg: &mut String) {
    let line: Vec<String> = review
        .positions
        .iter()
        .enumerate()
        .map(|(index, position)| {
            format!(
                "{:.1},{:.1}",
                scale.x(index),
                scale.y(position.winrate_black)
            )
        })
        .collect();
    let (left, right) = (scale.x(0), scale.x(scale.last));
    let (top, bottom) = (scale.y(1.0), scale.y(0.0));
    let _ = write!(
        svg,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"#f3ede2\"/>\n\
         <polygon points=\"{left},{bottom} {} {right},{bottom}\" fill=\"#4a4a4a\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#111111\" stroke-width=\"1.5\"/>\n",
        right - left,
        bottom - top,
        line.join(" "),
        line.join(" "),
    );
}

fn draw_axes(scale: &Scale, svg: &mut String) {
    for percent in [0, 25, 50, 75, 100] {
        let y = scale.y(f64::from(percent) / 100.0);
        let dashes = if percent == 50 { "none" } else { "2 4" };
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#999999\" \
             stroke-dasharray=\"{dashes}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\" \
             fill=\"#444444\">{percent} %</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
        );
    }
    let fits = |&&step: &&usize| scale.last / step <= MOST_MARKS;
    let step = STEPS.iter().find(fits).copied().unwrap_or(scale.last);
    for index in (0..=scale.last).step_by(step.max(1)) {
        let x = scale.x(index);
        let y = scale.y(0.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y}\" y2=\"{}\" stroke=\"#666666\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444444\">{index}</text>",
            y + 5.0,
            y + 18.0,
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"24\" text-anchor=\"end\" fill=\"#444444\">Black's winrate by move</text>",
        WIDTH - RIGHT
    );
}

/// Names the dearest moves in rows at the top, each joined to its place by a thin line; names that
/// would run into each other go to different rows.
fn draw_swings(review: &Review, scale: &Scale, marked: usize, svg: &mut String) {
    let mut swings = review.largest_swings(marked);
    swings.sort_by_key(|swing| swing.index);
    let mut row_ends: Vec<f64> = Vec::new();
    let (mut lines, mut names) = (String::new(), String::new());
    for swing in swings {
        let x = scale.x(swing.index);
        let y = scale.y(review.positions[swing.index].winrate_black);
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
        let _ = writeln!(
            lines,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{MARK}\" \
             stroke-width=\"0.8\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{MARK}\" \
             stroke=\"#ffffff\"/>",
            name_y + 3.0
        );
        let _ = writeln!(
            names,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{ROW_HEIGHT}\" rx=\"3\" \
             fill=\"#ffffff\"/><text x=\"{start:.1}\" y=\"{name_y:.1}\" fill=\"{MARK}\">{name}</text>",
            start - 3.0,
            name_y - ROW_HEIGHT + 4.0,
            width + 6.0
        );
    }
    svg.push_str(&lines);
    svg.push_str(&names);
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
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

    #[test]
    fn neighbouring_names_stand_in_different_rows() {
        let svg = winrate_svg(&review(&[0.9, 0.6, 0.3]), "", 2);
        let named = |row: f64| {
            let y = TOP + ROW_HEIGHT * row;
            svg.matches(&format!("y=\"{y:.1}\" fill=\"{MARK}\""))
                .count()
        };
        // Moves 1 and 2 of a game of two are far apart: one row is enough for both.
        assert_eq!((named(1.0), named(2.0)), (2, 0));
        let crowded: Vec<f64> = (0..100)
            .map(|index| if index < 50 { 0.9 } else { 0.1 })
            .collect();
        let mut crowded = review(&crowded);
        crowded.positions[51].winrate_black = 0.05;
        let svg = winrate_svg(&crowded, "", 2);
        let first_rows = svg
            .matches(&format!("y=\"{:.1}\" fill", TOP + ROW_HEIGHT))
            .count();
        let second_rows = svg
            .matches(&format!("y=\"{:.1}\" fill", TOP + 2.0 * ROW_HEIGHT))
            .count();
        assert_eq!((first_rows, second_rows), (1, 1));
        let few = winrate_svg(&review(&[0.9; 3]), "", 2);
        assert!(!few.contains("<circle"));
    }

    #[test]
    fn a_game_without_moves_is_a_picture_too() {
        assert!(winrate_svg(&review(&[0.5]), "", 3).ends_with("</svg>\n"));
    }
}
