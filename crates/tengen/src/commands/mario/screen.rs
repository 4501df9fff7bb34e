//! A position in the terminal: two characters a cell, in colour where the terminal has it.

use crossterm::style::{Color as Ink, Stylize};
use mario::board::{HEIGHT, WIDTH};
use mario::{Board, Cell, Color, Pill, Placed, Shape};

use crate::commands::terminal::is_colored;

/// What is drawn beside the bottle.
pub struct Scoreboard<'a> {
    /// The pill after the falling one.
    pub next: Option<Pill>,
    /// Lines of text, from the top.
    pub lines: &'a [String],
}

/// The rows of a drawing, from the top, without line ends.
pub fn draw(board: &Board, falling: Option<Placed>, beside: &Scoreboard<'_>) -> Vec<String> {
    let mut cells = vec![vec![None; usize::from(WIDTH)]; usize::from(HEIGHT)];
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            cells[usize::from(y)][usize::from(x)] = board.cell(x, y);
        }
    }
    if let Some(Placed { x, y, content }) = falling {
        let [first, second] = content.cells();
        let (x, y) = (usize::from(x), usize::from(y));
        let (dx, dy) = if content.vertical { (0, 1) } else { (1, 0) };
        for (cell, x, y) in [(first, x, y), (second, x + dx, y + dy)] {
            if let Some(place) = cells.get_mut(y).and_then(|row| row.get_mut(x)) {
                *place = Some(cell);
            }
        }
    }
    let mut rows = vec![" ╭────╯      ╰────╮ ".to_owned()];
    for row in cells.iter().rev() {
        let inside: String = row.iter().map(|cell| cell_text(*cell)).collect();
        rows.push(format!(" │{inside}│ "));
    }
    rows.push(" ╰────────────────╯ ".to_owned());
    let mut texts = Vec::new();
    if let Some(next) = beside.next {
        let [left, right] = next.turned(0).cells();
        texts.push(format!(
            "next {}{}",
            cell_text(Some(left)),
            cell_text(Some(right))
        ));
        texts.push(String::new());
    }
    texts.extend(beside.lines.iter().cloned());
    for (row, text) in rows.iter_mut().skip(1).zip(texts) {
        *row = format!("{row}  {text}");
    }
    rows
}

fn cell_text(cell: Option<Cell>) -> String {
    let Some(Cell { color, shape }) = cell else {
        return "  ".to_owned();
    };
    let text = match shape {
        Shape::Virus => "@@",
        Shape::Single => "()",
        Shape::Bottom => "\\/",
        Shape::Top => "/\\",
        Shape::Left => "(=",
        Shape::Right => "=)",
    };
    if !is_colored() {
        // Without colour a letter has to say it: `R)`, `=y`, `@b`.
        let letter = color.letter();
        return match shape {
            Shape::Virus => format!("@{letter}"),
            Shape::Single => format!("({letter}"),
            Shape::Bottom => format!("v{letter}"),
            Shape::Top => format!("^{letter}"),
            Shape::Left => format!("<{letter}"),
            Shape::Right => format!("{letter}>"),
        };
    }
    let ink = match color {
        Color::Red => Ink::Red,
        Color::Yellow => Ink::Yellow,
        Color::Blue => Ink::Blue,
    };
    match shape {
        Shape::Virus => text.with(ink).bold().to_string(),
        _ => text.with(Ink::Black).on(ink).to_string(),
    }
}
