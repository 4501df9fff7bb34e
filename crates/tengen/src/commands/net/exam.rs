//! `tengen net exam`: a network beside the labels of its teacher.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use go_player::LoadedNetwork;
use go_training::student::{Mark, examine};
use serde_json::json;

/// Compare a Go network with the labels of a stronger one, on games kept out of the training.
///
/// Prints for each board size how often the best move is the same, the divergence of the policy (nats)
/// and the mean errors of winning chance, lead (points) and ownership. Given the teacher itself, it is
/// asked on turned boards: no student of its labels needs to come closer than that.
///
/// Example: tengen net exam runs/student/network-averaged.net --labels nine.log --labels kgs.log
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network; it must say score and ownership.
    network: PathBuf,
    /// File of labels; may be given more than once.
    #[arg(long, value_name = "FILE", required = true)]
    labels: Vec<PathBuf>,
    /// Positions of each board size at most.
    #[arg(long, default_value_t = 2000, value_name = "COUNT")]
    positions: usize,
    /// Takes other positions and symmetries.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let network = LoadedNetwork::load(&args.network)?;
    let exam = examine(&network, &args.labels, args.positions, args.seed)?;
    ensure!(
        !exam.is_empty(),
        "none of the games in these files is kept out of the training: label more games"
    );
    if args.json {
        let sizes: serde_json::Map<String, serde_json::Value> = exam
            .iter()
            .map(|(size, mark)| (size.to_string(), to_json(mark)))
            .collect();
        println!("{}", serde_json::Value::Object(sizes));
        return Ok(ExitCode::SUCCESS);
    }
    println!("board  positions  top-1     KL    win   lead  ownership");
    for (size, mark) in &exam {
        let [top_1, divergence, win, lead, ownership] = means(mark);
        println!(
            "{:<5}  {:>9}  {top_1:.3}  {divergence:.3}  {win:.3}  {lead:>5.2}  {ownership:>9.3}",
            format!("{size}x{size}"),
            mark.top_1.count,
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn means(mark: &Mark) -> [f64; 5] {
    let tallies = [
        mark.top_1,
        mark.divergence,
        mark.win,
        mark.lead,
        mark.ownership,
    ];
    tallies.map(|tally| tally.mean().unwrap_or(f64::NAN))
}

fn to_json(mark: &Mark) -> serde_json::Value {
    let [top_1, divergence, win, lead, ownership] = means(mark);
    json!({
        "positions": mark.top_1.count,
        "top1": top_1,
        "kl": divergence,
        "win": win,
        "lead": lead,
        "ownership": ownership,
    })
}
