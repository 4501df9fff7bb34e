//! The positions drawn in `book.txt`, laid out on a 19x19 board, turned and coloured by their number.

use go::sgf::Tree;
use go::{Board, BoardSize, Color, Point, PointSet, Symmetry};

/// What is known of a position: the answer if the attacker and if the defender moves.
pub struct Classic {
    pub name: String,
    pub board: Board,
    pub defender: Color,
    pub answers: [char; 2],
}

/// Every position of the book.
pub fn classics() -> Vec<Classic> {
    include_str!("book.txt")
        .split("\n== ")
        .skip(1)
        .enumerate()
        .map(|(number, text)| classic(number, text))
        .collect()
}

/// The position as an unmarked problem of a book.
#[allow(
    dead_code,
    reason = "the test asks the library, the example writes files"
)]
pub fn to_sgf(classic: &Classic) -> String {
    let mut tree = Tree::new(classic.board.size());
    let root = tree.root();
    tree.set_text(root, "GN", &classic.name);
    for (property, color) in [("AB", Color::Black), ("AW", Color::White)] {
        tree.set_points(root, property, classic.board.stone_set(color).iter());
    }
    tree.to_string().replace('\n', "")
}

fn classic(number: usize, text: &str) -> Classic {
    let (title, drawing) = text.split_once('\n').expect("a title and a drawing");
    let fields: Vec<&str> = title.split(';').map(str::trim).collect();
    let [name, place, answers] = fields[..] else {
        panic!("a name, a place and answers: {title}");
    };
    let answers: Vec<char> = answers.chars().filter(|c| !c.is_whitespace()).collect();
    let rows: Vec<&str> = drawing.lines().filter(|row| !row.is_empty()).collect();
    // Away from the left edge where the corner has nothing to do with it.
    let left = if place == "corner" { 0 } else { 6 };
    let cells: Vec<(Point, char)> = rows
        .iter()
        .rev()
        .enumerate()
        .flat_map(|(y, row)| {
            let points = row.chars().enumerate();
            points.map(move |(x, c)| (Point::new(left + x, y), c))
        })
        .collect();
    let all = |wanted: char| -> PointSet {
        let found = cells.iter().filter(|(_, c)| *c == wanted);
        found.map(|&(point, _)| point).collect()
    };
    let size = BoardSize::NINETEEN;
    let eyes = all('e');
    let (defenders, attackers) = if eyes.is_empty() {
        (all('O'), all('X'))
    } else {
        let group = around(size, &eyes);
        (group, around(size, &(eyes | group)))
    };
    let symmetry = Symmetry::ALL[number % Symmetry::COUNT];
    let turned = |set: PointSet| -> PointSet {
        set.iter()
            .map(|point| symmetry.point(size, point))
            .collect()
    };
    let (defenders, attackers) = (turned(defenders), turned(attackers));
    let defender = if number.is_multiple_of(3) {
        Color::Black
    } else {
        Color::White
    };
    let board = match defender {
        Color::Black => Board::with_stones(size, &defenders, &attackers),
        Color::White => Board::with_stones(size, &attackers, &defenders),
    };
    Classic {
        name: name.to_owned(),
        board: board.unwrap_or_else(|error| panic!("{name}: {error}")),
        defender,
        answers: answers.try_into().expect("two answers"),
    }
}

/// The points around a set, diagonals included.
fn around(size: BoardSize, set: &PointSet) -> PointSet {
    set.iter()
        .flat_map(|point| point.neighbors().into_iter().chain(point.diagonals()))
        .filter(|&point| size.contains(point) && !set.contains(point))
        .collect()
}
