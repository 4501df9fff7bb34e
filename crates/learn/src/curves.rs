//! Training curves as a picture: one small chart a number, training and test in one.

use std::fmt::Write;

use crate::axis::{label, ticks, whole_ticks};
use crate::history::{History, Part};

const CHART_WIDTH: f64 = 460.0;
const CHART_HEIGHT: f64 = 240.0;
const COLUMNS: usize = 2;
/// Room around the plot: left, right, top, bottom.
const MARGIN: [f64; 4] = [56.0, 14.0, 34.0, 30.0];
const TRAIN_COLOR: &str = "#9aa7b5";
const SMOOTH_COLOR: &str = "#33608c";
const TEST_COLOR: &str = "#c4472b";
const INK: &str = "#222";
const GRID: &str = "#e3e3e3";
/// Weight of a point in the smooth curve for each step that it is away, at most, and the points that count in short runs.
const SMOOTHING: f64 = 0.8;
const SMOOTH_POINTS: f64 = 10.0;
/// Share of the raw values at either end that may lie outside of the chart: the first are often far off.
const OUTLIERS: f64 = 0.02;
/// How far outside a value is drawn, to be cut off at the edge, in heights of the chart.
const OUTSIDE: f64 = 1.0;
/// A test is so rare that it gets a dot, of this radius.
const TEST_DOT: f64 = 2.2;
/// The legend: names, colours and where each begins, from the right edge.
const LEGEND: [(&str, &str, f64); 3] = [
    ("training", TRAIN_COLOR, 272.0),
    ("training, smoothed", SMOOTH_COLOR, 188.0),
    ("test", TEST_COLOR, 54.0),
];

/// Draws every number of a history.
pub fn svg(history: &History, title: &str) -> String {
    let charts: Vec<&String> = history
        .names
        .iter()
        .filter(|name| {
            !history.curve(name, Part::Train).is_empty()
                || !history.curve(name, Part::Test).is_empty()
        })
        .collect();
    let rows = charts.len().div_ceil(COLUMNS).max(1);
    let header = 34.0;
    let (width, height) = (
        CHART_WIDTH * COLUMNS as f64,
        CHART_HEIGHT * rows as f64 + header,
    );
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"16\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    );
    for (name, color, from_right) in LEGEND {
        let x = width - from_right;
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"12\" width=\"14\" height=\"4\" fill=\"{color}\"/><text x=\"{}\" y=\"18\">{name}</text>",
            x + 19.0
        );
    }
    for (index, name) in charts.into_iter().enumerate() {
        let left = CHART_WIDTH * (index % COLUMNS) as f64;
        let top = header + CHART_HEIGHT * (index / COLUMNS) as f64;
        draw_chart(&mut picture, history, name, left, top);
    }
    picture.push_str("</svg>\n");
    picture
}

fn draw_chart(picture: &mut String, history: &History, name: &str, left: f64, top: f64) {
    let train = finite(&history.curve(name, Part::Train));
    let test = finite(&history.curve(name, Part::Test));
    let smooth = smoothed(&train);
    let [margin_left, margin_right, margin_top, margin_bottom] = MARGIN;
    let (plot_left, plot_right) = (left + margin_left, left + CHART_WIDTH - margin_right);
    let (plot_top, plot_bottom) = (top + margin_top, top + CHART_HEIGHT - margin_bottom);
    let last_step = train
        .iter()
        .chain(&test)
        .map(|point| point.0)
        .fold(1.0, f64::max);
    let curves = smooth.iter().chain(&test).map(|point| point.1);
    let scale: Vec<f64> = curves.chain(usual(&train)).collect();
    let (low, high) = bounds(&scale);
    let x = |step: f64| plot_left + (plot_right - plot_left) * step / last_step;
    let y = |value: f64| {
        let share = ((value - low) / (high - low)).clamp(-OUTSIDE, 1.0 + OUTSIDE);
        plot_bottom - (plot_bottom - plot_top) * share
    };
    let _ = writeln!(
        picture,
        "<text x=\"{plot_left}\" y=\"{}\" font-size=\"13\">{}</text>",
        plot_top - 10.0,
        escape(name)
    );
    for value in ticks(low, high) {
        let _ = writeln!(
            picture,
            "<line x1=\"{plot_left}\" x2=\"{plot_right}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"{GRID}\"/>\
             <text x=\"{1:.1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(value),
            plot_left - 6.0,
            y(value) + 4.0,
            label(value)
        );
    }
    let _ = writeln!(
        picture,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">step</text>",
        plot_left - 12.0,
        plot_bottom + 16.0
    );
    for step in whole_ticks(0.0, last_step) {
        let _ = writeln!(
            picture,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(step),
            plot_bottom + 16.0,
            label(step)
        );
    }
    let _ = writeln!(
        picture,
        "<path d=\"M{plot_left:.1} {plot_top:.1}V{plot_bottom:.1}H{plot_right:.1}\" fill=\"none\" stroke=\"{INK}\"/>"
    );
    // A picture in the picture cuts off what lies outside.
    let (plot_width, plot_height) = (plot_right - plot_left, plot_bottom - plot_top);
    let _ = writeln!(
        picture,
        "<svg x=\"{plot_left}\" y=\"{plot_top}\" width=\"{plot_width}\" height=\"{plot_height}\" \
         viewBox=\"{plot_left} {plot_top} {plot_width} {plot_height}\">"
    );
    let mut draw = |points: &[(f64, f64)], color: &str, line_width: f64| {
        let path: Vec<String> = points
            .iter()
            .map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1)))
            .collect();
        if !path.is_empty() {
            let _ = writeln!(
                picture,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{line_width}\"/>",
                path.join(" ")
            );
        }
    };
    draw(&train, TRAIN_COLOR, 0.7);
    draw(&smooth, SMOOTH_COLOR, 1.6);
    draw(&test, TEST_COLOR, 1.6);
    for &(step, value) in &test {
        let _ = writeln!(
            picture,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{TEST_DOT}\" fill=\"{TEST_COLOR}\"/>",
            x(step),
            y(value)
        );
    }
    picture.push_str("</svg>\n");
}

/// The points that can be drawn: one infinite loss would spoil every average that it has a part in.
fn finite(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let all = points.iter().copied();
    all.filter(|point| point.1.is_finite()).collect()
}

/// The values without the lowest and the highest few.
fn usual(points: &[(f64, f64)]) -> Vec<f64> {
    let mut values: Vec<f64> = points.iter().map(|point| point.1).collect();
    values.sort_by(f64::total_cmp);
    let left_out = (values.len() as f64 * OUTLIERS).ceil() as usize;
    let end = values.len().saturating_sub(left_out);
    values.get(left_out..end).unwrap_or_default().to_vec()
}

/// An average that looks ahead as far as back: one that only looks back lags behind a falling loss.
fn smoothed(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let keep = (1.0 - SMOOTH_POINTS / points.len().max(1) as f64).clamp(0.0, SMOOTHING);
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let back = fading_sums(values.iter().copied(), keep);
    let mut ahead = fading_sums(values.iter().rev().copied(), keep);
    ahead.reverse();
    let both = back.into_iter().zip(ahead);
    points
        .iter()
        .zip(both)
        .map(|(&(step, value), (back, ahead))| {
            // Either sum holds the point itself.
            let sum = back.0 + ahead.0 - value;
            let weight = back.1 + ahead.1 - 1.0;
            (step, sum / weight)
        })
        .collect()
}

/// For each value the sum of those so far, and of their weights, which fade by `keep` from one to the next.
fn fading_sums(values: impl Iterator<Item = f64>, keep: f64) -> Vec<(f64, f64)> {
    let add = |(sum, weight): &mut (f64, f64), value: f64| {
        *sum = *sum * keep + value;
        *weight = *weight * keep + 1.0;
        Some((*sum, *weight))
    };
    values.scan((0.0, 0.0), add).collect()
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let all = || values.iter().copied();
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.05).max(high.abs() * 1e-6).max(1e-9);
    (low - room, high + room)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Row;

    #[test]
    fn every_curve_is_drawn_once_and_inside_the_picture() {
        let mut history = History::new(&["loss <x>", "unused"]);
        for step in 0..50 {
            let part = if step % 10 == 9 {
                Part::Test
            } else {
                Part::Train
            };
            history.rows.push(Row {
                step,
                part,
                values: vec![Some(1.0 / (step as f64 - 3.0)), None],
            });
        }
        let picture = svg(&history, "a & b");
        assert_eq!(picture.matches("<polyline").count(), 3);
        assert_eq!(picture.matches("<circle").count(), 5);
        // Step 3 has an infinite value.
        assert!(!picture.contains("inf") && !picture.contains("NaN"));
        assert!(
            picture.contains("loss &lt;x&gt;")
                && picture.contains("a &amp; b")
                && !picture.contains("unused")
        );
    }

    #[test]
    fn the_smooth_curve_neither_lags_nor_wobbles() {
        let wobble = |step: usize| if step.is_multiple_of(2) { 3.0 } else { -3.0 };
        let points: Vec<(f64, f64)> = (0..201)
            .map(|step| (step as f64, 500.0 - 2.0 * step as f64 + wobble(step)))
            .collect();
        // Away from the ends, a straight line stays where it is.
        for (step, value) in &smoothed(&points)[60..140] {
            assert!((value - (500.0 - 2.0 * step)).abs() < 0.5, "{step} {value}");
        }
        // A run of a few points is left alone.
        assert_eq!(smoothed(&points[..5]), points[..5]);
    }
}
