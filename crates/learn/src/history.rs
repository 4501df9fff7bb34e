//! What a training run has measured so far: a table of steps and named numbers.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// Which samples a number was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The samples trained on.
    Train,
    /// Samples kept out.
    Test,
}

/// What was measured at one step on one part of the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub step: u64,
    /// Which samples.
    pub part: Part,
    /// The numbers, in the order of [`History::names`]; what was not measured is absent.
    pub values: Vec<Option<f64>>,
}

/// Everything a training has measured, in the order of its steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// What is measured.
    pub names: Vec<String>,
    /// The measurements, oldest first.
    pub rows: Vec<Row>,
}

impl History {
    /// A table without rows.
    pub fn new(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
        }
    }

    /// The points (step, value) of one curve.
    pub fn curve(&self, name: &str, part: Part) -> Vec<(f64, f64)> {
        let Some(column) = self.names.iter().position(|known| known == name) else {
            return Vec::new();
        };
        self.rows
            .iter()
            .filter(|row| row.part == part)
            .filter_map(|row| Some((row.step as f64, (*row.values.get(column)?)?)))
            .collect()
    }

    /// The last measurement of a part.
    pub fn last(&self, part: Part) -> Option<&Row> {
        self.rows.iter().rev().find(|row| row.part == part)
    }

    /// The last measurement of a name; nothing if it was never measured.
    pub fn last_value(&self, name: &str, part: Part) -> Option<f64> {
        let column = self.names.iter().position(|known| known == name)?;
        self.last(part)?.values.get(column).copied().flatten()
    }

    /// The table as comma-separated values.
    pub fn to_csv(&self) -> String {
        let mut text = format!("step,part,{}\n", self.names.join(","));
        for row in &self.rows {
            let part = match row.part {
                Part::Train => "train",
                Part::Test => "test",
            };
            let _ = write!(text, "{},{part}", row.step);
            for value in &row.values {
                let _ = match value {
                    Some(value) => write!(text, ",{value:.6}"),
                    None => write!(text, ","),
                };
            }
            text.push('\n');
        }
        text
    }
}
