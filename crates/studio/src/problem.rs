//! `problem.*`: life and death. Checked, solved, argued with, made.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use go::{Board, Color, Game, Move, Point};
use serde::Deserialize;
use serde_json::{Value, json};
use tsumego::{
    Hints, Ko, Limits, Problem, ProblemError, Recipe, Side, Solver, Verdict, generate_problems,
    infer, problem_tree, proof_tree, verify,
};

use crate::{
    document::{Document, ProblemMarks, damaged, parse_point},
    engine::lock,
    question,
    reading::safety_net,
    server::App,
    state::color_name,
    tab::Tab,
    thinker::{Stop, Urgency},
    wire::{Answer, Failure, Reply, Request, in_range},
};

/// The largest proof that is written out.
const MOST_PROOF_NODES: usize = 200_000;
/// Time for an answer in an argument.
const REPLY_TIME: Duration = Duration::from_secs(3);
/// Moves of the main line.
const MOST_MOVES: usize = 40;
/// Time for an explanation of every first move.
const EXPLAIN_TIME: Duration = Duration::from_secs(10);
/// A record with more moves than this on its main line is a game.
const LONGEST_SOLUTION: usize = 40;

#[derive(Clone, Deserialize)]
struct Of {
    doc: String,
}

#[derive(Clone, Deserialize)]
struct Solve {
    doc: String,
    #[serde(default = "usual_seconds")]
    seconds: f64,
    #[serde(default)]
    ko: Option<String>,
}

fn usual_seconds() -> f64 {
    10.0
}

#[derive(Clone, Deserialize)]
struct New {
    #[serde(default = "usual_size")]
    size: usize,
    /// 0 easy, 1 middling, 2 hard: by the positions a solution takes.
    #[serde(default)]
    hard: usize,
}

fn usual_size() -> usize {
    9
}

/// Answers `problem.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    match request.verb.as_str() {
        "problem.check" => {
            let Of { doc } = request.fields()?;
            app.with_doc(&doc, |document| Ok(Reply::Now(check(document)?)))
        }
        "problem.solve" => solve(app, tab, request),
        "problem.reply" => reply(app, tab, request),
        "problem.new" => make(app, tab, request),
        "problem.proof" => proof(app, tab, request),
        "problem.explain" => explain_answer(app, tab, request),
        "problem.enclose" => {
            let Of { doc } = request.fields()?;
            let mut assumptions = Vec::new();
            app.change(&doc, |document| {
                assumptions = enclose(document)?;
                Ok(())
            })?;
            Ok(Reply::Now(json!({ "assumptions": assumptions })))
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

/// A record whose first position marks stones is a problem.
pub fn read_marks(document: &mut Document) {
    if document.table.problem.is_some() {
        return;
    }
    let root = document.tree.root();
    let Ok(game) = document.game_at(root) else {
        return;
    };
    let Ok(marked) = document.tree.points(root, "MA") else {
        return;
    };
    let stones: Vec<String> = marked
        .iter()
        .filter(|&point| game.board().stone(point).is_some())
        .map(|point| point.to_string())
        .collect();
    if !stones.is_empty() {
        document.table.problem = Some(ProblemMarks {
            target: stones,
            zone: Vec::new(),
        });
        document.node = root;
    }
}

/// The pages of a book of problems: where nothing is marked, the group in question is found and its outside closed.
pub fn read_book(documents: &mut [Document]) {
    let is_page = |document: &Document| {
        let game = document.game_at(document.tree.root());
        document.table.problem.is_some()
            || game.is_ok_and(|game| looks_like_a_problem(document, &game))
    };
    if documents.len() < 2 || !documents.iter().all(is_page) {
        return;
    }
    for document in documents
        .iter_mut()
        .filter(|document| document.table.problem.is_none())
    {
        document.node = document.tree.root();
        if let Err(failure) = enclose(document) {
            document.table.problem = Some(ProblemMarks::default());
            document.notes.push(failure.say);
        }
    }
}

/// A page of a book: stones of both colours in a part of the board, nothing marked, and at most a solution to play.
fn looks_like_a_problem(document: &Document, game: &Game) -> bool {
    let [black, white] = [Color::Black, Color::White].map(|color| *game.board().stone_set(color));
    let root = document.tree.root();
    let is_game = ["HA", "RE", "KM"]
        .iter()
        .any(|name| document.tree.text(root, name).is_some());
    let stones = black.len() + white.len();
    !black.is_empty()
        && !white.is_empty()
        && !is_game
        && stones * 2 < game.size().area()
        && document.tree.main_line().len() <= LONGEST_SOLUTION
}

/// Finds the problem in the first position of a record: the group in question is marked, and where its surroundings
/// leak a wall of stones is added. Returns what was assumed.
fn enclose(document: &mut Document) -> Result<Vec<String>, Failure> {
    let start = start_node(document);
    let game = document.game_at(start).map_err(damaged)?;
    let marks = document.table.problem.clone().unwrap_or_default();
    let target: Result<Vec<Point>, Failure> = marks
        .target
        .iter()
        .map(|vertex| parse_point(vertex, game.size()))
        .collect();
    let hints = Hints {
        target: target?,
        ..Hints::default()
    };
    let found = infer(game.board(), &hints, false)
        .map_err(|error| Failure::new("problem", error.to_string()))?;
    let enclosed = found.problem.board();
    for (color, property) in [(Color::Black, "AB"), (Color::White, "AW")] {
        let added = *enclosed.stone_set(color) - *game.board().stone_set(color);
        if !added.is_empty() {
            let known = document.tree.points(start, property).map_err(damaged)?;
            let all = known | added;
            document.tree.set_points(start, property, all.iter());
        }
    }
    let stones = found.problem.target_stones();
    document.table.problem = Some(ProblemMarks {
        target: stones.iter().map(Point::to_string).collect(),
        zone: Vec::new(),
    });
    document.node = start;
    for assumption in &found.assumptions {
        if !document.notes.contains(assumption) {
            document.notes.push(assumption.clone());
        }
    }
    document.changed();
    Ok(found.assumptions)
}

/// The problem of a document: the position before any move was tried.
fn problem_of(document: &Document) -> Result<(Problem, Game), Failure> {
    let marks = document.table.problem.clone().unwrap_or_default();
    let start = start_node(document);
    let game = document.game_at(start).map_err(damaged)?;
    let points = |list: &[String]| -> Result<Vec<Point>, Failure> {
        list.iter()
            .map(|vertex| parse_point(vertex, game.size()))
            .collect()
    };
    let target = points(&marks.target)?;
    let zone = points(&marks.zone)?;
    let board = game.board().clone();
    let made = match zone.is_empty() {
        true => Problem::new(board, &target),
        false => Problem::with_zone(board, &target, zone),
    };
    let problem = made.map_err(|error| explain(error, game.board(), &target))?;
    Ok((problem, game))
}

/// The last node of the present path without a move: where the problem is set.
fn start_node(document: &Document) -> go::sgf::NodeId {
    let path = document.tree.path(document.node);
    let setup = path.iter().take_while(|&&node| {
        document
            .tree
            .moves(node)
            .is_ok_and(|moves| moves.is_empty())
    });
    setup
        .last()
        .copied()
        .unwrap_or_else(|| document.tree.root())
}

/// The solver's refusal, with the blocks that are to blame.
fn explain(error: ProblemError, board: &Board, target: &[Point]) -> Failure {
    let code = match error {
        ProblemError::NoTarget => "no-target",
        ProblemError::NoWall | ProblemError::Leak(_) => "no-wall",
        _ => "problem",
    };
    let say = match error {
        ProblemError::NoTarget => "Mark a stone of the group in question first.".to_owned(),
        _ => error.to_string(),
    };
    let weak: Vec<String> = match (error, target.first().and_then(|&at| board.stone(at))) {
        (ProblemError::NoWall, Some(defender)) => board
            .size()
            .points()
            .filter(|&point| {
                board.is_stone(point, defender.opponent()) && board.liberty_count(point) < 4
            })
            .map(|point| point.to_string())
            .collect(),
        (ProblemError::Leak(point), _) => vec![point.to_string()],
        _ => Vec::new(),
    };
    Failure {
        at: (!weak.is_empty()).then(|| weak.join(" ")),
        ..Failure::new(code, say)
    }
}

fn check(document: &Document) -> Result<Value, Failure> {
    let (problem, _) = problem_of(document)?;
    Ok(facts(&problem))
}

fn facts(problem: &Problem) -> Value {
    let names = |points: Vec<Point>| points.iter().map(Point::to_string).collect::<Vec<_>>();
    json!({
        "target": names(problem.target_stones()), "zone": names(problem.zone().iter().copied().collect()),
        "defender": color_name(problem.defender()), "attacker": color_name(problem.attacker()),
    })
}

fn side_of(problem: &Problem, color: Color) -> Side {
    if color == problem.attacker() {
        Side::Attacker
    } else {
        Side::Defender
    }
}

fn ko_of(name: &str) -> Result<Ko, Failure> {
    name.parse()
        .map_err(|error: tsumego::UnknownKo| Failure::new("fields", error.to_string()))
}

fn solve(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Solve = request.fields()?;
    in_range("seconds", asked.seconds, 0.1, 600.0)?;
    let asked_ko = asked.ko.as_deref().map(ko_of).transpose()?;
    let problem = app.with_doc(&asked.doc, |document| Ok(problem_of(document)?.0))?;
    question::ask(
        app,
        tab,
        request,
        ("solve", Urgency::Question),
        &asked.doc,
        move |_, _, stop| {
            let limits = Limits::default()
                .with_wall_time(Duration::from_secs_f64(asked.seconds))
                .with_interrupt(stop.cancel_flag());
            let mut solver = Solver::new(&problem, limits);
            let mut answer = facts(&problem);
            for (name, first) in [("attacked", Side::Attacker), ("defended", Side::Defender)] {
                let (start, nodes_before) = (Instant::now(), solver.nodes());
                // Under the rule by which it is just decided, the first move is the one that needs the least of a ko.
                let status = solver.status(&problem, first);
                let decided = [first, first.opponent()]
                    .into_iter()
                    .find_map(|side| status.rule_for(side));
                let ko = asked_ko.or(decided).unwrap_or(Ko::ATTACKER);
                let solution = solver.solve(&problem, first, ko);
                let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
                let proof = match solution.verdict {
                    Verdict::Unknown => None,
                    _ => solver.proof(&problem, first, ko, MOST_PROOF_NODES).ok(),
                };
                let is_checked = proof
                    .as_ref()
                    .is_some_and(|proof| verify(&problem, proof).is_ok());
                let line = solver.line(&problem, first, ko, MOST_MOVES);
                let mut color = problem.color(first);
                let line: Vec<Value> = line
                    .iter()
                    .map(|mv| {
                        let step = json!([color_name(color), mv.to_string()]);
                        color = color.opponent();
                        step
                    })
                    .collect();
                answer[name] = json!({
                    "verdict": verdict_word(solution.verdict), "first": color_name(problem.color(first)),
                    "move": solution.first_move.map(|point| point.to_string()), "nodes": solver.nodes() - nodes_before,
                    "milliseconds": milliseconds, "proof": proof.map(|proof| proof.nodes.len()), "checked": is_checked,
                    "ko": ko_words(status), "line": line, "zone": solution.zone.iter().map(Point::to_string).collect::<Vec<_>>(),
                });
            }
            answer["chance"] =
                json!(safety_net().map(|net| net.chance_of_life(&problem, Side::Attacker, true)));
            Ok(answer)
        },
    )
}

/// Every right first move, and why each other one fails.
fn explain_answer(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Of = request.fields()?;
    let (problem, game) = app.with_doc(&asked.doc, |document| problem_of(document))?;
    let first = side_of(&problem, game.to_move());
    let job = ("solve", Urgency::Question);
    question::ask(app, tab, request, job, &asked.doc, move |_, _, stop| {
        let limits = Limits::default()
            .with_wall_time(EXPLAIN_TIME)
            .with_interrupt(stop.cancel_flag());
        let found = tsumego::explain(&problem, first, &limits);
        let numbered = |moves: &[Move], mut color: Color| -> Vec<Value> {
            moves
                .iter()
                .map(|mv| {
                    let step = json!([color_name(color), mv.to_string()]);
                    color = color.opponent();
                    step
                })
                .collect()
        };
        let color = problem.color(first);
        let refutations: Vec<Value> = found
            .refutations
            .iter()
            .map(|wrong| {
                let mut line = vec![Move::Play(wrong.wrong)];
                line.extend(&wrong.line);
                json!({ "at": wrong.wrong.to_string(), "only_ko": wrong.only_ko, "line": numbered(&line, color) })
            })
            .collect();
        Ok(json!({
            "first": color_name(color), "solutions": found.solutions.iter().map(Move::to_string).collect::<Vec<_>>(),
            "complete": found.is_complete, "unique": found.is_unique(), "line": numbered(&found.main_line, color),
            "refutations": refutations, "difficulty": found.difficulty.to_string(), "hints": found.hints,
            "nodes": found.nodes,
        }))
    })
}

/// What ko decides, in words that the page translates.
fn ko_words(status: tsumego::Status) -> String {
    use tsumego::Status;
    match status {
        Status::Safe | Status::Unsafe => "none".to_owned(),
        Status::KoForAttacker(threats) => format!("attacker {threats}"),
        Status::KoForDefender(threats) => format!("defender {threats}"),
        Status::Unknown => "unknown".to_owned(),
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "lives",
        Verdict::Unsafe => "dies",
        Verdict::Unknown => "unknown",
    }
}

/// Answers the move that was just played from the solution: who wins now, and what the other side plays.
fn reply(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Of = request.fields()?;
    let (problem, now, rev) = app.with_doc(&asked.doc, |document| {
        let (problem, _) = problem_of(document)?;
        Ok((problem, document.game().map_err(damaged)?, document.rev))
    })?;
    let doc = asked.doc.clone();
    question::ask(
        app,
        tab,
        request,
        ("solve", Urgency::Question),
        &asked.doc,
        move |app, _, stop| {
            let answer = argue(&problem, &now, stop)?;
            if let Some(mv) = answer.reply {
                app.change(&doc, |document| {
                    if document.rev != rev {
                        return Err(Failure::new("stale", "the position has changed"));
                    }
                    document.play(mv)
                })?;
            }
            Ok(answer.to_json())
        },
    )
}

/// The state of an argument.
struct Argument {
    /// Who wins: `attacker`, `defender`, or nobody knows.
    winner: Option<Side>,
    /// Whether it is decided on the board.
    is_over: bool,
    /// What is played now.
    reply: Option<Move>,
    nodes: u64,
}

impl Argument {
    fn to_json(&self) -> Value {
        let winner = self.winner.map(|side| match side {
            Side::Attacker => "attacker",
            Side::Defender => "defender",
        });
        json!({
            "winner": winner, "over": self.is_over, "reply": self.reply.map(|mv| mv.to_string()), "nodes": self.nodes,
        })
    }
}

fn argue(problem: &Problem, now: &Game, stop: &Stop) -> Result<Argument, Failure> {
    let captured = problem
        .target_stones()
        .iter()
        .any(|&stone| !now.board().is_stone(stone, problem.defender()));
    let settled = |winner| Argument {
        winner: Some(winner),
        is_over: true,
        reply: None,
        nodes: 0,
    };
    let Some(here) = problem.at(now.board().clone()).filter(|_| !captured) else {
        return Ok(settled(Side::Attacker));
    };
    let side = side_of(problem, now.to_move());
    let limits = Limits::default()
        .with_wall_time(REPLY_TIME)
        .with_interrupt(stop.cancel_flag());
    let mut solver = Solver::new(&here, limits);
    let solution = solver.solve(&here, side, Ko::ATTACKER);
    let winner = match solution.verdict {
        Verdict::Safe => Some(Side::Defender),
        Verdict::Unsafe => Some(Side::Attacker),
        Verdict::Unknown => None,
    };
    // Unconditional life ends the argument: nothing is left to try.
    if winner == Some(Side::Defender)
        && problem
            .target()
            .iter()
            .all(|&at| now.board().fates().at(at) == go::Fate::Alive)
    {
        return Ok(settled(Side::Defender));
    }
    let legal = |point: &Point| now.is_legal(now.to_move(), Move::Play(*point));
    let reply = match winner {
        Some(winner) if winner == side => solution.first_move.filter(legal).map(Move::Play),
        _ => hardest(&here, side, now, &mut solver),
    };
    let is_over = reply.is_none() && winner.is_some();
    Ok(Argument {
        winner,
        is_over,
        reply: reply.or((!is_over).then_some(Move::Pass)),
        nodes: solution.nodes,
    })
}

/// The losing side's move that takes longest to refute.
fn hardest(problem: &Problem, side: Side, now: &Game, solver: &mut Solver) -> Option<Move> {
    let color = problem.color(side);
    let deadline = Instant::now() + REPLY_TIME;
    let mut best: Option<(u64, Move)> = None;
    for &point in problem.zone() {
        if !now.is_legal(color, Move::Play(point)) || Instant::now() > deadline {
            continue;
        }
        let mut board = now.board().clone();
        let _ = board.play(point, color);
        let Some(after) = problem.at(board) else {
            continue;
        };
        let nodes = solver.solve(&after, side.opponent(), Ko::ATTACKER).nodes;
        if best.is_none_or(|(most, _)| nodes > most) {
            best = Some((nodes, Move::Play(point)));
        }
    }
    best.map(|(_, mv)| mv)
}

/// Makes a new problem.
fn make(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: New = request.fields()?;
    in_range("size", asked.size, 5, 19)?;
    in_range("hard", asked.hard, 0, 2)?;
    question::ask(
        app,
        tab,
        request,
        ("solve", Urgency::Rest),
        "",
        move |app, _, _| {
            let (smallest, fewest_nodes, most_nodes) =
                [(5, 10, 300), (7, 200, 5_000), (9, 2_000, 100_000)][asked.hard];
            let boards = go::BoardSize::new(asked.size).into_iter().collect();
            let recipe = Recipe {
                seed: rand::random(),
                boards,
                smallest,
                fewest_nodes,
                most_nodes,
                ..Recipe::default()
            };
            let Some(made) = generate_problems(&recipe, 1).into_iter().next() else {
                return Err(Failure::new(
                    "problem",
                    "no such problem was found: try another size",
                ));
            };
            let tree = problem_tree(&made.problem, "");
            let mut desk = lock(&app.desk);
            let mut document = Document::new(desk.new_id(), tree);
            read_marks(&mut document);
            // Whoever can change the outcome by moving first is to play.
            let first = if made.is_safe {
                problem_first(&made.problem, Side::Defender)
            } else {
                problem_first(&made.problem, Side::Attacker)
            };
            let root = document.tree.root();
            document
                .tree
                .set_text(root, "PL", if first == Color::Black { "B" } else { "W" });
            Ok(json!({ "doc": desk.add(document), "nodes": made.nodes }))
        },
    )
}

fn problem_first(problem: &Problem, side: Side) -> Color {
    problem.color(side)
}

/// The proof as variations, as a text.
fn proof(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: Of = request.fields()?;
    let (problem, game) = app.with_doc(&asked.doc, |document| problem_of(document))?;
    let first = side_of(&problem, game.to_move());
    question::ask(
        app,
        tab,
        request,
        ("solve", Urgency::Question),
        &asked.doc,
        move |_, _, stop| {
            let limits = Limits::default()
                .with_wall_time(REPLY_TIME)
                .with_interrupt(stop.cancel_flag());
            let mut solver = Solver::new(&problem, limits);
            let proof = solver
                .proof(&problem, first, Ko::ATTACKER, MOST_PROOF_NODES)
                .map_err(|error| Failure::new("proof", error.to_string()))?;
            Ok(json!({ "sgf": proof_tree(&problem, "proof", &proof).to_string() }))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::{BoardSize, Komi};

    /// Three in a row: whoever plays the middle decides.
    fn three_in_a_row() -> Document {
        let drawing = "
            . . . . . . .
            . . . . . . .
            . . . . . . .
            . . . . . . .
            X X X X X . .
            O O O O X . .
            . . . O X . .";
        let board = Board::from_diagram(BoardSize::new(7).unwrap(), drawing).unwrap();
        let game = Game::from_board(board, Color::Black, Komi::ZERO);
        let mut document = Document::new("test".into(), go::sgf::Tree::from_game(&game));
        document.table.problem = Some(ProblemMarks {
            target: vec!["A2".into()],
            zone: vec![],
        });
        document
    }

    #[test]
    fn the_winner_answers_everything_the_loser_tries_until_it_is_over() {
        let stop = Stop::default();
        for first in ["A1", "B1", "C1"] {
            let mut document = three_in_a_row();
            // White, whose group it is, to play: he tries anything.
            let root = document.tree.root();
            document.tree.set_text(root, "PL", "B");
            document.play("B1".parse().unwrap()).unwrap();
            let (problem, _) = problem_of(&document).unwrap();
            if document.play(first.parse().unwrap()).is_err() {
                continue;
            }
            for _ in 0..20 {
                let now = document.game().unwrap();
                let argument = argue(&problem, &now, &stop).unwrap();
                assert_eq!(argument.winner, Some(Side::Attacker), "{first}");
                match argument.reply {
                    Some(mv) => document.play(mv).unwrap(),
                    None => break,
                }
            }
        }
    }

    #[test]
    fn the_position_before_any_move_is_the_problem() {
        let mut document = three_in_a_row();
        document.play("B1".parse().unwrap()).unwrap();
        let (problem, game) = problem_of(&document).unwrap();
        assert!(game.board().is_empty("B1".parse().unwrap()));
        assert_eq!(problem.target_stones().len(), 5);
    }

    #[test]
    fn a_target_without_a_wall_names_the_blocks_that_are_to_blame() {
        let mut document = three_in_a_row();
        let set = [("E1".to_owned(), "e".to_owned())].into();
        document
            .edit(&crate::document::Edit {
                set,
                ..Default::default()
            })
            .unwrap();
        let set = [
            ("E2".to_owned(), "e".to_owned()),
            ("E3".to_owned(), "e".to_owned()),
        ]
        .into();
        document
            .edit(&crate::document::Edit {
                set,
                ..Default::default()
            })
            .unwrap();
        match problem_of(&document) {
            Err(failure) => assert_eq!(failure.code, "no-wall"),
            Ok((problem, _)) => panic!("enclosed by {:?}", problem.zone()),
        }
    }
}
