//! A bottle in letters: two characters a cell, in colour where the terminal has it.

use super::{Cell, Color, Frame, HEIGHT, Shape};

/// The rows of a drawing from the top, without line ends; `lines` stand beside the bottle.
///
/// With `colored`, cells are coloured by ANSI codes; without, a letter says the colour.
pub fn to_rows(frame: &Frame, colored: bool, lines: &[String]) -> Vec<String> {
    let text = |cell: Option<Cell>| match cell {
        None => "  ".to_owned(),
        Some(cell) if colored => colored_cell(cell),
        Some(cell) => plain_cell(cell),
    };
    let mut rows = vec![" ╭────╯      ╰────╮ ".to_owned()];
    for row in frame.cells[..HEIGHT].iter().rev() {
        let inside: String = row.iter().map(|&cell| text(cell)).collect();
        rows.push(format!(" │{inside}│ "));
    }
    rows.push(" ╰────────────────╯ ".to_owned());
    let mut beside = Vec::new();
    if let Some([left, right]) = frame.next {
        beside.push(format!("next {}{}", text(Some(left)), text(Some(right))));
        beside.push(String::new());
    }
    beside.extend(lines.iter().cloned());
    for (row, text) in rows.iter_mut().skip(1).zip(beside) {
        *row = format!("{row}  {text}");
    }
    rows
}

fn plain_cell(cell: Cell) -> String {
    let letter = cell.color.letter();
    match cell.shape {
        Shape::Virus => format!("@{letter}"),
        Shape::Single => format!("({letter}"),
        Shape::Bottom => format!("v{letter}"),
        Shape::Top => format!("^{letter}"),
        Shape::Left => format!("<{letter}"),
        Shape::Right => format!("{letter}>"),
    }
}

fn colored_cell(cell: Cell) -> String {
    let text = match cell.shape {
        Shape::Virus => "@@",
        Shape::Single => "()",
        Shape::Bottom => "\\/",
        Shape::Top => "/\\",
        Shape::Left => "(=",
        Shape::Right => "=)",
    };
    // The bright colours of the 16 that every terminal has.
    let ink = match cell.color {
        Color::Red => 9,
        Color::Yellow => 11,
        Color::Blue => 12,
    };
    match cell.shape {
        Shape::Virus => format!("\x1b[1;38;5;{ink}m{text}\x1b[0m"),
        _ => format!("\x1b[38;5;0;48;5;{ink}m{text}\x1b[0m"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn colours_change_nothing_but_the_colour() {
        let frame = &sample()[0];
        let lines = ["level 3".to_owned()];
        let plain = to_rows(frame, false, &lines);
        assert_eq!(plain.len(), HEIGHT + 2);
        assert!(plain[1].ends_with("  next <bb>"), "{}", plain[1]);
        assert!(plain[3].ends_with("  level 3"));
        assert!(plain[HEIGHT].starts_with(" │@r  "));
        assert!(plain.iter().all(|row| !row.contains('\x1b')));
        let colored = to_rows(frame, true, &lines);
        assert!(colored[HEIGHT].contains("\x1b[1;38;5;9m@@\x1b[0m"));
    }
}
