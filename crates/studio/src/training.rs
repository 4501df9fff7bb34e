//! `run.*`: runs watched, started, stopped, and played against.

use std::{
    fs,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use go::{BoardSize, Game, Komi, sgf::Tree};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    document::Document,
    engine::lock,
    runs,
    server::App,
    tab::Tab,
    wire::{self, Answer, Failure, Reply, Request, in_range},
};

/// How often a run that is watched is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A run that was started from the page.
pub struct Started {
    run: String,
    child: Child,
    command: String,
}

#[derive(Deserialize)]
struct Of {
    run: Option<String>,
}

#[derive(Deserialize)]
struct Start {
    game: String,
    name: String,
    size: Option<usize>,
}

#[derive(Deserialize)]
struct NetworkOf {
    run: String,
    network: String,
}

#[derive(Deserialize)]
struct GameOf {
    run: String,
    number: u64,
}

/// Answers `run.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    match request.verb.as_str() {
        "run.list" => {
            let started = started(app);
            let mut runs = lock(&app.runs);
            runs.look(&app.settings.runs);
            let folders: Vec<String> = app
                .settings
                .runs
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            Ok(Reply::Now(
                json!({ "runs": runs.list(), "folders": folders, "started": started }),
            ))
        }
        "run.watch" => {
            let Of { run } = request.fields()?;
            let detail = match &run {
                Some(id) => Some(lock(&app.runs).get(id)?.detail()),
                None => None,
            };
            tab.watch_run(run);
            Ok(Reply::Now(json!({ "detail": detail })))
        }
        "run.start" => start(app, request),
        "run.resume" => resume(app, request),
        "run.replay" => {
            let Of { run } = request.fields()?;
            let mut runs = lock(&app.runs);
            let game = runs.get(run.as_deref().unwrap_or_default())?.newest_game();
            Ok(Reply::Now(json!({ "game": game })))
        }
        "run.stop" => {
            let Of { run } = request.fields()?;
            stop(app, run.as_deref().unwrap_or_default())
        }
        "run.net" => {
            let asked: NetworkOf = request.fields()?;
            let file = network_file(app, &asked.run, &asked.network)?;
            let mut runs = lock(&app.runs);
            let run = runs.get(&asked.run)?;
            let name = format!(
                "{} {}",
                run.name(),
                &asked.network[..asked.network.len().min(8)]
            );
            let id = format!(
                "n{}",
                &asked.network[..asked.network.len().min(12)].to_ascii_lowercase()
            );
            let size = run.board().map(|(size, _)| size);
            lock(&app.networks).add(id.clone(), name, file, "run");
            Ok(Reply::Now(json!({ "net": id, "size": size })))
        }
        "run.game" => {
            let asked: GameOf = request.fields()?;
            open_game(app, &asked)
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

/// The file of a generation.
pub fn network_file(app: &App, run: &str, network: &str) -> Result<PathBuf, Failure> {
    lock(&app.runs)
        .get(run)?
        .network(network)
        .ok_or_else(|| Failure::new("network", "this network is no longer in the run's folder"))
}

/// A game of a run as a document.
fn open_game(app: &Arc<App>, asked: &GameOf) -> Answer {
    let (moves, result, size, komi, name) = {
        let mut runs = lock(&app.runs);
        let run = runs.get(&asked.run)?;
        let head = run
            .game_head(asked.number)
            .ok_or_else(|| Failure::new("run", "this game is no longer among the newest"))?;
        let moves: Vec<String> = serde_json::from_value(head["moves"].clone()).unwrap_or_default();
        let result = head["result"].as_str().unwrap_or("?").to_owned();
        let (size, komi) = run
            .board()
            .ok_or_else(|| Failure::new("run", "this run does not play Go"))?;
        (
            moves,
            result,
            size,
            komi,
            format!("{} game {}", run.name(), asked.number),
        )
    };
    let size =
        BoardSize::new(size).ok_or_else(|| Failure::new("run", "no board is of that size"))?;
    let mut game = Game::new(size, Komi::new(komi).unwrap_or_default());
    for mv in moves.iter().map_while(|mv| mv.parse().ok()) {
        if game.play(mv).is_err() {
            break;
        }
    }
    let mut tree = Tree::from_game(&game);
    let root = tree.root();
    tree.set_text(root, "GN", &name);
    tree.set_text(root, "RE", &result);
    let mut desk = lock(&app.desk);
    let mut document = Document::new(desk.new_id(), tree);
    document.node = document.tree.root();
    Ok(Reply::Now(json!({ "doc": desk.add(document) })))
}

/// Starts `tengen zero` as a child of its own process group: it survives the page and the studio.
fn start(app: &Arc<App>, request: &Request) -> Answer {
    let asked: Start = request.fields()?;
    let is_plain = (1..=40).contains(&asked.name.len())
        && asked
            .name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if !is_plain {
        return Err(Failure::new(
            "fields",
            "a run's name is of letters, digits, - and _",
        ));
    }
    let folder = app
        .settings
        .runs
        .first()
        .map(|folder| folder.join(&asked.name))
        .ok_or_else(|| Failure::new("run", "no folder of runs was named: start with --runs DIR"))?;
    let mut arguments = vec!["zero".to_owned()];
    match asked.game.as_str() {
        "go" => {
            let size = in_range("size", asked.size.unwrap_or(7), 2, 25)?;
            arguments.extend(["go".to_owned(), "--size".to_owned(), size.to_string()]);
        }
        "mario" => arguments.push("mario".to_owned()),
        _ => return Err(Failure::new("fields", "`game` is go or mario")),
    }
    spawn(app, arguments, &folder)
}

/// Goes on with a run that stands still, by its own settings.
fn resume(app: &Arc<App>, request: &Request) -> Answer {
    let Of { run } = request.fields()?;
    let (folder, game) = {
        let mut runs = lock(&app.runs);
        let run = runs.get(run.as_deref().unwrap_or_default())?;
        (run.folder.clone(), run.game())
    };
    spawn(app, vec!["zero".to_owned(), game.to_owned()], &folder)
}

/// Starts the program with these arguments for a folder, and waits until the run is there or has said why it is not.
fn spawn(app: &Arc<App>, mut arguments: Vec<String>, folder: &Path) -> Answer {
    arguments.extend(["--dir".to_owned(), folder.display().to_string()]);
    let program =
        std::env::current_exe().map_err(|error| Failure::new("run", error.to_string()))?;
    let spoken = format!("tengen {}", arguments.join(" "));
    let mut complaints = tempfile_for(app)?;
    let mut command = Command::new(&program);
    command
        .args(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(
            complaints
                .try_clone()
                .map_err(|error| Failure::new("run", error.to_string()))?,
        );
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|error| Failure::new("run", format!("cannot start {spoken}: {error}")))?;
    wait_for(folder, &mut child, &mut complaints)?;
    let run = runs::id_of(folder);
    {
        let mut runs = lock(&app.runs);
        runs.look(&app.settings.runs);
        if let Ok(run) = runs.get(&run) {
            run.has_ended = false;
        }
    }
    lock(&app.started).push(Started {
        run: run.clone(),
        child,
        command: spoken.clone(),
    });
    Ok(Reply::Now(json!({ "run": run, "command": spoken })))
}

/// A file without a name for what a run complains of.
fn tempfile_for(app: &App) -> Result<fs::File, Failure> {
    let refuse =
        |error: std::io::Error| Failure::new("disk", format!("cannot start a run: {error}"));
    let folder = &app.settings.cache_folder;
    fs::create_dir_all(folder).map_err(refuse)?;
    let path = folder.join(format!("complaints-{}", app.number()));
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(refuse)?;
    let _ = fs::remove_file(path);
    Ok(file)
}

/// Waits until a run has written its status, which it does first; says why it ended if it did.
fn wait_for(folder: &Path, child: &mut Child, complaints: &mut fs::File) -> Result<(), Failure> {
    const LONGEST: Duration = Duration::from_secs(5);
    let start = Instant::now();
    let begun = SystemTime::now();
    let is_there = || {
        let written = fs::metadata(folder.join("status.json")).and_then(|found| found.modified());
        written.is_ok_and(|at| at >= begun)
    };
    while start.elapsed() < LONGEST && !is_there() {
        if let Ok(Some(code)) = child.try_wait()
            && !code.success()
        {
            let mut said = String::new();
            let _ = complaints.seek(SeekFrom::Start(0));
            let _ = complaints.take(64 << 10).read_to_string(&mut said);
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            let last = last.map_or_else(|| code.to_string(), str::to_owned);
            return Err(Failure::new(
                "run",
                format!("the run ended at once: {last}"),
            ));
        }
        thread::sleep(Duration::from_millis(25));
    }
    Ok(())
}

/// Stops a run that was started here, as Ctrl-C does.
fn stop(app: &Arc<App>, run: &str) -> Answer {
    let started = lock(&app.started);
    let child = started
        .iter()
        .find(|started| started.run == run)
        .ok_or_else(|| {
            Failure::new(
                "run",
                "this run was not started here: press Ctrl-C where it runs",
            )
        })?;
    #[cfg(unix)]
    {
        let id = i32::try_from(child.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            rustix::process::kill_process(id, rustix::process::Signal::INT)
                .map_err(|error| Failure::new("run", error.to_string()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = child;
    wire::done()
}

/// The runs that were started here and go on.
fn started(app: &App) -> Value {
    let mut ended = Vec::new();
    let mut started = lock(&app.started);
    started.retain_mut(|one| {
        let goes_on = matches!(one.child.try_wait(), Ok(None));
        if !goes_on {
            ended.push(one.run.clone());
        }
        goes_on
    });
    for run in ended {
        if let Ok(run) = lock(&app.runs).get(&run) {
            run.has_ended = true;
        }
    }
    started
        .iter()
        .map(|one| json!({ "run": one.run, "command": one.command }))
        .collect::<Vec<_>>()
        .into()
}

/// Tells tabs what changed in the runs they watch, however many tabs watch one run.
pub fn watch(app: &Arc<App>) -> thread::JoinHandle<()> {
    let app = app.clone();
    thread::spawn(move || {
        let mut told: std::collections::HashMap<String, String> = std::collections::HashMap::new();
        while !*app.closing.borrow() {
            thread::sleep(LOOK_EVERY);
            let tabs: Vec<Arc<Tab>> = lock(&app.tabs).values().cloned().collect();
            let watched: Vec<(Arc<Tab>, String)> = tabs
                .into_iter()
                .filter(|tab| tab.is_visible())
                .filter_map(|tab| Some((tab.clone(), tab.watched_run()?)))
                .collect();
            let mut wanted: Vec<&String> = watched.iter().map(|(_, run)| run).collect();
            wanted.sort();
            wanted.dedup();
            for run in wanted {
                let Ok(mut detail) = lock(&app.runs).get(run).map(|run| run.detail()) else {
                    continue;
                };
                detail["on"] = json!("run");
                let text = detail.to_string();
                if told.get(run) != Some(&text) {
                    for (tab, _) in watched.iter().filter(|(_, watched)| watched == run) {
                        tab.show("run", text.clone());
                    }
                    told.insert(run.clone(), text);
                }
            }
        }
    })
}
