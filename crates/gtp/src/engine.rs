//! The engine: takes lines, calls the player, prints answers.

use std::io::{self, Write};

use go::{BoardSize, Rules, Symmetry};
use go_player::{EvaluateError, Guarded, Observer, Player, Preparation, View, clock::TimeControl};

use crate::{
    commands,
    input::Input,
    kata_report::{KataLine, Numbers, Perspective},
    komi_report,
    line::{self, Request},
    report,
    tags::AnalyzeTags,
};

/// Seconds between two lines on stderr while thinking.
const PROGRESS_SECONDS: f64 = 2.5;

/// The versions whose behaviour clients may expect.
const LEELA_ZERO_VERSION: &str = "0.17";
const KATAGO_VERSION: &str = "1.17.2";

/// Whose manners the engine has where the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Personality {
    /// Our own: everything that is asked for is in the answer.
    Tengen,
    /// Leela Zero's: its name, and boards and maps on stderr.
    LeelaZero,
    /// KataGo's: its name, its list of commands.
    KataGo,
}

impl Personality {
    /// The answer to `name`.
    pub fn name(&self) -> &'static str {
        match self {
            Personality::Tengen => "Tengen",
            Personality::LeelaZero => "Leela Zero",
            Personality::KataGo => "KataGo",
        }
    }

    /// The version alone, for game records.
    pub fn release(&self) -> &'static str {
        match self {
            Personality::Tengen => env!("CARGO_PKG_VERSION"),
            Personality::LeelaZero => LEELA_ZERO_VERSION,
            Personality::KataGo => KATAGO_VERSION,
        }
    }

    /// The answer to `version`. Clients that do not know a name take the engine for Leela Zero, and refuse one older
    /// than 0.15 or 0.16: so ours begins with the version of Leela Zero that it is compatible with.
    pub fn version(&self, network: &str) -> String {
        match self {
            Personality::Tengen => format!("{LEELA_ZERO_VERSION} (Tengen {})", self.release()),
            Personality::LeelaZero => self.release().to_owned(),
            Personality::KataGo => format!("{}+{network}", self.release()),
        }
    }
}

/// Where the engine's words go.
pub struct Outputs {
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

    /// Writes a remark. Write errors are ignored.
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
    /// What a game without a clock is played by.
    pub(crate) no_clock: TimeControl,
    /// Whose view KataGo's lines are printed from.
    pub(crate) perspective: Perspective,
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
            no_clock: TimeControl::NO_CLOCK,
            perspective: Perspective::default(),
            prompt: None,
        }
    }

    /// Plays by this while nobody has set a clock, and after `kgs-time_settings none`.
    #[must_use]
    pub fn without_clock(mut self, control: TimeControl) -> Engine {
        self.no_clock = control;
        self.player.set_time(control);
        self
    }

    /// For people at a terminal: shows the board and a prompt before each line.
    #[must_use]
    pub fn with_prompt(mut self, prompt: &str) -> Engine {
        self.prompt = Some(prompt.to_owned());
        self
    }

    /// Sets a parameter as `kata-set-param` does.
    pub fn set_param(&mut self, name: &str, value: &str) -> Result<(), String> {
        commands::set_param(self, name, value)
    }

    /// Sets the rules as `kata-set-rules` does.
    pub fn set_rules(&mut self, rules: Rules) {
        self.player.set_rules(rules);
    }

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
                // Leela Zero ends its last line, and so does a prompt.
                return match self.personality {
                    Personality::LeelaZero => self.outputs.answer("\n"),
                    _ if self.prompt.is_some() => self.outputs.answer("\n"),
                    _ => Ok(()),
                };
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

    /// The commands that `list_commands` gives here: KataGo's analyses where the network knows scores, and never to a
    /// client that expects Leela Zero.
    pub fn command_names(&self) -> Vec<&'static str> {
        let knows_score = self.player.judge().knows_score();
        match self.personality {
            Personality::KataGo => commands::KATAGO_LIST.to_vec(),
            Personality::LeelaZero => commands::listed_for_leela_zero(),
            Personality::Tengen => commands::listed()
                .filter(|command| knows_score || !command.needs_score)
                .map(|command| command.name)
                .collect(),
        }
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

/// How analysis lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    LeelaZero,
    /// KataGo's.
    KataGo(Numbers),
}

/// Prints analysis lines at an interval, at least one.
pub(crate) struct Infos<'a> {
    outputs: &'a mut Outputs,
    tags: &'a AnalyzeTags,
    lines: Lines,
    perspective: Perspective,
    size: BoardSize,
    symmetries: Vec<Symmetry>,
    last_seconds: f64,
    printed: bool,
    /// What the other side of the wire made of the last line.
    failure: Option<io::Error>,
}

impl<'a> Infos<'a> {
    pub(crate) fn new(
        outputs: &'a mut Outputs,
        player: &Player,
        tags: &'a AnalyzeTags,
        lines: Lines,
        perspective: Perspective,
    ) -> Infos<'a> {
        let is_restricted = !tags.restrictions.is_empty();
        Infos {
            outputs,
            tags,
            lines,
            perspective,
            size: player.game().size(),
            symmetries: if is_restricted {
                Vec::new()
            } else {
                player.pruned_symmetries()
            },
            last_seconds: 0.0,
            printed: false,
            failure: None,
        }
    }

    /// Prints a line if none was printed yet, and says whether the wire held.
    pub(crate) fn finish(mut self, view: &View<'_>) -> io::Result<()> {
        if self.tags.interval_centiseconds > 0 && !self.printed {
            self.print(view);
        }
        self.failure.map_or(Ok(()), Err)
    }

    fn print(&mut self, view: &View<'_>) {
        let line = match self.lines {
            Lines::LeelaZero => report::analysis_line(&view.snapshot(), self.tags),
            Lines::KataGo(numbers) => KataLine {
                view,
                tags: self.tags,
                size: self.size,
                numbers,
                symmetries: &self.symmetries,
                perspective: self.perspective,
            }
            .text(),
        };
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
        let interval = self.tags.interval_centiseconds as f64 / 100.0;
        if self.tags.interval_centiseconds > 0 && elapsed - self.last_seconds > interval {
            self.last_seconds = elapsed;
            self.print(view);
        }
    }
}

fn thinking_line(time: go_player::clock::Centiseconds) -> String {
    format!("Thinking at most {:.1} seconds...\n", time as f64 / 100.0)
}
