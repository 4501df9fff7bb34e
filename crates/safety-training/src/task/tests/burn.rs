//! Burn agrees with our layers about group safety.

use learn::device::agreement::{Case, agree_on_processor};
use learn::optimiser::Rule;

use super::*;

#[test]
fn safety_agrees_in_losses_gradients_and_a_few_steps() {
    agree_on_processor(&safety());
    #[cfg(feature = "gpu")]
    learn::device::agreement::agree_on_adapter(&safety());
}

fn safety() -> [Case; 3] {
    // With the usual epsilon, Adam would make whole steps of the rounding errors of gradients that are zero.
    let adam = Rule::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-3,
    };
    [
        ("safety, pooled", SafetyDesign::Pooled, 5),
        ("safety, dense", SafetyDesign::Dense, 13),
        ("safety, ours", SafetyDesign::Ours, 14),
    ]
    .map(|(name, design, planes)| {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), planes, 60);
        let make = move || {
            let _kept = &folder;
            let settings = settings(design, &path);
            Box::new(SafetyTask::new(settings).unwrap()) as Box<dyn Task>
        };
        Case {
            name,
            make: Box::new(make),
            rule: adam,
            clip: None,
        }
    })
}
