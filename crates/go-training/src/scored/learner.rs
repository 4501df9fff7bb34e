//! How the loop trains a network that knows scores.

use std::{path::Path, sync::Arc};

use fleet::{
    CHECKPOINT_EXTENSION, Game, GameError, Learner, NewNetwork, Trained, TrainingProgress,
    TrainingRequest,
};
use go::Color;
use learn::{
    AverageSettings, Part, TrainSettings,
    optimiser::{Decay, Schedule},
    trainer::{self, name},
};

use super::{ScoredGame, ScoredGo, ScoredSettings, game};
use crate::student::{
    POLICY, Sample, StudentSettings, StudentShape, StudentTask, Truth, WIN, file_of,
};

impl Learner for ScoredGo {
    type Example = Arc<Sample>;

    fn first_network(settings: &ScoredSettings) -> Option<NewNetwork> {
        let random = settings.shape().random(settings.seed, 1);
        Some(new_network(file_of(&random), None))
    }

    fn adopt(file: &Path, settings: &mut ScoredSettings) -> Result<NewNetwork, GameError> {
        let network = net::load(file)?;
        let loaded = go_player::LoadedNetwork::from_network(&network, file)?;
        settings.blocks = loaded.blocks;
        settings.channels = loaded.filters;
        // Only a network of this family and shape has a place for every weight.
        settings.shape().random(settings.seed, 1).check_start(&network).map_err(|error| {
            format!(
                "{}: only networks that `tengen train student` or a run of this kind wrote can be trained further: {error}",
                file.display()
            )
        })?;
        Ok(new_network(std::fs::read(file)?, None))
    }

    fn examples(record: &ScoredGame) -> Result<Vec<Arc<Sample>>, String> {
        examples(record)
    }

    fn train(
        request: &TrainingRequest<'_, Self>,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<Trained>, GameError> {
        let (training, test) = request.split();
        let positions = training.len();
        let settings = training_settings(request);
        let mut task = StudentTask::from_samples(settings.clone(), training, test);
        let other_shape = |error: &dyn std::fmt::Display| {
            format!("{error}; blocks and channels cannot change during a run")
        };
        match (&request.checkpoint, &request.network) {
            (Some(checkpoint), _) => task
                .resume_weights(checkpoint)
                .map_err(|error| other_shape(&error))?,
            // Nobody has trained the first network yet.
            (None, Some(network)) => task
                .start_from(&net::load(network)?)
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
            network: new_network(task.network_file(), Some(checkpoint)),
            policy_loss: history.last_value(POLICY, Part::Test),
            value_error: history.last_value(WIN, Part::Test),
            positions,
        }))
    }
}

/// Every position that was searched fully, with what the end of the game says of it.
fn examples(record: &ScoredGame) -> Result<Vec<Arc<Sample>>, String> {
    let head = &record.head;
    let size = record.size()?;
    let mut played = game(size, head.komi);
    let mut positions = Vec::with_capacity(head.turns.len());
    for (turn, text) in head.moves.iter().enumerate() {
        if head.turns.contains(&turn) {
            positions.push(played.clone());
        }
        let mv = text.parse().map_err(|_| format!("{text:?} is no move"))?;
        played
            .play(mv)
            .map_err(|error| format!("move {}, {text}: {error}", turn + 1))?;
    }
    let score = played.score();
    let board = played.board();
    let areas = Color::BOTH.map(|color| board.reach(color));
    let samples = positions
        .iter()
        .zip(&record.policies)
        .map(|(game, policy)| {
            let color = game.to_move();
            let mut chances = vec![0.0; size.area() + 1];
            for &(index, chance) in policy {
                let place = chances.get_mut(usize::from(index));
                *place.ok_or_else(|| format!("there is no point {index} on the board"))? = chance;
            }
            let owner = |point| {
                let [own, other] =
                    [color, color.opponent()].map(|color| areas[color.index()].contains(point));
                f32::from(i8::from(own) - i8::from(other))
            };
            let mut ownership = vec![0.0; size.area()];
            for point in size.points() {
                ownership[size.index(point)] = owner(point);
            }
            let lead = score.lead(color);
            let truth = Truth {
                policy: &chances,
                // A tie is half a win.
                winrate: 0.5 + 0.5 * if lead == 0.0 { 0.0 } else { lead.signum() },
                lead,
                spread: None,
                ownership: ownership.into(),
            };
            Ok(Arc::new(Sample::of(game, truth)))
        });
    samples.collect()
}

fn training_settings(request: &TrainingRequest<'_, ScoredGo>) -> StudentSettings {
    let (settings, part) = (request.settings, &request.settings.training);
    let steps = request.steps(part.passes, part.batch);
    let student = StudentSettings::default();
    StudentSettings {
        network: StudentShape {
            blocks: settings.blocks,
            channels: settings.channels,
        },
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
            ..student.training
        },
        ..student
    }
}

/// A network under the hash of its file, with what the next training starts from.
fn new_network(file: Vec<u8>, checkpoint: Option<Vec<u8>>) -> NewNetwork {
    let name = net::sha256_of_bytes(&file);
    let mut files: Vec<(&'static str, Vec<u8>)> = Vec::new();
    files.extend(checkpoint.map(|bytes| (CHECKPOINT_EXTENSION, bytes)));
    // The file that plays comes last: where it is, all others are.
    files.push((ScoredGo::NETWORK_EXTENSION, file));
    NewNetwork { name, files }
}
