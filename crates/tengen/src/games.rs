//! The games that can be learned. A new game is one line in [`games`].

use std::{path::Path, process::ExitCode};

use fleet::{Beginning, Game, Learner, Run, settings_file};

use crate::commands::zero::run_to_end;

/// Every game that `tengen zero` learns.
pub fn games() -> Vec<Entry> {
    vec![
        Entry::new::<go_training::Go>(GO).with_option("size", "Board size of a new run."),
        Entry::new::<mario_training::DrMario>(MARIO),
    ]
}

const GO: &str = "Learn Go from nothing: self-play, training, a match, promotion, again and again.

Everything is kept in one folder, and the same command resumes after a stop of any kind. The settings are in settings.toml \
there, explained; report.html shows how the run goes.

Example: tengen zero go --size 9 --dir runs/go9
Example: tengen zero go --from trained.txt.gz --dir runs/on";

const MARIO: &str = "Learn Dr. Mario: self-play, training, a comparison on equal deals, promotion, again and again.

The first games are played without a network. Everything is kept in one folder, and the same command resumes after a stop \
of any kind. The settings are in settings.toml there, explained; report.html shows how the run goes.

Example: tengen zero mario --dir runs/mario";

/// A game on the command line.
pub struct Entry {
    /// The name of the subcommand.
    pub name: &'static str,
    /// Its help: a sentence, then the rest.
    pub help: &'static str,
    /// Settings with an option of their own: the setting and its help.
    pub options: Vec<(&'static str, &'static str)>,
    /// Opens or begins the run in a folder and runs it for so many trainings.
    pub run: fn(&Path, &Beginning, Option<u64>) -> anyhow::Result<ExitCode>,
    /// The settings file of a new run.
    pub settings: fn() -> String,
}

impl Entry {
    fn new<L: Learner>(help: &'static str) -> Entry {
        Entry {
            name: L::NAME,
            help,
            options: Vec::new(),
            run: |dir, beginning, rounds| run_to_end(Run::<L>::open(dir, beginning)?, rounds),
            settings: || settings_file::<L>(&<L as Game>::Settings::default()),
        }
    }

    fn with_option(mut self, setting: &'static str, help: &'static str) -> Entry {
        self.options.push((setting, help));
        self
    }
}
