//! What several tests share: an engine with a small network, a driver for other programs, positions.
#![allow(dead_code)]

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use go_player::{LoadedNetwork, Options, Player, StopMode};
use gtp::{Engine, Input, Outputs, Personality};
use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle};

/// A network with random weights.
pub fn random_network(side: usize) -> LeelaNetwork {
    LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(side, 1, 8), 20_240_101)
}

/// One thread, a fixed seed, few visits.
pub fn quick_options() -> Options {
    Options {
        visits: Some(12),
        ponder: false,
        seed: 7,
        stop_mode: StopMode::Off,
        ..Options::default()
    }
}

pub fn player(side: usize, options: Options) -> Player {
    let network = LoadedNetwork::from_leela(&random_network(side), Path::new("random.txt"));
    Player::new(network.unwrap(), options).unwrap()
}

/// Memory that can be written to from inside an engine and read from outside.
#[derive(Clone, Default)]
pub struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    pub fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An engine whose answers and remarks end up in memory.
pub fn engine(
    side: usize,
    options: Options,
    personality: Personality,
    input: Input,
) -> (Engine, Buffer, Buffer) {
    let (answers, remarks) = (Buffer::default(), Buffer::default());
    let outputs = Outputs {
        answers: Box::new(answers.clone()),
        remarks: Box::new(remarks.clone()),
        log: None,
    };
    let engine = Engine::new(
        player(side, options),
        input,
        outputs,
        personality,
        "--test".to_owned(),
    );
    (engine, answers, remarks)
}

/// A program that speaks GTP, with its stderr collected.
pub struct Program {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: Arc<Mutex<String>>,
}

impl Program {
    pub fn start(command: &mut Command) -> Program {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let (sink, mut source) = (stderr.clone(), child.stderr.take().unwrap());
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut chunk) {
                let text = String::from_utf8_lossy(&chunk[..count]).into_owned();
                sink.lock().unwrap().push_str(&text);
            }
        });
        Program {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            stderr,
        }
    }

    /// Sends a command and returns its answer without the sign.
    pub fn ask(&mut self, line: &str) -> String {
        writeln!(self.stdin, "{line}").unwrap();
        self.stdin.flush().unwrap();
        let mut answer = String::new();
        loop {
            let mut part = String::new();
            let count = self.stdout.read_line(&mut part).unwrap();
            assert!(count > 0, "the program ended at {line:?}");
            if part.trim().is_empty() {
                if answer.is_empty() {
                    continue;
                }
                break;
            }
            answer.push_str(&part);
        }
        // Leela Zero tells stdout about some of its work before it answers.
        let sign = answer.lines().position(|line| line.starts_with(['=', '?']));
        let answer: Vec<&str> = answer.lines().skip(sign.unwrap_or(0)).collect();
        let answer = answer.join("\n");
        assert!(answer.starts_with('='), "{line:?} was answered {answer:?}");
        answer[1..].trim().to_owned()
    }

    /// Takes what stderr said, once it said `count` times `mark`.
    pub fn remarks(&mut self, mark: &str, count: usize) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let mut text = self.stderr.lock().unwrap();
            let complete = text.ends_with('\n') && text.matches(mark).count() >= count;
            if complete || Instant::now() > deadline {
                return std::mem::take(&mut text);
            }
            drop(text);
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn forget_remarks(&mut self) {
        self.stderr.lock().unwrap().clear();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Leela Zero, if it is installed; says that a test is skipped if not.
pub fn leelaz() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/games")])
        .map(|folder| folder.join("leelaz"))
        .find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: no leelaz (install the package leela-zero)");
    }
    found
}

/// Leela Zero with one thread and a network file.
pub fn start_leelaz(program: &Path, weights: &Path, more: &[&str]) -> Program {
    let mut command = Command::new(program);
    command
        .args(["-g", "--cpu-only", "--noponder", "-t", "1", "-w"])
        .arg(weights)
        .args(more);
    Program::start(&mut command)
}

/// The folder of downloaded test data, if there is one.
pub fn data() -> Option<PathBuf> {
    let named = std::env::var_os("TENGEN_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    named
        .into_iter()
        .chain([beside])
        .find(|folder| folder.is_dir())
}

/// A network on 19x19 for comparing with other programs: an official one if there is data, else a
/// random one written to `folder`.
pub fn comparison_weights(folder: &Path) -> PathBuf {
    let official = data().and_then(|data| {
        let files = fs::read_dir(data.join("weights")).ok()?;
        let mut names: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
        names.sort();
        names.into_iter().find(|name| {
            let name = name.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("c83e1b6e")
        })
    });
    official.unwrap_or_else(|| {
        eprintln!("skipped: no data, comparing with a random network instead of an official one");
        let file = folder.join("random.txt");
        let style = TextStyle {
            carriage_returns: false,
            final_newline: true,
        };
        fs::write(&file, random_network(19).to_exact_text(style)).unwrap();
        file
    })
}
