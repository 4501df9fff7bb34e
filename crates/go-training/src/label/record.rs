//! A game with labels, and how it is written down.
//!
//! Policies and ownership are rounded, since one evaluation of the teacher is far noisier than the rounding: a policy
//! keeps moves above 1/16384 in steps of 1/65535, ownership is kept in steps of 1/127. The whole game is then deflated.

use std::io::{Read, Write};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use go::{BoardSize, Color, Game, Komi, Move, PointSet, Rules};

use super::bytes::{Cursor, Damaged, put_f32, put_text, put_u16, put_u64};

/// The version of the format, first in every record.
const VERSION: u8 = 1;
/// Policies are kept in these steps.
const POLICY_STEPS: f32 = 65535.0;
/// Moves below this are left out.
const LEAST_POLICY: f32 = 1.0 / 16384.0;
/// Ownership is kept in these steps, in both directions.
const OWNER_STEPS: f32 = 127.0;
/// A gap of this many moves without policy is written as this byte and goes on.
const LONGEST_GAP: u8 = 255;
/// A record claims no more than this when unpacked.
const LONGEST: u64 = 1 << 26;
/// How a pass is written among the points.
const PASS: u16 = u16::MAX;

/// A game and what the teacher says about some of its positions.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledGame {
    /// Which game of its file: decides its seed, and that it is made once.
    pub number: u64,
    pub size: BoardSize,
    /// The rules the teacher was told.
    pub rules: Rules,
    /// Stones before the first move: Black's and White's.
    pub setup: [PointSet; 2],
    /// Of these, handicap stones, for rules that pay White for them.
    pub handicap: usize,
    /// Who moves first.
    pub first: Color,
    pub moves: Vec<(Color, Move)>,
    /// What the teacher says, in the order of turns.
    pub labels: Vec<Label>,
}

/// What the teacher says about one position. All for the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Moves played before it.
    pub turn: usize,
    /// The komi the teacher was told. It can change in the course of a game.
    pub komi: Komi,
    /// The chance of each point, row by row from the bottom, and last of passing. Adds up to one.
    pub policy: Box<[f32]>,
    /// Chance to win, draws and games without result counted half.
    pub winrate: f32,
    /// Points ahead.
    pub lead: f32,
    /// Expected score.
    pub score: f32,
    /// Standard deviation of the score.
    pub spread: f32,
    /// Who will own each point, from -1 (the opponent) to 1, row by row from the bottom.
    pub ownership: Box<[f32]>,
}

impl LabelledGame {
    /// The game at the turn of a label, with its komi.
    ///
    /// # Errors
    /// If the moves cannot be played.
    pub fn game_at(&self, label: &Label) -> Result<Game, Damaged> {
        let mut game = Game::new(self.size, label.komi);
        game.set_rules(self.rules);
        game.set_up(&self.setup[0], &self.setup[1], &PointSet::EMPTY)
            .map_err(|error| Damaged::new(error.to_string()))?;
        game.set_handicap(self.handicap);
        game.set_to_move(self.first);
        for &(color, mv) in &self.moves[..label.turn] {
            game.force(color, mv)
                .map_err(|error| Damaged::new(format!("{mv}: {error}")))?;
        }
        Ok(game)
    }

    /// The game as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        put_u64(&mut plain, self.number);
        plain.push(self.size.get() as u8);
        put_text(&mut plain, &self.rules.to_string());
        for stones in &self.setup {
            put_u16(&mut plain, stones.len());
            for point in stones.iter() {
                put_u16(&mut plain, self.size.index(point));
            }
        }
        plain.push(self.handicap as u8);
        plain.push(self.first.index() as u8);
        put_u16(&mut plain, self.moves.len());
        for &(color, mv) in &self.moves {
            plain.push(color.index() as u8);
            let index = mv.point().map_or(usize::from(PASS), |p| self.size.index(p));
            put_u16(&mut plain, index);
        }
        put_u16(&mut plain, self.labels.len());
        for label in &self.labels {
            label.write(&mut plain);
        }
        let mut packed = DeflateEncoder::new(vec![VERSION], Compression::default());
        // Writing to memory does not fail.
        let _ = packed.write_all(&plain);
        packed.finish().unwrap_or_default()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<LabelledGame, Damaged> {
        let (&version, packed) = bytes
            .split_first()
            .ok_or_else(|| Damaged::new("it is empty"))?;
        if version != VERSION {
            let what = format!("its format is {version}, and this program reads {VERSION}");
            return Err(Damaged::new(what));
        }
        let mut plain = Vec::new();
        DeflateDecoder::new(packed)
            .take(LONGEST)
            .read_to_end(&mut plain)
            .map_err(|error| Damaged::new(error.to_string()))?;
        let mut from = Cursor::new(&plain);
        let number = from.u64()?;
        let size = BoardSize::new(from.u8()?.into())
            .ok_or_else(|| Damaged::new("there is no such board size"))?;
        let rules = from
            .text()?
            .parse()
            .map_err(|error| Damaged::new(format!("{error}")))?;
        let mut setup = [PointSet::EMPTY; 2];
        for stones in &mut setup {
            for _ in 0..from.u16()? {
                stones.insert(size.point(from.below(size.area())?));
            }
        }
        let handicap = from.u8()?.into();
        let first = from.color()?;
        let mut moves = Vec::new();
        for _ in 0..from.u16()? {
            let color = from.color()?;
            let mv = match from.u16()? {
                PASS => Move::Pass,
                index if usize::from(index) < size.area() => Move::Play(size.point(index.into())),
                index => return Err(Damaged::new(format!("there is no point {index}"))),
            };
            moves.push((color, mv));
        }
        let mut labels = Vec::new();
        for _ in 0..from.u16()? {
            let label = Label::read(&mut from, size.area())?;
            if label.turn > moves.len() {
                return Err(Damaged::new("a label stands after the last move"));
            }
            labels.push(label);
        }
        from.end()?;
        Ok(LabelledGame {
            number,
            size,
            rules,
            setup,
            handicap,
            first,
            moves,
            labels,
        })
    }
}

impl Label {
    fn write(&self, to: &mut Vec<u8>) {
        put_u16(to, self.turn);
        for number in [
            self.komi.points_for_white(),
            self.winrate,
            self.lead,
            self.score,
            self.spread,
        ] {
            put_f32(to, number);
        }
        let kept: Vec<(usize, u16)> = self
            .policy
            .iter()
            .enumerate()
            .filter(|&(_, &chance)| chance >= LEAST_POLICY)
            .map(|(index, &chance)| (index, (chance * POLICY_STEPS).round() as u16))
            .collect();
        put_u16(to, kept.len());
        let mut next = 0;
        for (index, steps) in kept {
            let mut gap = index - next;
            while gap >= LONGEST_GAP.into() {
                to.push(LONGEST_GAP);
                gap -= usize::from(LONGEST_GAP);
            }
            to.push(gap as u8);
            put_u16(to, steps.into());
            next = index + 1;
        }
        let owners = self.ownership.iter();
        to.extend(owners.map(|&owner| (owner * OWNER_STEPS).round() as i8 as u8));
    }

    fn read(from: &mut Cursor<'_>, area: usize) -> Result<Label, Damaged> {
        let turn = from.u16()?.into();
        let komi = Komi::new(from.f32()?).ok_or_else(|| Damaged::new("its komi is no number"))?;
        let [winrate, lead, score, spread] = [from.f32()?, from.f32()?, from.f32()?, from.f32()?];
        let mut policy = vec![0.0; area + 1];
        let mut next = 0;
        for _ in 0..from.u16()? {
            loop {
                let gap = from.u8()?;
                next += usize::from(gap);
                if gap != LONGEST_GAP {
                    break;
                }
            }
            let chance = policy
                .get_mut(next)
                .ok_or_else(|| Damaged::new("a policy goes beyond the board"))?;
            *chance = f32::from(from.u16()?) / POLICY_STEPS;
            next += 1;
        }
        let total: f32 = policy.iter().sum();
        if total > 0.0 {
            policy.iter_mut().for_each(|chance| *chance /= total);
        }
        let owners = from.bytes(area)?.iter();
        let ownership = owners.map(|&owner| f32::from(owner as i8) / OWNER_STEPS);
        Ok(Label {
            turn,
            komi,
            policy: policy.into(),
            winrate,
            lead,
            score,
            spread,
            ownership: ownership.collect(),
        })
    }
}
