//! A board that plays and takes back moves, and always knows its blocks and their liberties.
//!
//! The stones of a block form a ring of `next` links; one of them, the head, carries the
//! block's counts. Every change a move makes is its own inverse or is kept in the [`Undo`]:
//! joining two rings swaps two links (swapping again parts them), a captured block leaves its
//! links and counts in place until something is played there, and that play saves what it
//! overwrites. So a move is taken back in the time it took to play.

mod blocks;

use crate::{
    BoardSize, Color, Illegal, Point, PointSet, SetupError, Stones, Undo,
    point::GRID,
    undo::{Counts, Join, Placed, UpToFour},
    zobrist,
};

/// What a point of the padded grid holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Black,
    White,
    Empty,
    Border,
}

impl Cell {
    const fn of(color: Color) -> Cell {
        match color {
            Color::Black => Cell::Black,
            Color::White => Cell::White,
        }
    }
}

/// A position: the stones, their blocks and liberties, and the point a ko forbids.
///
/// The board does not know whose turn it is: either colour may play at any time.
#[derive(Clone)]
pub struct Board {
    size: BoardSize,
    ko: Option<Point>,
    hash: u64,
    all_stones: Stones,
    cells: [Cell; GRID],
    heads: [Point; GRID],
    nexts: [Point; GRID],
    counts: [Counts; GRID],
}

impl Board {
    /// An empty board.
    pub fn new(size: BoardSize) -> Board {
        let mut cells = [Cell::Border; GRID];
        for y in 0..size.get() {
            let row = Point::new(0, y).grid_index();
            cells[row..row + size.get()].fill(Cell::Empty);
        }
        Board {
            size,
            ko: None,
            hash: 0,
            all_stones: Stones::default(),
            cells,
            heads: [Point::from_grid_index(0); GRID],
            nexts: [Point::from_grid_index(0); GRID],
            counts: [Counts::default(); GRID],
        }
    }

    /// A board with these stones on it, as they are: nothing is captured.
    pub fn with_stones(
        size: BoardSize,
        black: &PointSet,
        white: &PointSet,
    ) -> Result<Board, SetupError> {
        if let Some(point) = ((*black | *white) - PointSet::full(size)).first() {
            return Err(SetupError::OffBoard(point));
        }
        if let Some(point) = (*black & *white).first() {
            return Err(SetupError::BothColors(point));
        }
        let mut board = Board::new(size);
        let empty = PointSet::full(size) - (*black | *white);
        for (color, stones) in Color::BOTH.into_iter().zip([black, white]) {
            for block in stones.components() {
                board.add_block(&block, color, &empty)?;
            }
        }
        Ok(board)
    }

    /// The side length.
    #[inline]
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// The stone at `point`, if there is one.
    #[inline]
    pub fn stone(&self, point: Point) -> Option<Color> {
        match self.cell(point) {
            Cell::Black => Some(Color::Black),
            Cell::White => Some(Color::White),
            Cell::Empty | Cell::Border => None,
        }
    }

    /// Whether `point` is on the board and has no stone.
    #[inline]
    pub fn is_empty(&self, point: Point) -> bool {
        self.cell(point) == Cell::Empty
    }

    /// Whether `point` is on the board.
    #[inline]
    pub fn is_on_board(&self, point: Point) -> bool {
        self.cell(point) != Cell::Border
    }

    /// Whether `point` holds a stone of `color`.
    #[inline]
    pub fn is_stone(&self, point: Point, color: Color) -> bool {
        self.cell(point) == Cell::of(color)
    }

    /// The stones of `color`.
    #[inline]
    pub fn stone_set(&self, color: Color) -> &PointSet {
        self.all_stones.of(color)
    }

    /// The stones of both colours.
    #[inline]
    pub fn all_stones(&self) -> &Stones {
        &self.all_stones
    }

    /// The points without a stone.
    #[inline]
    pub fn empty_set(&self) -> PointSet {
        PointSet::full(self.size) - (*self.stone_set(Color::Black) | *self.stone_set(Color::White))
    }

    /// A hash of the stones alone: equal positions have equal hashes, whoever is to move.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The point where the last move's ko may not be retaken now.
    #[inline]
    pub fn ko_point(&self) -> Option<Point> {
        self.ko
    }

    /// Forbids a point as the last capture of a ko would: for a position whose moves are not known.
    pub fn set_ko(&mut self, point: Option<Point>) {
        self.ko = point;
    }

    /// Lifts the ban on retaking a ko, as a pass elsewhere does.
    pub fn clear_ko(&mut self) {
        self.ko = None;
    }

    /// The stone that names the block at `point`: the same for all stones of a block.
    /// Meaningless at a point without a stone.
    #[inline]
    pub fn block(&self, point: Point) -> Point {
        self.heads[point.grid_index()]
    }

    /// The number of liberties of the block at `point`.
    #[inline]
    pub fn liberty_count(&self, point: Point) -> usize {
        debug_assert!(self.stone(point).is_some());
        self.counts_of(point).liberties as usize
    }

    /// The number of stones in the block at `point`.
    #[inline]
    pub fn stone_count(&self, point: Point) -> usize {
        debug_assert!(self.stone(point).is_some());
        self.counts_of(point).stones as usize
    }

    /// The stones of the block at `point`, each once.
    #[inline]
    pub fn stones(&self, point: Point) -> impl Iterator<Item = Point> + '_ {
        let mut next = Some(point);
        std::iter::from_fn(move || {
            let stone = next?;
            let following = self.nexts[stone.grid_index()];
            next = (following != point).then_some(following);
            Some(stone)
        })
    }

    /// The liberties of the block at `point`, each once.
    #[inline]
    pub fn liberties(&self, point: Point) -> impl Iterator<Item = Point> + '_ {
        let mut seen = PointSet::EMPTY;
        self.stones(point)
            .flat_map(Point::neighbors)
            .filter(move |&liberty| {
                let is_new = self.is_empty(liberty) && !seen.contains(liberty);
                if is_new {
                    seen.insert(liberty);
                }
                is_new
            })
            .take(self.liberty_count(point))
    }

    /// The blocks of `color` that touch `point`, each once, by their heads.
    #[inline(always)]
    pub fn adjacent_blocks(
        &self,
        point: Point,
        color: Color,
    ) -> impl DoubleEndedIterator<Item = Point> + use<> {
        let mut heads = UpToFour::NONE;
        for neighbor in point.neighbors() {
            if self.is_stone(neighbor, color) {
                heads.note(self.block(neighbor));
            }
        }
        heads.items.into_iter().take(heads.len as usize)
    }

    /// Whether `color` may play at `point`: empty, no suicide, no immediate retaking of a ko.
    #[inline]
    pub fn is_legal(&self, point: Point, color: Color) -> bool {
        self.check(point, color).is_ok()
    }

    /// The reason why `color` may not play at `point`, if there is one. Superko needs the
    /// game's history and is not looked at here.
    #[inline]
    pub fn check(&self, point: Point, color: Color) -> Result<(), Illegal> {
        self.check_by(point, color, false)
    }

    /// The same where suicide of two or more stones may be allowed.
    #[inline]
    pub fn check_by(&self, point: Point, color: Color, suicide: bool) -> Result<(), Illegal> {
        match self.cell(point) {
            Cell::Border => return Err(Illegal::OffBoard),
            Cell::Black | Cell::White => return Err(Illegal::Occupied),
            Cell::Empty => {}
        }
        // All neighbours of the point belong to who has taken the ko, and may fill it.
        if self.ko == Some(point)
            && point
                .neighbors()
                .into_iter()
                .any(|n| self.is_stone(n, color.opponent()))
        {
            return Err(Illegal::Ko);
        }
        let removes_others = || {
            point
                .neighbors()
                .into_iter()
                .any(|n| self.is_stone(n, color))
        };
        if self.is_suicide(point, color) && !(suicide && removes_others()) {
            Err(Illegal::Suicide)
        } else {
            Ok(())
        }
    }

    /// Whether a stone of `color` at the empty `point` would be left without a liberty.
    #[inline(always)]
    pub fn is_suicide(&self, point: Point, color: Color) -> bool {
        let own = Cell::of(color);
        point
            .neighbors()
            .into_iter()
            .all(|neighbor| match self.cell(neighbor) {
                Cell::Empty => false,
                Cell::Border => true,
                cell if cell == own => self.counts_of(neighbor).liberties == 1,
                _ => self.counts_of(neighbor).liberties > 1,
            })
    }

    /// The hash the position would have after `color` plays at the empty `point`.
    pub fn hash_after(&self, point: Point, color: Color) -> u64 {
        let mut hash = self.hash ^ zobrist::stone(color, point.grid_index());
        let mut captures = false;
        for head in self.adjacent_blocks(point, color.opponent()) {
            if self.counts_of(head).liberties == 1 {
                captures = true;
                hash ^= self.block_hash(head, color.opponent());
            }
        }
        if !captures && self.is_suicide(point, color) {
            hash ^= zobrist::stone(color, point.grid_index());
            for head in self.adjacent_blocks(point, color) {
                hash ^= self.block_hash(head, color);
            }
        }
        hash
    }

    /// Plays a pass: nothing changes but the ko.
    pub fn pass(&mut self) -> Undo {
        let undo = Undo {
            stone: None,
            ko_before: self.ko,
            hash_before: self.hash,
        };
        self.ko = None;
        undo
    }

    /// Plays a stone: captures, and removes the stone's own block if it has no liberty left.
    /// A ko is not enforced; ask [`Board::check`] first.
    ///
    /// # Panics
    /// If `point` is not an empty point of this board.
    #[inline]
    pub fn play(&mut self, point: Point, color: Color) -> Undo {
        assert!(
            self.is_empty(point),
            "{point:?} is not an empty point of this board"
        );
        let at = point.grid_index();
        let mut undo = Undo {
            stone: None,
            ko_before: self.ko,
            hash_before: self.hash,
        };
        let mut placed = Placed {
            point,
            color,
            captured: UpToFour::NONE,
            joins: UpToFour::new(Join::NONE),
            suicide: None,
            overwritten_head: self.heads[at],
            overwritten_next: self.nexts[at],
            overwritten_counts: self.counts[at],
            captured_stones: 0,
        };

        let around = self.surroundings(point, color);
        self.add_stone(point, color, around.empty);
        for &head in around.own.as_slice() {
            self.counts[head.grid_index()].liberties -= 1;
        }
        for &head in around.theirs.as_slice() {
            let counts = &mut self.counts[head.grid_index()];
            counts.liberties -= 1;
            if counts.liberties == 0 {
                placed.captured_stones += counts.stones;
                placed.captured.push(head);
                self.lift_block(head, color.opponent());
            }
        }
        let mut block = point;
        for &head in around.own.as_slice() {
            let join = self.join(head, block);
            block = join.survivor;
            placed.joins.push(join);
        }

        let counts = self.counts[block.grid_index()];
        self.ko = None;
        if counts.liberties == 0 {
            self.lift_block(block, color);
            placed.suicide = Some(block);
        } else if counts.stones == 1 && counts.liberties == 1 && placed.captured_stones == 1 {
            self.ko = Some(placed.captured.items[0]);
        }
        undo.stone = Some(placed);
        undo
    }

    /// Takes back the last move that is not taken back yet.
    pub fn undo(&mut self, undo: Undo) {
        self.ko = undo.ko_before;
        let Some(placed) = undo.stone else { return };
        let at = placed.point.grid_index();
        if let Some(head) = placed.suicide {
            self.put_block_back(head, placed.color);
        }
        for &join in placed.joins.as_slice().iter().rev() {
            self.part(join);
        }
        for &head in placed.captured.as_slice().iter().rev() {
            self.put_block_back(head, placed.color.opponent());
        }
        self.cells[at] = Cell::Empty;
        self.all_stones.of_mut(placed.color).remove(placed.point);
        let around = self.surroundings(placed.point, placed.color);
        for &head in around.own.as_slice().iter().chain(around.theirs.as_slice()) {
            self.counts[head.grid_index()].liberties += 1;
        }
        self.heads[at] = placed.overwritten_head;
        self.nexts[at] = placed.overwritten_next;
        self.counts[at] = placed.overwritten_counts;
        self.hash = undo.hash_before;
    }
}
