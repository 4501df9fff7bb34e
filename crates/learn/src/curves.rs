//! Training curves as a picture: one small chart a number, training and test in one.

use draw::{Canvas, Chart, Line, style};

use crate::history::{History, Part};

/// Size of a chart, and charts side by side.
const CHART: (f64, f64) = (460.0, 240.0);
const COLUMNS: usize = 2;
/// Room for the title and the legend.
const HEADER: f64 = 34.0;
/// Weight of a point in the smooth curve for each step that it is away, at most, and the points that count in short runs.
const SMOOTHING: f64 = 0.8;
const SMOOTH_POINTS: f64 = 10.0;
/// A test is so rare that it gets a dot, of this radius.
const TEST_DOT: f64 = 2.2;

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
    let mut picture = Canvas::new(
        CHART.0 * COLUMNS as f64,
        CHART.1 * rows as f64 + HEADER,
        style::PAPER,
    );
    picture.title(title);
    picture.legend(&[
        ("training", style::CURVE_RAW),
        ("training, smoothed", style::CURVE),
        ("test", style::CURVE_OTHER),
    ]);
    for (index, name) in charts.into_iter().enumerate() {
        let left = CHART.0 * (index % COLUMNS) as f64;
        let top = HEADER + CHART.1 * (index / COLUMNS) as f64;
        picture.paste(&chart(history, name).canvas(), (left, top));
    }
    picture.to_svg()
}

fn chart(history: &History, name: &str) -> Chart {
    let train = finite(&history.curve(name, Part::Train));
    let test = history.curve(name, Part::Test);
    Chart::new(name, "step")
        .size(CHART.0, CHART.1)
        .start(0.0)
        .line(Line::new(&train, style::CURVE_RAW).width(0.7).rough())
        .line(Line::new(&smoothed(&train), style::CURVE))
        .line(Line::new(&test, style::CURVE_OTHER).dots(TEST_DOT))
}

/// One infinite loss would spoil every average that it has a part in.
fn finite(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let all = points.iter().copied();
    all.filter(|point| point.1.is_finite()).collect()
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
        let curves = [style::CURVE_RAW, style::CURVE, style::CURVE_OTHER];
        for color in curves {
            let line = format!("fill=\"none\" stroke=\"{color}\"");
            assert_eq!(picture.matches(&line).count(), 1, "{color}");
        }
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
