//! What the studio asks of the Go player: networks by id, and a player with a search tree for each document in use.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use go::{BoardSize, Color, Game, Move, Symmetry};
use go_player::{
    Decision, LoadedNetwork, Memory, Observer, Options, Player, Request, ResignPolicy,
    Restrictions, ScoreMeans, Snapshot, StopMode, View, Weighed, dynamic_komi,
};
use serde_json::{Value, json};

use crate::{
    document::{Level, Table},
    opinion::Opinion,
    wire::Failure,
};

/// The id of the networks inside the program.
pub const INSIDE: &str = "inside";
/// Players with trees that are kept.
const MOST_PLAYERS: usize = 4;
/// The least memory a player works with, in MiB.
const LEAST_MEMORY_MIB: usize = 128;

/// A network the page can choose.
#[derive(Clone, Debug)]
pub struct NetworkFile {
    pub id: String,
    /// What to call it.
    pub name: String,
    /// Where it is; nothing for those inside the program.
    pub file: Option<PathBuf>,
    /// Where it came from: `inside`, `file`, `dropped`, `run`, `made`.
    pub origin: &'static str,
}

/// Every network that can be chosen, loaded when first used.
#[derive(Default)]
pub struct Networks {
    files: Vec<NetworkFile>,
    loaded: HashMap<String, LoadedNetwork>,
}

impl Networks {
    /// The networks inside the program.
    pub fn new() -> Networks {
        let inside = NetworkFile {
            id: INSIDE.to_owned(),
            name: "Tengen (inside)".to_owned(),
            file: None,
            origin: "inside",
        };
        Networks {
            files: vec![inside],
            loaded: HashMap::new(),
        }
    }

    /// Lists the files that were named and those in the folders of networks.
    pub fn look_around(&mut self, settings: &crate::server::Settings) {
        let mut files: Vec<(PathBuf, &'static str)> = settings
            .weights
            .iter()
            .map(|file| (file.clone(), "file"))
            .collect();
        let folders = settings.nets.iter().map(|folder| (folder.clone(), "file"));
        let folders = folders.chain([(settings.cache_folder.clone(), "dropped")]);
        for (folder, origin) in folders {
            let Ok(entries) = std::fs::read_dir(folder) else {
                continue;
            };
            let mut found: Vec<PathBuf> = entries
                .flatten()
                // A symbolic link could lead out of the folder.
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
                .map(|entry| entry.path())
                .collect();
            found.sort();
            files.extend(found.into_iter().map(|file| (file, origin)));
        }
        for (file, origin) in files {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let is_network = [".net", ".gz", ".txt", ".bin"]
                .iter()
                .any(|ending| name.ends_with(ending));
            if is_network {
                self.add(id_of(&file), name, file, origin);
            }
        }
    }

    /// Adds a file without reading it.
    pub fn add(&mut self, id: String, name: String, file: PathBuf, origin: &'static str) {
        if !self.files.iter().any(|known| known.id == id) {
            let file = Some(file);
            self.files.push(NetworkFile {
                id,
                name,
                file,
                origin,
            });
        }
    }

    /// All of them.
    pub fn files(&self) -> &[NetworkFile] {
        &self.files
    }

    /// One of them.
    pub fn file(&self, id: &str) -> Result<&NetworkFile, Failure> {
        self.files
            .iter()
            .find(|known| known.id == id)
            .ok_or_else(|| {
                Failure::new("network", "this network is no longer there: choose another")
            })
    }

    /// The network with this id, whatever board it plays.
    pub fn load_any(&mut self, id: &str) -> Result<LoadedNetwork, Failure> {
        if self.file(id)?.file.is_none() {
            return self.load(id, BoardSize::NINE);
        }
        if let Some(loaded) = self.loaded.get(id) {
            return Ok(loaded.clone());
        }
        let file = self.file(id)?.file.clone().unwrap_or_default();
        let loaded = read_network(&file)?;
        self.loaded.insert(id.to_owned(), loaded.clone());
        Ok(loaded)
    }

    /// The network with this id for a board.
    pub fn load(&mut self, id: &str, size: BoardSize) -> Result<LoadedNetwork, Failure> {
        let known = self.file(id)?.clone();
        let key = match known.file {
            Some(_) => id.to_owned(),
            None => format!("{id}-{size}"),
        };
        if let Some(loaded) = self.loaded.get(&key) {
            return for_board(loaded, size, &known.name);
        }
        let loaded = match &known.file {
            Some(file) => read_network(file)?,
            None => LoadedNetwork::shipped()
                .map_err(|error| Failure::new("network", error.to_string()))?,
        };
        self.loaded.insert(key, loaded.clone());
        for_board(&loaded, size, &known.name)
    }
}

/// An id for a file: its path, hashed.
fn id_of(file: &Path) -> String {
    format!("n{}", short_hash(file.to_string_lossy().as_bytes()))
}

/// The first ten hexadecimal digits of SHA-256.
pub fn short_hash(bytes: &[u8]) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(bytes);
    hash.iter()
        .take(5)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Reads a network file for Go.
pub fn read_network(file: &Path) -> Result<LoadedNetwork, Failure> {
    LoadedNetwork::load(file).map_err(|error| Failure::new("network", error.to_string()))
}

/// What kind of network it is.
pub fn family(network: &LoadedNetwork) -> String {
    network.encoder.family().to_string()
}

/// The one board size a network plays; nothing if it plays all.
pub fn plays_only(network: &LoadedNetwork) -> Option<usize> {
    network.encoder.as_leela().map(|_| network.size().get())
}

fn for_board(
    network: &LoadedNetwork,
    size: BoardSize,
    name: &str,
) -> Result<LoadedNetwork, Failure> {
    network.for_size(size).ok_or_else(|| {
        let own = plays_only(network).unwrap_or(0);
        Failure::new(
            "size",
            format!(
                "the network {name} plays {own}x{own} only: choose that size, or another network"
            ),
        )
    })
}

/// The players in use, each with its tree.
pub struct Engine {
    threads: usize,
    memory_mib: usize,
    seed: u64,
    players: Vec<(Chair, Player)>,
}

/// What a player was made for.
#[derive(Clone, Debug, PartialEq)]
struct Chair {
    doc: String,
    net: String,
    mode: String,
    size: usize,
}

impl Engine {
    /// No players yet.
    pub fn new(threads: usize, memory_mib: usize, seed: u64) -> Engine {
        Engine {
            threads,
            memory_mib,
            seed,
            players: Vec::new(),
        }
    }

    /// The player of a document, its game set.
    pub fn player(
        &mut self,
        networks: &std::sync::Mutex<Networks>,
        doc: &str,
        table: &Table,
        game: Game,
    ) -> Result<&mut Player, Failure> {
        let chair = Chair {
            doc: doc.to_owned(),
            net: table.net.clone(),
            mode: table.mode.clone(),
            size: game.size().get(),
        };
        let at = self.players.iter().position(|(other, _)| *other == chair);
        match at {
            Some(at) => {
                let used = self.players.remove(at);
                self.players.push(used);
            }
            None => {
                self.players.retain(|(other, _)| other.doc != doc);
                if self.players.len() >= MOST_PLAYERS {
                    self.players.remove(0);
                }
                let network = lock(networks).load(&table.net, game.size())?;
                let options = self.options(table);
                let (network, batch) = match network.is_on_device() {
                    true => network.for_threads(options.threads),
                    false => (network, options.batch),
                };
                let player = Player::new(network, Options { batch, ..options })
                    .map_err(|error| Failure::new("network", error.to_string()))?;
                self.players.push((chair, player));
            }
        }
        let (_, player) = self.players.last_mut().expect("one was just put there");
        player
            .set_game(game)
            .map_err(|error| Failure::new("size", error.to_string()))?;
        Ok(player)
    }

    fn options(&self, table: &Table) -> Options {
        let mode = match table.mode.as_str() {
            "handicap" => Some(dynamic_komi::Mode::Handicap),
            "nonslack" => Some(dynamic_komi::Mode::NonSlack),
            _ => None,
        };
        Options {
            threads: self.threads,
            batch: 4,
            seed: self.seed,
            ponder: false,
            stop_mode: StopMode::Off,
            resign: ResignPolicy::Default,
            memory: Memory {
                total_mib: (self.memory_mib / MOST_PLAYERS).max(LEAST_MEMORY_MIB),
                ..Memory::default()
            },
            komi: dynamic_komi::Settings::for_mode(mode),
            ..Options::default()
        }
    }
}

/// Sets how far a search may go.
pub fn limit(player: &mut Player, visits: Option<u64>) -> Result<(), Failure> {
    limit_for(player, visits, false)
}

/// The same; a search that a move is chosen from shows the network the past, since a player does.
fn limit_for(player: &mut Player, visits: Option<u64>, is_for_move: bool) -> Result<(), Failure> {
    let options = Options {
        visits,
        analysis_shows_history: is_for_move,
        ..player.options().clone()
    };
    if *player.options() != options {
        player
            .set_options(options)
            .map_err(|error| Failure::new("options", error.to_string()))?;
    }
    Ok(())
}

/// Searches until stopped; `watch` sees every tick.
pub fn analyze(
    player: &mut Player,
    restrictions: &Restrictions,
    stopped: &(dyn Fn() -> bool + Sync),
    watch: &mut dyn FnMut(&View<'_>),
) -> Result<Snapshot<Move>, Failure> {
    struct Watch<'a>(&'a mut dyn FnMut(&View<'_>));
    impl Observer for Watch<'_> {
        fn tick(&mut self, view: &View<'_>) {
            (self.0)(view);
        }
    }
    let (snapshot, _) = player
        .analyze(restrictions, stopped, &mut Watch(watch))
        .map_err(failed)?;
    Ok(snapshot)
}

/// A network that could not be run.
fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new("network", error.to_string())
}

/// What the engine does at its turn, within the seconds that its clock grants; nothing if it was stopped.
pub fn decide(
    player: &mut Player,
    (level, most_seconds): (Level, Option<f64>),
    stopped: &(dyn Fn() -> bool + Sync),
    watch: &mut dyn FnMut(&View<'_>),
) -> Result<Option<Decision>, Failure> {
    let color = player.game().to_move();
    let start = std::time::Instant::now();
    let (visits, seconds) = match level {
        Level::Policy => return Ok(Some(Decision::Move(first_choice(player)?))),
        Level::Visits(visits) => (Some(visits), None),
        Level::Seconds(seconds) => (None, Some(seconds)),
    };
    limit_for(player, visits, true)?;
    let seconds = match (seconds, most_seconds) {
        (Some(wanted), Some(most)) => Some(wanted.min(most)),
        (wanted, most) => wanted.or(most),
    };
    let out_of_time = || seconds.is_some_and(|seconds| start.elapsed().as_secs_f64() >= seconds);
    let snapshot = analyze(
        player,
        &Restrictions::default(),
        &|| stopped() || out_of_time(),
        watch,
    )?;
    if stopped() {
        return Ok(None);
    }
    // The tree is as large as it should be: the decision itself searches no further.
    limit_for(player, Some(snapshot.visits.max(1)), true)?;
    let request = Request {
        only_say: true,
        ..Request::default()
    };
    let thought = player.generate(color, &request, &mut ()).map_err(failed)?;
    Ok(Some(thought.decision))
}

/// The network's own first choice, without search.
fn first_choice(player: &Player) -> Result<Move, Failure> {
    let game = player.game();
    let (opinion, size) = (opinion(player)?, game.size());
    let color = game.to_move();
    let best = game
        .legal_points(color)
        .max_by(|&a, &b| opinion.policy[size.index(a)].total_cmp(&opinion.policy[size.index(b)]));
    let pass = opinion.policy[size.area()];
    Ok(match best {
        Some(point) if opinion.policy[size.index(point)] >= pass => Move::Play(point),
        _ => Move::Pass,
    })
}

/// The network's chances without search: `[vertex, chance]`, and Black's winrate.
pub fn policy(player: &Player) -> Result<Value, Failure> {
    let (game, opinion) = (player.game(), opinion(player)?);
    let size = game.size();
    let points: Vec<Value> = game
        .legal_points(game.to_move())
        .map(|point| json!([point.to_string(), opinion.policy[size.index(point)]]))
        .collect();
    let winrate_black = for_black(f64::from(opinion.winrate), game.to_move());
    Ok(
        json!({ "points": points, "pass": opinion.policy[size.area()], "winrate_black": winrate_black }),
    )
}

/// The chance of one move without search, by its place in the policy.
pub fn chance_of(player: &Player, index: usize) -> Result<f32, Failure> {
    Ok(opinion(player)?.policy[index])
}

/// Black's chance over komi in the player's position.
pub fn test_komi(player: &Player) -> Result<dynamic_komi::VerdictTest, Failure> {
    Ok(player.test_komi(&Symmetry::ALL))
}

/// The mean opinion over all symmetries.
fn opinion(player: &Player) -> Result<go_player::Opinion, Failure> {
    player.opinion(None).map_err(failed)
}

/// A chance of the side to move as Black's.
pub fn for_black(winrate: f64, to_move: Color) -> f64 {
    match to_move {
        Color::Black => winrate,
        Color::White => 1.0 - winrate,
    }
}

/// The komi told on Black's and on White's turn.
pub fn komi_pair(komi: dynamic_komi::TurnKomi) -> [f64; 2] {
    [komi.on_turn(Color::Black), komi.on_turn(Color::White)]
}

/// What a search has found so far, as the page draws it.
pub fn to_json(snapshot: &Snapshot<Move>, to_move: Color, most: usize, longest: usize) -> Value {
    let best = snapshot.moves.first().and_then(|best| best.winrate);
    let best_lead = snapshot.moves.first().and_then(|best| lead(&best.weighed));
    let points_lost = |weighed: &Option<Weighed<ScoreMeans>>| {
        let behind = best_lead? - lead(weighed)?;
        Some(match to_move {
            Color::Black => behind,
            Color::White => -behind,
        })
    };
    let moves: Vec<Value> = snapshot
        .moves
        .iter()
        .filter(|entry| entry.visits > 0)
        .take(most)
        .map(|entry| {
            let winrate = entry.winrate.unwrap_or(0.0);
            let line: Vec<String> = entry.pv.iter().take(longest).map(Move::to_string).collect();
            json!({
                "at": entry.mv.to_string(), "order": entry.order, "visits": entry.visits,
                "winrate_black": for_black(winrate, to_move),
                "loss": (best.unwrap_or(winrate) - winrate).max(0.0),
                "lcb_black": entry.lcb.map(|lcb| for_black(lcb, to_move)),
                "prior": entry.prior, "line": line,
                "lead_black": lead(&entry.weighed), "points_lost": points_lost(&entry.weighed),
            })
        })
        .collect();
    let tried = snapshot
        .moves
        .iter()
        .filter(|entry| entry.visits > 0)
        .count();
    json!({
        "visits": snapshot.visits, "winrate_black": snapshot.value, "raw_black": snapshot.evaluation,
        "moves": moves, "tried": tried, "lead_black": lead(&snapshot.weighed),
    })
}

/// Black's lead in points, as the search sees it.
fn lead(weighed: &Option<Weighed<ScoreMeans>>) -> Option<f64> {
    weighed.as_ref().map(|weighed| weighed.means.lead)
}

/// Who will own each point in the search's eyes: from -1 (White's) to 1 (Black's), row by row from the top.
pub fn ownership(view: &View<'_>, side: usize) -> Option<Vec<f64>> {
    let owners = view.ownership(None)?.mean;
    let rows = owners.chunks(side).rev();
    Some(
        rows.flatten()
            .map(|owner| (owner * 100.0).round() / 100.0)
            .collect(),
    )
}

/// A search as an opinion to keep.
pub fn opinion_of(snapshot: &Snapshot<Move>) -> Opinion {
    let line = snapshot.moves.first().map(|best| best.pv.clone());
    Opinion {
        visits: snapshot.visits,
        winrate_black: snapshot.value,
        lead_black: lead(&snapshot.weighed),
        line: line.unwrap_or_default(),
    }
}

/// A lock that a panic elsewhere does not close.
pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
