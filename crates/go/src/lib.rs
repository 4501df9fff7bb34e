//! The rules of Go: boards, records, life, ladders and SGF.
#![forbid(unsafe_code)]
