//! What a KataGo network is shown: 22 planes as sets of points, and 19 globals.

use std::hash::{Hash, Hasher};

use go::{Color, KoRule, LadderMarks, Move, PointSet, Scoring, Tax};

use super::{GLOBALS, PLANES};
use crate::position::{PastBoard, Position};

/// Moves of the past that have planes of their own.
const MOST_MOVES: usize = 5;
/// Komi is shown in units of so many points.
const KOMI_UNIT: f32 = 20.0;
/// Komi is cut off at the board's area and so many points more.
const KOMI_MARGIN: f32 = 20.0;

/// Planes by number.
mod plane {
    pub const BOARD: usize = 0;
    pub const OWN: usize = 1;
    pub const THEIRS: usize = 2;
    /// Chains of one, two and three liberties.
    pub const LIBERTIES: usize = 3;
    pub const KO: usize = 6;
    /// The last move, and four before it.
    pub const MOVES: usize = 9;
    /// Caught in a ladder now, one and two moves ago.
    pub const LADDERS: usize = 14;
    pub const WORKING: usize = 17;
    pub const OWN_AREA: usize = 18;
    pub const THEIR_AREA: usize = 19;
}

/// What is shown of the past and of the rules: all that does not follow from the boards themselves.
pub struct Shown {
    /// The last moves, the latest first.
    pub moves: Vec<Move>,
    pub forbidden: PointSet,
    pub globals: [f32; GLOBALS],
    shows_area: bool,
    area_with_suicide: bool,
}

impl Shown {
    pub fn new(position: &Position, area_with_suicide: bool) -> Shown {
        let rules = position.rules();
        let to_move = position.to_move();
        let self_komi = self_komi(position);
        let is_hidden = hides_history(position, self_komi, area_with_suicide);
        let moves = shown_moves(position, is_hidden);
        let is_area = rules.scoring == Scoring::Area;
        let mut globals = [0.0; GLOBALS];
        for (global, mv) in globals.iter_mut().zip(&moves) {
            *global = f32::from(mv.is_pass());
        }
        globals[5] = self_komi / KOMI_UNIT;
        [globals[6], globals[7]] = match rules.ko {
            KoRule::Simple => [0.0, 0.0],
            KoRule::Positional => [1.0, 0.5],
            KoRule::Situational => [1.0, -0.5],
        };
        globals[8] = f32::from(rules.suicide);
        globals[9] = f32::from(!is_area);
        [globals[10], globals[11]] = match rules.tax {
            Tax::None => [0.0, 0.0],
            Tax::Seki => [1.0, 0.0],
            Tax::All => [1.0, 1.0],
        };
        globals[14] = f32::from(passed_last(position) && !is_hidden);
        let doublings = position.assumptions().view.playout_doublings;
        if doublings != 0.0 {
            let sign = if position.line().len().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
            [globals[15], globals[16]] = [1.0, 0.5 * sign * doublings];
        }
        let has_passed = || position.moves_back(true).any(|(_, mv)| mv.is_pass());
        globals[17] = f32::from(rules.button && !has_passed());
        if is_area {
            globals[18] = parity_wave(self_komi, position.size().area());
        }
        debug_assert_eq!(to_move, position.to_move());
        Shown {
            moves,
            forbidden: position.forbidden_by_ko(),
            globals,
            shows_area: is_area,
            area_with_suicide,
        }
    }

    /// The current board, and those one and two moves ago as far as the moves between are shown. A board that is not
    /// shown is stood in for by the one after it.
    pub fn boards<'a>(&self, position: &'a Position) -> [&'a PastBoard; 3] {
        let mut shown = position.boards().take(self.moves.len() + 1);
        let now = shown.next().expect("a position has a board");
        let before = shown.next().unwrap_or(now);
        [now, before, shown.next().unwrap_or(before)]
    }

    /// Everything but the boards.
    pub fn hash_rest(&self, hasher: &mut impl Hasher) {
        self.moves.hash(hasher);
        self.forbidden.hash(hasher);
        self.globals.map(f32::to_bits).hash(hasher);
        self.area_with_suicide.hash(hasher);
    }
}

/// The planes and globals of a position.
pub struct Features {
    pub planes: [PointSet; PLANES],
    pub globals: [f32; GLOBALS],
}

impl Features {
    /// What a network is shown; `ladders` reads those of a board.
    pub fn new(
        position: &Position,
        area_with_suicide: bool,
        ladders: impl Fn(&PastBoard) -> LadderMarks,
    ) -> Features {
        let shown = Shown::new(position, area_with_suicide);
        let board = position.board();
        let (own, theirs) = (position.to_move(), position.to_move().opponent());
        let mut planes = [PointSet::EMPTY; PLANES];
        planes[plane::BOARD] = PointSet::full(board.size());
        planes[plane::OWN] = *board.stone_set(own);
        planes[plane::THEIRS] = *board.stone_set(theirs);
        for stone in (planes[plane::OWN] | planes[plane::THEIRS]).iter() {
            if let few @ 1..=3 = board.liberty_count(stone) {
                planes[plane::LIBERTIES + few - 1].insert(stone);
            }
        }
        planes[plane::KO] = shown.forbidden;
        for (age, mv) in shown.moves.iter().enumerate() {
            planes[plane::MOVES + age].extend(mv.point());
        }
        let marks = shown.boards(position).map(&ladders);
        for (age, marks) in marks.iter().enumerate() {
            planes[plane::LADDERS + age] = marks.caught;
        }
        planes[plane::WORKING] = marks[0].working[theirs.index()];
        if shown.shows_area {
            let area = board.settled_area(area_with_suicide);
            planes[plane::OWN_AREA] = area[own.index()];
            planes[plane::THEIR_AREA] = area[theirs.index()];
        }
        Features {
            planes,
            globals: shown.globals,
        }
    }
}

/// Komi as the side to move gets it: what Black pays is negative.
pub fn self_komi(position: &Position) -> f32 {
    let rules = position.rules();
    let bonus = rules.handicap_bonus.points(position.opening_stones());
    let mut for_white = position.komi() + bonus as f32;
    if rules.scoring == Scoring::Territory {
        // A stone played fills a point of one's own, which area scoring would count.
        let [black, white] = position.stones_played();
        for_white += black as f32 - white as f32;
    }
    let most = position.size().area() as f32 + KOMI_MARGIN;
    let for_mover = match position.to_move() {
        Color::White => for_white,
        Color::Black => -for_white,
    };
    for_mover.clamp(-most, most)
}

/// How near komi is to one where a point more or less decides, given that area scores have the parity of the board.
fn parity_wave(self_komi: f32, area: usize) -> f32 {
    let floor = if area.is_multiple_of(2) {
        (self_komi / 2.0).floor() * 2.0
    } else {
        ((self_komi - 1.0) / 2.0).floor() * 2.0 + 1.0
    };
    match self_komi - floor {
        over if over < 0.5 => over,
        over if over < 1.5 => 1.0 - over,
        over => over - 2.0,
    }
}

/// Whether the opponent's last move was a pass, so that another one ends the game.
fn passed_last(position: &Position) -> bool {
    position.passes() > 0
}

/// Whether the past is hidden because the side to move should not just agree to the end of the game.
fn hides_history(position: &Position, self_komi: f32, area_with_suicide: bool) -> bool {
    let rules = position.rules();
    if position.passes() != 1 || rules.scoring != Scoring::Area {
        return false;
    }
    let view = &position.assumptions().view;
    let would_not_win = || {
        let area = position.board().settled_area(area_with_suicide);
        let own = area[position.to_move().index()].len() as f32;
        let theirs = area[position.to_move().opponent().index()].len() as f32;
        own - theirs + self_komi <= 0.0
    };
    rules.friendly_pass
        || view.conservative_pass && position.is_root()
        || view.passing_hacks && would_not_win()
}

/// The last moves, the latest first, as long as the sides took turns.
fn shown_moves(position: &Position, is_hidden: bool) -> Vec<Move> {
    let is_over = position.passes() > 1;
    let most = match (is_hidden, is_over) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => MOST_MOVES,
    };
    let mut turn = position.to_move();
    position
        .moves_back(position.assumptions().view.history_before_root)
        .take(most)
        .take_while(|&(color, _)| {
            turn = turn.opponent();
            color == turn
        })
        .map(|(_, mv)| mv)
        .collect()
}
