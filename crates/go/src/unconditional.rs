//! What follows from unconditional life: points no one can dispute, stones no one can save.
//!
//! Let a colour's unconditionally alive blocks stand and its owner pass for ever. The opponent
//! captures everything else of that colour and fills as much as he can: all liberties of the
//! alive blocks that are not suicide, and every eye of his own down to single points. Where
//! he still is in atari or could not play at all, he never makes two eyes, whatever he does:
//! that is the colour's territory, and his stones in there are dead. Unless he can hold out
//! in seki around stones that he does not capture.

use crate::{Board, Color, Point, PointSet, Stones, seki};

/// The fate of a point if it can be told without reading a single move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A stone that cannot be captured.
    Alive,
    /// A stone that cannot be saved.
    Dead,
    /// An empty point that is this colour's in the end.
    Territory(Color),
    /// Anything else.
    Undecided,
}

/// The fates of all points of a board.
#[derive(Clone, Copy, Debug)]
pub struct Fates {
    alive: [PointSet; 2],
    territory: [PointSet; 2],
    stones: Stones,
}

impl Fates {
    /// The fate of a point.
    pub fn at(&self, point: Point) -> Fate {
        if self.alive.iter().any(|alive| alive.contains(point)) {
            return Fate::Alive;
        }
        let owner = Color::BOTH
            .into_iter()
            .find(|color| self.territory[color.index()].contains(point));
        match owner {
            Some(color) if self.stones.of(color).contains(point) => Fate::Alive,
            Some(color) if self.stones.of(color.opponent()).contains(point) => Fate::Dead,
            Some(color) => Fate::Territory(color),
            None => Fate::Undecided,
        }
    }

    /// The alive stones of `color`.
    pub fn alive(&self, color: Color) -> &PointSet {
        &self.alive[color.index()]
    }

    /// The territory of `color`, dead stones of the opponent included.
    pub fn territory(&self, color: Color) -> &PointSet {
        &self.territory[color.index()]
    }
}

impl Board {
    /// What can be said about each point without reading.
    pub fn fates(&self) -> Fates {
        let alive = Color::BOTH.map(|color| self.unconditional_life(color).stones);
        let territory = Color::BOTH.map(|color| self.sure_territory(color, alive[color.index()]));
        Fates {
            alive,
            territory,
            stones: *self.all_stones(),
        }
    }
}

impl Board {
    fn sure_territory(&self, color: Color, alive: PointSet) -> PointSet {
        if alive.is_empty() {
            return PointSet::EMPTY;
        }
        let mut siege = Siege::new(self, color, alive);
        siege.fill();
        let mut territory = siege.failed_at();
        for region in (PointSet::full(self.size()) - alive).components() {
            let mortal = (region & *self.stone_set(color)).components();
            let mut blocks = mortal.filter_map(|block| block.first());
            if region.intersects(&territory)
                && blocks.any(|block| seki::is_possible(self, color.opponent(), block, &region))
            {
                territory = territory - region;
            }
        }
        territory
    }
}

/// A board on which only the opponent of the alive blocks moves.
struct Siege {
    board: Board,
    alive: PointSet,
    besieger: Color,
}

impl Siege {
    fn new(board: &Board, color: Color, alive: PointSet) -> Siege {
        let mut siege = Siege {
            board: board.clone(),
            alive,
            besieger: color.opponent(),
        };
        siege.capture_all_but_alive(color);
        siege
    }

    /// Each capture may free the way to the next, so failed attempts are taken back and tried
    /// again until none succeeds.
    fn capture_all_but_alive(&mut self, color: Color) {
        loop {
            let mortal = *self.board.stone_set(color) - self.alive;
            let captured = mortal.iter().any(|stone| self.capture(stone));
            if !captured {
                return;
            }
        }
    }

    fn capture(&mut self, stone: Point) -> bool {
        let mut moves = Vec::new();
        while let Some(liberty) = self.open_liberty(stone) {
            moves.push(self.board.play(liberty, self.besieger));
            if self.board.is_empty(stone) {
                return true;
            }
        }
        for undo in moves.into_iter().rev() {
            self.board.undo(undo);
        }
        false
    }

    fn open_liberty(&self, stone: Point) -> Option<Point> {
        let mut liberties = self.board.liberties(stone);
        liberties.find(|&liberty| self.may_play(liberty))
    }

    /// The besieger fills; see the head of this module.
    fn fill(&mut self) {
        let touching_alive = self.alive.grown() & self.board.empty_set();
        self.play_where(touching_alive, |_, _| true);
        while self.extend_from_atari() {}
        self.play_everywhere_with_room(2);
        self.play_everywhere_with_room(1);
    }

    /// Saves stones of the besieger in atari; whether there was one that could be saved.
    fn extend_from_atari(&mut self) -> bool {
        let stones = *self.board.stone_set(self.besieger);
        let in_atari = stones.iter().find_map(|stone| {
            let liberty = (self.board.liberty_count(stone) == 1)
                .then(|| self.open_liberty(stone))
                .flatten()?;
            Some(liberty)
        });
        let Some(liberty) = in_atari else {
            return false;
        };
        let _ = self.board.play(liberty, self.besieger);
        true
    }

    /// Splits eyes: plays wherever at least `room` neighbours stay empty.
    fn play_everywhere_with_room(&mut self, room: usize) {
        loop {
            let before = self.board.hash();
            self.play_where(self.board.empty_set(), |board, point| {
                let empty = point.neighbors().into_iter().filter(|&n| board.is_empty(n));
                empty.count() >= room
            });
            if self.board.hash() == before {
                return;
            }
        }
    }

    fn play_where(&mut self, points: PointSet, wants: impl Fn(&Board, Point) -> bool) {
        for point in points.iter() {
            if self.board.is_empty(point) && self.may_play(point) && wants(&self.board, point) {
                let _ = self.board.play(point, self.besieger);
            }
        }
    }

    fn may_play(&self, point: Point) -> bool {
        !self.board.is_suicide(point, self.besieger)
    }

    /// Where the besieger could not get a hold: his blocks in atari, their last liberties, and
    /// liberties of the alive blocks that he could not fill.
    fn failed_at(&self) -> PointSet {
        let mut failed = self.alive.grown() & self.board.empty_set();
        for stone in self.board.stone_set(self.besieger).iter() {
            if self.board.liberty_count(stone) == 1 {
                failed.insert(stone);
                failed.extend(self.board.liberties(stone));
            }
        }
        failed
    }
}
