//! `tengen tsumego pack`: TensorFlow record files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use flate2::{Compression, write::GzEncoder};
use rayon::prelude::*;
use tsumego::{FeatureSet, Split, example, tfrecord::write_record};

use super::files::{LeftOut, exit_code, for_each_positions};
use crate::commands::files::WholeFile;
use crate::commands::terminal::{counted, spinner};

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
    tsumego::sgf_files(&args.paths)?;
    fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    let mut parts = [
        Part::create(&args, "main.tfrecords")?,
        Part::create(&args, "test.tfrecords")?,
    ];
    let bar = spinner("positions");
    let mut left_out = LeftOut::default();
    let failed = for_each_positions(&args.paths, &mut |mut positions| {
        left_out.what_cannot_be_shown(&mut positions, args.planes);
        let records: Vec<Option<(bool, Vec<u8>)>> = positions
            .par_iter()
            .map(|position| {
                let is_kept = position.size >= args.smallest;
                is_kept.then(|| {
                    let mut bytes = Vec::new();
                    write_record(&mut bytes, &example(position, args.planes))
                        .expect("memory does not fail");
                    (args.split.is_test(position, args.test, args.seed), bytes)
                })
            })
            .collect();
        for (is_test, bytes) in records.into_iter().flatten() {
            parts[usize::from(is_test)].add(&bytes)?;
        }
        bar.inc(positions.len() as u64);
        Ok(())
    })?;
    bar.finish_and_clear();
    left_out.report();
    for part in parts {
        part.finish()?;
    }
    Ok(exit_code(failed))
}

/// One of the two files.
struct Part {
    file: PathBuf,
    out: Packer,
    count: usize,
}

enum Packer {
    Plain(WholeFile),
    Gzip(Box<GzEncoder<WholeFile>>),
}

impl Part {
    fn create(args: &Args, name: &str) -> anyhow::Result<Part> {
        let file = match args.gzip {
            true => args.out.join(format!("{name}.gz")),
            false => args.out.join(name),
        };
        let whole = WholeFile::create(&file)?;
        Ok(Part {
            file,
            out: match args.gzip {
                // Planes are mostly zeros: the quickest packing is nearly as small as the best.
                true => Packer::Gzip(Box::new(GzEncoder::new(whole, Compression::fast()))),
                false => Packer::Plain(whole),
            },
            count: 0,
        })
    }

    fn add(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.count += 1;
        let written = match &mut self.out {
            Packer::Plain(out) => out.write_all(bytes),
            Packer::Gzip(out) => out.write_all(bytes),
        };
        written.with_context(|| format!("cannot write {}", self.file.display()))
    }

    fn finish(self) -> anyhow::Result<()> {
        let whole = match self.out {
            Packer::Plain(out) => out,
            Packer::Gzip(out) => out.finish()?,
        };
        whole.finish()?;
        let bytes = fs::metadata(&self.file).map_or(0, |about| about.len());
        println!(
            "{}: {}, {bytes} bytes",
            self.file.display(),
            counted(self.count, "position", "positions")
        );
        Ok(())
    }
}
