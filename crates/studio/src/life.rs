//! What the studio asks of the rooms that read: ladders, certain territory, and who lives, each with its certainty.

use std::time::Duration;

use go::{Board, Color, Fate, First, LadderReader, Point, Reading};
use serde_json::{Value, json};
use tsumego::{Ko, Limits, Problem, SafetyNet, Side, Solver, Verdict, verify};

use crate::{state::color_name, thinker::Stop};

/// Nodes of the solver for a group of the map, and for the one group that somebody asks about.
const MAP_NODES: u64 = 20_000;
const GROUP_NODES: u64 = 1_000_000;
const GROUP_TIME: Duration = Duration::from_secs(2);
/// The largest proof that is written out and verified.
const MOST_PROOF_NODES: usize = 200_000;
/// Moves of a line that is shown.
const MOST_MOVES: usize = 40;

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// By the rules alone, or by a search that leaves nothing open.
    Proved,
    /// By a reader that looks at ladders only.
    Read,
    /// By a network.
    Guessed,
    /// Nobody was asked: the group is not enclosed.
    Open,
}

impl Certainty {
    /// The word of the page.
    pub fn word(self) -> &'static str {
        match self {
            Certainty::Proved => "proved",
            Certainty::Read => "read",
            Certainty::Guessed => "guessed",
            Certainty::Open => "open",
        }
    }
}

/// What becomes of a group.
#[derive(Clone, Debug)]
pub struct Group {
    /// A stone of it.
    pub at: Point,
    pub stones: Vec<Point>,
    /// Whose it is.
    pub color: Color,
    /// `alive`, `dead`, `critical`, `unknown`.
    pub fate: &'static str,
    /// How sure that is.
    pub certainty: Certainty,
}

impl Group {
    /// As the page reads it.
    pub fn to_json(&self) -> Value {
        let stones: Vec<String> = self.stones.iter().map(Point::to_string).collect();
        json!({
            "at": self.at.to_string(), "stones": stones, "color": color_name(self.color), "fate": self.fate,
            "certainty": self.certainty.word(),
        })
    }
}

/// The blocks of a board, one stone of each.
fn blocks(board: &Board) -> Vec<Point> {
    let stones = board
        .size()
        .points()
        .filter(|&point| board.stone(point).is_some());
    stones
        .filter(|&point| board.block(point) == point)
        .collect()
}

/// Every group of a position with its fate.
pub fn map(board: &Board, stop: &Stop, net: Option<&SafetyNet>) -> Vec<Group> {
    let fates = board.fates();
    blocks(board)
        .into_iter()
        .filter(|_| !stop.is_cancelled())
        .map(|at| {
            let (fate, certainty) = fate_of(board, at, fates.at(at), stop, net);
            Group {
                at,
                stones: board.stones(at).collect(),
                color: board.stone(at).unwrap_or(Color::Black),
                fate,
                certainty,
            }
        })
        .collect()
}

fn fate_of(
    board: &Board,
    at: Point,
    certain: Fate,
    stop: &Stop,
    net: Option<&SafetyNet>,
) -> (&'static str, Certainty) {
    match certain {
        Fate::Alive => return ("alive", Certainty::Proved),
        Fate::Dead => return ("dead", Certainty::Proved),
        Fate::Territory(_) | Fate::Undecided => {}
    }
    if let Some(fate) = ladder_fate(board, at) {
        return (fate, Certainty::Read);
    }
    let Ok(problem) = Problem::new(board.clone(), &[at]) else {
        return ("unknown", Certainty::Open);
    };
    let limits = Limits::default()
        .with_nodes(MAP_NODES)
        .with_interrupt(stop.cancel_flag());
    let mut solver = Solver::new(&problem, limits);
    let attacked = solver.solve(&problem, Side::Attacker, Ko::ATTACKER).verdict;
    match attacked {
        Verdict::Safe => ("alive", Certainty::Proved),
        Verdict::Unsafe => match solver.solve(&problem, Side::Defender, Ko::ATTACKER).verdict {
            Verdict::Unsafe => ("dead", Certainty::Proved),
            Verdict::Safe => ("critical", Certainty::Proved),
            Verdict::Unknown => ("critical", Certainty::Guessed),
        },
        Verdict::Unknown => match net {
            Some(net) if net.chance_of_life(&problem, Side::Attacker, true) >= 0.5 => {
                ("alive", Certainty::Guessed)
            }
            Some(_) => ("dead", Certainty::Guessed),
            None => ("unknown", Certainty::Open),
        },
    }
}

/// What the ladder reader says of a block with one or two liberties; nothing if it escapes, which proves no life.
fn ladder_fate(board: &Board, at: Point) -> Option<&'static str> {
    if board.liberty_count(at) > 2 {
        return None;
    }
    let mut reader = LadderReader::new(go::DEFAULT_LADDER_NODES);
    let captured = |first, reader: &mut LadderReader| {
        reader.read(board, at, first).verdict == go::LadderVerdict::Captured
    };
    if !captured(First::Attacker, &mut reader) {
        return None;
    }
    Some(
        if board.liberty_count(at) == 1 && captured(First::Defender, &mut reader) {
            "dead"
        } else {
            "critical"
        },
    )
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

/// What is proved, read and guessed of the group at a point; and what of it contradicts each other.
pub fn witnesses(
    board: &Board,
    at: Point,
    stop: &Stop,
    net: Option<&SafetyNet>,
) -> (Vec<Value>, Option<Value>) {
    let mut witnesses = Vec::new();
    let mut proved_dead = None;
    match board.fates().at(at) {
        Fate::Alive => witnesses.push(
            json!({ "kind": "proved", "fate": "alive", "how": "it lives whatever is played" }),
        ),
        Fate::Dead => {
            proved_dead = Some((true, 0));
            witnesses.push(json!({ "kind": "proved", "fate": "dead", "how": "it cannot live inside what surrounds it" }));
        }
        _ => {}
    }
    let problem = Problem::new(board.clone(), &[at]).ok();
    if let (Some(problem), true) = (&problem, witnesses.is_empty()) {
        let limits = Limits::default()
            .with_nodes(GROUP_NODES)
            .with_wall_time(GROUP_TIME)
            .with_interrupt(stop.cancel_flag());
        let mut solver = Solver::new(problem, limits);
        let attacked = solver.solve(problem, Side::Attacker, Ko::ATTACKER);
        let defended = match attacked.verdict {
            Verdict::Unsafe => Some(solver.solve(problem, Side::Defender, Ko::ATTACKER).verdict),
            _ => None,
        };
        let fate = match (attacked.verdict, defended) {
            (Verdict::Safe, _) => Some("alive"),
            (Verdict::Unsafe, Some(Verdict::Safe)) => Some("critical"),
            (Verdict::Unsafe, Some(Verdict::Unsafe)) => Some("dead"),
            _ => None,
        };
        if let Some(fate) = fate {
            proved_dead = Some((fate == "dead", attacked.nodes));
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
            let how = match is_checked {
                true => "solved in {nodes} positions, and the proof was checked",
                false => "solved in {nodes} positions",
            };
            witnesses.push(json!({
                "kind": "proved", "fate": fate, "how": how, "values": { "nodes": attacked.nodes }, "line": line,
            }));
        }
    }
    if board.liberty_count(at) <= 2 {
        let mut reader = LadderReader::new(go::DEFAULT_LADDER_NODES);
        let reading = reader.read(board, at, First::Attacker);
        witnesses.push(json!({
            "kind": "read", "fate": verdict_word(&reading), "line": line_json(&reading),
            "how": "if the attacker begins: {nodes} positions", "values": { "nodes": reading.nodes },
        }));
    }
    let mut conflict = None;
    if let (Some(problem), Some(net)) = (&problem, net) {
        let chance = net.chance_of_life(problem, Side::Attacker, true);
        witnesses.push(json!({
            "kind": "guessed", "chance": chance, "how": "the safety network, if the attacker begins",
        }));
        let percent = format!("{:.0}", chance * 100.0);
        if let Some((is_dead, nodes)) = proved_dead {
            if is_dead && chance > 0.6 {
                conflict = Some(json!({
                    "conflict": "The network gives this group {percent} %; it is dead: proved in {nodes} positions.",
                    "values": { "percent": percent, "nodes": nodes },
                }));
            } else if !is_dead && chance < 0.2 && witnesses.iter().any(|one| one["fate"] == "alive")
            {
                conflict = Some(json!({
                    "conflict": "The network gives this group only {percent} %; it lives: proved in {nodes} positions.",
                    "values": { "percent": percent, "nodes": nodes },
                }));
            }
        }
    }
    if problem.is_none() && witnesses.is_empty() {
        witnesses.push(json!({ "kind": "guessed", "fate": "unknown", "how": "the group is open: no safe wall encloses it" }));
    }
    (witnesses, conflict)
}
