//! Networks as data: weight files, planes in, policy and value out, fast on a CPU.
