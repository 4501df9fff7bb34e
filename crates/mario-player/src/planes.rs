//! A position as the network sees it: 18 planes of 8 columns by 16 rows, zeros and ones.
//!
//! Planes 0-2 are the viruses in red, yellow and blue; 3-5 single halves, with the halves of
//! upright pills among them; 6-8 left halves; 9-11 right halves; 12-14 are all ones where the
//! pill's left colour is theirs, 15-17 the same for its right colour. A plane is stored column
//! by column, the row fastest: `[plane][x][y]`.

use mario::{Board, Color, Pill, Shape, cells_of};

pub const PLANES: usize = 18;

/// Cells of a plane.
pub const AREA: usize = 128;

/// Numbers of one position.
pub const INPUT_LEN: usize = PLANES * AREA;

/// Writes the planes of a position into `planes`, which holds [`INPUT_LEN`] numbers.
pub fn write_planes(board: &Board, pill: Pill, planes: &mut [f32]) {
    planes.fill(0.0);
    let loose = [Shape::Single, Shape::Bottom, Shape::Top]
        .into_iter()
        .fold(0, |set, shape| set | board.of_shape(shape));
    let kinds = [
        board.viruses(),
        loose,
        board.of_shape(Shape::Left),
        board.of_shape(Shape::Right),
    ];
    for (kind, set) in kinds.into_iter().enumerate() {
        for color in Color::ALL {
            let plane = (3 * kind + color as usize) * AREA;
            for (x, y) in cells_of(set & board.of_color(color)) {
                planes[plane + 16 * usize::from(x) + usize::from(y)] = 1.0;
            }
        }
    }
    for (first, color) in [(12, pill.left), (15, pill.right)] {
        let plane = (first + color as usize) * AREA;
        planes[plane..plane + AREA].fill(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occupied_cell_is_in_one_plane_and_the_pill_in_two() {
        let text = "d".repeat(96) + "mddddddd" + "iedqvddd" + "addboddd" + "gddbkcdd";
        let board: Board = text.parse().unwrap();
        for pill in Pill::all() {
            let mut planes = vec![7.0; INPUT_LEN];
            write_planes(&board, pill, &mut planes);
            let full = planes
                .chunks(AREA)
                .skip(12)
                .filter(|plane| plane.iter().all(|&v| v == 1.0));
            assert_eq!(full.count(), 2);
            assert_eq!(planes[12 * AREA..].iter().sum::<f32>(), 2.0 * AREA as f32);
            for cell in 0..AREA {
                let ones: f32 = (0..12).map(|plane| planes[plane * AREA + cell]).sum();
                let (x, y) = ((cell / 16) as u8, (cell % 16) as u8);
                assert_eq!(ones, f32::from(u8::from(board.cell(x, y).is_some())));
            }
        }
    }
}
