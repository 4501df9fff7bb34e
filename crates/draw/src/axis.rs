//! The axes of charts: where their ticks stand and what is written beside them.

use crate::canvas::{Anchor, Canvas};
use crate::style;

/// Ticks aimed at along an axis.
const TICKS: f64 = 5.0;

/// Round numbers inside a range.
pub fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// Round numbers without a fraction inside a range: steps, games and rounds have no halves.
pub fn whole_ticks(low: f64, high: f64) -> Vec<f64> {
    let mut marks = ticks(low, high);
    marks.retain(|mark| mark.fract() == 0.0);
    marks
}

/// A tick as a person writes it.
pub fn label(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        format!("{}M", trimmed(value / 1e6))
    } else if size >= 1e4 {
        format!("{}k", trimmed(value / 1e3))
    } else if size > 0.0 && size < 1e-3 {
        format!("{value:.0e}")
    } else {
        trimmed(value)
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Where a chart's numbers stand on a canvas.
#[derive(Clone, Copy, Debug)]
pub struct Axes {
    /// The plot's left and right edge, in pixels.
    pub across: (f64, f64),
    /// The plot's top and bottom edge.
    pub down: (f64, f64),
    /// The numbers at the left and right edge.
    pub x_range: (f64, f64),
    /// The numbers at the bottom and top edge.
    pub y_range: (f64, f64),
}

/// How far outside of the plot a value may be drawn, to be cut off at the edge, in sizes of the plot.
const OUTSIDE: f64 = 1.0;
/// Pixels between an axis and its labels.
const GAP: f64 = 6.0;
/// From the middle of a label to its base line.
const DROP: f64 = 4.0;
const BELOW: f64 = 16.0;

impl Axes {
    /// The pixel of a number of the horizontal axis.
    pub fn x(&self, value: f64) -> f64 {
        let (left, right) = self.across;
        left + (right - left) * share(value, self.x_range)
    }

    /// The pixel of a number of the vertical axis.
    pub fn y(&self, value: f64) -> f64 {
        let (top, bottom) = self.down;
        bottom - (bottom - top) * share(value, self.y_range)
    }

    /// The pixel of a point.
    pub fn at(&self, point: (f64, f64)) -> (f64, f64) {
        (self.x(point.0), self.y(point.1))
    }

    /// Draws a line across the plot for each of these heights, with its label.
    pub fn draw_heights(&self, canvas: &mut Canvas, heights: &[(f64, String)]) {
        let (left, right) = self.across;
        for (height, label) in heights {
            let y = self.y(*height);
            canvas.line(&[(left, y), (right, y)], style::GRID, 1.0);
            let at = (left - GAP, y + DROP);
            canvas.text(at, label, style::LABEL_SIZE, style::FAINT_INK, Anchor::End);
        }
    }

    /// Writes labels below the plot, and in front of them what they count.
    pub fn draw_places(&self, canvas: &mut Canvas, places: &[f64], unit: &str) {
        let y = self.down.1 + BELOW;
        let mut write = |x, text: &str, anchor| {
            canvas.text((x, y), text, style::LABEL_SIZE, style::FAINT_INK, anchor);
        };
        write(self.across.0 - 2.0 * GAP, unit, Anchor::End);
        for &place in places {
            write(self.x(place), &label(place), Anchor::Middle);
        }
    }

    /// Draws the two axes themselves.
    pub fn draw_frame(&self, canvas: &mut Canvas) {
        let ((left, right), (top, bottom)) = (self.across, self.down);
        canvas.line(
            &[(left, top), (left, bottom), (right, bottom)],
            style::INK,
            1.0,
        );
    }
}

fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    ((value - low) / (high - low)).clamp(-OUTSIDE, 1.0 + OUTSIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        assert_eq!(ticks(0.0, 10.0), vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(0.13, 0.52).len(), 4);
        assert_eq!(ticks(2.6, 3.7), vec![2.75, 3.0, 3.25, 3.5]);
        assert_eq!(ticks(0.0, 12.0)[..2], [0.0, 2.5]);
        assert_eq!(whole_ticks(0.0, 12.0), vec![0.0, 5.0, 10.0]);
        assert_eq!(
            [label(120_000.0), label(0.25), label(-0.0)],
            ["120k", "0.25", "0"]
        );
    }

    #[test]
    fn the_ends_of_the_ranges_are_the_edges_of_the_plot() {
        let axes = Axes {
            across: (10.0, 110.0),
            down: (5.0, 55.0),
            x_range: (0.0, 4.0),
            y_range: (-1.0, 1.0),
        };
        assert_eq!(axes.at((0.0, -1.0)), (10.0, 55.0));
        assert_eq!(axes.at((4.0, 1.0)), (110.0, 5.0));
        assert_eq!(axes.at((2.0, 0.0)), (60.0, 30.0));
        assert!(axes.y(f64::MAX).is_finite());
    }
}
