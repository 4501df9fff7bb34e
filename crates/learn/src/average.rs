//! Stochastic weight averaging: the mean of the parameters at several moments.
//!
//! Averaged weights need running statistics of their own; the trainer refreshes those with a few batches before it
//! writes the averaged network.

use crate::trainable::Trainable;

/// A running mean of parameters.
#[derive(Clone, Debug, Default)]
pub struct Average {
    pub(crate) values: Vec<Vec<f32>>,
    pub(crate) count: u32,
}

impl Average {
    /// Moments averaged so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Adds the present parameters; beyond `most` moments the oldest fade away.
    pub fn add(&mut self, model: &mut dyn Trainable, most: u32) {
        let params = model.params_mut();
        if self.values.is_empty() {
            self.values = params
                .iter()
                .map(|param| vec![0.0; param.values.len()])
                .collect();
        }
        let moments = (self.count + 1).min(most.max(1));
        let share = 1.0 / moments as f32;
        for (mean, param) in self.values.iter_mut().zip(params) {
            for (mean, value) in mean.iter_mut().zip(&param.values) {
                *mean += share * (value - *mean);
            }
        }
        self.count += 1;
    }

    /// Swaps the average with the model's parameters; call it again to swap back.
    pub fn swap(&mut self, model: &mut dyn Trainable) {
        for (mean, param) in self.values.iter_mut().zip(model.params_mut()) {
            std::mem::swap(mean, &mut param.values);
        }
    }
}
