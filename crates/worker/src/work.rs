//! The worker itself: somebody fetches tasks, some play, somebody hands in.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fleet::wire::{Acceptance, Envelope, Kind, NetworkRef, PROTOCOL, Receipt, TaskRequest};

use crate::{
    CLIENT, Client, Spool, WorkError,
    games::{Playable, ReadyPlayers, games},
    spool::{InHand, Known, MOST_GAMES},
};

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long a question for tasks may wait at the server.
const WAIT_SECONDS: u64 = 20;
/// How often threads look whether there is something to do.
const GLANCE: Duration = Duration::from_millis(50);
/// How often the server is told what is in hand.
const RENEW_EVERY: Duration = Duration::from_secs(30);
/// At the end, games that are finished are handed in for at most so long; the rest waits in the folder.
const LAST_HAND_IN: Duration = Duration::from_secs(10);
/// Networks that stay ready to play.
const MOST_KEPT: usize = 3;

/// How to work.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's address.
    pub url: String,
    /// The worker's folder.
    pub dir: PathBuf,
    /// The token, if the run wants one; kept in the folder from then on.
    pub token: Option<String>,
    /// A name for the page, at the first start; otherwise one is made up.
    pub name: Option<String>,
    /// The key the server must have.
    pub server_key: Option<String>,
    /// The authority that signed the server's certificate, if it is not a public one.
    pub ca: Option<PathBuf>,
    /// Games at once.
    pub at_once: usize,
    /// Ends after so many games.
    pub games: Option<u64>,
}

/// What a worker tells while it works.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// It has joined under a name; the game and the server's key.
    Joined {
        name: String,
        /// What is played.
        game: String,
        key: String,
    },
    /// A game has a receipt.
    Receipt(Receipt),
    /// Something to tell the user.
    Say(String),
    /// Nothing is wanted now.
    Idle,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games that were finished.
    pub finished: u64,
    /// Games that the run took.
    pub accepted: u64,
    /// Games that wait in the folder.
    pub waiting: usize,
}

/// Plays for a server until `stop` is set, the wanted games are handed in, or the server refuses for good.
///
/// When it stops, games under way are given up, but not their tasks: the next start plays them first, and since the
/// number of a game fixes it, it plays the same games.
pub fn work(
    options: &Options,
    stop: &AtomicBool,
    on_progress: &(dyn Fn(Progress) + Sync),
) -> Result<Summary, WorkError> {
    let spool = Spool::open(&options.dir)?;
    let mut client = match &options.ca {
        Some(file) => Client::with_authority(&options.url, file)?,
        None => Client::new(&options.url)?,
    };
    let game = join(options, &spool, &mut client, stop, on_progress)?;
    let Some(game) = game else {
        return Ok(Summary::default());
    };
    let worker = Worker {
        options,
        spool: &spool,
        client: &client,
        game: &*game,
        stop,
        on_progress,
        queue: Mutex::new(VecDeque::new()),
        playing: Mutex::default(),
        ready: Mutex::default(),
        finished: AtomicU64::new(0),
        accepted: AtomicU64::new(0),
        is_done: AtomicBool::new(false),
        failure: Mutex::default(),
    };
    for in_hand in spool.tasks()? {
        lock(&worker.queue).push_back(in_hand);
    }
    thread::scope(|scope| {
        for _ in 0..options.at_once.max(1) {
            scope.spawn(|| worker.play_on());
        }
        let hand_in = scope.spawn(|| worker.hand_in_on());
        worker.fetch_on();
        worker.is_done.store(true, Ordering::Relaxed);
        let _ = hand_in.join();
    });
    worker.keep_tasks()?;
    if let Some(error) = lock(&worker.failure).take() {
        return Err(error);
    }
    Ok(Summary {
        finished: worker.finished.load(Ordering::Relaxed),
        accepted: worker.accepted.load(Ordering::Relaxed),
        waiting: spool.games()?.len(),
    })
}

/// Meets the server: its key, the worker's name and token, the game. Nothing if `stop` was set first.
fn join(
    options: &Options,
    spool: &Spool,
    client: &mut Client,
    stop: &AtomicBool,
    on_progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<Box<dyn Playable>>, WorkError> {
    let mut known = spool.known()?.unwrap_or_default();
    if !known.url.is_empty() && known.url != client.url() {
        return Err(WorkError::Refused(format!(
            "this folder works for {}; choose another folder for {}",
            known.url,
            client.url()
        )));
    }
    match (&options.server_key, known.key.as_str()) {
        (Some(key), _) => client.trust(key),
        (None, "") => {}
        (None, key) => client.trust(key),
    }
    let token = options.token.clone().or(Some(known.token.clone()));
    if let Some(token) = token.filter(|token| !token.is_empty()) {
        client.set_token(&token);
        known.token = token;
    }
    let mut pause = Pause::default();
    let hello = loop {
        match client.hello() {
            Ok(hello) => break hello,
            Err(error) => pause.after(error, stop, on_progress)?,
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    };
    let text = |field: &str| hello[field].as_str().unwrap_or_default().to_owned();
    let key = text("key");
    client.trust(&key);
    let name = match (&options.name, known.name.as_str()) {
        (_, name) if !name.is_empty() => name.to_owned(),
        (Some(name), _) => name.clone(),
        (None, _) => format!("worker-{}", &spool.signer.public_key()[..8]),
    };
    let (name, token) = loop {
        match client.register(&name, &spool.signer.public_key()) {
            Ok(registered) => break registered,
            Err(error) => pause.after(error, stop, on_progress)?,
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    };
    if let Some(token) = token {
        client.set_token(&token);
        known.token = token;
    }
    let known = Known {
        url: client.url().to_owned(),
        key: key.clone(),
        name: name.clone(),
        ..known
    };
    spool.know(&known)?;
    let wanted = text("game");
    let game = games().into_iter().find(|game| game.name() == wanted);
    let game = game.ok_or_else(|| {
        WorkError::Refused(format!("it plays {wanted:?}, which this program cannot"))
    })?;
    on_progress(Progress::Joined {
        name,
        game: wanted,
        key,
    });
    Ok(Some(game))
}

type PlayersName = (String, Kind, Vec<NetworkRef>);

struct Worker<'a> {
    options: &'a Options,
    spool: &'a Spool,
    client: &'a Client,
    game: &'a dyn Playable,
    stop: &'a AtomicBool,
    on_progress: &'a (dyn Fn(Progress) + Sync),
    queue: Mutex<VecDeque<InHand>>,
    playing: Mutex<BTreeMap<String, InHand>>,
    ready: Mutex<VecDeque<(PlayersName, Arc<dyn ReadyPlayers>)>>,
    finished: AtomicU64,
    accepted: AtomicU64,
    is_done: AtomicBool,
    failure: Mutex<Option<WorkError>>,
}

impl Worker<'_> {
    fn is_ending(&self) -> bool {
        self.is_done.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn fail(&self, error: WorkError) {
        lock(&self.failure).get_or_insert(error);
        self.is_done.store(true, Ordering::Relaxed);
    }

    /// Games that are still to be played, if the user wants a number.
    fn games_left(&self) -> u64 {
        let begun = self.finished.load(Ordering::Relaxed) + lock(&self.playing).len() as u64;
        self.options
            .games
            .map_or(u64::MAX, |games| games.saturating_sub(begun))
    }

    /// Sees to it that players always have a task.
    fn fetch_on(&self) {
        let mut pause = Pause::default();
        let (mut renewed, mut is_told_idle) = (Instant::now(), false);
        while !self.is_ending() {
            if self
                .options
                .games
                .is_some_and(|games| self.finished.load(Ordering::Relaxed) >= games)
            {
                return;
            }
            if renewed.elapsed() > RENEW_EVERY {
                renewed = Instant::now();
                self.renew();
            }
            let waiting = lock(&self.queue).len();
            let wanted = (2 * self.options.at_once.max(1)).saturating_sub(waiting) as u64;
            let wanted = wanted.min(self.games_left().saturating_sub(waiting as u64)) as usize;
            let is_spool_full = self.spool.games().map_or(0, |games| games.len()) >= MOST_GAMES;
            if waiting >= self.options.at_once.max(1) || wanted == 0 || is_spool_full {
                thread::sleep(GLANCE);
                continue;
            }
            match self.fetch(wanted, waiting == 0) {
                Ok(0) if is_told_idle => {}
                Ok(0) => {
                    is_told_idle = true;
                    (self.on_progress)(Progress::Idle);
                }
                Ok(_) => {
                    is_told_idle = false;
                    pause = Pause::default();
                }
                Err(error) => {
                    if let Err(error) = pause.after(error, self.stop, self.on_progress) {
                        self.fail(error);
                    }
                }
            }
        }
    }

    /// Asks for tasks; returns how many came.
    fn fetch(&self, count: usize, may_wait: bool) -> Result<usize, WorkError> {
        let batch = self.client.tasks(&TaskRequest {
            protocol: PROTOCOL,
            client: CLIENT.to_owned(),
            games: vec![self.game.name().to_owned()],
            kinds: Vec::new(),
            count,
            wait_seconds: if may_wait { WAIT_SECONDS } else { 0 },
            networks_at_hand: Vec::new(),
        })?;
        if !batch.say.is_empty() {
            (self.on_progress)(Progress::Say(batch.say.clone()));
        }
        let fetched = batch.tasks.len();
        for task in batch.tasks {
            let settings = batch.settings.clone();
            lock(&self.queue).push_back(InHand { settings, task });
        }
        self.keep_tasks()?;
        if fetched == 0 {
            thread::sleep(GLANCE);
        }
        Ok(fetched)
    }

    /// Tells the server what is in hand, and drops what nobody wants any more.
    fn renew(&self) {
        let tasks: Vec<_> = self
            .in_hand()
            .into_iter()
            .map(|in_hand| in_hand.task)
            .collect();
        if tasks.is_empty() {
            return;
        }
        // That it fails is no harm: the server only wonders.
        if let Ok(unwanted) = self.client.renew(&tasks) {
            lock(&self.queue).retain(|in_hand| !unwanted.contains(&in_hand.task.id()));
        }
    }

    fn in_hand(&self) -> Vec<InHand> {
        let mut all: Vec<InHand> = lock(&self.playing).values().cloned().collect();
        all.extend(lock(&self.queue).iter().cloned());
        all
    }

    fn keep_tasks(&self) -> Result<(), WorkError> {
        self.spool.keep_tasks(&self.in_hand())
    }

    /// Plays one task after the other.
    fn play_on(&self) {
        let mut pause = Pause::default();
        while !self.is_ending() {
            let Some(in_hand) = lock(&self.queue).pop_front() else {
                thread::sleep(GLANCE);
                continue;
            };
            let id = in_hand.task.id();
            lock(&self.playing).insert(id.clone(), in_hand.clone());
            let played = self.play(&in_hand);
            match played {
                Ok(is_finished) => {
                    // A game that was given up stays in hand.
                    if is_finished || !self.is_ending() {
                        lock(&self.playing).remove(&id);
                    }
                }
                Err(error) => {
                    lock(&self.playing).remove(&id);
                    lock(&self.queue).push_front(in_hand);
                    if let Err(error) = pause.after(error, self.stop, self.on_progress) {
                        self.fail(error);
                    }
                }
            }
        }
    }

    fn play(&self, in_hand: &InHand) -> Result<bool, WorkError> {
        let task = &in_hand.task;
        let players = self.players(in_hand)?;
        if players.settings_hash() != task.settings_hash {
            let why = "a task names other settings than came with it; it is not played";
            return Err(WorkError::Untrusted(why.into()));
        }
        let began = Instant::now();
        let Some((id, body)) = players.play(task, self.stop)? else {
            return Ok(false);
        };
        let seconds = began.elapsed().as_secs_f64();
        let told = (CLIENT, &*crate::engine(), seconds);
        let envelope = Envelope::new(task, id.clone(), body, told, &self.spool.signer);
        self.spool.keep_game(&id, &envelope.pack())?;
        self.finished.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// The networks of a task, ready to play.
    fn players(&self, in_hand: &InHand) -> Result<Arc<dyn ReadyPlayers>, WorkError> {
        let task = &in_hand.task;
        let name = (task.settings_hash.clone(), task.kind, task.networks.clone());
        // Whoever comes second waits for the first, and then plays with the same networks, in the same batches.
        let mut ready = lock(&self.ready);
        if let Some((_, players)) = ready.iter().find(|(known, _)| *known == name) {
            return Ok(players.clone());
        }
        let fetch = |network| {
            self.spool
                .network(self.client, network, self.game.extension())
        };
        let files = task
            .networks
            .iter()
            .map(fetch)
            .collect::<Result<Vec<_>, _>>()?;
        let players: Arc<dyn ReadyPlayers> = self
            .game
            .players(&in_hand.settings, task.kind, &files)?
            .into();
        ready.push_back((name, players.clone()));
        if ready.len() > MOST_KEPT {
            ready.pop_front();
        }
        Ok(players)
    }

    /// Hands in whatever lies in the spool, until the end and a little longer.
    fn hand_in_on(&self) {
        let mut pause = Pause::default();
        let mut ending_since = None;
        loop {
            let games = match self.spool.games() {
                Ok(games) => games,
                Err(error) => return self.fail(error),
            };
            if self.is_ending() {
                let since = *ending_since.get_or_insert_with(Instant::now);
                let is_settled = games.is_empty() && lock(&self.playing).is_empty();
                if is_settled
                    || since.elapsed() > LAST_HAND_IN
                    || (games.is_empty() && self.stop.load(Ordering::Relaxed))
                {
                    return;
                }
            }
            if games.is_empty() {
                thread::sleep(GLANCE);
            }
            for id in games {
                match self.hand_in(&id) {
                    Ok(()) => pause = Pause::default(),
                    Err(WorkError::Refused(why)) => {
                        (self.on_progress)(Progress::Say(format!("game {}: {why}", &id[..8])));
                        if let Err(error) = self.spool.put_aside(&id) {
                            return self.fail(error);
                        }
                    }
                    Err(error) => {
                        if self.is_ending() {
                            return;
                        }
                        if let Err(error) = pause.after(error, self.stop, self.on_progress) {
                            return self.fail(error);
                        }
                        break;
                    }
                }
            }
        }
    }

    fn hand_in(&self, id: &str) -> Result<(), WorkError> {
        let envelope = self.spool.game(id)?;
        let receipt = self.client.hand_in(id, &envelope)?;
        if receipt.verdict == Acceptance::Accepted {
            self.accepted.fetch_add(1, Ordering::Relaxed);
        }
        match receipt.verdict {
            Acceptance::Refused => self.spool.put_aside(id)?,
            _ => self.spool.forget_game(id)?,
        }
        (self.on_progress)(Progress::Receipt(receipt));
        Ok(())
    }
}

/// Pauses that grow, so that a server in trouble is not asked by everybody at once.
#[derive(Default)]
struct Pause {
    tries: u32,
}

impl Pause {
    /// Waits before the next try. Errors that no waiting cures are returned.
    fn after(
        &mut self,
        error: WorkError,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), WorkError> {
        let WorkError::Later { why, seconds } = error else {
            return Err(error);
        };
        let grown = Duration::from_millis(500 << self.tries.min(7)).min(LONGEST_PAUSE);
        let pause = seconds.map_or(grown, Duration::from_secs);
        self.tries += 1;
        // Up to a quarter more, so that many workers do not come back in step.
        let more = base::mix(u64::from(std::process::id()) ^ u64::from(self.tries)) % 250;
        let pause = pause + pause * more as u32 / 1000;
        on_progress(Progress::Say(format!(
            "{why}; trying again in {:.0} s",
            pause.as_secs_f64().ceil()
        )));
        let until = Instant::now() + pause;
        while Instant::now() < until && !stop.load(Ordering::Relaxed) {
            thread::sleep(GLANCE);
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
