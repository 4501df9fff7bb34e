//! How a problem is searched: sets of cells, positions on them, what can be said without reading,
//! what a result rests on, and depth-first proof-number search over all of it.

pub(crate) mod bits;
mod dfpn;
pub(crate) mod field;
pub(crate) mod judge;
mod life;
mod moves;
pub(crate) mod path;
mod patterns;
pub(crate) mod position;
mod relevance;
pub(crate) mod table;
mod widening;

pub(crate) use dfpn::{Answer, Search, SearchMove};
