//! `tengen completions` and `tengen man`: what a shell and a manual need to know of every command.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::{Program, files::write_whole, terminal};

/// Print a script that lets a shell complete commands and options
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tengen completions bash > ~/.local/share/bash-completion/completions/tengen
  tengen completions zsh > ~/.zfunc/_tengen
  tengen completions fish > ~/.config/fish/completions/tengen.fish")]
pub struct Args {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Program::command(), "tengen", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Write the manual: a page for each command
#[derive(clap::Args)]
#[command(after_help = "Example:
  tengen man man1 && man man1/tengen-gtp.1")]
pub struct ManArgs {
    /// Folder for the pages; it is made if there is none
    folder: PathBuf,
}

pub fn run_man(args: ManArgs) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot make {}", args.folder.display()))?;
    let mut program = Program::command().disable_help_subcommand(true);
    program.build();
    let mut pages = 0;
    let mut open = vec![(program, "tengen".to_owned())];
    while let Some((command, name)) = open.pop() {
        for below in command.get_subcommands() {
            open.push((below.clone(), format!("{name}-{}", below.get_name())));
        }
        write_whole(&args.folder.join(format!("{name}.1")), &page(command)?)?;
        pages += 1;
    }
    println!(
        "{}: {}",
        args.folder.display(),
        terminal::counted(pages, "page", "pages")
    );
    Ok(ExitCode::SUCCESS)
}

fn page(command: Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    let command = command.version(env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
