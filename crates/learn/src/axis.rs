//! The axes of charts: where their ticks stand and what is written beside them.

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
}
