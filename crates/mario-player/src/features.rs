//! What a board looks like to the heuristic: a few dozen counts, each a handful of shifts.
//!
//! The counts follow how the game is lost: viruses get buried under other colours, halves pile
//! up that belong to nothing, and the columns under the throat grow. A *window* is four cells in
//! a row; it is alive for a colour while it holds no other one. A vertical window is open when
//! nothing hangs over its empty cells.

use mario::{Board, Color};

/// How many counts there are.
pub const FEATURES: usize = FEATURE_NAMES.len();

/// The counts, as the weights file names them, in order.
pub const FEATURE_NAMES: [&str; 36] = [
    "viruses",
    "halves",
    "holes",
    "throat_8",
    "throat_10",
    "throat_12",
    "throat_14",
    "beside_8",
    "beside_10",
    "beside_12",
    "beside_14",
    "outer_8",
    "outer_10",
    "outer_12",
    "outer_14",
    "vertical_same",
    "vertical_other",
    "horizontal_same",
    "layers_over_viruses",
    "buried_viruses",
    "dead_viruses",
    "viruses_in_open_2",
    "viruses_in_open_3",
    "viruses_in_flat_2",
    "viruses_in_flat_3",
    "halves_in_open_2",
    "halves_in_open_3",
    "halves_in_flat_2",
    "halves_in_flat_3",
    "colors_without_top",
    "tops_on_virus_runs",
    "split_columns",
    "hanging_pairs",
    "wells",
    "colors_left",
    "layers_over_high_viruses",
];

/// The counts of one board.
pub type Features = [f32; FEATURES];

const COLUMN: u128 = 0x0101_0101_0101_0101_0101_0101_0101_0101;

/// Columns in which a pill enters, those beside them, and the rest.
const COLUMN_GROUPS: [u128; 3] = [
    COLUMN * 0b0001_1000,
    COLUMN * 0b0010_0100,
    COLUMN * 0b1100_0011,
];

/// Bands of two rows, from the eighth up.
const BANDS: [u128; 4] = [0xffff << 64, 0xffff << 80, 0xffff << 96, 0xffff << 112];

/// The ninth row and those above: three more cells on a virus there reach the neck.
const HIGH_ROWS: u128 = !0 << (8 * 9);

const FIRST_FIVE_COLUMNS: u128 = COLUMN * 0b0001_1111;

const NOT_LAST_COLUMN: u128 = COLUMN * 0b0111_1111;

/// Counts everything on `board`.
pub fn features(board: &Board) -> Features {
    let occupied = board.occupied();
    let viruses = board.viruses();
    let halves = occupied & !viruses;
    let covered = fill_down(occupied);
    let covered_below = covered >> 8;
    let mut counts = [0.0; FEATURES];
    let mut next = 0;
    let mut count = |value: u32| {
        counts[next] = value as f32;
        next += 1;
    };

    count(viruses.count_ones());
    count(halves.count_ones());
    count((covered & !occupied).count_ones());
    for group in COLUMN_GROUPS {
        for band in BANDS {
            count((covered & group & band).count_ones());
        }
    }

    let colors = Color::ALL.map(|color| board.of_color(color));
    let (mut above_same, mut right_same) = (0, 0);
    for set in colors {
        above_same |= set & set >> 8;
        right_same |= set & set >> 1 & NOT_LAST_COLUMN;
    }
    let above_other = occupied & occupied >> 8 & !above_same;
    count(above_same.count_ones());
    count(above_other.count_ones());
    count(right_same.count_ones());

    // A layer ends where the next occupied cell above has another colour, or hangs over a gap.
    let layer_ends = occupied & covered_below & !above_same;
    count(layers_over(viruses, layer_ends));
    count((viruses & (fill_down(layer_ends))).count_ones());

    let mut in_open = [0u128; 2];
    let mut in_flat = [0u128; 2];
    let mut in_alive = 0;
    for set in colors {
        let others = occupied & !set;
        let open = Windows::vertical(set, others | covered & !occupied);
        let flat = Windows::horizontal(set, others);
        in_alive |= set & (open.one | flat.one);
        in_open[0] |= set & open.two;
        in_open[1] |= set & open.three;
        in_flat[0] |= set & flat.two;
        in_flat[1] |= set & flat.three;
    }
    count((viruses & !in_alive).count_ones());
    for kind in [viruses, halves] {
        count((kind & in_open[0]).count_ones());
        count((kind & in_open[1]).count_ones());
        count((kind & in_flat[0]).count_ones());
        count((kind & in_flat[1]).count_ones());
    }

    let tops = occupied & !covered_below;
    count(colors.iter().filter(|&&set| set & tops == 0).count() as u32);
    // The run a column ends in at the top, when a virus is part of it.
    let top_runs = fill_down_through(tops, above_same);
    count(columns_of(top_runs & viruses).count_ones());
    // Columns that the top rows no longer join to the throat.
    let row = |y: u32| (occupied >> (8 * y)) as u8;
    count(cut_off(row(15)).count_ones() + cut_off(row(14)).count_ones());
    let pairs = board.of_shape(mario::Shape::Left);
    let unsupported = !(occupied << 8) & !0xff;
    count((pairs & unsupported | pairs << 1 & unsupported).count_ones());
    // Empty sky cells with both neighbours taken: only an upright pill gets in.
    let sky = !covered;
    let taken_left = (covered & NOT_LAST_COLUMN) << 1 | COLUMN;
    let taken_right = covered >> 1 & NOT_LAST_COLUMN | COLUMN << 7;
    count((sky & taken_left & taken_right).count_ones());
    count(colors.iter().filter(|&&set| set & viruses != 0).count() as u32);
    // A virus near the top leaves no room to dig it out once it is covered.
    count(layers_over(viruses & HIGH_ROWS, layer_ends));
    debug_assert_eq!(next, FEATURES);
    counts
}

/// Every cell with a set cell above it or in it.
fn fill_down(mut set: u128) -> u128 {
    for rows in [8, 16, 32, 64] {
        set |= set >> rows;
    }
    set
}

/// The runs of one colour that `tops` begin, downwards.
fn fill_down_through(tops: u128, above_same: u128) -> u128 {
    let (mut filled, mut path) = (tops, above_same);
    for rows in [8, 16, 32, 64] {
        filled |= filled >> rows & path;
        path &= path >> rows;
    }
    filled
}

/// For each virus the layer ends at it or above it in its column, summed.
fn layers_over(viruses: u128, layer_ends: u128) -> u32 {
    let mut sum = 0;
    let mut ends = layer_ends;
    while ends != 0 {
        sum += (ends & viruses).count_ones();
        ends >>= 8;
    }
    sum
}

/// The columns in which a set has cells, as one row.
fn columns_of(set: u128) -> u8 {
    fill_down(set) as u8
}

/// The columns of a row that occupied cells separate from the throat.
fn cut_off(row: u8) -> u8 {
    let free = !row;
    let mut reached = 0b0001_1000 & free;
    for _ in 0..4 {
        reached |= (reached << 1 | reached >> 1) & free;
    }
    free & !reached
}

/// The cells of one colour's alive windows, by how many cells of the colour the window holds.
struct Windows {
    one: u128,
    two: u128,
    three: u128,
}

impl Windows {
    fn vertical(set: u128, blocked: u128) -> Self {
        // Windows may not stick out of the top: shifting brings in zeros there, so block them.
        let starts = !0 >> 24;
        Self::count::<8>(set, blocked, starts)
    }

    fn horizontal(set: u128, blocked: u128) -> Self {
        Self::count::<1>(set, blocked, FIRST_FIVE_COLUMNS)
    }

    /// Counts the colour in the four cells from each start on, one bit-sliced adder for all.
    fn count<const STEP: u32>(set: u128, blocked: u128, starts: u128) -> Self {
        let pair_blocked = blocked | blocked >> STEP;
        let alive = starts & !(pair_blocked | pair_blocked >> (2 * STEP));
        let next = set >> STEP;
        let (either, both) = (set | next, set & next);
        let (far_either, far_both) = (either >> (2 * STEP), both >> (2 * STEP));
        let spread = |windows: u128| {
            let pair = windows | windows << STEP;
            pair | pair << (2 * STEP)
        };
        Self {
            one: spread(alive & (either | far_either)),
            two: spread(alive & (both | far_both | either & far_either)),
            three: spread(alive & (both & far_either | either & far_both)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(board: &Board, name: &str) -> f32 {
        let index = FEATURE_NAMES
            .iter()
            .position(|&other| other == name)
            .unwrap();
        features(board)[index]
    }

    /// Rows from the top, only the lowest ones given.
    fn board(rows: &[&str]) -> Board {
        let text = "d".repeat(128 - 8 * rows.len()) + &rows.concat();
        text.parse().unwrap()
    }

    #[test]
    fn counts_agree_with_a_board_counted_by_hand() {
        let board = board(&[
            "edddddqu", //
            "edddddda", "addcddda", "bddddddc",
        ]);
        for (name, expected) in [
            ("viruses", 6.0),
            ("halves", 4.0),
            ("holes", 4.0),
            ("vertical_same", 4.0),
            ("vertical_other", 2.0),
            ("buried_viruses", 2.0),
            // The yellow virus has one change over it, the blue one in the last column too.
            ("layers_over_viruses", 2.0),
            ("viruses_in_open_3", 3.0),
            ("colors_left", 3.0),
            ("layers_over_high_viruses", 0.0),
            ("colors_without_top", 1.0),
            ("tops_on_virus_runs", 3.0),
            ("hanging_pairs", 1.0),
        ] {
            assert_eq!(value(&board, name), expected, "{name}");
        }
    }

    #[test]
    fn windows_match_a_cell_by_cell_count() {
        for seed in [2, 900, 0x8988, 60_000] {
            for level in [0, 5, 10, 20] {
                let board = mario::board_only(seed, level);
                for color in Color::ALL {
                    let set = board.of_color(color);
                    let blocked = board.occupied() & !set;
                    check(set, blocked, Windows::vertical(set, blocked), (0, 1));
                    check(set, blocked, Windows::horizontal(set, blocked), (1, 0));
                }
            }
        }
    }

    fn check(set: u128, blocked: u128, windows: Windows, (dx, dy): (u8, u8)) {
        let mut expected = [0u128; 3];
        for y in 0..16 {
            for x in 0..8 {
                let cells: Vec<_> = (0..4).map(|k| (x + k * dx, y + k * dy)).collect();
                if cells.iter().any(|&(x, y)| x > 7 || y > 15) {
                    continue;
                }
                let mask = cells
                    .iter()
                    .fold(0, |mask, &(x, y)| mask | mario::bit(x, y));
                if mask & blocked != 0 {
                    continue;
                }
                for (least, expected) in (1..).zip(&mut expected) {
                    if (mask & set).count_ones() >= least {
                        *expected |= mask;
                    }
                }
            }
        }
        assert_eq!([windows.one, windows.two, windows.three], expected);
    }

    #[test]
    fn colours_are_alike_and_an_empty_board_counts_nothing() {
        let board = mario::board_only(77, 15);
        for to in mario::COLOR_PERMUTATIONS {
            assert_eq!(features(&board.recolored(to)), features(&board));
        }
        let empty = features(&Board::new());
        let wells = FEATURE_NAMES
            .iter()
            .position(|&name| name == "wells")
            .unwrap();
        let tops = FEATURE_NAMES
            .iter()
            .position(|&name| name == "colors_without_top")
            .unwrap();
        for (index, &count) in empty.iter().enumerate() {
            assert!(
                count == 0.0 || index == wells || index == tops,
                "{}",
                FEATURE_NAMES[index]
            );
        }
    }
}
