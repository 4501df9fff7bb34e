//! One tree search for both games: selection, batches of leaves, chance nodes.
#![forbid(unsafe_code)]
