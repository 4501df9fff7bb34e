use super::*;
use fleet::Elo;
use go::{BoardSize, KoRule, Komi, sgf};
use std::fs;

/// A GTP program that always passes, or resigns, or plays nonsense.
fn answering(genmove: &str) -> String {
    format!(
        r#"sh -c 'while read word rest; do case $word in quit) exit;; genmove) echo "= {genmove}";; *) echo "=";; esac; echo; done'"#
    )
}

fn contestant(genmove: &str) -> Contestant {
    Contestant {
        name: genmove.to_owned(),
        command: answering(genmove),
    }
}

fn contest(first: &str, second: &str) -> Contest {
    Contest {
        first: contestant(first),
        second: contestant(second),
        scorer: None,
        rules: Rules {
            size: BoardSize::NINE,
            komi: Komi::SEVEN_AND_A_HALF,
            handicap: 0,
            max_moves: 200,
            ko: KoRule::Positional,
        },
        games: 6,
        jobs: 2,
        patience: Duration::from_secs(60),
        sprt: None,
        openings: Vec::new(),
        dir: None,
    }
}

fn play(contest: &Contest) -> (MatchScore, Vec<Entry>) {
    let entries = Mutex::new(Vec::new());
    let outcome = contest.run(&AtomicBool::new(false), |entry, _, _| {
        lock(&entries).push(entry.clone())
    });
    let outcome = outcome.unwrap();
    assert!(outcome.is_finished);
    (outcome.score, entries.into_inner().unwrap())
}

#[test]
fn resigning_program_loses_with_both_colours() {
    let (score, entries) = play(&contest("pass", "resign"));
    assert_eq!(score, MatchScore::new(6, 0));
    assert_eq!(
        entries.iter().filter(|entry| entry.first_is_black).count(),
        3
    );
    assert!(
        entries
            .iter()
            .all(|entry| entry.ending == Ending::Resignation)
    );
}

#[test]
fn two_passes_are_scored_on_the_board() {
    // An empty board with komi is White's.
    let (score, entries) = play(&contest("pass", "pass"));
    assert_eq!(score, MatchScore::new(3, 3));
    assert!(
        entries
            .iter()
            .all(|entry| entry.result == "W+7.5" && entry.moves == ["pass", "pass"])
    );
}

#[test]
fn illegal_answers_lose_the_game() {
    let (score, entries) = play(&contest("pass", "K5"));
    assert_eq!(score, MatchScore::new(6, 0));
    assert!(
        entries
            .iter()
            .all(|entry| entry.ending == Ending::Illegal("K5".into()))
    );
}

#[test]
fn a_program_that_hangs_loses_on_time() {
    let mut hangs = contest("pass", "pass");
    // It waits for a line that never comes.
    hangs.second.command = hangs
        .second
        .command
        .replace(r#"echo "= pass""#, "read never");
    hangs.games = 2;
    // Time enough for every other answer, on a busy machine too.
    hangs.patience = Duration::from_secs(3);
    let (score, entries) = play(&hangs);
    assert_eq!(score, MatchScore::new(2, 0));
    assert!(entries.iter().all(|entry| entry.ending == Ending::Time));
    let mut results: Vec<&str> = entries.iter().map(|entry| &entry.result[..]).collect();
    results.sort_unstable();
    assert_eq!(results, ["B+Time", "W+Time"]);
}

#[test]
fn each_opening_is_played_from_both_sides() {
    let openings = vec![
        vec!["E5".parse().unwrap()],
        vec!["C3".parse().unwrap(), "G7".parse().unwrap()],
    ];
    let (_, mut entries) = play(&Contest {
        openings,
        ..contest("pass", "pass")
    });
    entries.sort_by_key(|entry| entry.number);
    assert_eq!(entries[0].moves[0], "E5");
    assert_eq!(entries[1].moves[0], "E5");
    assert_eq!(entries[2].moves[..2], ["C3", "G7"]);
    assert_ne!(entries[2].first_is_black, entries[3].first_is_black);
}

/// A match in a folder, and its log.
fn in_folder(first: &str, second: &str) -> (tempfile::TempDir, Contest, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let contest = Contest {
        dir: Some(folder.path().to_owned()),
        ..contest(first, second)
    };
    let log = folder.path().join("match.jsonl");
    (folder, contest, log)
}

fn refusal(contest: &Contest) -> String {
    let outcome = contest.run(&AtomicBool::new(false), |_, _, _| {});
    outcome.unwrap_err().to_string()
}

#[test]
fn an_interrupted_match_goes_on_from_its_log() {
    let (_folder, mut contest, log) = in_folder("pass", "resign");
    contest.games = 3;
    assert_eq!(play(&contest).0, MatchScore::new(3, 0));
    // A crash in the middle of a line.
    let mut lines = fs::read(&log).unwrap();
    lines.extend(b"{\"number\":3,\"fir");
    fs::write(&log, lines).unwrap();
    // Behind the same names the second program would now win, but games 0 to 2 are already in the log.
    contest.games = 6;
    contest.first.command = answering("resign");
    contest.second.command = answering("pass");
    assert_eq!(play(&contest).0, MatchScore::new(3, 3));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 6);
}

#[test]
fn a_last_line_without_its_end_or_its_sense_is_played_again() {
    let (_folder, contest, log) = in_folder("pass", "resign");
    play(&contest);
    let whole = fs::read_to_string(&log).unwrap();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    let without_end = whole.trim_end().to_owned();
    let without_sense = format!("{}{{\"number\"\n", &whole[..last]);
    for torn in [without_end, without_sense] {
        fs::write(&log, &torn).unwrap();
        assert_eq!(play(&contest).0, MatchScore::new(6, 0));
        let mended = fs::read_to_string(&log).unwrap();
        assert_eq!(mended, whole, "after {torn:?}");
    }
}

#[test]
fn another_match_is_refused_by_the_first_difference() {
    let (folder, contest, _) = in_folder("pass", "resign");
    play(&contest);
    let dir = folder.path().display();
    let swapped = Contest {
        first: contest.second.clone(),
        second: contest.first.clone(),
        ..contest.clone()
    };
    assert_eq!(
        refusal(&swapped),
        format!(
            "the match in {dir} is between pass and resign, not resign and pass; choose another folder"
        )
    );
    let change = |change: &dyn Fn(&mut Contest)| {
        let mut other = contest.clone();
        change(&mut other);
        refusal(&other)
    };
    let thirteen = BoardSize::new(13).unwrap();
    for (error, words) in [
        (
            change(&|other| other.rules.size = thirteen),
            "is on a 9x9 board, not 13x13;",
        ),
        (
            change(&|other| other.rules.komi = Komi::ZERO),
            "has komi 7.5, not 0;",
        ),
        (
            change(&|other| other.rules.handicap = 2),
            "has 0 handicap stones, not 2;",
        ),
        (
            change(&|other| other.rules.max_moves = 9),
            "at most 200 moves a game, not 9;",
        ),
        (
            change(&|other| other.rules.ko = KoRule::Simple),
            "has the ko rule positional, not simple;",
        ),
        (
            change(&|other| other.scorer = Some("judge".into())),
            "is scored by the referee, not by judge;",
        ),
        (
            change(&|other| other.openings = vec![vec![Move::Pass]]),
            "has other openings;",
        ),
    ] {
        assert!(error.contains(words), "{error}");
    }
    // How many games, how many at once and how patiently makes no other match.
    let shorter = Contest {
        games: 4,
        jobs: 1,
        patience: Duration::from_secs(50),
        ..contest.clone()
    };
    assert_eq!(play(&shorter).0, MatchScore::new(4, 0));
}

#[test]
fn a_folder_of_an_earlier_version_learns_which_match_it_is() {
    let (folder, contest, _) = in_folder("pass", "resign");
    play(&contest);
    let identity = folder.path().join("match.json");
    fs::remove_file(&identity).unwrap();
    assert_eq!(play(&contest).0, MatchScore::new(6, 0));
    assert!(identity.exists());
}

#[test]
fn a_folder_without_a_ko_rule_has_positional_superko() {
    let (folder, contest, _) = in_folder("pass", "resign");
    play(&contest);
    let file = folder.path().join("match.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut identity: serde_json::Value = serde_json::from_str(&text).unwrap();
    identity.as_object_mut().unwrap().remove("ko").unwrap();
    fs::write(&file, identity.to_string()).unwrap();
    assert_eq!(play(&contest).0, MatchScore::new(6, 0));
}

#[test]
fn a_folder_is_of_one_process_at_a_time() {
    let (folder, contest, _) = in_folder("pass", "resign");
    let _lock = base::LockedFolder::take(folder.path()).unwrap();
    assert!(refusal(&contest).contains("in use by another process"));
}

#[test]
fn damage_inside_the_log_is_named() {
    let (_folder, contest, log) = in_folder("pass", "pass");
    fs::write(&log, "nonsense\n{}\n").unwrap();
    let error = refusal(&contest);
    assert!(error.contains("line 1 of the match log"), "{error}");
}

#[test]
fn a_logged_game_can_be_replayed() {
    let (_folder, mut contest, _) = in_folder("pass", "pass");
    contest.rules.handicap = 2;
    contest.games = 1;
    let outcome = contest.run(&AtomicBool::new(false), |entry, played, _| {
        let game = entry.replay(&contest.rules).unwrap();
        let played = &played.unwrap().game;
        let sgf = |game| sgf::Tree::from_game(game).to_string();
        assert_eq!(sgf(&game), sgf(played));
    });
    outcome.unwrap();
}

#[test]
fn a_program_that_ends_after_the_stop_is_not_started_again() {
    let starts = tempfile::NamedTempFile::new().unwrap();
    let mut contest = contest("pass", "pass");
    contest.jobs = 1;
    // It notes its start, and goes in the middle of the first game that begins after the stop.
    contest.second.command = format!("sh -c 'echo started >> {}; exit'", starts.path().display());
    let stop = AtomicBool::new(true);
    let mut seats = None;
    assert!(contest.play(0, &mut seats, &stop).unwrap().is_none());
    let starts = fs::read_to_string(starts.path()).unwrap();
    assert!(starts.lines().count() <= 1, "{starts}");
    assert!(!contest.run(&stop, |_, _, _| {}).unwrap().is_finished);
}

#[test]
fn a_decided_test_ends_the_match() {
    let long = Contest {
        games: 400,
        sprt: Some(Sprt::between(Elo(0.0), Elo(35.0))),
        ..contest("pass", "resign")
    };
    let (score, _) = play(&long);
    assert!(score.games() < 60, "{score}");
    assert_eq!(long.verdict(score), MatchVerdict::Pass);
}
