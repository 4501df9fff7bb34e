//! KataGo's side of the protocol, with a network that says scores and ownership.

mod support;

use std::sync::Arc;

use go::{BoardSize, Symmetry};
use go_player::{
    Encoder, LoadedNetwork, Opinion, Options, Player, Position, ScoreOpinion, StopMode,
};
use gtp::{Engine, Input, Outputs, Personality};
use support::Buffer;

/// A Leela Zero network whose opinions are given a score and owners.
struct WithScores(Arc<dyn Encoder>);

impl Encoder for WithScores {
    fn version(&self) -> u32 {
        8
    }

    fn family(&self) -> String {
        "scores for tests".to_owned()
    }

    fn size(&self) -> BoardSize {
        self.0.size()
    }

    fn key(&self, position: &Position) -> u128 {
        self.0.key(position)
    }

    fn write(&self, position: &Position, symmetry: Symmetry, row: &mut [f32]) {
        self.0.write(position, symmetry, row);
    }

    fn read(&self, position: &Position, symmetry: Symmetry, row: &[f32]) -> Opinion {
        let opinion = self.0.read(position, symmetry, row);
        let mean = 40.0 * (opinion.winrate - 0.5);
        let area = self.size().area();
        Opinion {
            score: Some(ScoreOpinion {
                mean,
                mean_square: mean * mean + 100.0,
                lead: mean + 0.25,
                variance_time: None,
                errors: None,
            }),
            // The bottom row is the mover's, the rest nobody's.
            ownership: Some((0..area).map(|i| f32::from(u8::from(i < 9))).collect()),
            ..opinion
        }
    }
}

/// Nothing ever comes from here, so that only limits end an analysis.
struct Silent;

impl std::io::Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        loop {
            std::thread::park();
        }
    }
}

fn engine(personality: Personality) -> (Engine, Buffer) {
    let random = support::random_network(9);
    let mut network = LoadedNetwork::from_leela(&random, "test-b1c4.bin.gz".as_ref()).unwrap();
    network.encoder = Arc::new(WithScores(network.encoder.clone()));
    let options = Options {
        visits: Some(40),
        stop_mode: StopMode::Off,
        ponder: false,
        ..Options::default()
    };
    let answers = Buffer::default();
    let outputs = Outputs {
        answers: Box::new(answers.clone()),
        remarks: Box::new(Buffer::default()),
        log: None,
    };
    let player = Player::new(network, options).unwrap();
    let input = Input::spawn(Silent);
    let engine = Engine::new(player, input, outputs, personality, String::new());
    (engine, answers)
}

fn answer(engine: &mut Engine, answers: &Buffer, line: &str) -> String {
    engine.handle(line).unwrap();
    answers.take()
}

/// The names of the fields of one `info`, in their order; those of lists once.
fn fields(info: &str) -> Vec<&str> {
    let is_name = |word: &&str| {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && !matches!(*word, "pass" | "info")
    };
    info.split(' ').filter(is_name).collect()
}

/// The order in which KataGo 1.17.2 printed them, recorded.
const RECORDED_FIELDS: &str = "move visits edgeVisits utility winrate scoreMean scoreStdev scoreLead scoreSelfplay prior lcb \
     utilityLcb weight order pv pvVisits";
const RECORDED_ROOT: &str = "rootInfo visits utility winrate scoreMean scoreStdev scoreLead scoreSelfplay weight \
     rawStWrError rawStScoreError rawVarTimeLeft ownership";

#[test]
fn a_line_has_the_fields_of_a_recorded_one_in_their_order() {
    let (mut engine, answers) = engine(Personality::KataGo);
    answer(&mut engine, &answers, "play b D5");
    let line = "kata-genmove_analyze W 1 rootInfo true ownership true pvVisits true";
    let text = answer(&mut engine, &answers, line);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "=");
    assert!(lines.iter().any(|line| line.starts_with("play ")), "{text}");
    let last = lines
        .iter()
        .rfind(|line| line.starts_with("info "))
        .unwrap();
    let (moves, root) = last.split_once(" rootInfo ").unwrap();
    let first = moves.split(" info ").next().unwrap();
    assert_eq!(fields(first).join(" "), RECORDED_FIELDS);
    let root = format!("rootInfo {root}");
    assert_eq!(fields(&root).join(" "), RECORDED_ROOT);
    let owners: Vec<f64> = root
        .split_once("ownership ")
        .unwrap()
        .1
        .split(' ')
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!(owners.len(), 81);
    // From the top: nobody's; the bottom row is disputed between the movers of the tree.
    assert!(
        owners[..72].iter().all(|&owner| owner.abs() < 0.2),
        "{owners:?}"
    );
    assert!(owners[72..].iter().any(|&owner| owner != 0.0));
}

#[test]
fn sabaki_gets_a_decimal_point_in_every_number_and_others_do_not() {
    let number = |text: &str, name: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let at = words.iter().position(|&word| word == name).unwrap();
        words[at + 1].to_owned()
    };
    let (mut engine, answers) = engine(Personality::Tengen);
    answer(&mut engine, &answers, "play b D5");
    let pointed = answer(&mut engine, &answers, "analyze w 1");
    assert!(number(&pointed, "weight").contains('.'));
    assert!(!number(&pointed, "visits").contains('.'));
    let short = answer(&mut engine, &answers, "kata-analyze w 1");
    let weight: f64 = number(&short, "weight").parse().unwrap();
    assert_eq!(
        number(&short, "weight").contains('.'),
        weight.fract() != 0.0
    );
    let leela = answer(&mut engine, &answers, "lz-analyze w 1");
    assert!(!leela.contains("score") && number(&leela, "winrate").parse::<i64>().is_ok());
}

#[test]
fn symmetric_moves_are_listed_with_the_one_that_was_searched() {
    let (mut engine, answers) = engine(Personality::Tengen);
    let text = answer(&mut engine, &answers, "kata-analyze b 1");
    let line = text.lines().nth(1).unwrap();
    assert!(line.contains(" isSymmetryOf "), "{line}");
    let moves = line
        .split("info ")
        .skip(1)
        .map(|info| info.split(' ').nth(1).unwrap());
    let mut moves: Vec<&str> = moves.collect();
    let count = moves.len();
    moves.sort_unstable();
    moves.dedup();
    assert_eq!(moves.len(), count, "each move once");
}

#[test]
fn maxmoves_and_avoid_hold() {
    let (mut engine, answers) = engine(Personality::Tengen);
    answer(&mut engine, &answers, "play b D5");
    let text = answer(&mut engine, &answers, "kata-analyze w 1 maxmoves 2");
    assert_eq!(text.lines().nth(1).unwrap().matches("info ").count(), 2);
    let text = answer(&mut engine, &answers, "kata-analyze w 1 allow w E5,F6 1");
    let mut infos = text.lines().nth(1).unwrap().split("info move ").skip(1);
    // Passing stays free.
    let is_allowed = |info: &str| {
        ["E5 ", "F6 ", "pass "]
            .iter()
            .any(|mv| info.starts_with(mv))
    };
    assert!(infos.all(is_allowed), "{text}");
    let refused = answer(&mut engine, &answers, "kata-analyze w 1 ownership maybe");
    assert!(refused.starts_with('?'));
}

#[test]
fn winrates_can_be_asked_for_from_one_side() {
    let (mut engine, answers) = engine(Personality::KataGo);
    answer(&mut engine, &answers, "play b D5");
    let lead = |text: &str| -> f64 {
        let (_, rest) = text.split_once("rootInfo").unwrap();
        let (_, rest) = rest.split_once("scoreLead ").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let line = "kata-search_analyze w 1 rootInfo true";
    let mover = lead(&answer(&mut engine, &answers, line));
    answer(
        &mut engine,
        &answers,
        "kata-set-param reportAnalysisWinratesAs BLACK",
    );
    let black = lead(&answer(&mut engine, &answers, line));
    assert!((mover + black).abs() < 1e-3, "{mover} {black}");
    assert_eq!(answer(&mut engine, &answers, "last_move"), "= black D5\n\n");
}

#[test]
fn rules_komi_and_positions_are_set_as_clients_set_them() {
    let (mut engine, answers) = engine(Personality::KataGo);
    let mut ask = |line: &str| answer(&mut engine, &answers, line);
    assert_eq!(ask("name"), "= KataGo\n\n");
    assert!(ask("version").starts_with("= 1.17.2+"));
    assert_eq!(ask("kata-set-rules japanese"), "= \n\n");
    let rules = ask("kata-get-rules");
    assert!(rules.contains("\"scoring\":\"TERRITORY\""), "{rules}");
    assert!(ask("kata-set-rules nonsense").starts_with('?'));
    assert_eq!(ask("kata-set-rule ko POSITIONAL"), "= \n\n");
    assert!(ask("kata-get-rules").contains("\"ko\":\"POSITIONAL\""));
    assert_eq!(ask("kgs-rules chinese"), "= \n\n");
    assert!(ask("kata-get-rules").contains("\"scoring\":\"AREA\""));
    ask("komi 6.5");
    assert_eq!(ask("get_komi"), "= 6.5\n\n");
    assert_eq!(ask("set_position b D4 w E5"), "= \n\n");
    assert_eq!(ask("list_stones white"), "= E5\n\n");
    assert!(ask("set_position b D4 w D4").starts_with('?'));
    assert!(ask("rectangular_boardsize 9 13").starts_with('?'));
    assert_eq!(ask("kata-get-param maxVisits"), "= 40\n\n");
    assert_eq!(ask("kata-set-param maxVisits 12"), "= \n\n");
    assert_eq!(ask("kata-get-param maxVisits"), "= 12\n\n");
    assert!(ask("kata-set-param numSearchThreads 0").starts_with('?'));
    assert_eq!(ask("kata-get-param analysisWideRootNoise"), "= 0.04\n\n");
    assert_eq!(
        ask("kata-list_time_settings"),
        "= none absolute byoyomi canadian fischer fischer-capped\n\n"
    );
    assert_eq!(
        ask("kata-time_settings fischer-capped 60 5 120 -1"),
        "= \n\n"
    );
}

#[test]
fn the_network_itself_is_printed_for_white() {
    let (mut engine, answers) = engine(Personality::KataGo);
    answer(&mut engine, &answers, "play b D5");
    let white = answer(&mut engine, &answers, "kata-raw-nn white 0");
    let black = answer(&mut engine, &answers, "kata-raw-nn black 0");
    let value = |text: &str, name: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().last().unwrap().parse().unwrap()
    };
    let sum = value(&white, "whiteWin") + value(&white, "whiteLoss") + value(&white, "noResult");
    assert!((sum - 1.0).abs() < 1e-5);
    // The mover's bottom row: White's if White is to move, Black's otherwise.
    let bottom = |text: &str| {
        text.lines()
            .rfind(|line| !line.is_empty())
            .unwrap()
            .to_owned()
    };
    assert!(bottom(&white).starts_with("1.0000000"), "{white}");
    assert!(bottom(&black).starts_with("-1.0000000"), "{black}");
    assert!(white.contains("NAN"), "D5 is taken");
    assert_eq!(
        white
            .lines()
            .filter(|line| line.starts_with("policyPass"))
            .count(),
        1
    );
    assert!(answer(&mut engine, &answers, "kata-raw-nn 8").starts_with('?'));
}

#[test]
fn leela_zeros_clients_see_none_of_it() {
    let (mut engine, answers) = engine(Personality::LeelaZero);
    let listed = answer(&mut engine, &answers, "list_commands");
    assert!(!listed.contains("kata-analyze") && listed.contains("lz-analyze"));
    let (mut engine, answers) = self::engine(Personality::Tengen);
    let listed = answer(&mut engine, &answers, "list_commands");
    assert!(listed.contains("kata-analyze"), "the network knows scores");
}
