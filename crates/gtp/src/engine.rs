//! The engine: takes lines, calls the player, prints answers.

use std::io::{self, Write};

use go_player::{EvaluateError, Guarded, Observer, Player, Preparation, View};

use crate::{
    commands::{self, Command},
    input::Input,
    komi_report,
    line::{self, Request},
    report,
};

/// Seconds between two lines on stderr while thinking.
const PROGRESS_SECONDS: f64 = 2.5;

/// Whose manners the engine has where the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Personality {
    /// Our own: everything that is asked for is in the answer.
    Tengen,
    /// Leela Zero's: its name, and boards and maps on stderr.
    LeelaZero,
}

impl Personality {
    /// The answer to `name`.
    pub fn name(&self) -> &'static str {
        match self {
            Personality::Tengen => "Tengen",
            Personality::LeelaZero => "Leela Zero",
        }
    }

    /// The answer to `version`. Clients ask Leela Zero for 0.16 and later.
    pub fn version(&self) -> &'static str {
        match self {
            Personality::Tengen => env!("CARGO_PKG_VERSION"),
            Personality::LeelaZero => "0.17",
        }
    }
}

/// Where the engine's words go.
pub struct Outputs {
    /// Answers.
    pub answers: Box<dyn Write>,
    /// What a person may want to know.
    pub remarks: Box<dyn Write>,
    /// A copy of everything, the input after `>>`.
    pub log: Option<Box<dyn Write>>,
}

impl Outputs {
    /// Prints part of an answer at once.
    pub fn answer(&mut self, text: &str) -> io::Result<()> {
        self.answers.write_all(text.as_bytes())?;
        self.answers.flush()?;
        self.log(text);
        Ok(())
    }

    /// Says something that nobody has to read; who does not listen is not an error.
    pub fn remark(&mut self, text: &str) {
        let _ = self.remarks.write_all(text.as_bytes());
        let _ = self.remarks.flush();
        self.log(text);
    }

    /// Says why a search ended in the middle of an answer that is printed in parts.
    pub(crate) fn remark_failure(&mut self, error: &EvaluateError) -> io::Result<()> {
        self.remark(&format!("the search failed: {error}\n"));
        Ok(())
    }

    fn log(&mut self, text: &str) {
        if let Some(log) = &mut self.log {
            let _ = log.write_all(text.as_bytes());
            let _ = log.flush();
        }
    }
}

/// How a command was answered.
#[derive(Debug)]
pub(crate) enum Answer {
    /// With this text: `= ...` or `? ...`.
    Text(Result<String, String>),
    /// It has printed its answer itself.
    Printed,
}

impl Answer {
    pub(crate) fn ok(text: impl Into<String>) -> Answer {
        Answer::Text(Ok(text.into()))
    }

    pub(crate) fn failure(text: impl Into<String>) -> Answer {
        Answer::Text(Err(text.into()))
    }
}

impl<T: Into<String>> From<Result<T, String>> for Answer {
    fn from(result: Result<T, String>) -> Answer {
        Answer::Text(result.map(Into::into))
    }
}

/// Whether there is more to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Wait for the next line.
    GoOn,
    /// Quit.
    Quit,
}

/// A player behind a protocol.
pub struct Engine {
    pub(crate) player: Player,
    pub(crate) input: Input,
    pub(crate) outputs: Outputs,
    pub(crate) personality: Personality,
    /// The command line, for game records.
    pub(crate) command_line: String,
    prompt: Option<String>,
}

impl Engine {
    /// An engine that reads `input`.
    pub fn new(
        player: Player,
        input: Input,
        outputs: Outputs,
        personality: Personality,
        command_line: String,
    ) -> Engine {
        Engine {
            player,
            input,
            outputs,
            personality,
            command_line,
            prompt: None,
        }
    }

    /// For people at a terminal: shows the board and a prompt before each line.
    #[must_use]
    pub fn with_prompt(mut self, prompt: &str) -> Engine {
        self.prompt = Some(prompt.to_owned());
        self
    }

    /// The player.
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// Answers lines until `quit` or the end of the input.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            if let Some(prompt) = self.prompt.clone() {
                let board = report::board(&self.player);
                self.outputs.remark(&format!("\n{board}\n"));
                self.outputs.answer(&prompt)?;
            }
            let Some(line) = self.input.next_line() else {
                // Leela Zero ends its last line, too.
                return self.outputs.answer("\n");
            };
            self.outputs.log(&format!(">>{line}\n"));
            if self.handle(&line)? == Flow::Quit {
                return Ok(());
            }
        }
    }

    /// Answers one line, and thinks on if that is wanted until the next one arrives.
    pub fn handle(&mut self, line: &str) -> io::Result<Flow> {
        let Some(request) = Request::parse(line) else {
            return Ok(Flow::GoOn);
        };
        let Some(command) = commands::find(&request.command) else {
            self.print(&request, &Err("unknown command".to_owned()))?;
            return Ok(Flow::GoOn);
        };
        match (command.run)(self, &request)? {
            Answer::Text(text) => self.print(&request, &text)?,
            Answer::Printed => {}
        }
        if command.then_ponders && self.player.ponders() {
            self.ponder();
        }
        Ok(if command.quits {
            Flow::Quit
        } else {
            Flow::GoOn
        })
    }

    /// The names of the commands, as `list_commands` gives them.
    pub fn command_names() -> impl Iterator<Item = &'static str> {
        commands::listed().map(|command: &Command| command.name)
    }

    fn ponder(&mut self) {
        let input = self.input.clone();
        let mut remarks = KomiRemarks(&mut self.outputs);
        let pondered = self
            .player
            .ponder(&move || input.is_pending(), &mut remarks);
        if let Err(error) = pondered {
            self.outputs.remark(&format!("pondering failed: {error}\n"));
        }
    }

    fn print(&mut self, request: &Request, answer: &Result<String, String>) -> io::Result<()> {
        self.outputs
            .answer(&line::frame(request.id.as_deref(), answer))
    }
}

/// Tells stderr what komi the network is told, and nothing else.
struct KomiRemarks<'a>(&'a mut Outputs);

impl Observer for KomiRemarks<'_> {
    fn prepared(&mut self, preparation: &Preparation) {
        self.0.remark(&komi_report::preparation(preparation));
    }
}

/// Tells stderr how thinking goes.
pub(crate) struct Remarks<'a> {
    outputs: &'a mut Outputs,
    next: f64,
}

impl<'a> Remarks<'a> {
    pub(crate) fn new(outputs: &'a mut Outputs) -> Remarks<'a> {
        Remarks {
            outputs,
            next: PROGRESS_SECONDS,
        }
    }
}

impl Observer for Remarks<'_> {
    fn begin(&mut self, time: go_player::clock::Centiseconds) {
        self.outputs.remark(&thinking_line(time));
    }

    fn prepared(&mut self, preparation: &Preparation) {
        self.outputs.remark(&komi_report::preparation(preparation));
    }

    fn guarded(&mut self, guarded: &Guarded) {
        self.outputs.remark(&komi_report::guarded(guarded));
    }

    fn tick(&mut self, view: &View<'_>) {
        let elapsed = view.elapsed.as_secs_f64();
        if elapsed >= self.next {
            self.next = elapsed + PROGRESS_SECONDS;
            let line = report::progress_line(&view.snapshot());
            self.outputs.remark(&format!("{line}\n"));
        }
    }
}

/// Prints analysis lines at an interval, at least one.
pub(crate) struct Infos<'a> {
    pub outputs: &'a mut Outputs,
    pub interval_centiseconds: u64,
    pub min_moves: usize,
    pub last_seconds: f64,
    pub printed: bool,
    /// What the other side of the wire made of the last line.
    pub failure: Option<io::Error>,
}

impl<'a> Infos<'a> {
    pub(crate) fn new(
        outputs: &'a mut Outputs,
        interval_centiseconds: u64,
        min_moves: usize,
    ) -> Infos<'a> {
        Infos {
            outputs,
            interval_centiseconds,
            min_moves,
            last_seconds: 0.0,
            printed: false,
            failure: None,
        }
    }

    /// Prints a line if none was printed yet, and says whether the wire held.
    pub(crate) fn finish(mut self, snapshot: &go_player::Snapshot<go::Move>) -> io::Result<()> {
        if self.interval_centiseconds > 0 && !self.printed {
            self.print(snapshot);
        }
        self.failure.map_or(Ok(()), Err)
    }

    fn print(&mut self, snapshot: &go_player::Snapshot<go::Move>) {
        let line = report::analysis_line(snapshot, self.min_moves);
        if line.is_empty() {
            return;
        }
        if let Err(error) = self.outputs.answer(&format!("{line}\n")) {
            self.failure.get_or_insert(error);
        }
        self.printed = true;
    }
}

impl Observer for Infos<'_> {
    fn begin(&mut self, time: go_player::clock::Centiseconds) {
        self.outputs.remark(&thinking_line(time));
    }

    fn prepared(&mut self, preparation: &Preparation) {
        self.outputs.remark(&komi_report::preparation(preparation));
    }

    fn guarded(&mut self, guarded: &Guarded) {
        self.outputs.remark(&komi_report::guarded(guarded));
    }

    fn tick(&mut self, view: &View<'_>) {
        let elapsed = view.elapsed.as_secs_f64();
        let interval = self.interval_centiseconds as f64 / 100.0;
        if self.interval_centiseconds > 0 && elapsed - self.last_seconds > interval {
            self.last_seconds = elapsed;
            self.print(&view.snapshot());
        }
    }
}

fn thinking_line(time: go_player::clock::Centiseconds) -> String {
    format!("Thinking at most {:.1} seconds...\n", time as f64 / 100.0)
}
