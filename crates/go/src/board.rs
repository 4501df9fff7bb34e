//! A board that plays and takes back moves, and always knows its blocks and their liberties.
//!
//! The stones of a block form a ring of `next` links; one of them, the head, carries the
//! block's counts. Every change a move makes is its own inverse or is kept in the [`Undo`]:
//! joining two rings swaps two links (swapping again parts them), a captured block leaves its
//! links and counts in place until something is played there, and that play saves what it
//! overwrites. So a move is taken back in the time it took to play.

use crate::{
    BoardSize, Color, Illegal, Point, PointSet, SetupError, Stones, Undo,
    point::GRID,
    undo::{Counts, Join, Placed, Surroundings, UpToFour},
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

    /// Puts a whole block on the board whose empty points are `empty`.
    fn add_block(
        &mut self,
        block: &PointSet,
        color: Color,
        empty: &PointSet,
    ) -> Result<(), SetupError> {
        let Some(head) = block.first() else {
            return Ok(());
        };
        let liberties = (block.grown() & *empty).len();
        if liberties == 0 {
            return Err(SetupError::NoLiberty(head));
        }
        let mut last = head;
        for stone in block.iter() {
            let at = stone.grid_index();
            self.cells[at] = Cell::of(color);
            self.all_stones.of_mut(color).insert(stone);
            self.hash ^= zobrist::stone(color, at);
            self.heads[at] = head;
            self.nexts[last.grid_index()] = stone;
            last = stone;
        }
        self.nexts[last.grid_index()] = head;
        self.counts[head.grid_index()] = Counts {
            stones: block.len() as u16,
            liberties: liberties as u16,
        };
        Ok(())
    }

    #[inline]
    fn cell(&self, point: Point) -> Cell {
        self.cells[point.grid_index()]
    }

    #[inline]
    fn counts_of(&self, point: Point) -> Counts {
        self.counts[self.block(point).grid_index()]
    }

    #[inline(always)]
    fn surroundings(&self, point: Point, color: Color) -> Surroundings {
        let own = Cell::of(color);
        let mut around = Surroundings {
            own: UpToFour::NONE,
            theirs: UpToFour::NONE,
            empty: 0,
        };
        for neighbor in point.neighbors() {
            match self.cell(neighbor) {
                Cell::Empty => around.empty += 1,
                Cell::Border => {}
                cell if cell == own => around.own.note(self.block(neighbor)),
                _ => around.theirs.note(self.block(neighbor)),
            }
        }
        around
    }

    /// Puts a stone down as a block of its own; neighbours are not told.
    #[inline]
    fn add_stone(&mut self, point: Point, color: Color, liberties: u16) {
        let at = point.grid_index();
        self.cells[at] = Cell::of(color);
        self.all_stones.of_mut(color).insert(point);
        self.hash ^= zobrist::stone(color, at);
        self.heads[at] = point;
        self.nexts[at] = point;
        self.counts[at] = Counts {
            stones: 1,
            liberties,
        };
    }

    /// Whether the empty `point` is a liberty of the block `head` of `color`.
    #[inline]
    fn touches(&self, point: Point, head: Point, color: Color) -> bool {
        point
            .neighbors()
            .into_iter()
            .any(|n| self.is_stone(n, color) && self.block(n) == head)
    }

    fn block_hash(&self, head: Point, color: Color) -> u64 {
        self.stones(head).fold(0, |hash, stone| {
            hash ^ zobrist::stone(color, stone.grid_index())
        })
    }

    /// Takes a block off the board; its ring and counts stay behind for [`Board::put_block_back`].
    fn lift_block(&mut self, head: Point, color: Color) {
        let mut stone = head;
        loop {
            let at = stone.grid_index();
            self.cells[at] = Cell::Empty;
            self.all_stones.of_mut(color).remove(stone);
            self.hash ^= zobrist::stone(color, at);
            self.change_liberties_around(stone, color.opponent(), 1);
            stone = self.nexts[at];
            if stone == head {
                return;
            }
        }
    }

    fn put_block_back(&mut self, head: Point, color: Color) {
        let mut stone = head;
        loop {
            let at = stone.grid_index();
            self.cells[at] = Cell::of(color);
            self.all_stones.of_mut(color).insert(stone);
            self.change_liberties_around(stone, color.opponent(), -1);
            stone = self.nexts[at];
            if stone == head {
                return;
            }
        }
    }

    /// Adds `change` to the liberties of each block of `color` that touches `point`.
    #[inline]
    fn change_liberties_around(&mut self, point: Point, color: Color, change: i16) {
        for head in self.adjacent_blocks(point, color) {
            let liberties = &mut self.counts[head.grid_index()].liberties;
            *liberties = liberties.wrapping_add_signed(change);
        }
    }

    /// Joins two blocks of one colour; the larger one keeps its head.
    fn join(&mut self, a: Point, b: Point) -> Join {
        let (survivor, absorbed) =
            if self.counts[a.grid_index()].stones >= self.counts[b.grid_index()].stones {
                (a, b)
            } else {
                (b, a)
            };
        let survivor_before = self.counts[survivor.grid_index()];
        let absorbed_counts = self.counts[absorbed.grid_index()];
        let gained = self.liberties_gained(absorbed, absorbed_counts, survivor);
        let mut stone = absorbed;
        loop {
            self.heads[stone.grid_index()] = survivor;
            stone = self.nexts[stone.grid_index()];
            if stone == absorbed {
                break;
            }
        }
        self.nexts
            .swap(survivor.grid_index(), absorbed.grid_index());
        self.counts[survivor.grid_index()] = Counts {
            stones: survivor_before.stones + absorbed_counts.stones,
            liberties: survivor_before.liberties + gained,
        };
        Join {
            absorbed,
            survivor,
            survivor_before,
        }
    }

    /// The liberties of one block that are not liberties of another of its colour.
    #[inline]
    fn liberties_gained(&self, block: Point, counts: Counts, other: Point) -> u16 {
        if counts.liberties == 0 {
            return 0;
        }
        let color = match self.cell(block) {
            Cell::Black => Color::Black,
            _ => Color::White,
        };
        if counts.stones == 1 {
            let gained = block
                .neighbors()
                .into_iter()
                .filter(|&n| self.is_empty(n) && !self.touches(n, other, color));
            return gained.count() as u16;
        }
        let gained = self
            .liberties(block)
            .filter(|&l| !self.touches(l, other, color));
        gained.count() as u16
    }

    /// The inverse of [`Board::join`].
    fn part(&mut self, join: Join) {
        let Join {
            absorbed,
            survivor,
            survivor_before,
        } = join;
        self.nexts
            .swap(survivor.grid_index(), absorbed.grid_index());
        let mut stone = absorbed;
        loop {
            self.heads[stone.grid_index()] = absorbed;
            stone = self.nexts[stone.grid_index()];
            if stone == absorbed {
                break;
            }
        }
        self.counts[survivor.grid_index()] = survivor_before;
    }
}
