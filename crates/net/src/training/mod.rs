//! Kernels for training on a CPU: matrix products and 3x3 convolutions with their gradients.
//!
//! All of them are single-threaded; a trainer splits its batch and calls them from as many threads as
//! it likes. Buffers of boards are blocked by eight channels, see [`conv`].

// Loops over register tiles index several arrays at once and are unrolled; iterators hide that.
#[allow(clippy::needless_range_loop)]
pub mod conv;
#[allow(clippy::needless_range_loop)]
pub mod gemm;
#[allow(clippy::needless_range_loop)]
pub mod gradient;
mod winograd;

pub use crate::kernels::LANES;

#[cfg(test)]
mod tests;
