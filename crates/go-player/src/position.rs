//! A Go position as the search walks it: light to copy, with the game's past shared.

mod past;
mod walk;

pub use past::PastBoard;
use past::{boards_of, repetition};
pub use walk::side;

use std::{collections::HashSet, sync::Arc};

use go::{Board, BoardSize, Color, Game, KoRule, Move, Point, PointSet, Rules, Scoring, Stones};

use crate::{
    dynamic_komi::{Trust, TurnKomi},
    network_view::NetworkView,
    planes::HISTORY,
};

/// Two passes in a row end the game.
const PASSES_TO_END: usize = 2;

/// What a search takes for granted beside the rules of the game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// The komi the network is told.
    pub net_komi: TurnKomi,
    /// Which of the network's winrates count at that komi.
    pub trust: Trust,
    /// Points White gets in the score: komi, and one for each handicap stone if they count.
    pub compensation: f32,
    /// Whether passing is always a candidate, not only when it makes sense.
    pub always_considers_pass: bool,
    /// Whether a root after two passes is searched as if the game went on. Below the root two passes end it always.
    pub plays_on: bool,
    /// What a network is told beyond the stones.
    pub view: NetworkView,
}

impl Default for Assumptions {
    fn default() -> Assumptions {
        Assumptions {
            net_komi: TurnKomi::TRAINED,
            trust: Trust::BOTH,
            compensation: 7.5,
            always_considers_pass: false,
            plays_on: false,
            view: NetworkView::default(),
        }
    }
}

/// A position of the search tree.
///
/// The game up to the root is shared by all positions below it; each keeps its own board and the
/// moves since the root.
pub struct Position {
    root: Arc<Root>,
    board: Board,
    to_move: Color,
    passes: usize,
    line: Vec<Played>,
}

struct Root {
    assumptions: Assumptions,
    rules: Rules,
    /// Points White gets by komi alone.
    komi: f32,
    /// Handicap stones, as [`Game::opening_stones`] counts them.
    opening_stones: usize,
    /// The first position of the game and every move since.
    anchor: Stones,
    moves: Vec<(Color, Move)>,
    to_move: Color,
    passes: usize,
    /// The last boards, the root's own first.
    history: Vec<PastBoard>,
    /// The hash of every position that stood on the board, and under situational superko with the side to move.
    positions: HashSet<u64>,
}

#[derive(Clone, Copy)]
struct Played {
    mv: Move,
    /// What superko compares.
    repetition: u64,
    after: PastBoard,
}

impl Position {
    /// The current position of a game.
    pub fn new(game: &Game, assumptions: Assumptions) -> Position {
        let passes = game.passes().min(PASSES_TO_END);
        let boards = boards_of(game);
        let rules = *game.rules();
        let first_to_move = game
            .moves()
            .next()
            .map_or(game.to_move(), |(color, _)| color);
        let turns = game.moves().map(|(color, _)| color.opponent());
        let turns = [first_to_move].into_iter().chain(turns);
        let repetitions = boards.iter().zip(turns);
        let root = Root {
            assumptions,
            rules,
            komi: game.komi().points_for_white(),
            opening_stones: game.opening_stones(),
            anchor: game.positions()[0],
            to_move: game.to_move(),
            passes,
            positions: repetitions
                .map(|(board, next)| repetition(rules.ko, board.hash, next))
                .collect(),
            history: boards.iter().rev().take(HISTORY).copied().collect(),
            moves: game.moves().collect(),
        };
        Position {
            board: game.board().clone(),
            to_move: root.to_move,
            passes: root.passes,
            root: Arc::new(root),
            line: Vec::new(),
        }
    }

    /// The same position with the passes before it forgotten, as for a cleanup after both passed.
    #[must_use]
    pub fn without_passes(mut self) -> Position {
        self.passes = 0;
        if let Some(root) = Arc::get_mut(&mut self.root) {
            root.passes = 0;
        }
        self
    }

    /// The same position with passing among its candidates, however little sense it makes.
    #[must_use]
    pub fn considering_pass(mut self) -> Position {
        if let Some(root) = Arc::get_mut(&mut self.root) {
            root.assumptions.always_considers_pass = true;
        }
        self
    }

    /// The same position with the moves before it hidden from networks that can do without them.
    #[must_use]
    pub fn hiding_history(mut self) -> Position {
        if let Some(root) = Arc::get_mut(&mut self.root) {
            root.assumptions.view.history_before_root = false;
        }
        self
    }

    /// The same position with another komi for the network.
    #[must_use]
    pub fn told(mut self, net_komi: TurnKomi) -> Position {
        if let Some(root) = Arc::get_mut(&mut self.root) {
            root.assumptions.net_komi = net_komi;
        }
        self
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    pub fn size(&self) -> BoardSize {
        self.board.size()
    }

    /// Whose turn it is.
    pub fn to_move(&self) -> Color {
        self.to_move
    }

    /// Whether the search has nothing to do here: both passed, and the root does not play on.
    fn is_over(&self) -> bool {
        let plays_on = self.root.assumptions.plays_on && self.line.is_empty();
        self.passes >= PASSES_TO_END && !plays_on
    }

    /// How many of the last moves were passes, two at most.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// What the search takes for granted.
    pub fn assumptions(&self) -> &Assumptions {
        &self.root.assumptions
    }

    /// The rules of the game.
    pub fn rules(&self) -> &Rules {
        &self.root.rules
    }

    /// The points White gets by komi alone.
    pub fn komi(&self) -> f32 {
        self.root.komi
    }

    /// Handicap stones, as [`Game::opening_stones`] counts them.
    pub fn opening_stones(&self) -> usize {
        self.root.opening_stones
    }

    /// The moves that led here, the last one first. `before_root` says whether to go on past the root.
    pub fn moves_back(&self, before_root: bool) -> impl Iterator<Item = (Color, Move)> + '_ {
        let mut color = self.to_move;
        let line = self.line.iter().rev().map(move |played| {
            color = color.opponent();
            (color, played.mv)
        });
        let before = self.root.moves.iter().rev().copied();
        line.chain(before.filter(move |_| before_root))
    }

    /// The current board and the last ones before it, the current one first, at most eight.
    pub fn boards(&self) -> impl Iterator<Item = &PastBoard> {
        let line = self.line.iter().rev().map(|played| &played.after);
        line.chain(&self.root.history).take(HISTORY)
    }

    /// How many stones each colour has played since the game began, Black's first; passes and set-up stones aside.
    pub fn stones_played(&self) -> [usize; 2] {
        let mut played = [0; 2];
        for (color, mv) in self.moves_back(true) {
            played[color.index()] += usize::from(!mv.is_pass());
        }
        played
    }

    /// The empty points that only ko or superko forbids to the side to move.
    pub fn forbidden_by_ko(&self) -> PointSet {
        let simple = self.board.ko_point();
        let is_simple =
            |&point: &Point| self.board.check(point, self.to_move) == Err(go::Illegal::Ko);
        let mut forbidden: PointSet = simple.filter(is_simple).into_iter().collect();
        if self.root.rules.ko == KoRule::Simple || !self.has_captured() {
            return forbidden;
        }
        let suicide = self.root.rules.suicide;
        for point in self.board.empty_set().iter() {
            if self.board.check_by(point, self.to_move, suicide).is_ok() && self.repeats(point) {
                forbidden.insert(point);
            }
        }
        forbidden
    }

    /// Whether fewer stones are on the board than were put there: else no position can come back.
    fn has_captured(&self) -> bool {
        let on_board =
            |stones: &Stones| stones.of(Color::Black).len() + stones.of(Color::White).len();
        let [black, white] = self.stones_played();
        on_board(self.board.all_stones()) < on_board(&self.root.anchor) + black + white
    }

    /// Whether the network's winrate counts here.
    pub fn is_trusted(&self) -> bool {
        let Assumptions {
            net_komi, trust, ..
        } = self.root.assumptions;
        trust.accepts(net_komi, self.to_move)
    }

    /// Whether this is the position that is searched, not one below it.
    pub fn is_root(&self) -> bool {
        self.line.is_empty()
    }

    /// The last boards, the current one first, at most eight.
    pub fn history(&self) -> impl Iterator<Item = &Stones> {
        self.boards().map(|board| &board.stones)
    }

    /// The moves from the root to here.
    pub fn line(&self) -> impl ExactSizeIterator<Item = Move> + '_ {
        self.line.iter().map(|played| played.mv)
    }

    /// How many points `color` is ahead if the game ends here.
    pub fn lead(&self, color: Color) -> f32 {
        let Assumptions {
            compensation, view, ..
        } = self.root.assumptions;
        let area = if view.settled_scores {
            let [black, white] = self.board.settled_area(self.root.rules.suicide);
            black.len() as i32 - white.len() as i32
        } else {
            self.board.area_difference()
        };
        let mut black = area as f32 - compensation;
        if self.root.rules.scoring == Scoring::Territory {
            // Territory and prisoners are area without the stones that were played.
            let [by_black, by_white] = self.stones_played();
            black -= by_black as f32 - by_white as f32;
        }
        match color {
            Color::Black => black,
            Color::White => -black,
        }
    }

    /// Who owns each point if the game ends here, row by row from the bottom: 1 for Black, -1 for White, 0 for nobody.
    pub fn owners(&self) -> Vec<f32> {
        let size = self.size();
        let [black, white] = if self.root.assumptions.view.settled_scores {
            self.board.settled_area(self.root.rules.suicide)
        } else {
            Color::BOTH.map(|color| self.board.reach(color))
        };
        let mut owners = vec![0.0; size.area()];
        for point in size.points() {
            let of = |set: &PointSet| f32::from(u8::from(set.contains(point)));
            owners[size.index(point)] = of(&black) - of(&white);
        }
        owners
    }

    /// Whether the side to move may play here; superko is asked of the whole game.
    pub fn is_legal(&self, mv: Move) -> bool {
        let Move::Play(point) = mv else { return true };
        let suicide = self.root.rules.suicide;
        self.board.check_by(point, self.to_move, suicide).is_ok() && !self.repeats(point)
    }

    /// Whether a play would repeat a position that superko forbids.
    fn repeats(&self, point: Point) -> bool {
        let ko = self.root.rules.ko;
        if ko == KoRule::Simple {
            return false;
        }
        let hash = self.board.hash_after(point, self.to_move);
        let next = repetition(ko, hash, self.to_move.opponent());
        self.root.positions.contains(&next)
            || self.line.iter().any(|played| played.repetition == next)
    }

    /// A number that differs, as far as 128 bits can, whenever the last eight boards, the side to move or `salt` do.
    pub fn stones_key(&self, salt: u64) -> u128 {
        // Board hashes are random already; multiplying by odd constants keeps their order apart.
        const LOW: u64 = 0x9E37_79B9_7F4A_7C15;
        const HIGH: u64 = 0xC2B2_AE3D_27D4_EB4F;
        let mut low = salt;
        let mut high = (self.to_move.index() + 1) as u64 | (self.size().get() as u64) << 8;
        for hash in self.boards().map(|board| board.hash) {
            low = (low.rotate_left(23) ^ hash).wrapping_mul(LOW);
            high = (high.rotate_left(41) ^ hash.rotate_left(32)).wrapping_mul(HIGH);
            low ^= low >> 29;
            high ^= high >> 31;
        }
        u128::from(high) << 64 | u128::from(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::Komi;
    use proptest::prelude::*;
    use search::{Game as _, Side, Turn};

    fn assumptions() -> Assumptions {
        Assumptions {
            net_komi: TurnKomi::TRAINED,
            trust: Trust::BOTH,
            compensation: 7.5,
            always_considers_pass: false,
            plays_on: false,
            view: NetworkView::default(),
        }
    }

    fn game(side: usize, moves: &str) -> Game {
        let mut game = Game::new(BoardSize::new(side).unwrap(), Komi::default());
        for word in moves.split_whitespace() {
            game.play(word.parse().unwrap()).unwrap();
        }
        game
    }

    fn position(game: &Game) -> Position {
        Position::new(game, assumptions())
    }

    fn net_key(position: &Position) -> u128 {
        let komi = position.assumptions().net_komi;
        position.stones_key(komi.key(position.to_move()))
    }

    #[test]
    fn two_passes_end_the_game_with_its_score() {
        let mut black_wins = position(&game(5, "C3 pass"));
        assert_eq!(black_wins.turn(), Turn::Player(Side::First));
        black_wins.play(Move::Pass);
        assert_eq!(black_wins.turn(), Turn::Over(1.0));
        let empty = position(&game(5, "pass pass"));
        assert_eq!(empty.turn(), Turn::Over(0.0));
        assert_eq!(empty.without_passes().turn(), Turn::Player(Side::First));
    }

    #[test]
    fn a_root_that_plays_on_is_searched_after_two_passes_and_ends_with_the_next_pass() {
        let playing_on = Assumptions {
            plays_on: true,
            ..assumptions()
        };
        let mut game = game(5, "C3 pass");
        let before = Position::new(&game, playing_on);
        game.play(Move::Pass).unwrap();
        let root = Position::new(&game, playing_on);
        assert_eq!(root.turn(), Turn::Player(Side::Second));
        let after = |mv: Move| {
            let mut after = root.clone();
            after.play(mv);
            after.turn()
        };
        assert_eq!(after(Move::Pass), Turn::Over(1.0));
        assert_eq!(after("B2".parse().unwrap()), Turn::Player(Side::First));
        // The tree of the position before knows this one as the end of the game.
        assert_eq!(root.path_from(&before), None);
        assert_eq!(root.path_from(&root), Some(Vec::new()));
        game.play("B2".parse().unwrap()).unwrap();
        let later = Position::new(&game, playing_on);
        assert_eq!(later.path_from(&root), Some(vec!["B2".parse().unwrap()]));
    }

    #[test]
    fn a_descendant_knows_its_way_from_an_earlier_position() {
        let mut game = game(9, "C3 G7");
        let earlier = position(&game);
        game.play("E5".parse().unwrap()).unwrap();
        game.play(Move::Pass).unwrap();
        let later = position(&game);
        let expected: Vec<Move> = vec!["E5".parse().unwrap(), Move::Pass];
        assert_eq!(later.path_from(&earlier), Some(expected));
        assert_eq!(earlier.path_from(&later), None);
        assert_eq!(later.path_from(&later), Some(Vec::new()));
    }

    #[test]
    fn another_komi_or_a_move_out_of_turn_starts_afresh() {
        let mut game = game(9, "C3");
        let earlier = position(&game);
        let other = Assumptions {
            compensation: 0.5,
            ..assumptions()
        };
        assert_eq!(Position::new(&game, other).path_from(&earlier), None);
        game.play_as(Color::Black, "D4".parse().unwrap()).unwrap();
        assert_eq!(position(&game).path_from(&earlier), None);
        game.undo();
        game.set_to_move(Color::Black);
        assert_eq!(position(&game).path_from(&earlier), None);
    }

    #[test]
    fn whatever_the_network_sees_is_in_the_key() {
        let key = |moves: &str| net_key(&position(&game(9, moves)));
        let base = key("C3 G7 E5");
        // The same board by another way: the network sees another past.
        assert_ne!(base, key("E5 G7 C3"));
        assert_ne!(key("C3"), key("C3 pass pass"));
        let mut other_turn = game(9, "C3 G7 E5");
        other_turn.set_to_move(Color::Black);
        assert_ne!(base, net_key(&position(&other_turn)));
        let other_komi = Assumptions {
            net_komi: TurnKomi::both(0.0),
            ..assumptions()
        };
        let told = Position::new(&game(9, "C3 G7 E5"), other_komi);
        assert_ne!(base, net_key(&told));
        // The komi of the score is no input.
        let other_score = Assumptions {
            compensation: 0.5,
            ..assumptions()
        };
        let scored = Position::new(&game(9, "C3 G7 E5"), other_score);
        assert_eq!(base, net_key(&scored));
    }

    #[test]
    fn superko_looks_at_the_game_and_at_the_line() {
        // A ko taken in the game may not be retaken in the tree, even after two passes.
        let mut position = position(&game(5, "B1 C1 A2 D2 B3 C3 C2 B2"));
        let retake: Move = "C2".parse().unwrap();
        assert!(!position.is_legal(retake));
        position.play(Move::Pass);
        position.play(Move::Pass);
        assert!(!position.is_legal(retake));
    }

    proptest! {
        #[test]
        fn a_line_below_the_root_is_seen_like_the_same_moves_in_the_game(
            picks in prop::collection::vec(0usize..1000, 1..40), split in 0usize..40
        ) {
            let mut whole = Game::new(BoardSize::new(5).unwrap(), Komi::default());
            let mut root = whole.clone();
            let mut line = Vec::new();
            for (index, pick) in picks.into_iter().enumerate() {
                let legal: Vec<Move> = whole
                    .legal_points(whole.to_move())
                    .map(Move::Play)
                    .chain([Move::Pass])
                    .collect();
                let mv = legal[pick % legal.len()];
                whole.play(mv).unwrap();
                if index < split { root.play(mv).unwrap() } else { line.push(mv) }
            }
            let direct = position(&whole);
            let mut walked = position(&root);
            for mv in line {
                walked.play(mv);
            }
            prop_assert_eq!(net_key(&direct), net_key(&walked));
            prop_assert!(direct.history().eq(walked.history()));
            prop_assert_eq!(direct.turn(), walked.turn());
            let mut expected = Vec::new();
            let mut found = Vec::new();
            direct.moves(&mut expected);
            walked.moves(&mut found);
            prop_assert_eq!(expected, found);
        }
    }
}
