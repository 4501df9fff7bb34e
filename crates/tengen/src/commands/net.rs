//! `tengen net`: look at, make, convert, compare and measure networks.

mod average;
mod bench;
mod compare;
mod convert;
mod exam;
mod export_onnx;
mod graft;
mod info;
mod new;
mod quantize;
mod resize;
mod soak;
mod widen;

use std::path::Path;
use std::process::ExitCode;

/// Look at networks, make, convert, compare and measure them.
///
/// Files may be Leela Zero weights, plain or gzip, or Tengen's compact format.
///
/// Example: tengen net new --blocks 5 --filters 64 first.txt && tengen net info first.txt
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Info(info::Args),
    New(new::Args),
    Convert(convert::Args),
    Graft(graft::Args),
    Compare(compare::Args),
    Exam(exam::Args),
    Bench(bench::Args),
    Soak(soak::Args),
    Average(average::Args),
    Widen(widen::Args),
    Resize(resize::Args),
    Quantize(quantize::Args),
    ExportOnnx(export_onnx::Args),
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Info(args) => info::run(args),
        Command::New(args) => new::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Graft(args) => graft::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Exam(args) => exam::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Soak(args) => soak::run(args),
        Command::Average(args) => average::run(args),
        Command::Widen(args) => widen::run(args),
        Command::Resize(args) => resize::run(args),
        Command::Quantize(args) => quantize::run(args),
        Command::ExportOnnx(args) => export_onnx::run(args),
    }
}

/// Writes a result file, whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    crate::commands::files::write_whole(file, bytes)
}
