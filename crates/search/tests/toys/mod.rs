//! Small games whose values are known.
#![allow(dead_code)]

use search::{Evaluate, EvaluateError, Evaluation, Game, SearchRng, Side, Turn};

/// Exact value for `Side::First` by full expansion.
pub fn exact<G: Game>(state: &G) -> f64 {
    let after = |mv: G::Move| {
        let mut next = state.clone();
        next.play(mv);
        next
    };
    match state.turn() {
        Turn::Over(value) => value,
        Turn::Chance => {
            let mut outcomes = Vec::new();
            state.outcomes(&mut outcomes);
            let total: f32 = outcomes.iter().map(|outcome| outcome.1).sum();
            outcomes
                .into_iter()
                .map(|(outcome, p)| f64::from(p / total) * exact(&after(outcome)))
                .sum()
        }
        Turn::Player(side) => {
            let values = legal(state).into_iter().map(|mv| exact(&after(mv)));
            side.view(values.map(|value| side.view(value)).fold(0.0, f64::max))
        }
    }
}

pub fn legal<G: Game>(state: &G) -> Vec<G::Move> {
    let mut moves = Vec::new();
    state.moves(&mut moves);
    moves
}

/// Noughts and crosses; `Side::First` plays crosses.
#[derive(Clone, Debug, PartialEq)]
pub struct TicTacToe {
    pub played: Vec<u8>,
}

impl TicTacToe {
    pub fn after(moves: &[u8]) -> Self {
        TicTacToe {
            played: moves.to_vec(),
        }
    }

    fn has_line(&self, parity: usize) -> bool {
        const LINES: [[u8; 3]; 8] = [
            [0, 1, 2],
            [3, 4, 5],
            [6, 7, 8],
            [0, 3, 6],
            [1, 4, 7],
            [2, 5, 8],
            [0, 4, 8],
            [2, 4, 6],
        ];
        let mut own = [false; 9];
        for &cell in self.played.iter().skip(parity).step_by(2) {
            own[usize::from(cell)] = true;
        }
        LINES
            .iter()
            .any(|line| line.iter().all(|&cell| own[usize::from(cell)]))
    }
}

impl Game for TicTacToe {
    type Move = u8;
    type Outlook = ();

    fn turn(&self) -> Turn {
        if self.has_line(0) {
            Turn::Over(1.0)
        } else if self.has_line(1) {
            Turn::Over(0.0)
        } else if self.played.len() == 9 {
            Turn::Over(0.5)
        } else if self.played.len().is_multiple_of(2) {
            Turn::Player(Side::First)
        } else {
            Turn::Player(Side::Second)
        }
    }

    fn moves(&self, moves: &mut Vec<u8>) {
        moves.extend((0..9).filter(|cell| !self.played.contains(cell)));
    }

    fn play(&mut self, mv: u8) {
        self.played.push(mv);
    }

    fn path_from(&self, earlier: &Self) -> Option<Vec<u8>> {
        let tail = self.played.strip_prefix(&earlier.played[..])?;
        Some(tail.to_vec())
    }
}

/// Nim: take any number from one heap, who takes last wins.
#[derive(Clone, Debug)]
pub struct Nim {
    pub heaps: Vec<u8>,
    pub history: Vec<(u8, u8)>,
    /// Positions that may not be repeated or reached, by heap contents.
    pub forbidden: Vec<Vec<u8>>,
}

impl Nim {
    pub fn new(heaps: &[u8]) -> Self {
        Nim {
            heaps: heaps.to_vec(),
            history: Vec::new(),
            forbidden: Vec::new(),
        }
    }
}

impl Game for Nim {
    type Move = (u8, u8);
    type Outlook = ();

    fn turn(&self) -> Turn {
        let first_moves = self.history.len().is_multiple_of(2);
        if self.heaps.iter().all(|&heap| heap == 0) {
            return Turn::Over(if first_moves { 0.0 } else { 1.0 });
        }
        Turn::Player(if first_moves {
            Side::First
        } else {
            Side::Second
        })
    }

    fn moves(&self, moves: &mut Vec<(u8, u8)>) {
        for (index, &heap) in self.heaps.iter().enumerate() {
            moves.extend((1..=heap).map(|take| (index as u8, take)));
        }
    }

    fn play(&mut self, (heap, take): (u8, u8)) {
        self.heaps[usize::from(heap)] -= take;
        self.history.push((heap, take));
    }

    fn is_valid(&self) -> bool {
        !self.forbidden.contains(&self.heaps)
    }

    fn path_from(&self, earlier: &Self) -> Option<Vec<(u8, u8)>> {
        let tail = self.history.strip_prefix(&earlier.history[..])?;
        Some(tail.to_vec())
    }
}

/// Push your luck: roll a biased die and add it, or stop and bank the sum.
/// Past the limit everything is lost. One player, chance nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct PushYourLuck {
    pub sum: u8,
    pub rolling: bool,
    pub banked: bool,
    pub history: Vec<u8>,
}

/// The sum above which all is lost.
pub const LUCK_LIMIT: u8 = 12;
const BANK: u8 = 0;
const ROLL: u8 = 100;

impl PushYourLuck {
    pub fn at(sum: u8) -> Self {
        PushYourLuck {
            sum,
            rolling: false,
            banked: false,
            history: Vec::new(),
        }
    }

    pub const BANK: u8 = BANK;
    pub const ROLL: u8 = ROLL;
}

impl Game for PushYourLuck {
    type Move = u8;
    type Outlook = ();

    fn turn(&self) -> Turn {
        if self.sum > LUCK_LIMIT {
            Turn::Over(0.0)
        } else if self.banked {
            Turn::Over(f64::from(self.sum) / f64::from(LUCK_LIMIT))
        } else if self.rolling {
            Turn::Chance
        } else {
            Turn::Player(Side::First)
        }
    }

    fn moves(&self, moves: &mut Vec<u8>) {
        moves.extend([BANK, ROLL]);
    }

    fn outcomes(&self, outcomes: &mut Vec<(u8, f32)>) {
        outcomes.extend([(1, 3.0), (2, 1.0), (4, 1.0), (6, 1.0)]);
    }

    fn play(&mut self, mv: u8) {
        self.history.push(mv);
        match mv {
            BANK => self.banked = true,
            ROLL => self.rolling = true,
            roll => {
                self.sum += roll;
                self.rolling = false;
            }
        }
    }

    fn path_from(&self, earlier: &Self) -> Option<Vec<u8>> {
        let tail = self.history.strip_prefix(&earlier.history[..])?;
        Some(tail.to_vec())
    }
}

/// A wide, endless game for loads: moves are numbers, nothing happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Endless {
    pub width: u16,
    pub played: Vec<u16>,
}

impl Endless {
    pub fn new(width: u16) -> Self {
        Endless {
            width,
            played: Vec::new(),
        }
    }
}

impl Game for Endless {
    type Move = u16;
    type Outlook = ();

    fn turn(&self) -> Turn {
        match self.played.len() % 2 {
            0 => Turn::Player(Side::First),
            _ => Turn::Player(Side::Second),
        }
    }

    fn moves(&self, moves: &mut Vec<u16>) {
        moves.extend(0..self.width);
    }

    fn play(&mut self, mv: u16) {
        self.played.push(mv);
    }

    fn path_from(&self, earlier: &Self) -> Option<Vec<u16>> {
        let tail = self.played.strip_prefix(&earlier.played[..])?;
        Some(tail.to_vec())
    }
}

/// A judge that draws value and priors from a hash of the position, so that
/// it is deterministic, varied and means nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashed;

impl Evaluate<Endless> for Hashed {
    fn evaluate(
        &self,
        leaves: &[Endless],
        _rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            let hash = leaf.played.iter().fold(0x9E37_79B9u64, |hash, &mv| {
                (hash ^ u64::from(mv))
                    .wrapping_mul(0x2545_F491_4F6C_DD1D)
                    .rotate_left(23)
            });
            let unit = |salt: u64| {
                let mixed = (hash ^ salt).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                (mixed >> 40) as f64 / f64::from(1 << 24)
            };
            evaluations.push(Evaluation {
                value: Some(unit(0xABCD)),
                priors: (0..leaf.width)
                    .map(|mv| (mv, unit(u64::from(mv) + 1).powi(3) as f32))
                    .collect(),
                outlook: (),
            });
        }
        Ok(())
    }
}
