//! `tengen tsumego solve`: verdicts, first moves, lines, proofs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use go::{Color, Move, Point};
use serde_json::json;
use tsumego::{
    Ko, Limits, NetGuide, Problem, SafetyNet, Side, Solver, Status, Verdict, proof_tree,
    read_problem, to_svg, verify,
};

use super::files::{complain, exit_code, sgf_files};
use crate::commands::files::write_whole;
use crate::commands::terminal::progress;

/// Decide whether marked groups can be captured.
///
/// A problem is an SGF file with the stones in AB and AW and the group marked with MA, enclosed by
/// a safe wall. By default the attacker may retake any ko, which is what "safe" means here.
///
/// Example: tengen tsumego solve problems/ --first both
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Who moves first.
    #[arg(long, value_parser = ["attacker", "defender", "both"], default_value = "both")]
    first: String,
    /// Who may retake a ko at once; "all" states how many threats decide.
    #[arg(long, value_parser = ["attacker", "nobody", "defender", "all"], default_value = "attacker")]
    ko: String,
    /// Stop a question after this many nodes.
    #[arg(long)]
    nodes: Option<u64>,
    /// Stop a question after this many seconds.
    #[arg(long)]
    seconds: Option<f64>,
    /// Megabytes for what the search remembers.
    #[arg(long, default_value_t = 256)]
    memory: usize,
    /// Write a picture of each problem with the winning move into this folder.
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// Write the checked proof of each answer as SGF variations into this folder.
    #[arg(long, value_name = "FOLDER")]
    proof: Option<PathBuf>,
    /// Check each answer's proof with the independent verifier.
    #[arg(long)]
    verify: bool,
    /// Let the safety network inside the program order the search.
    #[arg(long)]
    guided: bool,
    /// Let the safety network in this file order the search.
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Print one JSON object a question.
    #[arg(long)]
    json: bool,
}

/// A proof with more positions is not written out.
const MOST_PROOF_NODES: usize = 5_000_000;
/// Moves of a line to print.
const LINE_LENGTH: usize = 12;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let files = sgf_files(&args.paths)?;
    for folder in args.svg.iter().chain(&args.proof) {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let net = match args.weights.as_deref() {
        Some(file) => Some(SafetyNet::find(Some(file), None)?),
        None if args.guided => Some(SafetyNet::find(None, None)?),
        None => None,
    };
    let bar = progress(files.len(), "problems");
    let mut failed = 0;
    let mut totals = Totals::default();
    for file in &files {
        let solved = fs::read(file)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| Ok(read_problem(&bytes)?))
            .and_then(|record| solve_one(&args, file, &record.problem, net.as_ref(), &mut totals));
        if let Err(error) = solved {
            bar.suspend(|| complain(file, &error));
            failed += 1;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !args.json && totals.questions > 1 {
        println!(
            "{} questions, {} unknown, {} nodes, {:.3} s, slowest {:.3} s",
            totals.questions,
            totals.unknown,
            totals.nodes,
            totals.time.as_secs_f64(),
            totals.slowest.as_secs_f64()
        );
    }
    Ok(exit_code(failed))
}

#[derive(Default)]
struct Totals {
    questions: usize,
    unknown: usize,
    nodes: u64,
    time: Duration,
    slowest: Duration,
}

fn solve_one(
    args: &Args,
    file: &Path,
    problem: &Problem,
    net: Option<&SafetyNet>,
    totals: &mut Totals,
) -> anyhow::Result<()> {
    let sides: &[Side] = match args.first.as_str() {
        "attacker" => &[Side::Attacker],
        "defender" => &[Side::Defender],
        _ => &Side::BOTH,
    };
    for &first in sides {
        let started = Instant::now();
        let mut limits = Limits::default().with_memory(args.memory << 20);
        if let Some(nodes) = args.nodes {
            limits = limits.with_nodes(nodes);
        }
        if let Some(seconds) = args.seconds {
            let time = Duration::try_from_secs_f64(seconds).context("--seconds")?;
            limits = limits.with_time(time);
        }
        let mut solver = Solver::new(problem, limits);
        let ko = if args.ko == "all" {
            Ko::ATTACKER
        } else {
            args.ko.parse()?
        };
        let solution = match net {
            Some(net) => solver.solve_guided(problem, first, ko, &NetGuide::new(net, problem)),
            None => solver.solve(problem, first, ko),
        };
        let time = started.elapsed();
        totals.questions += 1;
        totals.unknown += usize::from(solution.verdict == Verdict::Unknown);
        totals.nodes += solution.nodes;
        totals.time += time;
        totals.slowest = totals.slowest.max(time);
        let status = (args.ko == "all").then(|| solver.status(problem, first));
        let line = solver.line(problem, first, ko, LINE_LENGTH);
        let proof_nodes = check_proof(
            args,
            file,
            problem,
            first,
            ko,
            &mut solver,
            solution.verdict,
        )?;
        if let Some(folder) = &args.svg {
            draw(
                folder,
                file,
                problem,
                first,
                solution.verdict,
                solution.first_move,
            )?;
        }
        let answer = Answer {
            file,
            problem,
            first,
            verdict: solution.verdict,
            status,
            first_move: solution.first_move,
            line,
            nodes: solution.nodes,
            time,
            proof_nodes,
        };
        answer.print(args.json);
    }
    Ok(())
}

fn check_proof(
    args: &Args,
    file: &Path,
    problem: &Problem,
    first: Side,
    ko: Ko,
    solver: &mut Solver,
    verdict: Verdict,
) -> anyhow::Result<Option<usize>> {
    if verdict == Verdict::Unknown || !(args.verify || args.proof.is_some()) {
        return Ok(None);
    }
    let proof = solver.proof(problem, first, ko, MOST_PROOF_NODES)?;
    let checked = verify(problem, &proof).context("the proof does not hold")?;
    if let Some(folder) = &args.proof {
        let name = output_name(file, first);
        let tree = proof_tree(problem, &name, &proof);
        write_whole(
            &folder.join(format!("{name}.sgf")),
            tree.to_string().as_bytes(),
        )?;
    }
    Ok(Some(checked))
}

fn draw(
    folder: &Path,
    file: &Path,
    problem: &Problem,
    first: Side,
    verdict: Verdict,
    first_move: Option<Point>,
) -> anyhow::Result<()> {
    let target = problem.target_stones();
    let life = match verdict {
        Verdict::Safe => Some(1.0),
        Verdict::Unsafe => Some(0.0),
        Verdict::Unknown => None,
    };
    let chance = |point: Point| target.contains(&point).then_some(life).flatten();
    let letter = match problem.color(first) {
        Color::Black => "B",
        Color::White => "W",
    };
    let marks: Vec<(Point, String)> = first_move
        .map(|point| (point, letter.to_owned()))
        .into_iter()
        .collect();
    let svg = to_svg(problem.board(), &chance, &marks);
    let name = output_name(file, first);
    write_whole(&folder.join(format!("{name}.svg")), svg.as_bytes())
}

/// The last two parts of a path, so that `gop/133.sgf` and `sim/133.sgf` stay apart.
fn output_name(file: &Path, first: Side) -> String {
    let stem = file.with_extension("");
    let parts: Vec<String> = stem
        .components()
        .rev()
        .take(2)
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .filter(|part| part != "/" && part != "." && part != "..")
        .collect();
    let name: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
    format!("{}-{}", name.join("-"), side_name(first))
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Attacker => "attacker",
        Side::Defender => "defender",
    }
}

struct Answer<'a> {
    file: &'a Path,
    problem: &'a Problem,
    first: Side,
    verdict: Verdict,
    status: Option<Status>,
    first_move: Option<Point>,
    line: Vec<Move>,
    nodes: u64,
    time: Duration,
    proof_nodes: Option<usize>,
}

impl Answer<'_> {
    fn print(&self, as_json: bool) {
        let verdict = match self.verdict {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
        };
        let line: Vec<String> = self.line.iter().map(Move::to_string).collect();
        if as_json {
            let answer = json!({
                "file": self.file.display().to_string(),
                "first": side_name(self.first),
                "verdict": verdict,
                "status": self.status.map(|status| status.to_string()),
                "move": self.first_move.map(|point| point.to_string()),
                "line": line,
                "nodes": self.nodes,
                "seconds": self.time.as_secs_f64(),
                "size": self.problem.size(self.first),
                "proof_positions": self.proof_nodes,
            });
            println!("{answer}");
            return;
        }
        let found = self
            .status
            .map_or(verdict.to_owned(), |status| status.to_string());
        print!(
            "{}: {} first: {found}",
            self.file.display(),
            side_name(self.first)
        );
        if let Some(point) = self.first_move {
            print!(", {} {point}", self.problem.color(self.first));
        }
        if line.len() > 1 {
            print!(" ({})", line.join(" "));
        }
        print!(
            ", {} nodes, {:.1} ms",
            self.nodes,
            self.time.as_secs_f64() * 1e3
        );
        if let Some(positions) = self.proof_nodes {
            print!(", proof of {positions} positions checked");
        }
        println!();
    }
}
