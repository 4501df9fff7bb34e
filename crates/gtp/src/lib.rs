//! The Go Text Protocol over a player.
#![forbid(unsafe_code)]
