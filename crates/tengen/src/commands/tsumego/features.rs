//! `tengen tsumego features`: positions as planes, in JSON.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tsumego::{FeatureSet, features};

use super::files::{LeftOut, exit_code, read_positions};
use crate::commands::files::write_whole;
use crate::commands::terminal::{counted, progress};

/// Compute feature planes: one JSON object a line, as the original's files hold.
///
/// Example: tengen tsumego features positions.sgf --planes 13 --out planes.jsonl
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The file to write.
    #[arg(short, long)]
    out: PathBuf,
    /// Which planes: 5, 13, 14, 14-first or tengen.
    #[arg(long, default_value = "tengen")]
    planes: FeatureSet,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (mut positions, failed) = read_positions(&args.paths)?;
    let mut left_out = LeftOut::default();
    left_out.what_cannot_be_shown(&mut positions, args.planes);
    let bar = progress(positions.len(), "positions");
    let mut lines = String::new();
    for position in &positions {
        let planes = features(&position.problem, position.first, args.planes);
        let line = json!({
            "safe": position.is_safe,
            "bsize": position.problem.board().size().get(),
            "target": planes.target,
            "asize": position.size,
            "shape": [planes.side, planes.side, args.planes.planes()],
            "features": planes.values,
        });
        writeln!(lines, "{line}")?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    left_out.report();
    write_whole(&args.out, lines.as_bytes())?;
    let count = counted(positions.len(), "position", "positions");
    println!("{count} in {}", args.out.display());
    Ok(exit_code(failed))
}
