//! Another Go program, driven over its standard input and output in the Go Text Protocol.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::Duration,
};

use thiserror::Error;

/// What can go wrong between us and the program.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// The command line has an unfinished quote or no word at all.
    #[error("cannot split the command {0:?} into words; check its quotes")]
    Unsplittable(String),
    /// The operating system refused to start it.
    #[error("cannot start {program:?}: {source}; is it installed and on the PATH?")]
    Start {
        /// The first word of the command.
        program: String,
        source: std::io::Error,
    },
    /// It ended, or closed a pipe, in the middle of a conversation.
    #[error("{program:?} stopped while answering {command:?}; its last words: {last_words}")]
    Stopped {
        /// The first word of the command.
        program: String,
        /// The command it had been sent.
        command: String,
        /// The last line it wrote on its standard error.
        last_words: String,
    },
    /// It neither answered nor ended.
    #[error("{program:?} has not answered {command:?} for {seconds} s")]
    Silent {
        /// The first word of the command.
        program: String,
        /// The command it had been sent.
        command: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It answered with an error.
    #[error("{program:?} answered {command:?} with an error: {answer}")]
    Refused {
        /// The first word of the command.
        program: String,
        /// The command it had been sent.
        command: String,
        /// The text behind the question mark.
        answer: String,
    },
}

/// A running program. It is asked to quit, and ended if it does not, when this is dropped.
pub struct Program {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    last_words: LastWords,
    patience: Duration,
}

/// How long a program may think about one command unless something else is said.
pub const PATIENCE: Duration = Duration::from_secs(600);

impl Program {
    /// Starts the program of a shell-like command line (quotes are understood, nothing is expanded).
    pub fn start(command_line: &str) -> Result<Program, ProgramError> {
        let words = shlex::split(command_line)
            .filter(|words| !words.is_empty())
            .ok_or_else(|| ProgramError::Unsplittable(command_line.to_owned()))?;
        let name = words[0].clone();
        let start = |source| ProgramError::Start {
            program: name.clone(),
            source,
        };
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C is for us: we end the program when its game is over. If we end at once, so does its input, and it quits.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(start)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(start(std::io::Error::other("no pipe to it")));
        };
        let (sender, answers) = channel();
        // A thread of its own reads, so that the wait for an answer can end. It ends with the program's output.
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(answer) = read_answer(&mut output) {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        Ok(Program {
            name,
            child,
            input: Some(input),
            answers,
            last_words: LastWords::of(errors),
            patience: PATIENCE,
        })
    }

    /// The same program, which may be silent for so long before it is ended.
    pub fn with_patience(mut self, patience: Duration) -> Program {
        self.patience = patience;
        self
    }

    /// The program's name without its folder.
    pub fn name(&self) -> &str {
        Path::new(&self.name)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(&self.name)
    }

    /// Sends a command and returns the text of its answer.
    pub fn ask(&mut self, command: &str) -> Result<String, ProgramError> {
        let answer = self.exchange(command)?;
        let text = answer[1..]
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim()
            .to_owned();
        if answer.starts_with('=') {
            return Ok(text);
        }
        Err(ProgramError::Refused {
            program: self.name().to_owned(),
            command: command.to_owned(),
            answer: text,
        })
    }

    fn exchange(&mut self, command: &str) -> Result<String, ProgramError> {
        let (program, command) = (self.name().to_owned(), command.to_owned());
        let told = self.input.as_mut().is_some_and(|input| {
            let written = writeln!(input, "{command}");
            written.and_then(|()| input.flush()).is_ok()
        });
        let stopped = |program, command| ProgramError::Stopped {
            program,
            command,
            last_words: self.last_words.wait(),
        };
        if !told {
            return Err(stopped(program, command));
        }
        match self.answers.recv_timeout(self.patience) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Disconnected) => Err(stopped(program, command)),
            Err(RecvTimeoutError::Timeout) => {
                // It would not hear `quit` either.
                self.input = None;
                let _ = self.child.kill();
                Err(ProgramError::Silent {
                    program,
                    command,
                    seconds: self.patience.as_secs(),
                })
            }
        }
    }
}

/// The last line that is not empty of what a program writes for people to read.
struct LastWords {
    line: Arc<Mutex<String>>,
    ended: Receiver<()>,
}

/// How long a program that has closed one pipe may take to close the other.
const LAST_BREATH: Duration = Duration::from_secs(1);

impl LastWords {
    /// Listens, so that the program never waits for a reader, until it has gone.
    fn of(errors: ChildStderr) -> LastWords {
        let line = Arc::new(Mutex::new(String::new()));
        let (until_the_end, ended) = channel();
        let heard = Arc::clone(&line);
        std::thread::spawn(move || {
            let _until_the_end = until_the_end;
            for bytes in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
                let text = String::from_utf8_lossy(&bytes);
                if !text.trim().is_empty() {
                    let mut last = heard.lock().unwrap_or_else(PoisonError::into_inner);
                    text.trim().clone_into(&mut last);
                }
            }
        });
        LastWords { line, ended }
    }

    /// The words of a program that has gone.
    fn wait(&self) -> String {
        let _ = self.ended.recv_timeout(LAST_BREATH);
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match line.is_empty() {
            true => "none".to_owned(),
            false => line.clone(),
        }
    }
}

/// The lines from the first `=` or `?` to the blank line; `None` when the program has gone.
fn read_answer(output: &mut BufReader<ChildStdout>) -> Option<String> {
    let mut answer = String::new();
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if answer.is_empty() {
            if line.starts_with(['=', '?']) {
                answer.push_str(line);
            }
        } else if line.is_empty() {
            return Some(answer);
        } else {
            answer.push('\n');
            answer.push_str(line);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut input) = self.input.take() {
            // A program that has already gone cannot be told to quit, and need not be.
            let _ = writeln!(input, "quit");
        }
        for _ in 0..QUIT_POLLS {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(QUIT_POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program has two seconds to quit by itself.
const QUIT_POLLS: u32 = 40;
const QUIT_POLL: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that answers every line with its own text, as GTP would.
    const ECHO: &str = r#"sh -c 'while read line; do [ "$line" = quit ] && exit; printf "= %s\nmore\n\n" "$line"; done'"#;

    #[test]
    fn answers_are_joined_up_to_the_blank_line() {
        let mut program = Program::start(ECHO).unwrap();
        assert_eq!(program.ask("hello there").unwrap(), "hello there\nmore");
        assert_eq!(program.ask("again").unwrap(), "again\nmore");
    }

    #[test]
    fn refusals_name_program_command_and_text() {
        let mut program =
            Program::start(r#"sh -c 'read line; printf "?7 unknown command\n\n"; read line'"#)
                .unwrap();
        let error = program.ask("frobnicate").unwrap_err().to_string();
        assert_eq!(
            error,
            r#""sh" answered "frobnicate" with an error: unknown command"#
        );
    }

    #[test]
    fn a_program_that_ends_is_an_error_not_a_hang() {
        let mut program = Program::start("true").unwrap();
        assert!(matches!(
            program.ask("name"),
            Err(ProgramError::Stopped { .. })
        ));
    }

    #[test]
    fn a_program_that_ends_is_quoted() {
        let script = "echo loading >&2; echo there is no such network >&2; echo >&2";
        let mut program = Program::start(&format!("sh -c '{script}'")).unwrap();
        let error = program.ask("name").unwrap_err().to_string();
        assert_eq!(
            error,
            r#""sh" stopped while answering "name"; its last words: there is no such network"#
        );
    }

    #[test]
    fn a_program_that_says_nothing_is_ended() {
        let mut program = Program::start("sleep 3600")
            .unwrap()
            .with_patience(Duration::from_millis(20));
        let error = program.ask("genmove b").unwrap_err();
        assert!(matches!(error, ProgramError::Silent { .. }), "{error}");
        let ended = program.child.wait().unwrap();
        assert!(!ended.success());
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Program::start("no-such-go-program --gtp")
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("no-such-go-program"), "{error}");
    }
}
