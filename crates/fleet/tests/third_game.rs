//! A third game, in this file alone: it plays itself, learns by the loop, and its networks are gated and rated.
//!
//! The game is Nim with one heap: take one, two or three stones; who takes the last one wins. Whoever leaves a multiple
//! of four cannot lose, which nobody tells the network.

use std::{fs, path::Path, sync::atomic::AtomicBool};

use fleet::{
    Anchor, BadSetting, Beginning, CHECKPOINT_EXTENSION, Event, Game, GameError, Learner, Limits,
    MatchRecord, NewNetwork, PlayerFor, Run, Schedule, SelfPlayTask, Setting, Sprt, Trained,
    TrainingProgress, TrainingRequest,
};
use learn::{
    Batch, Chain, DataError, Dense, DenseStart, Mode, Model, Part, Shape, Shuffle, TrainSettings,
    Trainable, checkpoint,
    loss::{Tally, cross_entropy},
    optimiser::{Decay, Rule},
    trainer::{self, Task, name},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use serde::{Deserialize, Serialize};

// The rules.
const HEAP: usize = 12;
const MOST: usize = 3;

fn legal(heap: usize) -> std::ops::RangeInclusive<usize> {
    1..=MOST.min(heap)
}

/// Plays a game between two policies; the moves as (heap, taken), and whether the one who moved first won.
fn play(policies: [&Policy; 2], rng: &mut Rng) -> (Vec<(usize, usize)>, bool) {
    let (mut heap, mut moves) = (HEAP - rng.random_range(0..4), Vec::new());
    while heap > 0 {
        let taken = policies[moves.len() % 2].choose(heap, rng);
        moves.push((heap, taken));
        heap -= taken;
    }
    (moves.clone(), moves.len() % 2 == 1)
}

/// Whether the one who moved first won, if the moves are legal to the end.
fn replay(mut heap: usize, moves: &[(usize, usize)]) -> Result<bool, String> {
    for &(seen, taken) in moves {
        if seen != heap || !legal(heap).contains(&taken) {
            return Err(format!("nobody can take {taken} of {heap}"));
        }
        heap -= taken;
    }
    match heap {
        0 => Ok(moves.len() % 2 == 1),
        left => Err(format!("{left} stones are left")),
    }
}

/// A network that was read: the chances of each move for each heap.
struct Policy(Vec<[f32; MOST]>);

impl Policy {
    fn choose(&self, heap: usize, rng: &mut Rng) -> usize {
        let chances = &self.0[heap];
        let mut left =
            rng.random::<f32>() * legal(heap).map(|taken| chances[taken - 1]).sum::<f32>();
        for taken in legal(heap) {
            left -= chances[taken - 1];
            if left < 0.0 {
                return taken;
            }
        }
        1
    }
}

// What the loop asks of it.
struct Nim;

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    games: u64,
    rate: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            games: 300,
            rate: 0.05,
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Record {
    number: u64,
    round: u64,
    moves: Vec<(usize, usize)>,
    first_won: bool,
}

impl Game for Nim {
    type Settings = Settings;
    type Record = Record;
    type Player = Policy;
    type Summary = ();

    const NAME: &'static str = "nim";
    const NETWORK_EXTENSION: &'static str = "json";
    const SETTINGS: &'static [Setting] = &[
        Setting {
            path: "games",
            about: "games between two trainings",
        },
        Setting {
            path: "rate",
            about: "learning rate",
        },
    ];

    fn check(settings: &Settings) -> Result<(), BadSetting> {
        BadSetting::first([BadSetting::count("games", settings.games)])
    }

    fn schedule(settings: &Settings) -> Schedule {
        Schedule {
            seed: 1,
            first_games: settings.games,
            games: settings.games,
            window: 2000,
            games_at_once: 1,
            match_games_at_once: 1,
            sprt: Sprt {
                limits: Some(Limits {
                    min_games: 60,
                    max_games: 300,
                    full_length_winrate: 0.55,
                }),
                ..Sprt::default()
            },
            rating_games: 100,
            rating_opponents: 1,
        }
    }

    fn player(_: &Settings, _: PlayerFor, network: Option<&Path>) -> Result<Policy, GameError> {
        let file = network.ok_or("nim always has a network")?;
        Ok(Policy(serde_json::from_slice(&fs::read(file)?)?))
    }

    fn play(
        _: &Settings,
        player: &Policy,
        task: &SelfPlayTask<'_>,
        _: &AtomicBool,
    ) -> Result<Option<Record>, GameError> {
        let (moves, first_won) = play([player, player], &mut Rng::seed_from_u64(task.seed));
        Ok(Some(Record {
            number: task.number,
            round: task.round,
            moves,
            first_won,
        }))
    }

    fn play_match_game(
        _: &Settings,
        players: [&Policy; 2],
        slot: u32,
        seed: u64,
        _: &AtomicBool,
    ) -> Result<Option<MatchRecord>, GameError> {
        let first_begins = slot.is_multiple_of(2);
        let order = if first_begins {
            players
        } else {
            [players[1], players[0]]
        };
        let (moves, beginner_won) = play(order, &mut Rng::seed_from_u64(seed));
        Ok(Some(MatchRecord {
            winner: Some(beginner_won == first_begins).into(),
            moves: serde_json::to_string(&moves).unwrap_or_default(),
        }))
    }

    fn verify(_: &Settings, task: &SelfPlayTask<'_>, record: &Record) -> Result<(), String> {
        let heap = HEAP - Rng::seed_from_u64(task.seed).random_range(0..4);
        let beginner_won = replay(heap, &record.moves)?;
        if beginner_won != record.first_won {
            return Err("the other one took the last stone".into());
        }
        Ok(())
    }

    fn verify_match(
        _: &Settings,
        slot: u32,
        seed: u64,
        record: &MatchRecord,
    ) -> Result<(), String> {
        let moves: Vec<(usize, usize)> =
            serde_json::from_str(&record.moves).map_err(|error| error.to_string())?;
        let heap = HEAP - Rng::seed_from_u64(seed).random_range(0..4);
        let first_won = replay(heap, &moves)? == slot.is_multiple_of(2);
        if record.winner.first_won() != Some(first_won) {
            return Err("the other one took the last stone".into());
        }
        Ok(())
    }

    fn moves_and_result(record: &Record) -> String {
        serde_json::to_string(&record.moves).unwrap_or_default()
    }

    fn anchors(_: &Settings) -> Vec<Anchor<Nim>> {
        let name = "random".to_owned();
        vec![Anchor {
            name,
            player: Policy(vec![[1.0; MOST]; HEAP + 1]),
        }]
    }

    fn encode(record: &Record) -> Vec<u8> {
        serde_json::to_vec(record).unwrap_or_default()
    }

    fn decode(_: &Settings, bytes: &[u8]) -> Result<Record, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn number_and_round(record: &Record) -> (u64, u64) {
        (record.number, record.round)
    }
}

impl Learner for Nim {
    type Example = (usize, usize);

    fn first_network(_: &Settings) -> Option<NewNetwork> {
        let mut task = NimTask::new(Vec::new(), TrainSettings::default());
        Some(new_network(&mut task, None))
    }

    /// What the winner did.
    fn examples(record: &Record) -> Result<Vec<(usize, usize)>, String> {
        let winner = usize::from(!record.first_won);
        Ok(record
            .moves
            .iter()
            .copied()
            .skip(winner)
            .step_by(2)
            .collect())
    }

    fn train(
        request: &TrainingRequest<'_, Self>,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<Trained>, GameError> {
        let (examples, _) = request.split();
        let positions = examples.len();
        let mut settings = TrainSettings {
            steps: 120,
            batch: 128,
            threads: 1,
            optimiser: Rule::ADAM,
            seed: request.round,
            ..TrainSettings::default()
        };
        settings.schedule.rate = request.settings.rate;
        settings.schedule.warm_up = 0;
        settings.schedule.then = Decay::Constant;
        settings.average.from = 1.0;
        let mut task = NimTask::new(examples, settings.clone());
        if let Some(start) = &request.checkpoint {
            checkpoint::load_weights(start, task.model(), settings.optimiser)?;
        }
        let mut told = |step, steps| on_progress(TrainingProgress { step, steps });
        let trained = trainer::train_to_end(&mut task, &settings, &request.dir, &mut told)?;
        let Some(history) = trained else {
            return Ok(None);
        };
        let start = fs::read(request.dir.join(name::CHECKPOINT))?;
        Ok(Some(Trained {
            network: new_network(&mut task, Some(start)),
            policy_loss: history.last_value("loss", Part::Train),
            value_error: None,
            positions,
        }))
    }
}

fn new_network(task: &mut NimTask, checkpoint: Option<Vec<u8>>) -> NewNetwork {
    let bytes = serde_json::to_vec(&task.policy()).unwrap_or_default();
    // A real game hashes the bytes; a name that follows from them is all the loop needs.
    let name = bytes
        .iter()
        .fold(0_u64, |sum, byte| base::mix(sum ^ u64::from(*byte)));
    let mut files = vec![(Nim::NETWORK_EXTENSION, bytes)];
    files.extend(checkpoint.map(|bytes| (CHECKPOINT_EXTENSION, bytes)));
    NewNetwork {
        name: format!("{name:032x}"),
        files,
    }
}

/// One dense layer from the heap to the moves.
struct NimTask {
    examples: Vec<(usize, usize)>,
    settings: TrainSettings,
    model: Model,
    input: Batch,
    target: Batch,
}

impl NimTask {
    fn new(examples: Vec<(usize, usize)>, settings: TrainSettings) -> Self {
        let mut rng = Rng::seed_from_u64(1);
        let trunk = Dense::new(
            "heap",
            [HEAP + 1, 16],
            0.1,
            DenseStart::he(HEAP + 1),
            &mut rng,
        );
        let head = Dense::new("moves", [16, MOST], 1.0, DenseStart::gentle(64), &mut rng);
        let [trunk, head] = [trunk, head].map(|layer| Chain::new(vec![Box::new(layer)]));
        NimTask {
            examples,
            settings,
            model: Model::new(Shape::Row(HEAP + 1), trunk, vec![head], 1),
            input: Batch::zeros(Shape::Row(HEAP + 1), 0),
            target: Batch::zeros(Shape::Row(MOST), 0),
        }
    }

    fn set_heap(&mut self, index: usize, heap: usize) {
        let mut row = [0.0; HEAP + 1];
        row[heap] = 1.0;
        self.input.set_plain(index, &row);
    }

    fn policy(&mut self) -> Vec<[f32; MOST]> {
        self.input.fit(self.input.shape, HEAP + 1);
        (0..=HEAP).for_each(|heap| self.set_heap(heap, heap));
        self.model.forward(&self.input, Mode::Evaluate);
        let rows = (0..=HEAP).map(|heap| self.model.output(0).plain(heap));
        rows.map(|logits| [0, 1, 2].map(|index: usize| logits[index].exp()))
            .collect()
    }
}

impl Task for NimTask {
    fn title(&self) -> String {
        "Nim".to_owned()
    }

    fn measures(&self) -> &[&'static str] {
        &["loss", "accuracy"]
    }

    fn model(&mut self) -> &mut dyn Trainable {
        &mut self.model
    }

    fn load(&mut self, part: Part, number: u64, samples: usize) -> Result<usize, DataError> {
        if part == Part::Test {
            return Ok(0);
        }
        self.input.fit(self.input.shape, samples);
        self.target.fit(self.target.shape, samples);
        let order = Shuffle::new(self.examples.len() as u64, self.settings.seed);
        for index in 0..samples {
            let place = order.at(number * samples as u64 + index as u64);
            let (heap, taken) = self.examples[place as usize];
            self.set_heap(index, heap);
            let mut row = [0.0; MOST];
            row[taken - 1] = 1.0;
            self.target.set_plain(index, &row);
        }
        Ok(samples)
    }

    fn forward(&mut self, mode: Mode) -> Vec<Tally> {
        self.model.forward(&self.input, mode);
        let (logits, gradient) = self.model.output_and_gradient(0);
        cross_entropy(logits, &self.target, 1.0, gradient).to_vec()
    }

    fn backward(&mut self) {
        self.model.backward(&self.input);
    }

    fn write_network(&mut self, folder: &Path, stem: &str) -> std::io::Result<std::path::PathBuf> {
        let path = folder.join(format!("{stem}.json"));
        fs::write(&path, serde_json::to_vec(&self.policy())?)?;
        Ok(path)
    }
}

#[test]
fn a_third_game_plays_learns_and_is_gated_and_rated() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::<Nim>::open(folder.path(), &Beginning::default()).unwrap();
    let stop = AtomicBool::new(false);
    let (mut promoted, mut rated) = (0, 0);
    // The status is there, and whole, whenever somebody looks.
    let status = || -> serde_json::Value {
        let file = fs::read_to_string(folder.path().join("status.json")).unwrap();
        serde_json::from_str(&file).unwrap()
    };
    while run.state().rounds < 6 || run.state().candidate.is_some() || run.state().to_rate.is_some()
    {
        match run.step(&stop, &|_| drop(status())).unwrap() {
            Event::Decided(line) => promoted += u32::from(line.promoted),
            Event::Rated(..) => rated += 1,
            _ => {}
        }
    }
    assert!(
        promoted >= 1 && rated == promoted,
        "{promoted} promoted, {rated} rated"
    );
    let state = run.state();
    let error = state.elo_error.unwrap();
    assert!(
        state.elo - error > 0.0,
        "Elo {} +- {error} over the first network",
        state.elo
    );
    // From most heaps the best network leaves a multiple of four, if it can.
    let best = Nim::player(
        run.settings(),
        PlayerFor::Match,
        run.best_network().as_deref(),
    )
    .unwrap();
    let wins = (1..=HEAP).filter(|heap| heap % 4 != 0);
    let (found, all) = wins.fold((0, 0), |(found, all), heap| {
        let chances = &best.0[heap];
        let likeliest = legal(heap)
            .max_by(|a, b| chances[a - 1].total_cmp(&chances[b - 1]))
            .unwrap();
        (found + usize::from(likeliest == heap % 4), all + 1)
    });
    assert!(2 * found > all, "{found} of {all}");

    let last = status();
    assert!(["match", "rating"].contains(&last["phase"].as_str().unwrap()));
    assert_eq!(last["games"], run.games());

    // The same folder goes on where it was, and its page shows the anchor.
    let (games, rounds) = (run.games(), run.state().rounds);
    drop(run);
    let again = Run::<Nim>::open(folder.path(), &Beginning::default()).unwrap();
    assert_eq!((again.games(), again.state().rounds), (games, rounds));
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("random") && page.contains("match games"));
}

#[test]
fn bad_settings_of_a_new_run_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let begin = |name: &str, value: &str| Beginning {
        from: None,
        values: vec![(name.to_owned(), value.to_owned())],
    };
    let refused =
        |beginning: &Beginning| Run::<Nim>::open(&dir, beginning).err().unwrap().to_string();
    let said = refused(&begin("games", "0"));
    assert_eq!(said, "games is 0: it must be at least 1");
    assert!(refused(&begin("gamse", "3")).contains("gamse"));
    assert!(!dir.exists(), "nothing was written");
    Run::<Nim>::open(&dir, &begin("games", "7")).unwrap();
    let file = fs::read_to_string(dir.join("settings.toml")).unwrap();
    assert!(
        file.contains("games = 7") && file.contains("# games between two trainings"),
        "{file}"
    );
    assert!(refused(&begin("games", "8")).contains("has games = 7"));
    fleet::check_settings_table::<Nim>();
}

#[test]
fn a_training_that_is_stopped_leaves_a_checkpoint_and_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let beginning = Beginning {
        from: None,
        values: vec![("games".to_owned(), "20".to_owned())],
    };
    let mut run = Run::<Nim>::open(folder.path(), &beginning).unwrap();
    let stop = AtomicBool::new(false);
    assert_eq!(run.step(&stop, &|_| {}).unwrap(), Event::Played);
    let stop_at_step_3 = |status: fleet::Status| {
        if status.steps.is_some_and(|(step, _)| step >= 3) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    assert_eq!(run.step(&stop, &stop_at_step_3).unwrap(), Event::Stopped);
    let checkpoint = folder.path().join("training-0001").join(name::CHECKPOINT);
    assert!(checkpoint.exists());
    stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let first_step = std::sync::Mutex::new(None);
    let note = |status: fleet::Status| {
        let mut first = first_step.lock().unwrap();
        *first = first.or(status.steps.map(|(step, _)| step));
    };
    assert!(matches!(run.step(&stop, &note).unwrap(), Event::Trained(_)));
    assert_eq!(
        *first_step.lock().unwrap(),
        Some(4),
        "it goes on after step 3"
    );
}
