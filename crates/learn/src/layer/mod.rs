//! Layers with hand-written gradients.
//!
//! A layer reads a [`Batch`] and fills another; on the way back it turns the gradient of what it wrote into the
//! gradient of what it read and sets the gradients of its parameters. Every layer also says what it computes in
//! plain f64 (in tests), and its gradient is checked against finite differences of that.

pub mod conv;
pub mod dense;
pub mod dropout;
pub mod flatten;
pub mod norm;
pub mod pixel;
pub mod pointwise;
pub mod pool;
pub mod step;
pub mod tower;

#[cfg(any(test, feature = "exact"))]
pub(crate) mod exact;

pub use conv::Conv;
pub use dense::{Dense, DenseBlock, DenseStart};
pub use dropout::Dropout;
pub use flatten::Flatten;
pub use norm::{EPSILON as NORM_EPSILON, NormStyle};
pub use pixel::Pixel;
pub use pool::{GlobalPool, MaxPool};
pub use tower::{Tower, TowerShape};

use crate::batch::{Batch, Shape, Workers};
use crate::param::Param;

use self::step::PlainOp;

/// Whether a forward pass learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Batch statistics, dropout, everything kept for the backward pass.
    Train {
        /// Seeds whatever is random in this pass.
        seed: u64,
    },
    /// Running statistics, nothing random.
    Evaluate,
}

/// One step of a model.
pub trait Layer: Send {
    /// What it makes of a sample.
    fn output(&self, input: Shape) -> Shape;

    /// Computes `output`, which already has the right shape and number of samples.
    fn forward(&mut self, input: &Batch, output: &mut Batch, mode: Mode, workers: &mut Workers);

    /// Adds to the parameters' gradients and, if asked, sets `input_gradient`. `gradient` is that of `output` and may
    /// be overwritten.
    fn backward(
        &mut self,
        input: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    );

    /// The parameters, in a fixed order.
    fn params_mut(&mut self) -> Vec<&mut Param> {
        Vec::new()
    }

    /// Numbers that are neither learnt nor constant: running statistics.
    fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        Vec::new()
    }

    /// Forgets running statistics, so that the following training passes average them anew.
    fn restart_statistics(&mut self) {}

    /// Lets running statistics move again as they did before [`Self::restart_statistics`].
    fn resume_statistics(&mut self) {}

    /// The layer as plain data for playing, batch norm folded in; empty when it does nothing there.
    fn export(&self) -> Vec<net::Layer>;

    /// What it computes, as plain steps.
    fn steps(&self) -> Vec<PlainOp>;

    /// What the layer computes in training mode, in f64 and plain order, sample after sample.
    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], input_shape: Shape) -> Vec<f64>;
}

/// Slope of an activation below zero, as plain data.
pub(crate) fn activation(slope: f32) -> net::Activation {
    match slope {
        0.0 => net::Activation::Relu,
        1.0 => net::Activation::Identity,
        slope => net::Activation::LeakyRelu(slope),
    }
}
