//! The rules of Dr. Mario, exactly as the console plays them.
#![forbid(unsafe_code)]
