//! Training on a CPU: matrix products and 3x3 convolutions with their gradients.
//!
//! The convolutions use the tiling, the transforms and the matrix kernels of evaluation, and the transposes of the
//! transforms. All of them are single-threaded; a trainer splits its batch and calls them from as many threads as it
//! likes. Buffers of boards are blocked by sixteen channels, see [`conv`].

pub mod conv;
pub mod gemm;
pub mod gradient;
mod weights;

/// Channels of a block: the numbers of a cell that lie side by side.
pub const LANES: usize = crate::kernels::BLOCK;

#[cfg(test)]
mod tests;
