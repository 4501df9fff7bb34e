//! A player: a game under way, the clocks, a network, a search tree, and what was recorded.

use std::sync::Arc;

use go::{BoardSize, Color, Game, Illegal, Komi, Move, Point, SetupError, Symmetry};
use rand::SeedableRng;
use search::{Search, SearchRng, TreeShape};
use thiserror::Error;

use crate::{
    clock::{Clock, TimeControl},
    dynamic_komi::TurnKomi,
    handicap,
    judge::{Judge, Opinion},
    network::{LoadedNetwork, NetworkError},
    options::{MemoryError, MemoryShares, Options},
    position::{Assumptions, Position},
    record::Step,
    think::Thought,
};

/// Why a player cannot do what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlayerError {
    /// The network is for another board.
    #[error("this network plays {0} only")]
    Size(BoardSize),
    /// The stones cannot be placed.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// There are stones or moves already.
    #[error("the board is not empty")]
    BoardNotEmpty,
    /// No such handicap.
    #[error("Not a valid number of handicap stones")]
    Handicap,
}

/// A Go player.
pub struct Player {
    pub(crate) options: Options,
    pub(crate) judge: Judge,
    pub(crate) search: Search<Position>,
    pub(crate) rng: SearchRng,
    pub(crate) game: Game,
    pub(crate) clocks: [Clock; 2],
    pub(crate) resigned: Option<Color>,
    pub(crate) steps: Vec<Step>,
    pub(crate) last_thought: Option<Arc<Thought>>,
    network: LoadedNetwork,
    pub(crate) tree_bytes: usize,
    shares: MemoryShares,
    komi: Komi,
}

impl Player {
    /// A player at an empty board.
    pub fn new(network: LoadedNetwork, options: Options) -> Result<Player, NetworkError> {
        // A network that alone fills the memory still plays, with the smallest tree there is.
        let shares = options.memory.shares(network.bytes);
        let shares = shares.unwrap_or_else(|_| MemoryShares::smallest());
        let judge = Judge::new(network.evaluator.clone(), shares.cache_bytes)?;
        let komi = Komi::default();
        Ok(Player {
            game: Game::new(judge.size(), komi),
            judge,
            search: Search::new(options.seed),
            rng: SearchRng::seed_from_u64(options.seed),
            clocks: [Clock::default(); 2],
            resigned: None,
            steps: Vec::new(),
            last_thought: None,
            network,
            tree_bytes: 0,
            shares,
            komi,
            options,
        })
    }

    /// The network in use.
    pub fn network(&self) -> &LoadedNetwork {
        &self.network
    }

    /// The network's opinions.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// How it thinks.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Changes how it thinks, from the next move on. Memory is shared out anew if that changed;
    /// nothing changes if it does not suffice.
    pub fn set_options(&mut self, options: Options) -> Result<(), MemoryError> {
        if options.memory != self.options.memory {
            self.shares = options.memory.shares(self.network.bytes)?;
            self.judge.set_cache_bytes(self.shares.cache_bytes);
        }
        self.options = options;
        Ok(())
    }

    /// How memory is shared out.
    pub fn memory_shares(&self) -> MemoryShares {
        self.shares
    }

    /// The nodes below the position that was searched last.
    pub fn tree_shape(&self) -> TreeShape {
        self.search.shape()
    }

    /// The memory the tree takes since it was last searched.
    pub fn tree_bytes(&self) -> usize {
        self.tree_bytes
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The clock of a colour.
    pub fn clock(&self, color: Color) -> &Clock {
        &self.clocks[color.index()]
    }

    /// Who has resigned.
    pub fn resigned(&self) -> Option<Color> {
        self.resigned
    }

    /// What was recorded of the game for training.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Adds steps that were recorded elsewhere.
    pub fn add_steps(&mut self, steps: Vec<Step>) {
        self.steps.extend(steps);
    }

    /// What was thought at the last move it made.
    pub fn last_thought(&self) -> Option<&Arc<Thought>> {
        self.last_thought.as_ref()
    }

    /// Starts a new game on a board of this size; komi and time settings stay.
    pub fn start(&mut self, size: BoardSize) -> Result<(), PlayerError> {
        if size != self.judge.size() {
            return Err(PlayerError::Size(self.judge.size()));
        }
        self.game = Game::new(size, self.komi);
        for clock in &mut self.clocks {
            *clock = Clock::new(clock.control());
        }
        self.resigned = None;
        self.steps.clear();
        self.last_thought = None;
        self.search.clear();
        self.tree_bytes = 0;
        Ok(())
    }

    /// Takes over a game that was read elsewhere, its komi included. What was recorded stays.
    pub fn set_game(&mut self, game: Game) -> Result<(), PlayerError> {
        if game.size() != self.judge.size() {
            return Err(PlayerError::Size(self.judge.size()));
        }
        self.komi = game.komi();
        self.game = game;
        self.resigned = None;
        self.last_thought = None;
        Ok(())
    }

    /// Sets the komi, for this game and those to come.
    pub fn set_komi(&mut self, komi: Komi) {
        self.komi = komi;
        self.game.set_komi(komi);
    }

    /// Gives both players a clock.
    pub fn set_time(&mut self, control: TimeControl) {
        self.clocks = [Clock::new(control); 2];
    }

    /// Sets a clock to what is left.
    pub fn set_time_left(&mut self, color: Color, centiseconds: i64, stones: u32) {
        self.clocks[color.index()].set_left(centiseconds, stones);
    }

    /// Gives the turn to `color`.
    pub fn set_to_move(&mut self, color: Color) {
        self.game.set_to_move(color);
    }

    /// Plays for `color`.
    pub fn play(&mut self, color: Color, mv: Move) -> Result<(), Illegal> {
        self.game.play_as(color, mv)
    }

    /// `color` gives up.
    pub fn resign(&mut self, color: Color) {
        self.resigned = Some(color);
    }

    /// Takes the last move back; a resignation first.
    pub fn undo(&mut self) -> bool {
        if self.resigned.take().is_some() {
            return true;
        }
        self.game.undo().is_some()
    }

    /// Puts handicap stones where the protocol says.
    pub fn place_fixed_handicap(&mut self, stones: usize) -> Result<Vec<Point>, PlayerError> {
        self.check_untouched()?;
        let points = go::fixed_handicap(self.game.size(), stones).ok_or(PlayerError::Handicap)?;
        self.place_handicap(&points)?;
        Ok(points)
    }

    /// Puts handicap stones where they do most good.
    pub fn place_free_handicap(&mut self, stones: usize) -> Result<Vec<Point>, PlayerError> {
        self.check_untouched()?;
        let points = handicap::free_points(self.game.size(), stones, &mut |placed| {
            self.best_point_for_black(placed, stones - placed.len())
        })
        .ok_or(PlayerError::Handicap)?;
        self.place_handicap(&points)?;
        Ok(points)
    }

    /// Puts handicap stones where it is told.
    pub fn set_free_handicap(&mut self, points: &[Point]) -> Result<(), PlayerError> {
        self.check_untouched()?;
        let most = handicap::most_stones(self.game.size());
        if points.len() < handicap::FEWEST_STONES || points.len() > most {
            return Err(PlayerError::Handicap);
        }
        self.place_handicap(points)
    }

    fn place_handicap(&mut self, points: &[Point]) -> Result<(), PlayerError> {
        Ok(self.game.place_handicap(points)?)
    }

    fn check_untouched(&self) -> Result<(), PlayerError> {
        let board = self.game.board();
        let is_bare = board.empty_set().len() == board.size().area();
        if is_bare && self.game.move_number() == 0 {
            Ok(())
        } else {
            Err(PlayerError::BoardNotEmpty)
        }
    }

    /// The current position as the search sees it.
    pub fn position(&self) -> Position {
        self.position_of(&self.game)
    }

    pub(crate) fn position_of(&self, game: &Game) -> Position {
        let compensation = game.komi().points_for_white() + game.handicap() as f32;
        let assumptions = Assumptions {
            net_komi: TurnKomi::TRAINED,
            compensation,
            always_considers_pass: self.options.dumb_pass,
        };
        Position::new(game, assumptions)
    }

    /// The network's opinion of the current position, past its memory; the mean of all symmetries
    /// if none is named.
    pub fn opinion(&self, symmetry: Option<Symmetry>) -> Opinion {
        let position = self.position();
        match symmetry {
            Some(symmetry) => {
                let mut opinions = self.judge.evaluate_anew(&[(&position, symmetry)]);
                opinions.swap_remove(0)
            }
            None => self.judge.mean_opinion(&position),
        }
    }

    /// Forgets the network's opinions.
    pub fn clear_cache(&mut self) {
        self.judge.clear_cache();
    }
}
