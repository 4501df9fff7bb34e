//! How the loop trains a Go network.

use std::path::Path;

use fleet::{
    CHECKPOINT_EXTENSION, Game, GameError, Learner, NewNetwork, Trained, TrainingProgress,
    TrainingRequest,
};
use learn::{
    AverageSettings, Part, TrainSettings,
    optimiser::{Decay, Schedule},
    trainer::{self, name},
};
use net::{
    gzip,
    leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle},
};

use super::{Go, StoredGame, ZeroSettings};
use crate::{
    chunks,
    example::GoExample,
    model::GoShape,
    task::{GoData, GoSettings, GoTask, POLICY_LOSS, VALUE_ERROR},
};

impl Learner for Go {
    type Example = GoExample;

    fn first_network(settings: &ZeroSettings) -> Option<NewNetwork> {
        let shape = LeelaShape::stock(settings.size, settings.blocks, settings.filters);
        let random = LeelaNetwork::random(LeelaVersion::V1, shape, settings.seed);
        Some(new_network(&random, None))
    }

    fn adopt(file: &Path, settings: &mut ZeroSettings) -> Result<NewNetwork, GameError> {
        let network = LeelaNetwork::load(file)?;
        let shape = network.shape();
        let stock = LeelaShape::stock(shape.size, shape.blocks, shape.filters);
        if network.version != LeelaVersion::V1 || shape != stock {
            return Err(format!(
                "{}: only networks with Leela Zero's heads and a value for the side to move (version 1) can be trained further",
                file.display()
            )
            .into());
        }
        settings.size = shape.size;
        settings.blocks = shape.blocks;
        settings.filters = shape.filters;
        Ok(new_network(&network, None))
    }

    fn examples(record: &StoredGame) -> Result<Vec<GoExample>, String> {
        Ok(record
            .records
            .iter()
            .cloned()
            .map(chunks::example)
            .collect())
    }

    fn train(
        request: &TrainingRequest<'_, Self>,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<Trained>, GameError> {
        let (training, test) = request.split();
        let positions = training.len();
        let settings = training_settings(request);
        let mut task = GoTask::from_examples(settings.clone(), training, test)?;
        let other_shape = |error: &dyn std::fmt::Display| {
            format!("{error}; blocks, filters and size cannot change during a run")
        };
        match (&request.checkpoint, &request.network) {
            (Some(checkpoint), _) => task
                .resume_weights(checkpoint)
                .map_err(|error| other_shape(&error))?,
            // Runs of earlier versions kept no checkpoint.
            (None, Some(network)) => task
                .start_from(&LeelaNetwork::load(network)?)
                .map_err(|error| other_shape(&error))?,
            (None, None) => {}
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
        Ok(Some(Trained {
            network: new_network(&task.network(), Some(checkpoint)),
            policy_loss: history.last_value(POLICY_LOSS, Part::Test),
            value_error: history.last_value(VALUE_ERROR, Part::Test),
            positions,
        }))
    }
}

fn training_settings(request: &TrainingRequest<'_, Go>) -> GoSettings {
    let (settings, part) = (request.settings, &request.settings.training);
    let steps = request.steps(part.passes, part.batch);
    GoSettings {
        network: GoShape {
            size: settings.size,
            blocks: settings.blocks,
            filters: settings.filters,
        },
        data: GoData::default(),
        value_weight: part.value_weight,
        training: TrainSettings {
            steps,
            batch: part.batch,
            threads: part.threads,
            seed: settings.seed ^ request.round,
            decay: part.decay,
            test_every: steps,
            schedule: Schedule {
                rate: part.rate,
                warm_up: steps / 20,
                then: Decay::Constant,
            },
            average: AverageSettings {
                from: 1.0,
                ..AverageSettings::default()
            },
            ..TrainSettings::default()
        },
        ..GoSettings::default()
    }
}

/// A network under the hash of its text, with what the next training starts from: text has six digits of every weight.
fn new_network(network: &LeelaNetwork, checkpoint: Option<Vec<u8>>) -> NewNetwork {
    let text = network.to_text(TextStyle::default());
    let mut files: Vec<(&'static str, Vec<u8>)> = Vec::new();
    files.extend(checkpoint.map(|bytes| (CHECKPOINT_EXTENSION, bytes)));
    // The file that plays comes last: where it is, all others are.
    files.push((Go::NETWORK_EXTENSION, gzip(&text)));
    NewNetwork {
        name: net::sha256_of_bytes(&text),
        files,
    }
}
