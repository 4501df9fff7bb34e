//! Games played by the teacher's own policy, each position labelled on the way.
//!
//! A label costs one evaluation, and an evaluation costs the less the more positions share a batch. So games come in
//! cohorts of one board size, a thread plays several games of a cohort side by side, and a new game takes the place of
//! one that ends.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use go::{BoardSize, Color, Game, Komi, Move, PointSet, fixed_handicap};
use go_player::Opinion;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    file::{LabelError, LabelFile},
    plan::{Plan, PlaySettings, in_halves},
    record::LabelledGame,
    teacher::{Teacher, label},
};

/// Games of one board size in a row.
const COHORT: u64 = 64;
/// Points of the games that a thread plays side by side: enough to fill a batch. More games would only end later.
const POINTS_SIDE_BY_SIDE: usize = 1300;
/// The fewest and the most of these games.
const SIDE_BY_SIDE: std::ops::RangeInclusive<usize> = 4..=32;
/// A game is clear when one side wins with more than this chance.
const CLEAR: f32 = 0.95;
/// The chance a turn that a clear game is cut.
const CUT: f64 = 0.08;

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Games in the file.
    pub games: usize,
    /// Labels in the file.
    pub labels: usize,
}

/// Plays games until the file has as many labels as the settings say, or `stop` is set. Games that the file has
/// already are not played again; those that are being played when it stops are lost.
///
/// With a student, one side of half of the games is its: so the teacher also tells what to make of the positions that
/// the student's own mistakes lead to.
pub fn generate(
    teacher: &Teacher,
    student: Option<&Teacher>,
    settings: &PlaySettings,
    file: &mut LabelFile,
    stop: &AtomicBool,
    on_progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), LabelError> {
    let sizes: Vec<usize> = settings.sizes.iter().map(|&(size, _)| size).collect();
    if let Some(size) = sizes.iter().find(|&&size| BoardSize::new(size).is_none()) {
        let what = format!("there is no board of {size}x{size}: sizes go from 2 to 25");
        return Err(LabelError::Settings(what));
    }
    if settings.sizes.iter().all(|&(_, share)| share <= 0.0) {
        return Err(LabelError::Settings("no board size is to be played".into()));
    }
    let shared = Shared {
        teacher,
        student,
        settings,
        cohorts: AtomicU64::new(0),
        file: Mutex::new(file),
        failure: Mutex::new(None),
        is_done: AtomicBool::new(false),
        stop,
        on_progress,
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            scope.spawn(|| {
                if let Err(error) = shared.play_cohorts() {
                    shared.is_done.store(true, Ordering::Relaxed);
                    let mut failure = shared.failure.lock();
                    let failure = failure.as_deref_mut();
                    if let Ok(failure) = failure {
                        failure.get_or_insert(error);
                    }
                }
            });
        }
    });
    let failure = shared.failure.into_inner();
    match failure.unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

struct Shared<'a> {
    teacher: &'a Teacher,
    student: Option<&'a Teacher>,
    settings: &'a PlaySettings,
    cohorts: AtomicU64,
    file: Mutex<&'a mut LabelFile>,
    failure: Mutex<Option<LabelError>>,
    is_done: AtomicBool,
    stop: &'a AtomicBool,
    on_progress: &'a (dyn Fn(Progress) + Sync),
}

impl Shared<'_> {
    fn play_cohorts(&self) -> Result<(), LabelError> {
        while !self.is_over() {
            let cohort = self.cohorts.fetch_add(1, Ordering::Relaxed);
            let size = BoardSize::new(Plan::size_of_cohort(self.settings, cohort));
            let Some(size) = size else { continue };
            let numbers: Vec<u64> = {
                let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                let all = cohort * COHORT..(cohort + 1) * COHORT;
                all.filter(|&number| !file.contains(number)).collect()
            };
            self.play_games(size, numbers)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_done.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn play_games(&self, size: BoardSize, numbers: Vec<u64>) -> Result<(), LabelError> {
        let seed = self.settings.seed;
        let mut waiting = numbers
            .into_iter()
            .map(|number| Playing::start(size, number, seed, self.student.is_some()));
        let together = POINTS_SIDE_BY_SIDE / size.area();
        let together = together.clamp(*SIDE_BY_SIDE.start(), *SIDE_BY_SIDE.end());
        let mut playing: Vec<Playing> = waiting.by_ref().take(together).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(base::mix(seed ^ size.area() as u64));
        while !playing.is_empty() && !self.is_over() {
            let games: Vec<&Game> = playing.iter().map(|playing| &playing.game).collect();
            let opinions = self.teacher.opinions(size, &games, &mut rng)?;
            let mut of_student = self
                .students_opinions(size, &playing, &mut rng)?
                .into_iter();
            let mut still = Vec::with_capacity(playing.len());
            for (mut game, opinion) in playing.into_iter().zip(opinions) {
                let guide = if game.is_students_turn() {
                    of_student.next()
                } else {
                    None
                };
                if game.go_on(&opinion, guide.as_ref().unwrap_or(&opinion))? {
                    still.push(game);
                } else {
                    self.keep(&game.labelled)?;
                    still.extend(waiting.next());
                }
            }
            playing = still;
        }
        Ok(())
    }

    /// What the student says where it is its turn.
    fn students_opinions(
        &self,
        size: BoardSize,
        playing: &[Playing],
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Vec<Opinion>, LabelError> {
        let Some(student) = self.student else {
            return Ok(Vec::new());
        };
        let its_turn = playing.iter().filter(|game| game.is_students_turn());
        let games: Vec<&Game> = its_turn.map(|playing| &playing.game).collect();
        student.opinions(size, &games, rng)
    }

    fn keep(&self, game: &LabelledGame) -> Result<(), LabelError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.append(game)?;
        if file.labels() >= self.settings.labels {
            self.is_done.store(true, Ordering::Relaxed);
        }
        (self.on_progress)(Progress {
            games: file.games(),
            labels: file.labels(),
        });
        Ok(())
    }
}

/// A game that is being played.
struct Playing {
    plan: Plan,
    rng: Xoshiro256PlusPlus,
    game: Game,
    labelled: LabelledGame,
    /// The side that the student plays.
    student: Option<Color>,
}

impl Playing {
    fn start(size: BoardSize, number: u64, seed: u64, has_student: bool) -> Playing {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(base::nth_seed(seed, number));
        let plan = Plan::draw(size, &mut rng);
        let mut game = Game::new(size, Komi::new(plan.komi).unwrap_or_default());
        game.set_rules(plan.rules);
        let mut setup = [PointSet::EMPTY; 2];
        let mut first = Color::Black;
        if let Some(stones) = fixed_handicap(size, plan.handicap).filter(|_| plan.handicap > 0) {
            // The points are free and the number fits the board.
            if game.place_handicap(&stones).is_ok() {
                setup[0] = stones.into_iter().collect();
                first = Color::White;
            }
        }
        Playing {
            labelled: LabelledGame {
                number,
                size,
                rules: plan.rules,
                setup,
                handicap: game.handicap(),
                first,
                moves: Vec::new(),
                labels: Vec::new(),
            },
            plan,
            rng,
            game,
            student: has_student.then(|| students_side(seed, number)).flatten(),
        }
    }

    fn is_students_turn(&self) -> bool {
        self.student == Some(self.game.to_move())
    }

    /// Labels the position with the teacher's opinion and plays a move by that of whoever's turn it is. Returns whether
    /// the game goes on.
    fn go_on(&mut self, opinion: &Opinion, guide: &Opinion) -> Result<bool, LabelError> {
        let turn = self.labelled.moves.len();
        let found = label(turn, self.game.komi(), opinion)?;
        let lead = found.lead;
        self.labelled.labels.push(found);
        if self.game.is_over() || turn >= self.plan.longest || self.is_cut(turn, opinion) {
            return Ok(false);
        }
        if let Some((_, points)) = self.plan.evened.filter(|&(at, _)| at == turn) {
            self.even_out(lead, points);
        }
        let color = self.game.to_move();
        let mv = self.choose(turn, guide);
        if self.game.play(mv).is_err() {
            return Ok(false);
        }
        self.labelled.moves.push((color, mv));
        Ok(true)
    }

    fn is_cut(&mut self, turn: usize, opinion: &Opinion) -> bool {
        let is_clear = opinion.winrate.max(1.0 - opinion.winrate) > CLEAR;
        let is_late = turn > self.plan.size.area() / 2;
        is_clear && is_late && !self.plan.to_the_end && self.rng.random_bool(CUT)
    }

    /// Gives the side that is behind its points, but for a few.
    fn even_out(&mut self, lead: f32, points: f32) {
        let lead_of_black = match self.game.to_move() {
            Color::Black => lead,
            Color::White => -lead,
        };
        let most = self.plan.size.area() as f32;
        let komi = self.game.komi().points_for_white() + lead_of_black + points;
        if let Some(komi) = Komi::new(in_halves(komi).clamp(-most, most)) {
            self.game.set_komi(komi);
        }
    }

    /// A move drawn from the policy at the plan's temperature, or any legal move now and then.
    fn choose(&mut self, turn: usize, opinion: &Opinion) -> Move {
        let size = self.plan.size;
        let color = self.game.to_move();
        let legal: Vec<Move> = self
            .game
            .legal_points(color)
            .map(Move::Play)
            .chain([Move::Pass])
            .collect();
        if self.rng.random_bool(self.plan.blunders) && legal.len() > 1 {
            return legal[self.rng.random_range(0..legal.len() - 1)];
        }
        let power = 1.0 / self.plan.temperature(turn);
        let weight = |mv: &Move| {
            let index = mv.point().map_or(size.area(), |point| size.index(point));
            opinion.policy[index].max(0.0).powf(power)
        };
        let weights: Vec<f32> = legal.iter().map(weight).collect();
        let total: f32 = weights.iter().sum();
        if total <= 0.0 {
            return Move::Pass;
        }
        let mut left = self.rng.random_range(0.0..total);
        for (mv, weight) in legal.iter().zip(weights) {
            left -= weight;
            if left < 0.0 {
                return *mv;
            }
        }
        Move::Pass
    }
}

/// The side that a student has in a game, if it plays at all. From a stream of its own: the games of a seed begin alike
/// with and without a student.
pub(super) fn students_side(seed: u64, number: u64) -> Option<Color> {
    match base::nth_seed(!seed, number) % 4 {
        0 => Some(Color::Black),
        1 => Some(Color::White),
        _ => None,
    }
}
