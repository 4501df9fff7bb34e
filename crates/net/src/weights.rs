//! Numbers of a layer, shared by all copies of it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The weights of a layer. Copies share memory until one of them is changed, so that a network for another board size
/// costs next to nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(Arc<Vec<f32>>);

impl Weights {
    /// All zeros.
    pub fn zeros(len: usize) -> Self {
        vec![0.0; len].into()
    }

    /// The numbers, copied only if somebody else holds them too.
    pub fn into_vec(self) -> Vec<f32> {
        Arc::unwrap_or_clone(self.0)
    }
}

impl From<Vec<f32>> for Weights {
    fn from(numbers: Vec<f32>) -> Self {
        Self(Arc::new(numbers))
    }
}

impl FromIterator<f32> for Weights {
    fn from_iter<I: IntoIterator<Item = f32>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Weights {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Weights {
    /// Copies the numbers first if they are shared.
    fn deref_mut(&mut self) -> &mut [f32] {
        Arc::<Vec<f32>>::make_mut(&mut self.0)
    }
}

impl<'a> IntoIterator for &'a Weights {
    type Item = &'a f32;
    type IntoIter = std::slice::Iter<'a, f32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
