//! `run.*`: runs watched, started, stopped, and played against.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
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
            let mut runs = lock(&app.runs);
            runs.look(&app.settings.runs);
            let folders: Vec<String> = app
                .settings
                .runs
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            Ok(Reply::Now(
                json!({ "runs": runs.list(), "folders": folders, "started": started(app) }),
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
        "run.stop" => {
            let Of { run } = request.fields()?;
            stop(app, run.as_deref().unwrap_or_default())
        }
        "run.net" => {
            let asked: NetworkOf = request.fields()?;
            let mut runs = lock(&app.runs);
            let run = runs.get(&asked.run)?;
            let file = run.network(&asked.network).ok_or_else(|| {
                Failure::new("network", "this network is no longer in the run's folder")
            })?;
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
    arguments.extend(["--dir".to_owned(), folder.display().to_string()]);
    let program =
        std::env::current_exe().map_err(|error| Failure::new("run", error.to_string()))?;
    let spoken = format!("tengen {}", arguments.join(" "));
    let mut command = Command::new(&program);
    command
        .args(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command
        .spawn()
        .map_err(|error| Failure::new("run", format!("cannot start {spoken}: {error}")))?;
    let run = wait_for(&folder)
        .map(|folder| runs::id_of(&folder))
        .unwrap_or_default();
    lock(&app.runs).look(&app.settings.runs);
    lock(&app.started).push(Started {
        run: run.clone(),
        child,
        command: spoken.clone(),
    });
    Ok(Reply::Now(json!({ "run": run, "command": spoken })))
}

/// A run makes its folder first.
fn wait_for(folder: &std::path::Path) -> Option<PathBuf> {
    for _ in 0..40 {
        if folder.join("settings.toml").is_file() {
            return Some(folder.to_owned());
        }
        thread::sleep(Duration::from_millis(25));
    }
    None
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
    let mut started = lock(&app.started);
    started.retain_mut(|one| matches!(one.child.try_wait(), Ok(None)));
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
