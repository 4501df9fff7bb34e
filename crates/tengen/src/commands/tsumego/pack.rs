//! `tengen tsumego pack`: TensorFlow record files.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use tsumego::{FeatureSet, Split, example, tfrecord::write_record};

use super::files::{exit_code, read_positions, write_whole};
use crate::commands::terminal::progress;

/// Pack labelled positions into main.tfrecords and test.tfrecords.
///
/// The split is by problem, so that the test asks about problems nobody has trained on; "position"
/// splits as the original did.
///
/// Example: tengen tsumego pack positions.sgf --planes 14-first --out data/
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The folder to write to.
    #[arg(short, long)]
    out: PathBuf,
    /// Which planes: 5, 13, 14, 14-first or tengen.
    #[arg(long, default_value = "tengen")]
    planes: FeatureSet,
    /// What is kept together: problem or position.
    #[arg(long, default_value = "problem")]
    split: Split,
    /// Share of problems (or positions) for testing.
    #[arg(long, default_value_t = 0.1)]
    test: f64,
    /// Which ones follows from this number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave out positions with fewer moves available.
    #[arg(long, default_value_t = 0)]
    smallest: usize,
    /// Compress the files with gzip.
    #[arg(long)]
    gzip: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    ensure!(
        (0.0..=1.0).contains(&args.test),
        "--test {}: give a share between 0 and 1",
        args.test
    );
    let (positions, failed) = read_positions(&args.paths)?;
    fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    let bar = progress(positions.len(), "positions");
    let mut parts = [(Vec::new(), 0), (Vec::new(), 0)];
    for position in positions.iter().filter(|p| p.size >= args.smallest) {
        let is_test = args.split.is_test(position, args.test, args.seed);
        let (bytes, count) = &mut parts[usize::from(is_test)];
        write_record(bytes, &example(position, args.planes))?;
        *count += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    for ((bytes, count), name) in parts.into_iter().zip(["main", "test"]) {
        let (bytes, name) = if args.gzip {
            let mut packer = GzEncoder::new(Vec::new(), Compression::default());
            packer.write_all(&bytes)?;
            (packer.finish()?, format!("{name}.tfrecords.gz"))
        } else {
            (bytes, format!("{name}.tfrecords"))
        };
        let file = args.out.join(name);
        write_whole(&file, &bytes)?;
        println!(
            "{}: {count} positions, {} bytes",
            file.display(),
            bytes.len()
        );
    }
    Ok(exit_code(failed))
}
