use std::{fs, path::Path, sync::atomic::AtomicBool};

use go::{BoardSize, Color, Komi, Move, PointSet, Rules};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    Label, LabelFile, LabelledGame, PlaySettings, Teacher, generate, generate::students_side,
    read_labels,
};
use crate::student::StudentShape;

/// A game of random legal moves with random labels.
pub(crate) fn random_game(side: usize, number: u64) -> LabelledGame {
    let size = BoardSize::new(side).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
    let mut game = go::Game::new(size, Komi::SEVEN_AND_A_HALF);
    let mut moves = Vec::new();
    for _ in 0..rng.random_range(0..2 * size.area()) {
        let color = game.to_move();
        let legal: Vec<_> = game.legal_points(color).map(Move::Play).collect();
        let mv = match legal.len() {
            0 => Move::Pass,
            count => legal[rng.random_range(0..count)],
        };
        game.play(mv).unwrap();
        moves.push((color, mv));
    }
    let turns: Vec<usize> = (0..=moves.len()).filter(|_| rng.random_bool(0.3)).collect();
    let labels = turns
        .into_iter()
        .map(|turn| {
            let mut policy: Vec<f32> = (0..=size.area())
                .map(|_| rng.random_range(0.0f32..1.0).powi(12))
                .collect();
            let total: f32 = policy.iter().sum();
            policy.iter_mut().for_each(|chance| *chance /= total);
            Label {
                turn,
                komi: Komi::new(rng.random_range(-40..60) as f32 / 2.0).unwrap(),
                policy: policy.into(),
                winrate: rng.random_range(0.0..1.0),
                lead: rng.random_range(-50.0..50.0),
                score: rng.random_range(-50.0..50.0),
                spread: rng.random_range(0.0..30.0),
                ownership: (0..size.area())
                    .map(|_| rng.random_range(-1.0..=1.0))
                    .collect(),
            }
        })
        .collect();
    LabelledGame {
        number,
        size,
        rules: Rules::JAPANESE,
        setup: [PointSet::EMPTY; 2],
        handicap: 0,
        first: Color::Black,
        moves,
        labels,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_game_reads_back_as_it_was_written_but_for_rounding(side in 2usize..=25, number: u64) {
        let game = random_game(side, number);
        let again = LabelledGame::from_bytes(&game.to_bytes()).unwrap();
        prop_assert_eq!(&again.moves, &game.moves);
        prop_assert_eq!(again.rules, game.rules);
        prop_assert_eq!(again.labels.len(), game.labels.len());
        for (label, original) in again.labels.iter().zip(&game.labels) {
            prop_assert_eq!(label.turn, original.turn);
            prop_assert_eq!(label.komi, original.komi);
            prop_assert_eq!(label.lead, original.lead);
            prop_assert!((label.policy.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            // What is left out of a policy is small against the noise of one evaluation (0.09 nats).
            let divergence: f32 = original.policy.iter().zip(&label.policy)
                .filter(|&(_, &kept)| kept > 0.0)
                .map(|(&chance, &kept)| chance * (chance / kept).ln())
                .sum();
            prop_assert!(divergence.abs() < 0.02, "{divergence}");
            for (owner, original) in label.ownership.iter().zip(&original.ownership) {
                prop_assert!((owner - original).abs() <= 0.5 / 127.0 + 1e-6);
            }
            let at = again.game_at(label).unwrap();
            prop_assert_eq!(at.move_number(), label.turn);
            prop_assert_eq!(at.komi(), label.komi);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_and_never_panic(number in 0u64..20, at: prop::sample::Index, with: u8) {
        let mut bytes = random_game(5, number).to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= with;
        // A damaged stream may still unpack to something that makes sense; it must not crash.
        let _ = LabelledGame::from_bytes(&bytes);
        prop_assert!(LabelledGame::from_bytes(&bytes[..at.min(4)]).is_err());
    }
}

#[test]
fn a_file_goes_on_after_a_crash_and_keeps_each_game_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.log");
    let games: Vec<LabelledGame> = (0..6).map(|number| random_game(7, number)).collect();
    let mut file = LabelFile::open(&path).unwrap();
    for game in &games[..4] {
        file.append(game).unwrap();
    }
    file.append(&games[2]).unwrap();
    assert_eq!(file.games(), 4);
    drop(file);
    // The last record is cut in the middle.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let mut file = LabelFile::open(&path).unwrap();
    assert_eq!(file.games(), 3);
    assert!(!file.contains(3));
    for game in &games[3..] {
        file.append(game).unwrap();
    }
    let labels: usize = games.iter().map(|game| game.labels.len()).sum();
    assert_eq!(file.labels(), labels);
    let numbers: Vec<u64> = read_labels(&path)
        .unwrap()
        .iter()
        .map(|game| game.number)
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_missing_file_is_named_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing.log");
    let error = read_labels(&path).unwrap_err().to_string();
    assert!(error.contains("nothing.log"), "{error}");
    assert!(!path.exists());
}

/// A network that says everything a teacher says, at random.
fn teacher(seed: u64) -> Teacher {
    let shape = StudentShape {
        blocks: 1,
        channels: 8,
    };
    let network = shape.random(seed, 1).export(19);
    Teacher::new(go_player::LoadedNetwork::from_network(&network, Path::new("random")).unwrap())
}

#[test]
fn a_student_plays_one_side_of_half_of_the_games_and_changes_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let settings = PlaySettings {
        sizes: vec![(5, 1.0)],
        seed: 3,
        labels: 600,
        threads: 1,
    };
    let played = |name: &str, student: Option<&Teacher>| {
        let path = folder.path().join(name);
        let mut file = LabelFile::open(&path).unwrap();
        let stop = AtomicBool::new(false);
        generate(&teacher(1), student, &settings, &mut file, &stop, &|_| {}).unwrap();
        read_labels(&path).unwrap()
    };
    let alone = played("alone.log", None);
    let with = played("with.log", Some(&teacher(2)));
    let (mut same, mut other) = (0, 0);
    for game in &with {
        assert_eq!(game.labels.len(), game.moves.len() + 1);
        let Some(before) = alone.iter().find(|before| before.number == game.number) else {
            continue;
        };
        if students_side(settings.seed, game.number).is_none() {
            // Symmetries are drawn for all games side by side, so labels may differ; how a game begins does not.
            assert_eq!((before.size, before.rules), (game.size, game.rules));
            same += 1;
        } else {
            other += usize::from(before.moves != game.moves);
        }
    }
    assert!(same > 0 && other > 0, "{same} {other}");
    let sides = (0..400).filter_map(|number| students_side(3, number));
    let (black, white): (Vec<_>, Vec<_>) = sides.partition(|&color| color == Color::Black);
    assert!(black.len() > 70 && white.len() > 70);
}
