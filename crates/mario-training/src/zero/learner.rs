//! How the loop trains a Dr. Mario network.

use fleet::{
    CHECKPOINT_EXTENSION, Game, GameError, Learner, NewNetwork, Trained, TrainingProgress,
    TrainingRequest,
};
use learn::{
    AverageSettings, Part, TrainSettings,
    optimiser::{Decay, Rule, Schedule},
    trainer::{self, name},
};
use mario::Example;
use net::compact::{self, Precision};

use super::{DrMario, MarioGame, ZeroSettings};
use crate::{
    model::{MarioDesign, MarioShape},
    task::{MOVES_LOSS, MarioSettings, MarioTask, WON_ERROR},
};

impl Learner for DrMario {
    type Example = Example;

    fn first_network(_: &ZeroSettings) -> Option<NewNetwork> {
        None
    }

    fn examples(record: &MarioGame) -> Result<Vec<Example>, String> {
        record.examples()
    }

    fn train(
        request: &TrainingRequest<'_, Self>,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<Trained>, GameError> {
        let (training, test) = request.split();
        let positions = training.len();
        let settings = training_settings(request);
        let mut task = MarioTask::from_examples(settings.clone(), training, test)?;
        if let Some(checkpoint) = &request.checkpoint {
            task.resume_weights(checkpoint).map_err(|error| {
                format!("{error}; blocks and filters cannot change during a run")
            })?;
        }
        let trained = trainer::train_to_end(
            &mut task,
            &settings.training,
            &request.dir,
            &mut |step, steps| on_progress(TrainingProgress { step, steps }),
        )?;
        let Some(history) = trained else {
            return Ok(None);
        };
        let checkpoint = std::fs::read(request.dir.join(name::CHECKPOINT))?;
        let bytes = compact::write(&task.network(), Precision::F32);
        Ok(Some(Trained {
            network: NewNetwork {
                name: net::sha256_of_bytes(&bytes),
                files: vec![
                    (CHECKPOINT_EXTENSION, checkpoint),
                    (Self::NETWORK_EXTENSION, bytes),
                ],
            },
            policy_loss: history.last_value(MOVES_LOSS, Part::Test),
            value_error: history.last_value(WON_ERROR, Part::Test),
            positions,
        }))
    }
}

fn training_settings(request: &TrainingRequest<'_, DrMario>) -> MarioSettings {
    let (settings, part) = (request.settings, &request.settings.training);
    let passes = match request.round {
        1 => settings.round0.passes,
        _ => part.passes,
    };
    let steps = request.steps(passes, part.batch);
    MarioSettings {
        network: MarioShape {
            design: MarioDesign::Ours,
            blocks: settings.blocks,
            filters: settings.filters,
        },
        weights: part.value_weights,
        training: TrainSettings {
            steps,
            batch: part.batch,
            threads: part.threads,
            seed: settings.seed ^ request.round,
            decay: part.decay,
            test_every: steps,
            optimiser: Rule::ADAM,
            schedule: Schedule {
                rate: part.rate,
                warm_up: steps / 20,
                then: Decay::Cosine { last: 0.1 },
            },
            average: AverageSettings {
                from: 1.0,
                ..AverageSettings::default()
            },
            ..TrainSettings::default()
        },
        ..MarioSettings::default()
    }
}
