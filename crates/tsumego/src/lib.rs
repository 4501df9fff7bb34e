//! Is this group safe? An exact solver, a problem generator and its data pipeline.
#![forbid(unsafe_code)]
