//! What the studio asks of the rooms that read: ladders, certain territory, and who lives, each with its certainty.

use std::time::Duration;

use go::{Board, Fate, First, LadderReader, Point, Reading};
use serde_json::{Value, json};
use tsumego::{
    Certainty, GroupFate, Ko, Limits, MapSettings, Problem, Side, Solver, Status, Verdict, verify,
};

use crate::{state::color_name, thinker::Stop};

/// Nodes of the solver for a group of the map, and for the one group that somebody asks about.
const MAP_NODES: u64 = 20_000;
const GROUP_NODES: u64 = 1_000_000;
const GROUP_TIME: Duration = Duration::from_secs(2);
/// The largest proof that is written out and verified.
const MOST_PROOF_NODES: usize = 200_000;
/// Moves of a line that is shown.
const MOST_MOVES: usize = 40;

/// How sure a fate is, in the words of the page.
fn certainty_word(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Benson | Certainty::Search => "proved",
        Certainty::Read => "read",
        Certainty::None => "open",
    }
}

/// A fate in the words of the page.
pub fn fate_word(fate: tsumego::Fate) -> &'static str {
    match fate {
        tsumego::Fate::Alive => "alive",
        tsumego::Fate::Critical => "critical",
        tsumego::Fate::Dead => "dead",
        tsumego::Fate::Unknown => "unknown",
    }
}

/// A group as the page reads it.
pub fn group_to_json(group: &GroupFate) -> Value {
    let stones: Vec<String> = group.stones.iter().map(Point::to_string).collect();
    json!({
        "at": stones.first(), "stones": stones, "color": color_name(group.color), "fate": fate_word(group.fate),
        "certainty": certainty_word(group.certainty), "nodes": group.nodes,
        "kill": group.kill.map(|point| point.to_string()), "save": group.save.map(|point| point.to_string()),
    })
}

/// Every group of a position with its fate; `on_group` hears of each as it is decided.
pub fn map(board: &Board, stop: &Stop, on_group: &mut dyn FnMut(&GroupFate)) -> Vec<GroupFate> {
    let settings = MapSettings {
        nodes: MAP_NODES,
        interrupt: Some(stop.cancel_flag()),
    };
    tsumego::map(board, &settings, on_group)
}

/// Every ladder of a position.
pub fn ladders(board: &Board) -> Value {
    let mut reader = LadderReader::new(go::DEFAULT_LADDER_NODES);
    let found: Vec<Value> = LadderReader::questions(board)
        .into_iter()
        .map(|(prey, first)| {
            let reading = reader.read(board, prey, first);
            let stones: Vec<String> = board.stones(prey).map(|point| point.to_string()).collect();
            json!({
                "prey": prey.to_string(), "stones": stones, "verdict": verdict_word(&reading),
                "first": if first == First::Attacker { "attacker" } else { "defender" },
                "moves": reading.working_moves.iter().map(Point::to_string).collect::<Vec<_>>(),
                "line": line_json(&reading),
            })
        })
        .collect();
    json!({ "ladders": found })
}

fn verdict_word(reading: &Reading) -> &'static str {
    match reading.verdict {
        go::LadderVerdict::Captured => "captured",
        go::LadderVerdict::Escapes => "escapes",
        go::LadderVerdict::Unknown => "unknown",
    }
}

fn line_json(reading: &Reading) -> Value {
    let line = reading.line.iter().take(MOST_MOVES);
    line.map(|(color, point)| json!([color_name(*color), point.to_string()]))
        .collect()
}

/// Points that belong to somebody for certain.
pub fn territory(board: &Board) -> Value {
    let fates = board.fates();
    let mut points = serde_json::Map::new();
    for point in board.size().points() {
        let owner = match (fates.at(point), board.stone(point)) {
            (Fate::Territory(owner), _) => Some(owner),
            (Fate::Dead, Some(color)) => Some(color.opponent()),
            _ => None,
        };
        if let Some(owner) = owner {
            points.insert(point.to_string(), color_name(owner).into());
        }
    }
    json!({ "points": points })
}

/// What is proved and read of the group at a point.
///
/// The safety network is not asked: it judges groups that a safe wall encloses, which are few in games, and what was
/// measured of them there (`tsumego`'s example `safety_on_games`, figures in `docs/studio.md`) comes nearly all from one game.
pub fn witnesses(board: &Board, at: Point, stop: &Stop) -> Vec<Value> {
    let mut witnesses = Vec::new();
    match board.fates().at(at) {
        Fate::Alive => witnesses.push(
            json!({ "kind": "proved", "fate": "alive", "how": "it lives whatever is played" }),
        ),
        Fate::Dead => {
            witnesses.push(json!({ "kind": "proved", "fate": "dead", "how": "it cannot live inside what surrounds it" }));
        }
        _ => {}
    }
    if witnesses.is_empty() {
        let proved = Problem::new(board.clone(), &[at])
            .ok()
            .and_then(|problem| solved(&problem, "proved", stop));
        if let Some(witness) = proved {
            witnesses.push(witness);
        } else if let Ok(problem) = Problem::in_game(board.clone(), &[at]) {
            witnesses.extend(solved(&problem, "read", stop));
        }
    }
    if board.liberty_count(at) <= 2 {
        let mut reader = LadderReader::new(go::DEFAULT_LADDER_NODES);
        let reading = reader.read(board, at, First::Attacker);
        witnesses.push(json!({
            "kind": "read", "fate": verdict_word(&reading), "line": line_json(&reading),
            "how": "the ladder, if the attacker begins: {nodes} positions", "values": { "nodes": reading.nodes },
        }));
    }
    if witnesses.is_empty() {
        witnesses.push(json!({ "kind": "read", "fate": "unknown", "how": "nothing was found within {nodes} positions", "values": { "nodes": GROUP_NODES } }));
    }
    witnesses
}

/// The solver's word on a group as a card of the page. Nothing if a limit was reached.
fn solved(problem: &Problem, kind: &str, stop: &Stop) -> Option<Value> {
    let limits = Limits::default()
        .with_nodes(GROUP_NODES)
        .with_wall_time(GROUP_TIME)
        .with_interrupt(stop.cancel_flag());
    let mut solver = Solver::new(problem, limits);
    let attacked = solver.solve(problem, Side::Attacker, Ko::ATTACKER);
    let fate = match attacked.verdict {
        Verdict::Safe => "alive",
        Verdict::Unsafe => match solver.solve(problem, Side::Defender, Ko::NOBODY).verdict {
            Verdict::Safe => "critical",
            Verdict::Unsafe => "dead",
            Verdict::Unknown => return None,
        },
        Verdict::Unknown => return None,
    };
    let line = solver.line(problem, Side::Attacker, Ko::ATTACKER, MOST_MOVES);
    let mut color = problem.attacker();
    let line: Vec<Value> = line
        .iter()
        .map(|mv| {
            let step = json!([color_name(color), mv.to_string()]);
            color = color.opponent();
            step
        })
        .collect();
    let is_checked = solver
        .proof(problem, Side::Attacker, Ko::ATTACKER, MOST_PROOF_NODES)
        .is_ok_and(|proof| verify(problem, &proof).is_ok());
    let how = match (kind, is_checked) {
        ("proved", true) => "solved in {nodes} positions, and the proof was checked",
        ("proved", false) => "solved in {nodes} positions",
        _ => "read in {nodes} positions; what gets away from here counts as safe",
    };
    let ko = match solver.status(problem, Side::Attacker) {
        Status::KoForAttacker(threats) => json!({ "needs": "attacker", "threats": threats }),
        Status::KoForDefender(threats) => json!({ "needs": "defender", "threats": threats }),
        _ => Value::Null,
    };
    let zone: Vec<String> = attacked.zone.iter().map(Point::to_string).collect();
    Some(json!({
        "kind": kind, "fate": fate, "how": how, "values": { "nodes": attacked.nodes }, "line": line, "ko": ko, "zone": zone,
    }))
}
