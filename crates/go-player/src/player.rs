//! A player: a game under way, the clocks, a network, a search tree, and what was recorded.

use std::sync::Arc;

use go::{BoardSize, Color, Game, Illegal, Komi, Move, Point, Rules, SetupError, Symmetry};
use rand::SeedableRng;
use search::{EvaluateError, Search, SearchRng, TreeShape};
use thiserror::Error;

use crate::{
    by_score::Patience,
    clock::{Clock, TimeControl},
    dynamic_komi::{
        self, Assessment, Controller, TurnKomi, VerdictTest,
        network_test::{self, assess},
    },
    encoder::Opinion,
    handicap,
    judge::Judge,
    leaves::Leaves,
    network::{LoadedNetwork, NetworkError, Origin},
    network_view::NetworkView,
    options::{MemoryShares, Options, OptionsError},
    position::{Assumptions, Position},
    record::RecordedMove,
    think::Thought,
    view::View,
};

/// Why a player cannot do what it is asked.
#[derive(Clone, Debug, Error)]
pub enum PlayerError {
    /// The network is for another board.
    #[error("this network plays {0} only")]
    Size(BoardSize),
    /// No board is of that size.
    #[error("boards are from {0}x{0} to {1}x{1}", BoardSize::MIN, BoardSize::MAX)]
    NoBoard,
    /// The stones cannot be placed.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// There are stones or moves already.
    #[error("the board is not empty")]
    BoardNotEmpty,
    /// No such handicap.
    #[error("Not a valid number of handicap stones")]
    Handicap,
    /// A position could not be evaluated.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

/// A Go player.
pub struct Player {
    pub(crate) options: Options,
    pub(crate) judge: Arc<Judge>,
    pub(crate) search: Search<Position>,
    /// Komi that follows the game, around all this.
    pub(crate) controller: Controller,
    /// Hopeless turns, with a network that knows scores.
    pub(crate) patience: Patience,
    pub(crate) rng: SearchRng,
    pub(crate) game: Game,
    pub(crate) clocks: [Clock; 2],
    pub(crate) resigned: Option<Color>,
    pub(crate) steps: Vec<RecordedMove>,
    pub(crate) last_thought: Option<Arc<Thought>>,
    network: LoadedNetwork,
    pub(crate) tree_bytes: usize,
    shares: MemoryShares,
    komi: Komi,
    rules: Rules,
    evaluations_before_game: u64,
    /// Those of this game that an earlier judge has made.
    evaluations_earlier: u64,
}

impl Player {
    /// A player at an empty board.
    pub fn new(network: LoadedNetwork, options: Options) -> Result<Player, NetworkError> {
        // A network that alone fills the memory still plays, with the smallest tree there is.
        let shares = options.memory.shares(network.bytes);
        let shares = shares.unwrap_or_else(|_| MemoryShares::smallest());
        let judge = Arc::new(network.judge(shares.cache_bytes));
        Player::sharing(network, judge, options)
    }

    /// A player at an empty board that shares a judge, and with it the memory of opinions, with others. The judge must
    /// be one of the network.
    pub fn sharing(
        network: LoadedNetwork,
        judge: Arc<Judge>,
        options: Options,
    ) -> Result<Player, NetworkError> {
        let shares = options.memory.shares(network.bytes);
        let shares = shares.unwrap_or_else(|_| MemoryShares::smallest());
        let komi = starting_komi(&options.komi);
        let mut player = Player {
            game: Game::new(judge.size(), komi),
            judge,
            search: Search::new(options.seed),
            controller: Controller::new(options.komi.clone(), options.seed),
            patience: Patience::default(),
            rng: SearchRng::seed_from_u64(options.seed),
            clocks: [Clock::default(); 2],
            resigned: None,
            steps: Vec::new(),
            last_thought: None,
            network,
            tree_bytes: 0,
            shares,
            komi,
            rules: Rules::default(),
            evaluations_before_game: 0,
            evaluations_earlier: 0,
            options,
        };
        let settings = player.trusting(&player.options.komi.clone())?;
        player.controller.set_settings(settings);
        // A test of the network is no part of a game.
        player.evaluations_before_game = player.judge.evaluations();
        Ok(player)
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

    /// Changes how it thinks, from the next move on. Memory is shared out anew if that changed, and
    /// a mode of dynamic komi may have the network tested; nothing changes if either fails.
    pub fn set_options(&mut self, options: Options) -> Result<(), OptionsError> {
        let shares = if options.memory == self.options.memory {
            None
        } else {
            Some(options.memory.shares(self.network.bytes)?)
        };
        let komi_settings = self.trusting(&options.komi)?;
        if let Some(shares) = shares {
            self.shares = shares;
            let seen = self.evaluations();
            self.judge = Arc::new(self.network.judge(shares.cache_bytes));
            self.evaluations_earlier = seen;
            self.evaluations_before_game = 0;
        }
        self.controller.set_settings(komi_settings);
        self.options = options;
        Ok(())
    }

    /// The settings with the trust that the network deserves; tests it if that is not known. A network that is told the
    /// komi of the game needs no mode, and has none.
    fn trusting(
        &mut self,
        settings: &dynamic_komi::Settings,
    ) -> Result<dynamic_komi::Settings, dynamic_komi::Refusal> {
        if self.judge.encoder().as_leela().is_none() {
            settings.check().map_err(dynamic_komi::Refusal::from)?;
            return Ok(settings.clone().with_mode(None));
        }
        let (judge, threads) = (&self.judge, self.options.threads);
        let assessment = &mut self.controller.assessment;
        let trust = network_test::trust(settings, network_test::unfit(judge), || {
            let known = assessment
                .get_or_insert_with(|| assess(judge, settings.verdict_file.as_deref(), threads));
            known.scores
        })?;
        Ok(dynamic_komi::Settings {
            trust,
            ..settings.clone()
        })
    }

    /// The komi the network is told, on each colour's turn.
    pub fn net_komi(&self) -> TurnKomi {
        self.controller.komi
    }

    /// The settings of dynamic komi in force, with the trust that the network deserves.
    pub fn komi_settings(&self) -> &dynamic_komi::Settings {
        &self.controller.settings
    }

    /// What a test of the network found, if one was called for.
    pub fn assessment(&self) -> Option<Assessment> {
        self.controller.assessment
    }

    /// Tells the network every komi of the test in the current position, and what it makes of it.
    pub fn test_komi(&self, symmetries: &[Symmetry]) -> VerdictTest {
        let position = self.position();
        network_test::test_position(&self.judge, &position, symmetries, self.options.threads)
    }

    /// Positions that the network has seen since the game began.
    pub fn evaluations(&self) -> u64 {
        self.evaluations_earlier + self.judge.evaluations() - self.evaluations_before_game
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
    pub fn steps(&self) -> &[RecordedMove] {
        &self.steps
    }

    /// Adds steps that were recorded elsewhere.
    pub fn add_steps(&mut self, steps: Vec<RecordedMove>) {
        self.steps.extend(steps);
    }

    /// What was thought at the last move it made.
    pub fn last_thought(&self) -> Option<&Arc<Thought>> {
        self.last_thought.as_ref()
    }

    /// Starts a new game on a board of this size; komi and time settings stay.
    pub fn start(&mut self, size: BoardSize) -> Result<(), PlayerError> {
        self.change_board(size)?;
        self.game = Game::new(size, self.komi);
        self.game.set_rules(self.rules);
        for clock in &mut self.clocks {
            *clock = Clock::new(clock.control());
        }
        self.resigned = None;
        self.steps.clear();
        self.last_thought = None;
        self.search.clear();
        self.controller.guard.clear();
        self.tree_bytes = 0;
        self.evaluations_before_game = self.judge.evaluations();
        self.evaluations_earlier = 0;
        self.patience = Patience::default();
        self.controller.forget_adjustments();
        Ok(())
    }

    /// Takes over a game that was read elsewhere, its komi included. What was recorded stays.
    pub fn set_game(&mut self, game: Game) -> Result<(), PlayerError> {
        self.change_board(game.size())?;
        self.komi = game.komi();
        self.rules = *game.rules();
        self.game = game;
        self.resigned = None;
        self.last_thought = None;
        self.patience = Patience::default();
        self.controller.forget_adjustments();
        Ok(())
    }

    /// What to say about a board it cannot play on.
    pub fn refuse_size(&self) -> PlayerError {
        match self.network.origin {
            Origin::File => PlayerError::Size(self.judge.size()),
            Origin::Shipped => PlayerError::NoBoard,
        }
    }

    /// Takes the network for another board, if there is one; the game in hand is over then.
    fn change_board(&mut self, size: BoardSize) -> Result<(), PlayerError> {
        if size == self.judge.size() {
            return Ok(());
        }
        let refused = || self.refuse_size();
        let network = self.network.for_size(size).ok_or_else(refused)?;
        let other = Player::new(network, self.options.clone()).map_err(|_| refused())?;
        *self = Player {
            rng: self.rng.clone(),
            clocks: self.clocks,
            komi: self.komi,
            rules: self.rules,
            ..other
        };
        Ok(())
    }

    /// How many points Black is ahead if the game ends here. Handicap stones count for White, except
    /// in a mode of dynamic komi.
    pub fn black_lead(&self) -> f32 {
        self.position().lead(Color::Black)
    }

    /// Sets the komi of the score, for this game and those to come. What the network is told stays.
    pub fn set_komi(&mut self, komi: Komi) {
        self.komi = komi;
        self.game.set_komi(komi);
    }

    /// Sets the rules, for this game and those to come. Komi stays.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
        self.game.set_rules(rules);
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

    /// Takes the last move back. A resignation is not a move, so it is cleared as well as the last move.
    pub fn undo(&mut self) -> bool {
        let had_resigned = self.resigned.take().is_some();
        self.game.undo().is_some() || had_resigned
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
        let counted_stones = match self.controller.settings.mode {
            None => game.handicap(),
            Some(_) => 0,
        };
        let assumptions = Assumptions {
            net_komi: self.controller.komi,
            trust: self.controller.settings.trust,
            compensation: game.komi().points_for_white()
                + game.rules().handicap_bonus.points(counted_stones) as f32,
            always_considers_pass: self.options.dumb_pass || self.judge.knows_score(),
            plays_on: self.options.plays_on || self.judge.knows_score(),
            view: self.network_view(),
        };
        Position::new(game, assumptions)
    }

    /// What a network is told beyond the stones: KataGo's ways, which a Leela Zero network does not see.
    fn network_view(&self) -> NetworkView {
        let knows_score = self.judge.knows_score();
        NetworkView {
            passing_hacks: knows_score,
            settled_scores: knows_score,
            ..self.options.view
        }
    }

    /// Leaves as this player has them judged.
    pub(crate) fn leaves(&self) -> Leaves<'_> {
        Leaves {
            judge: &self.judge,
            symmetry: self.controller.fixed_symmetry(),
            factors: self.options.utility,
            ladders: self.options.ladders,
        }
    }

    /// The search tree as it stands.
    pub fn view(&self) -> View<'_> {
        View {
            search: &self.search,
            area: self.game.size().area(),
            elapsed: std::time::Duration::ZERO,
        }
    }

    /// The network's opinion of the current position, past its memory; the mean of all symmetries
    /// if none is named.
    pub fn opinion(&self, symmetry: Option<Symmetry>) -> Result<Opinion, EvaluateError> {
        let position = self.position();
        match symmetry {
            Some(symmetry) => {
                let mut opinions = self.judge.evaluate_anew(&[(&position, symmetry)])?;
                Ok(opinions.swap_remove(0))
            }
            None => self.judge.mean_opinion(&position),
        }
    }

    /// What the network says of the current position through one symmetry, with another share of the optimistic policy
    /// if one is named.
    pub fn raw_opinion(
        &self,
        symmetry: Symmetry,
        optimism: Option<f32>,
    ) -> Result<Opinion, EvaluateError> {
        let position = self.position();
        let mut assumptions = *position.assumptions();
        if let Some(optimism) = optimism {
            assumptions.view.root_optimism = optimism;
        }
        let position = Position::new(&self.game, assumptions);
        let mut opinions = self.judge.evaluate_anew(&[(&position, symmetry)])?;
        Ok(opinions.swap_remove(0))
    }

    /// Forgets the network's opinions.
    pub fn clear_cache(&mut self) {
        self.judge.clear_cache();
    }
}

/// Before anybody sets a komi, the score has the one that is played for.
fn starting_komi(settings: &dynamic_komi::Settings) -> Komi {
    Komi::new(settings.target_komi as f32).unwrap_or_default()
}
