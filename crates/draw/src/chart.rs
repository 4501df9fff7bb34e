//! Charts: curves over axes.

use crate::axis::{Axes, label, ticks, whole_ticks};
use crate::canvas::{Anchor, Canvas, Rgb, text_width};
use crate::style;

/// How the points of a curve are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// By straight lines.
    Slopes,
    /// By stairs: a value holds until the next one.
    Steps,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Line {
    points: Vec<(f64, f64)>,
    color: Rgb,
    width: f64,
    join: Join,
    dots: f64,
    /// Values that may lie outside of the chart without making it taller.
    is_rough: bool,
    /// Half the height of an error bar at each point; empty without.
    errors: Vec<f64>,
}

impl Line {
    /// A curve through these points; those that are not finite are left out.
    pub fn new(points: &[(f64, f64)], color: Rgb) -> Self {
        let is_finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
        Self {
            points: points.iter().filter(is_finite).copied().collect(),
            color,
            width: 1.6,
            join: Join::Slopes,
            dots: 0.0,
            is_rough: false,
            errors: Vec::new(),
        }
    }

    /// The width of the line in pixels.
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// How its points are joined.
    pub fn join(mut self, join: Join) -> Self {
        self.join = join;
        self
    }

    /// A dot of this radius at each point.
    pub fn dots(mut self, radius: f64) -> Self {
        self.dots = radius;
        self
    }

    /// Its few highest and lowest values may be cut off.
    pub fn rough(mut self) -> Self {
        self.is_rough = true;
        self
    }

    /// Error bars: half the height of one for each point, in their order.
    pub fn errors(mut self, errors: &[f64]) -> Self {
        self.errors = errors.to_vec();
        self
    }

    /// The values that must be seen.
    fn seen(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.points.iter().map(|point| point.1).collect();
        if self.is_rough {
            values.sort_by(f64::total_cmp);
            let left_out = (values.len() as f64 * OUTLIERS).ceil() as usize;
            let end = values.len().saturating_sub(left_out);
            return values.get(left_out..end).unwrap_or_default().to_vec();
        }
        let bars = self.points.iter().zip(&self.errors);
        let ends: Vec<f64> = bars
            .flat_map(|(point, error)| [point.1 - error, point.1 + error])
            .filter(|end| end.is_finite())
            .collect();
        values.extend(ends);
        values
    }
}

/// Share of a rough curve's values at either end that may lie outside: the first are often far off.
const OUTLIERS: f64 = 0.02;
/// Share of the range that is left free above and below.
const ROOM: f64 = 0.05;

/// A chart with its title, axes and curves.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    unit: String,
    size: (f64, f64),
    x_start: Option<f64>,
    lines: Vec<Line>,
}

/// Room around the plot: left, right, top, bottom.
const MARGIN: [f64; 4] = [56.0, 14.0, 34.0, 30.0];

impl Chart {
    /// An empty chart; `unit` is what the horizontal axis counts: steps, games, rounds.
    pub fn new(title: &str, unit: &str) -> Self {
        Self {
            title: title.to_owned(),
            unit: unit.to_owned(),
            size: (460.0, 240.0),
            x_start: None,
            lines: Vec::new(),
        }
    }

    /// Width and height in pixels.
    pub fn size(mut self, width: f64, height: f64) -> Self {
        self.size = (width, height);
        self
    }

    /// Where the horizontal axis begins; without it, at the first point.
    pub fn start(mut self, x: f64) -> Self {
        self.x_start = Some(x);
        self
    }

    /// Adds a curve, over those added before.
    pub fn line(mut self, line: Line) -> Self {
        self.lines.push(line);
        self
    }

    pub fn canvas(&self) -> Canvas {
        let (width, height) = self.size;
        let mut canvas = Canvas::new(width, height, style::PAPER);
        let [left, right, top, bottom] = MARGIN;
        let axes = Axes {
            across: (left, width - right),
            down: (top, height - bottom),
            x_range: self.x_range(),
            y_range: self.y_range(),
        };
        canvas.text(
            (left, top - 10.0),
            &self.title,
            style::CAPTION_SIZE,
            style::INK,
            Anchor::Start,
        );
        let heights: Vec<(f64, String)> = ticks(axes.y_range.0, axes.y_range.1)
            .into_iter()
            .map(|height| (height, label(height)))
            .collect();
        axes.draw_heights(&mut canvas, &heights);
        let places = whole_ticks(axes.x_range.0, axes.x_range.1);
        axes.draw_places(&mut canvas, &places, &self.unit);
        axes.draw_frame(&mut canvas);
        let plot = (
            axes.across.1 - axes.across.0,
            axes.down.1 - axes.down.0 + 1.0,
        );
        canvas.clipped((axes.across.0, axes.down.0), plot, |canvas| {
            for line in &self.lines {
                draw_line(canvas, &axes, line);
            }
        });
        canvas
    }

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        self.canvas().to_svg()
    }

    fn x_range(&self) -> (f64, f64) {
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let first = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let last = all().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
        let first = self.x_start.unwrap_or(first);
        match first.is_finite() && last > first {
            true => (first, last),
            false if first.is_finite() => (first, first + 1.0),
            false => (0.0, 1.0),
        }
    }

    fn y_range(&self) -> (f64, f64) {
        let seen: Vec<f64> = self.lines.iter().flat_map(Line::seen).collect();
        let low = seen.iter().copied().fold(f64::INFINITY, f64::min);
        let high = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return (0.0, 1.0);
        }
        let room = ((high - low) * ROOM).max(high.abs() * 1e-6).max(1e-9);
        (low - room, high + room)
    }
}

fn draw_line(canvas: &mut Canvas, axes: &Axes, line: &Line) {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for &point in &line.points {
        let (x, y) = axes.at(point);
        if let (Join::Steps, Some(&(_, before))) = (line.join, path.last()) {
            path.push((x, before));
        }
        path.push((x, y));
    }
    canvas.line(&path, line.color, line.width);
    for (&(x, y), &error) in line.points.iter().zip(&line.errors) {
        if error.is_finite() && error > 0.0 {
            let bar = [axes.at((x, y - error)), axes.at((x, y + error))];
            canvas.line(&bar, line.color, 1.0);
        }
    }
    if line.dots > 0.0 {
        for &point in &line.points {
            canvas.disc(axes.at(point), line.dots, line.color);
        }
    }
}

impl Canvas {
    /// Writes a legend into the top right corner: names and their colours.
    pub fn legend(&mut self, entries: &[(&str, Rgb)]) {
        const SWATCH: f64 = 14.0;
        const GAP: f64 = 5.0;
        const BETWEEN: f64 = 18.0;
        let mut right = self.width - BETWEEN;
        for &(name, color) in entries.iter().rev() {
            let text = right - text_width(name, style::LABEL_SIZE);
            self.text(
                (text, 18.0),
                name,
                style::LABEL_SIZE,
                style::INK,
                Anchor::Start,
            );
            let swatch = text - GAP - SWATCH;
            self.rectangle((swatch, 12.0), (SWATCH, 4.0), color);
            right = swatch - BETWEEN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_stay_inside_the_picture_whatever_their_values() {
        let wild = [
            (0.0, 1e30),
            (1.0, f64::NAN),
            (2.0, f64::NEG_INFINITY),
            (3.0, 1.0),
            (4.0, -1.0),
        ];
        let chart = Chart::new("wild <1>", "step")
            .line(Line::new(&wild, style::CURVE).rough())
            .line(Line::new(&wild[3..], style::CURVE_OTHER).dots(2.0));
        let svg = chart.to_svg();
        assert!(!svg.contains("inf") && !svg.contains("NaN"), "{svg}");
        assert!(svg.contains("wild &lt;1&gt;"));
        assert_eq!(svg.matches("<polyline").count() - gridlines(&svg), 3);
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    /// Lines of the grid; the frame is one more line.
    fn gridlines(svg: &str) -> usize {
        svg.matches(&style::GRID.to_string()).count()
    }

    #[test]
    fn stairs_hold_a_value_until_the_next() {
        let chart = Chart::new("", "")
            .line(Line::new(&[(0.0, 0.0), (1.0, 1.0)], style::CURVE).join(Join::Steps));
        let svg = chart.to_svg();
        let curve = svg
            .lines()
            .find(|line| line.contains(&style::CURVE.to_string()))
            .unwrap();
        let points = curve.split('"').nth(1).unwrap();
        let ys: Vec<&str> = points
            .split(' ')
            .map(|point| point.split_once(',').unwrap().1)
            .collect();
        assert_eq!(ys.len(), 3);
        assert_eq!(ys[0], ys[1]);
        assert_ne!(ys[1], ys[2]);
    }

    #[test]
    fn error_bars_are_seen_whole() {
        let line = Line::new(&[(0.0, 10.0), (1.0, 12.0)], style::CURVE).errors(&[5.0, 1.0]);
        let chart = Chart::new("", "games").line(line);
        let (low, high) = chart.y_range();
        assert!(low < 5.0 && high > 15.0);
    }

    #[test]
    fn a_chart_without_points_is_a_picture_too() {
        assert!(Chart::new("nothing", "step").to_svg().ends_with("</svg>\n"));
    }
}
