//! Training curves as a picture: one small chart a number, training and test in one.

use std::fmt::Write;

use crate::axis::{label, ticks};
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
/// Largest share of the old value kept by the smooth curve, and points it looks back on in short runs.
const SMOOTHING: f64 = 0.9;
const SMOOTH_POINTS: f64 = 10.0;

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
    let legend = [("training", SMOOTH_COLOR), ("test", TEST_COLOR)];
    for (index, (name, color)) in legend.iter().enumerate() {
        let x = width - 170.0 + 86.0 * index as f64;
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"12\" width=\"14\" height=\"4\" fill=\"{color}\"/><text x=\"{}\" y=\"19\">{name}</text>",
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
    let train = history.curve(name, Part::Train);
    let test = history.curve(name, Part::Test);
    let smooth = smoothed(&train);
    let [margin_left, margin_right, margin_top, margin_bottom] = MARGIN;
    let (plot_left, plot_right) = (left + margin_left, left + CHART_WIDTH - margin_right);
    let (plot_top, plot_bottom) = (top + margin_top, top + CHART_HEIGHT - margin_bottom);
    let last_step = train
        .iter()
        .chain(&test)
        .map(|point| point.0)
        .fold(1.0, f64::max);
    // The first raw values are often far off; the smooth and the test curve set the scale.
    let scale: Vec<f64> = smooth.iter().chain(&test).map(|point| point.1).collect();
    let (low, high) = bounds(&scale);
    let x = |step: f64| plot_left + (plot_right - plot_left) * step / last_step;
    let y = |value: f64| {
        plot_bottom - (plot_bottom - plot_top) * ((value - low) / (high - low)).clamp(0.0, 1.0)
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
    for step in ticks(0.0, last_step) {
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
    let mut draw = |points: &[(f64, f64)], color: &str, line_width: f64| {
        let path: Vec<String> = points
            .iter()
            .filter(|point| point.1.is_finite())
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
    draw(&test, TEST_COLOR, 1.8);
}

fn smoothed(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let keep = (1.0 - SMOOTH_POINTS / points.len().max(1) as f64).clamp(0.0, SMOOTHING);
    let (mut sum, mut weight) = (0.0, 0.0);
    points
        .iter()
        .map(|&(step, value)| {
            sum = keep * sum + (1.0 - keep) * value;
            weight = keep * weight + (1.0 - keep);
            (step, sum / weight)
        })
        .collect()
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
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
                values: vec![Some(1.0 / (step + 1) as f64), None],
            });
        }
        let picture = svg(&history, "a & b");
        assert_eq!(picture.matches("<polyline").count(), 3);
        assert!(
            picture.contains("loss &lt;x&gt;")
                && picture.contains("a &amp; b")
                && !picture.contains("unused")
        );
    }
}
