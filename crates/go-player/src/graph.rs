//! A reviewed game as pictures: the winrate and the score over its moves, and who owns the board.

use draw::{Anchor, Canvas, GoBoard, Rgb, Stone, axis::Axes, style};
use go::{Board, Color};

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
const NAME_SIZE: f64 = 12.0;
/// The score's axis goes at least so many points up and down.
const FEWEST_POINTS: f64 = 10.0;
/// Leads beyond this are drawn at the edge: the game is long decided there.
const MOST_POINTS: f64 = 80.0;

/// A picture in SVG: Black's winrate, and below it the score if the network predicts it. The dearest moves are marked
/// and named.
pub fn review_svg(review: &Review, title: &str, marked: usize) -> String {
    let winrates = winrate_panel(review, title, marked);
    let Some(leads) = review.leads_black() else {
        return winrates.to_svg();
    };
    let mut both = Canvas::new(WIDTH, 2.0 * HEIGHT, style::PAPER);
    both.paste(&winrates, (0.0, 0.0));
    both.paste(&lead_panel(review, &leads, marked), (0.0, HEIGHT));
    both.to_svg()
}

/// How much of the owner's colour there is in the ground of a point that is surely its own. Stones stay visible on it.
const STRONGEST_SHADE: f32 = 0.6;

/// Who owns the board, as SVG: each point is as dark or light as it is Black's or White's. `ownership_black` goes from
/// -1 (White) to 1 (Black), row by row from the bottom.
pub fn ownership_svg(board: &Board, ownership_black: &[f32]) -> String {
    let size = board.size();
    let stone = |x, y| match board.stone(go::Point::new(x, y)) {
        Some(Color::Black) => Some(Stone::Black),
        Some(Color::White) => Some(Stone::White),
        None => None,
    };
    let mut picture = GoBoard::new(size.get(), stone);
    for point in size.points() {
        let owner = ownership_black[size.index(point)].clamp(-1.0, 1.0);
        let color = if owner > 0.0 {
            style::BLACK
        } else {
            style::WHITE
        };
        let shade = mixed(style::WOOD, color, STRONGEST_SHADE * owner.abs());
        picture = picture.fill(point.x(), point.y(), shade);
        // A stone in the other side's hands says so itself.
        let lost = match board.stone(point) {
            Some(Color::Black) => owner < 0.0,
            Some(Color::White) => owner > 0.0,
            None => false,
        };
        if lost {
            picture = picture.heart(point.x(), point.y(), shade);
        }
    }
    picture.to_svg()
}

fn mixed(one: Rgb, other: Rgb, share: f32) -> Rgb {
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    Rgb(
        mix(one.0, other.0),
        mix(one.1, other.1),
        mix(one.2, other.2),
    )
}

fn winrate_panel(review: &Review, title: &str, marked: usize) -> Canvas {
    let axes = axes(review, (0.0, 1.0));
    let mut canvas = panel("Black's winrate by move");
    canvas.text(
        (LEFT, 24.0),
        title,
        style::TITLE_SIZE,
        style::INK,
        Anchor::Start,
    );
    let values = review.winrates_black();
    draw_areas(&values, &axes, 0.0, &mut canvas);
    let heights = [0.0, 0.25, 0.5, 0.75, 1.0];
    draw_axes(
        &axes,
        &heights,
        0.5,
        |share| format!("{:.0} %", share * 100.0),
        &mut canvas,
    );
    draw_swings(review, &values, &axes, marked, &mut canvas);
    canvas
}

fn lead_panel(review: &Review, leads: &[f64], marked: usize) -> Canvas {
    let largest = leads
        .iter()
        .fold(FEWEST_POINTS, |most, lead| lead.abs().max(most))
        .min(MOST_POINTS);
    let axes = axes(review, (-largest, largest));
    let mut canvas = panel("Black's lead in points by move");
    draw_areas(leads, &axes, 0.0, &mut canvas);
    let heights = draw::axis::ticks(-largest, largest);
    draw_axes(&axes, &heights, 0.0, draw::axis::label, &mut canvas);
    draw_swings(review, leads, &axes, marked, &mut canvas);
    canvas
}

fn axes(review: &Review, y_range: (f64, f64)) -> Axes {
    let last = review.positions.len().saturating_sub(1).max(1);
    Axes {
        across: (LEFT, WIDTH - RIGHT),
        down: (TOP, HEIGHT - BOTTOM),
        x_range: (0.0, last as f64),
        y_range,
    }
}

fn panel(caption: &str) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, HEIGHT, style::PAPER);
    canvas.text(
        (WIDTH - RIGHT, 24.0),
        caption,
        NAME_SIZE,
        style::FAINT_INK,
        Anchor::End,
    );
    canvas
}

/// Black's share dark from `ground` on, White's light.
fn draw_areas(values: &[f64], axes: &Axes, ground: f64, canvas: &mut Canvas) {
    let (low, high) = axes.y_range;
    let line: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .map(|(index, value)| axes.at((index as f64, value.clamp(low, high))))
        .collect();
    let ((left, right), (top, bottom)) = (axes.across, axes.down);
    canvas.rectangle(
        (left, top),
        (right - left, bottom - top),
        style::WHITE_SHARE,
    );
    let ground = axes.y(ground);
    let mut black = vec![(left, ground)];
    black.extend(&line);
    black.push((line.last().map_or(left, |last| last.0), ground));
    canvas.polygon(&black, style::BLACK_SHARE);
    canvas.line(&line, style::BLACK, 1.5);
}

fn draw_axes(
    axes: &Axes,
    heights: &[f64],
    even: f64,
    label: impl Fn(f64) -> String,
    canvas: &mut Canvas,
) {
    let (left, right) = axes.across;
    for &height in heights {
        let y = axes.y(height);
        let across = [(left, y), (right, y)];
        if height == even {
            canvas.line(&across, style::CURVE_RAW, 1.0);
        } else {
            canvas.dashed_line(&across, style::CURVE_RAW);
        }
        canvas.text(
            (left - 6.0, y + 4.0),
            &label(height),
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
fn draw_swings(review: &Review, values: &[f64], axes: &Axes, marked: usize, canvas: &mut Canvas) {
    let (low, high) = axes.y_range;
    let mut swings = review.largest_swings(marked);
    swings.sort_by_key(|swing| swing.index);
    let mut row_ends: Vec<f64> = Vec::new();
    let mut names = Vec::new();
    for swing in swings {
        let value = values[swing.index].clamp(low, high);
        let (x, y) = axes.at((swing.index as f64, value));
        let cost = match swing.points {
            Some(points) => format!("{points:.1}"),
            None => format!("{:.0} %", swing.loss * 100.0),
        };
        let name = format!("{} {} -{cost}", swing.move_number, swing.mv);
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
    use crate::review::{Reviewed, ReviewedScore};
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
                score: None,
                visits: 1,
                best_line: Vec::new(),
            })
            .collect();
        Review { positions }
    }

    #[test]
    fn every_position_is_a_point_of_the_line_within_the_frame() {
        // Black alone moves and can only lose, so these values stand in hindsight too.
        let svg = review_svg(&review(&[1.0, 0.5, 0.25, 0.0]), "A & B", 0);
        let line = svg.split("<polyline points=\"").nth(1).unwrap();
        let points: Vec<(f64, f64)> = line[..line.find('"').unwrap()]
            .split(' ')
            .map(|point| {
                let (x, y) = point.split_once(',').unwrap();
                (x.parse().unwrap(), y.parse().unwrap())
            })
            .collect();
        assert_eq!(points.len(), 4);
        assert_eq!(points[0].1, TOP);
        assert_eq!(points[3].1, HEIGHT - BOTTOM);
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
        let svg = review_svg(&review(&[0.9, 0.6, 0.3]), "", 2);
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
        for position in &mut crowded.positions[51..] {
            position.winrate_black = 0.0;
        }
        let svg = review_svg(&crowded, "", 2);
        let first_rows = names_at(&svg, TOP + ROW_HEIGHT);
        let second_rows = names_at(&svg, TOP + 2.0 * ROW_HEIGHT);
        assert_eq!((first_rows, second_rows), (1, 1));
        let few = review_svg(&review(&[0.9; 3]), "", 2);
        assert!(!few.contains("<circle"));
    }

    #[test]
    fn a_game_without_moves_is_a_picture_too() {
        assert!(review_svg(&review(&[0.5]), "", 3).ends_with("</svg>\n"));
    }

    #[test]
    fn a_score_gets_a_panel_of_its_own() {
        let mut scored = review(&[0.5, 0.4, 0.3]);
        for (position, lead_black) in scored.positions.iter_mut().zip([3.0, 1.0, -200.0]) {
            position.score = Some(ReviewedScore {
                lead_black,
                spread: 5.0,
                ownership_black: Vec::new(),
            });
        }
        let svg = review_svg(&scored, "", 1);
        assert!(svg.contains("lead in points"));
        assert!(
            svg.contains("2 E5 -201.0"),
            "the dearest move is named by its points"
        );
    }

    #[test]
    fn an_owned_board_is_dark_or_light_and_dead_stones_show_their_captor() {
        let mut board = Board::new(BoardSize::new(2).unwrap());
        let _ = board.play("A1".parse().unwrap(), Color::White);
        let svg = ownership_svg(&board, &[1.0, 0.0, -1.0, 0.5]);
        let shade = |owner: f32| mixed(style::WOOD, style::BLACK, STRONGEST_SHADE * owner);
        // The ground of A1, and the heart of the stone on it.
        assert_eq!(svg.matches(&shade(1.0).to_string()).count(), 2);
        assert!(svg.contains(&shade(0.5).to_string()));
        // A black stone on black ground can be told from it.
        assert_ne!(shade(1.0), style::BLACK);
    }
}
