//! A game: a board with its past, whose turn it is, its rules, and what White gets for it.
//!
//! Superko asks whether a position ever stood on the board, and networks look at
//! the last eight boards, so a game keeps the stones of every position since its anchor: the
//! start, or the last time stones were set up. Nothing before the anchor is remembered.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

use crate::{
    Board, BoardSize, Color, Illegal, KoRule, Komi, Move, Point, PointSet, Rules, Score,
    SetupError, Stones, Undo, zobrist,
};

/// How many boards [`Game::history`] goes back, the current one included.
pub const HISTORY: usize = 8;

/// Two passes in a row end a game.
const PASSES_TO_END: usize = 2;

/// A game record that can go forward and back.
///
/// ```
/// use go::{BoardSize, Color, Game, Komi, Move};
///
/// let mut game = Game::new(BoardSize::NINE, Komi::SEVEN_AND_A_HALF);
/// game.play("E5".parse()?)?;
/// game.play(Move::Pass)?;
/// game.play(Move::Pass)?;
/// assert!(game.is_over());
/// assert_eq!(game.score().to_string(), "B+73.5");
/// assert_eq!(game.undo(), Some((Color::Black, Move::Pass)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Game {
    board: Board,
    to_move: Color,
    komi: Komi,
    rules: Rules,
    handicap: usize,
    steps: Vec<PlayedMove>,
    /// The stones before each step since the anchor, and now: one more than there are steps.
    past: Vec<Stones>,
    positions: Hashes,
    /// Positions with the side to move.
    situations: Hashes,
}

type Hashes = HashSet<u64, BuildHasherDefault<AlreadyRandom>>;

/// A move and what it takes to go back.
#[derive(Clone)]
struct PlayedMove {
    color: Color,
    mv: Move,
    undo: Undo,
    to_move_before: Color,
    is_new_position: bool,
    is_new_situation: bool,
}

impl Game {
    /// A game on an empty board, Black to move.
    pub fn new(size: BoardSize, komi: Komi) -> Game {
        Game::from_board(Board::new(size), Color::Black, komi)
    }

    /// A game that starts from a position.
    pub fn from_board(board: Board, to_move: Color, komi: Komi) -> Game {
        let mut game = Game {
            board,
            to_move,
            komi,
            rules: Rules::default(),
            handicap: 0,
            steps: Vec::new(),
            past: Vec::new(),
            positions: HashSet::default(),
            situations: HashSet::default(),
        };
        game.anchor();
        game
    }

    /// The current board.
    #[inline]
    pub fn board(&self) -> &Board {
        &self.board
    }

    #[inline]
    pub fn size(&self) -> BoardSize {
        self.board.size()
    }

    /// Whose turn it is.
    #[inline]
    pub fn to_move(&self) -> Color {
        self.to_move
    }

    /// Gives the turn to `color`.
    pub fn set_to_move(&mut self, color: Color) {
        self.to_move = color;
        if self.steps.is_empty() {
            self.situations.clear();
            self.situations.insert(situation(self.board.hash(), color));
        }
    }

    /// The rules that moves and scores follow. Before anybody sets others: Leela Zero's.
    #[inline]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Changes the rules. Moves played so far stay, whatever the new rules say about them.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// The compensation for White.
    #[inline]
    pub fn komi(&self) -> Komi {
        self.komi
    }

    /// Changes the compensation for White. Taking moves back does not change it again.
    pub fn set_komi(&mut self, komi: Komi) {
        self.komi = komi;
    }

    /// The number of handicap stones that were placed as such.
    #[inline]
    pub fn handicap(&self) -> usize {
        self.handicap
    }

    /// Changes the number of handicap stones without putting any on the board.
    pub fn set_handicap(&mut self, stones: usize) {
        self.handicap = stones;
    }

    /// The handicap that the stones themselves tell of: Black stones set up before the first move, and Black's
    /// moves in a row at the start, White's passes between them aside. White stones at the start, or fewer than two
    /// Black ones, are no handicap.
    pub fn opening_stones(&self) -> usize {
        let anchor = &self.past[0];
        if !anchor.of(Color::White).is_empty() {
            return 0;
        }
        let in_a_row = self
            .moves()
            .filter(|&played| played != (Color::White, Move::Pass))
            .take_while(|(color, mv)| *color == Color::Black && !mv.is_pass())
            .count();
        let stones = anchor.of(Color::Black).len() + in_a_row;
        if stones < 2 { 0 } else { stones }
    }

    /// The points White gets in the score: komi, and what the rules give for handicap stones.
    pub fn compensation(&self) -> f32 {
        let bonus = self.rules.handicap_bonus.points(self.handicap);
        self.komi.points_for_white() + bonus as f32
    }

    /// Why `color` may not play `mv` by the game's rules, if there is a reason; superko included.
    pub fn check(&self, color: Color, mv: Move) -> Result<(), Illegal> {
        let Move::Play(point) = mv else { return Ok(()) };
        self.board.check_by(point, color, self.rules.suicide)?;
        let hash = || self.board.hash_after(point, color);
        let repeats = match self.rules.ko {
            KoRule::Simple => false,
            KoRule::Positional => self.positions.contains(&hash()),
            KoRule::Situational => {
                let next = situation(hash(), color.opponent());
                self.situations.contains(&next)
            }
        };
        if repeats {
            return Err(Illegal::Superko);
        }
        Ok(())
    }

    /// Whether `color` may play `mv`.
    pub fn is_legal(&self, color: Color, mv: Move) -> bool {
        self.check(color, mv).is_ok()
    }

    /// The points where `color` may play, row by row from the bottom.
    pub fn legal_points(&self, color: Color) -> impl Iterator<Item = Point> + '_ {
        self.board
            .empty_set()
            .iter()
            .filter(move |&point| self.is_legal(color, Move::Play(point)))
    }

    /// Plays for the side whose turn it is.
    pub fn play(&mut self, mv: Move) -> Result<(), Illegal> {
        self.play_as(self.to_move, mv)
    }

    /// Plays for `color`, whoever's turn it is; then it is the other side's turn.
    pub fn play_as(&mut self, color: Color, mv: Move) -> Result<(), Illegal> {
        self.check(color, mv)?;
        self.advance(color, mv);
        Ok(())
    }

    /// Plays for `color` what a record or an opponent says was played: the point must be
    /// empty, but ko, superko and suicide are not refused. Suicide removes the stones.
    pub fn force(&mut self, color: Color, mv: Move) -> Result<(), Illegal> {
        if let Move::Play(point) = mv {
            if !self.board.is_on_board(point) {
                return Err(Illegal::OffBoard);
            }
            if !self.board.is_empty(point) {
                return Err(Illegal::Occupied);
            }
        }
        self.advance(color, mv);
        Ok(())
    }

    /// Takes the last move back and returns it; nothing at the anchor.
    pub fn undo(&mut self) -> Option<(Color, Move)> {
        let step = self.steps.pop()?;
        if step.is_new_position {
            self.positions.remove(&self.board.hash());
        }
        if step.is_new_situation {
            let now = situation(self.board.hash(), step.color.opponent());
            self.situations.remove(&now);
        }
        self.past.pop();
        self.board.undo(step.undo);
        self.to_move = step.to_move_before;
        Some((step.color, step.mv))
    }

    /// The moves since the anchor, oldest first.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = (Color, Move)> + ExactSizeIterator + '_ {
        self.steps.iter().map(|step| (step.color, step.mv))
    }

    /// The number of moves since the anchor, passes included.
    #[inline]
    pub fn move_number(&self) -> usize {
        self.steps.len()
    }

    /// The last move since the anchor.
    #[inline]
    pub fn last_move(&self) -> Option<(Color, Move)> {
        self.moves().next_back()
    }

    /// How many of the last moves were passes.
    pub fn passes(&self) -> usize {
        self.steps
            .iter()
            .rev()
            .take_while(|step| step.mv.is_pass())
            .count()
    }

    /// Whether two passes ended the game.
    pub fn is_over(&self) -> bool {
        self.passes() >= PASSES_TO_END
    }

    /// The stones of the last boards, the current board first, at most [`HISTORY`] of them and
    /// none from before the anchor. A pass repeats the board.
    pub fn history(&self) -> impl DoubleEndedIterator<Item = &Stones> + ExactSizeIterator {
        self.past.iter().rev().take(HISTORY)
    }

    /// The stones of every board since the anchor, oldest first, the current board last.
    pub fn positions(&self) -> &[Stones] {
        &self.past
    }

    /// Who would win, and by how much, if the game ended here with every stone alive: Tromp-Taylor area, and the
    /// compensation for White.
    pub fn score(&self) -> Score {
        Score::from_black(self.board.area_difference() as f32 - self.compensation())
    }

    /// Replaces the position: puts stones down, takes stones away (`removed` wins last), and
    /// anchors the game there. Nothing changes when the new position is refused.
    pub fn set_up(
        &mut self,
        black: &PointSet,
        white: &PointSet,
        removed: &PointSet,
    ) -> Result<(), SetupError> {
        if let Some(point) = (*black & *white).first() {
            return Err(SetupError::BothColors(point));
        }
        let now = self.board.all_stones();
        let kept = |color| *now.of(color) - (*black | *white | *removed);
        self.board = Board::with_stones(
            self.size(),
            &(kept(Color::Black) | (*black - *removed)),
            &(kept(Color::White) | (*white - *removed)),
        )?;
        self.anchor();
        Ok(())
    }

    /// Puts handicap stones for Black on the board: White moves next, and the game is anchored
    /// to the position.
    pub fn place_handicap(&mut self, stones: &[Point]) -> Result<(), SetupError> {
        if let Some(&occupied) = stones.iter().find(|&&p| self.board.stone(p).is_some()) {
            return Err(SetupError::Occupied(occupied));
        }
        let black = stones.iter().copied().collect();
        self.set_up(&black, &PointSet::EMPTY, &PointSet::EMPTY)?;
        self.handicap = stones.len();
        self.set_to_move(Color::White);
        Ok(())
    }

    /// Forgets the moves and positions so far; the current position becomes the first one.
    pub fn anchor(&mut self) {
        self.board.clear_ko();
        self.steps.clear();
        self.past.clear();
        self.positions.clear();
        self.situations.clear();
        self.past.push(*self.board.all_stones());
        self.positions.insert(self.board.hash());
        self.situations
            .insert(situation(self.board.hash(), self.to_move));
    }

    fn advance(&mut self, color: Color, mv: Move) {
        let undo = match mv {
            Move::Play(point) => self.board.play(point, color),
            Move::Pass => self.board.pass(),
        };
        let hash = self.board.hash();
        let next = situation(hash, color.opponent());
        self.steps.push(PlayedMove {
            color,
            mv,
            undo,
            to_move_before: self.to_move,
            is_new_position: self.positions.insert(hash),
            is_new_situation: self.situations.insert(next),
        });
        self.past.push(*self.board.all_stones());
        self.to_move = color.opponent();
    }
}

/// A hash of the stones and the side to move.
pub fn situation(stones: u64, to_move: Color) -> u64 {
    stones ^ zobrist::turn(to_move)
}

/// Position hashes are random numbers already; hashing them again gains nothing.
#[derive(Clone, Default)]
struct AlreadyRandom(u64);

impl Hasher for AlreadyRandom {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(u8::BITS) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(size: usize, moves: &str) -> Game {
        let mut game = Game::new(BoardSize::new(size).unwrap(), Komi::default());
        for vertex in moves.split_whitespace() {
            game.play(vertex.parse().unwrap()).unwrap();
        }
        game
    }

    #[test]
    fn empty_board_goes_to_white_by_komi_and_handicap() {
        let mut game = game(19, "");
        assert_eq!(game.score().to_string(), "W+7.5");
        game.set_handicap(1);
        assert_eq!(game.score().to_string(), "W+8.5");
    }

    #[test]
    fn out_of_turn_moves_hand_the_turn_to_the_other_side_and_back() {
        let mut game = game(9, "E5");
        game.play_as(Color::Black, "D4".parse().unwrap()).unwrap();
        assert_eq!(game.to_move(), Color::White);
        game.set_to_move(Color::Black);
        game.play("F6".parse().unwrap()).unwrap();
        game.undo();
        assert_eq!(game.to_move(), Color::Black);
        game.undo();
        assert_eq!(game.to_move(), Color::White);
        assert_eq!(game.move_number(), 1);
    }

    #[test]
    fn simple_ko_is_refused_at_once_and_allowed_after_a_threat() {
        let mut game = game(5, "B1 C1 A2 D2 B3 C3 C2 B2");
        let retake = "C2".parse().unwrap();
        assert_eq!(game.check(Color::Black, retake), Err(Illegal::Ko));
        game.play("E5".parse().unwrap()).unwrap();
        game.play("E4".parse().unwrap()).unwrap();
        assert_eq!(game.check(Color::Black, retake), Ok(()));
    }

    #[test]
    fn superko_forbids_any_earlier_position() {
        // Passing lifts the ko's ban on the board, but the position still stood before.
        let mut game = game(5, "B1 C1 A2 D2 B3 C3 C2 B2 pass pass");
        let retake = "C2".parse().unwrap();
        assert_eq!(game.check(Color::Black, retake), Err(Illegal::Superko));
        assert_eq!(game.force(Color::Black, retake), Ok(()));
        game.undo();
        assert_eq!(game.check(Color::Black, retake), Err(Illegal::Superko));
        game.anchor();
        assert_eq!(game.check(Color::Black, retake), Ok(()));
    }

    #[test]
    fn simple_ko_allows_what_superko_forbids() {
        let mut game = game(5, "B1 C1 A2 D2 B3 C3 C2 B2 pass pass");
        let retake = "C2".parse().unwrap();
        assert_eq!(game.check(Color::Black, retake), Err(Illegal::Superko));
        // Black to move on the position before White's capture: the turn is the same, so this is a repetition too.
        game.set_rules(Rules::AGA);
        assert_eq!(game.check(Color::Black, retake), Err(Illegal::Superko));
        game.set_rules(Rules::CHINESE);
        assert_eq!(game.check(Color::Black, retake), Ok(()));
    }

    #[test]
    fn situational_superko_looks_at_the_turn() {
        // Black's suicide at B1 removes A1 too: the board of three moves ago, but now White is to move.
        let mut game = game(5, "E5 A2 E4 B2 E3 C1 A1 pass");
        let suicide = "B1".parse().unwrap();
        game.set_rules(Rules::TROMP_TAYLOR);
        assert_eq!(game.check(Color::Black, suicide), Err(Illegal::Superko));
        game.set_rules(Rules::NEW_ZEALAND);
        assert_eq!(game.check(Color::Black, suicide), Ok(()));
        game.play(suicide).unwrap();
        game.undo();
        assert_eq!(game.check(Color::Black, suicide), Ok(()), "undo forgets");
    }

    #[test]
    fn suicide_of_several_stones_is_a_matter_of_rules_and_of_one_never_allowed() {
        // Black at A1 and, if played, B1: enclosed by White at A2, B2, C1.
        let mut game = game(5, "A1 A2 E5 B2 E4 C1");
        let suicide = "B1".parse().unwrap();
        assert_eq!(game.check(Color::Black, suicide), Err(Illegal::Suicide));
        game.set_rules(Rules::TROMP_TAYLOR);
        assert_eq!(game.check(Color::Black, suicide), Ok(()));
        game.play(suicide).unwrap();
        assert!(game.board().is_empty(Point::new(0, 0)));
        game.play("E1".parse().unwrap()).unwrap();
        game.play("E2".parse().unwrap()).unwrap();
        game.play("B1".parse().unwrap()).unwrap();
        assert_eq!(
            game.check(Color::Black, "A1".parse().unwrap()),
            Err(Illegal::Suicide)
        );
    }

    #[test]
    fn handicap_is_told_from_the_first_stones() {
        let opening = |moves: &[(Color, &str)]| {
            let mut game = Game::new(BoardSize::NINE, Komi::ZERO);
            for &(color, vertex) in moves {
                game.play_as(color, vertex.parse().unwrap()).unwrap();
            }
            game.opening_stones()
        };
        use Color::{Black, White};
        assert_eq!(opening(&[(Black, "C3"), (White, "G7")]), 0);
        assert_eq!(opening(&[(Black, "C3"), (Black, "G7"), (White, "E5")]), 2);
        assert_eq!(
            opening(&[
                (Black, "C3"),
                (White, "pass"),
                (Black, "G7"),
                (White, "pass"),
                (Black, "C7"),
                (White, "E5")
            ]),
            3
        );
        assert_eq!(opening(&[(White, "C3"), (Black, "G7"), (Black, "E5")]), 0);
    }

    #[test]
    fn forced_suicide_removes_its_own_stones() {
        let mut game = game(5, "pass A2 pass B1");
        let corner = "A1".parse().unwrap();
        assert_eq!(game.check(Color::Black, corner), Err(Illegal::Suicide));
        game.force(Color::Black, corner).unwrap();
        assert!(game.board().is_empty(Point::new(0, 0)));
        assert_eq!(
            game.force(Color::Black, "A2".parse().unwrap()),
            Err(Illegal::Occupied)
        );
    }

    #[test]
    fn history_starts_with_now_stops_at_eight_and_at_the_anchor() {
        let mut game = game(9, "A1 pass");
        let counts = |game: &Game| -> Vec<usize> {
            game.history()
                .map(|stones| stones.of(Color::Black).len() + stones.of(Color::White).len())
                .collect()
        };
        assert_eq!(counts(&game), [1, 1, 0]);
        for row in 2..=9 {
            game.play(format!("C{row}").parse().unwrap()).unwrap();
        }
        assert_eq!(counts(&game), [9, 8, 7, 6, 5, 4, 3, 2]);
        game.set_up(&PointSet::EMPTY, &PointSet::EMPTY, &PointSet::EMPTY)
            .unwrap();
        assert_eq!(counts(&game), [9]);
        assert_eq!(game.undo(), None);
    }

    #[test]
    fn set_up_replaces_stones_or_changes_nothing() {
        let mut game = game(5, "A1 B2");
        let points = |text: &str| -> PointSet {
            text.split_whitespace()
                .map(|v| v.parse::<Point>().unwrap())
                .collect()
        };
        let none = PointSet::EMPTY;
        assert_eq!(
            game.set_up(&none, &points("A2 B1"), &none),
            Err(SetupError::NoLiberty(Point::new(0, 0)))
        );
        assert_eq!(game.move_number(), 2);
        game.set_up(&points("B2 C3"), &points("E5"), &points("A1"))
            .unwrap();
        assert_eq!(*game.board().stone_set(Color::Black), points("B2 C3"));
        assert_eq!(*game.board().stone_set(Color::White), points("E5"));
    }

    #[test]
    fn handicap_gives_white_the_turn_and_a_point_a_stone() {
        let mut game = game(9, "");
        game.place_handicap(&[Point::new(2, 2), Point::new(6, 6)])
            .unwrap();
        assert_eq!(game.to_move(), Color::White);
        assert_eq!(game.score().to_string(), "B+71.5");
        assert_eq!(
            game.place_handicap(&[Point::new(2, 2)]),
            Err(SetupError::Occupied(Point::new(2, 2)))
        );
    }
}
