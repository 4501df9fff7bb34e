//! Lines of every kind: no panic, no hang, and each one answered as GTP requires.
//! `cargo run --release -p gtp --example fuzz -- 1000000` does the same for longer.

#[path = "support/fuzz.rs"]
mod fuzz;
mod support;

use gtp::{Flow, Input, Personality};
use proptest::prelude::*;
use rand::SeedableRng;

#[test]
fn every_line_is_answered_as_the_protocol_requires() {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(&folder).unwrap();
    let cases = ProptestConfig::with_cases(24);
    proptest!(cases, |(seed: u64, lines in 20usize..200)| {
        let mut rng = rand::rngs::SmallRng::seed_from_u64(seed);
        let mut options = support::quick_options();
        options.visits = Some(3);
        options.ponder = true;
        let (mut engine, answers, remarks) =
            support::engine(5, options, Personality::Tengen, Input::from_text(""));
        for _ in 0..lines {
            let line = fuzz::line(&mut rng);
            let flow = engine.handle(&line).unwrap();
            let answer = answers.take();
            prop_assert_eq!(fuzz::check(&line, &answer), Ok(()));
            prop_assert!(flow == Flow::GoOn || line.contains("quit") || line.contains("exit"));
            remarks.take();
        }
    });
}
