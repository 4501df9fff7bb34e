//! The colours and letters of all pictures.

use crate::canvas::Rgb;

/// The letters of every picture.
pub const FONT: &str = "sans-serif";
/// Size of a title, of a caption, and of what stands beside an axis, in pixels.
pub const TITLE_SIZE: f64 = 15.0;
/// See [`TITLE_SIZE`].
pub const CAPTION_SIZE: f64 = 13.0;
/// See [`TITLE_SIZE`].
pub const LABEL_SIZE: f64 = 11.0;

/// What pictures stand on.
pub const PAPER: Rgb = Rgb(255, 255, 255);
/// Text and axes.
pub const INK: Rgb = Rgb(34, 34, 34);
/// Text that matters less.
pub const FAINT_INK: Rgb = Rgb(85, 85, 85);
/// The lines behind a chart.
pub const GRID: Rgb = Rgb(227, 227, 227);
/// What a picture points at.
pub const MARK: Rgb = Rgb(200, 50, 31);

/// The first curve of a chart; the same, smoothed; and what it is compared with.
pub const CURVE_RAW: Rgb = Rgb(154, 167, 181);
/// See [`CURVE_RAW`].
pub const CURVE: Rgb = Rgb(51, 96, 140);
/// See [`CURVE_RAW`].
pub const CURVE_OTHER: Rgb = Rgb(196, 71, 43);

/// A board's wood, its lines and its coordinates.
pub const WOOD: Rgb = Rgb(232, 200, 122);
/// See [`WOOD`].
pub const WOOD_LINE: Rgb = Rgb(91, 74, 34);
/// Stones.
pub const BLACK: Rgb = Rgb(27, 27, 27);
/// See [`BLACK`].
pub const WHITE: Rgb = Rgb(250, 250, 250);
/// Black's and White's share of a winrate.
pub const BLACK_SHARE: Rgb = Rgb(74, 74, 74);
/// See [`BLACK_SHARE`].
pub const WHITE_SHARE: Rgb = Rgb(243, 237, 226);

/// Dr. Mario: around the bottle, inside it, its glass, what is written beside it.
pub const NIGHT: Rgb = Rgb(14, 16, 24);
/// See [`NIGHT`].
pub const BOTTLE: Rgb = Rgb(28, 31, 44);
/// See [`NIGHT`].
pub const GLASS: Rgb = Rgb(122, 134, 164);
/// See [`NIGHT`].
pub const BOTTLE_INK: Rgb = Rgb(240, 242, 250);
/// The three colours of pills and viruses: red, yellow, blue.
pub const PILLS: [Rgb; 3] = [Rgb(226, 64, 66), Rgb(240, 196, 46), Rgb(64, 128, 240)];
/// The light on a pill of each colour.
pub const PILL_LIGHTS: [Rgb; 3] = [Rgb(255, 150, 146), Rgb(255, 232, 146), Rgb(158, 196, 255)];

/// From red (0) over yellow to green (1): how likely a group lives, how good a move is.
pub fn heat(share: f32) -> Rgb {
    const BRIGHT: f32 = 215.0;
    const BLUE: u8 = 40;
    let share = share.clamp(0.0, 1.0);
    let [red, green] =
        [2.0 * (1.0 - share), 2.0 * share].map(|part| (part.min(1.0) * BRIGHT) as u8);
    Rgb(red, green, BLUE)
}
