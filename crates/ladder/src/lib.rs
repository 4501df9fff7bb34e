//! Networks built by hand that read ladders, and their graft into trained ones.
#![forbid(unsafe_code)]
