//! Burn agrees with our layers about Dr. Mario.

use learn::device::agreement::{Case, agree_on_processor};
use learn::optimiser::Rule;

use super::*;

#[test]
fn mario_agrees_in_losses_gradients_and_a_few_steps() {
    agree_on_processor(&mario());
    #[cfg(feature = "gpu")]
    learn::device::agreement::agree_on_adapter(&mario());
}

fn mario() -> [Case; 2] {
    let classical = Rule::Momentum {
        momentum: 0.9,
        nesterov: false,
    };
    [
        ("mario, original", MarioDesign::Original, classical),
        ("mario, ours", MarioDesign::Ours, Rule::NESTEROV),
    ]
    .map(|(name, design, rule)| {
        let examples = folder_of_examples(60);
        let make = move || {
            let settings = settings(design, examples.path());
            Box::new(MarioTask::new(settings).unwrap()) as Box<dyn Task>
        };
        Case {
            name,
            make: Box::new(make),
            rule,
            clip: Some(0.5),
        }
    })
}
