//! Counting a finished position: who owns what, once it is known which stones are dead.

use crate::{
    Board, Color, Game, Move, PointSet, Rules, Score, Scoring, Tax,
    dame::{self, Areas},
};

/// Stone scoring takes two points of every living group.
const GROUP_TAX: i32 = 2;
/// What the first to pass gets where there is a button.
const BUTTON: f32 = 0.5;

/// A counted position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The stones that were taken off, of both colours.
    pub dead: PointSet,
    /// The stones that stay, Black's first.
    pub living: [PointSet; 2],
    /// The points each colour surrounds, dead stones in there included, Black's first.
    pub territory: [PointSet; 2],
    /// The points that nobody surrounds.
    pub neutral: PointSet,
    /// Points of a territory that its owner must fill once all neutral points are taken. They count as area only.
    pub protected: PointSet,
    /// The stones and points of groups that live only because neither side can attack.
    pub seki: PointSet,
    /// Living groups of each colour that are not in seki.
    groups: [usize; 2],
}

impl Board {
    /// Counts the board with `dead` taken off. Stones that are not on the board are ignored.
    pub fn count(&self, dead: &PointSet) -> Count {
        let living = Color::BOTH.map(|color| *self.stone_set(color) - *dead);
        let dead = *dead & (*self.stone_set(Color::Black) | *self.stone_set(Color::White));
        let [black, white] = &living;
        // A board without some of its stones is a board; if not, nothing is known to be surrounded.
        let board = Board::with_stones(self.size(), black, white);
        let board = board.unwrap_or_else(|_| Board::new(self.size()));
        let Areas { territory, neutral } = Areas::of(&board);
        let ended = dame::end(board);
        let mut count = Count {
            dead,
            living,
            territory,
            neutral,
            protected: ended.protected & (territory[0] | territory[1]),
            seki: PointSet::EMPTY,
            groups: [0; 2],
        };
        let left = Areas::of(&ended.board);
        for color in Color::BOTH {
            for group in left.groups(&ended.board, color) {
                if !group.has_eyes && group.points.neighbors().intersects(&left.neutral) {
                    count.seki = count.seki | group.points;
                } else {
                    count.groups[color.index()] += 1;
                }
            }
        }
        count
    }
}

impl Count {
    /// The result of the game under its rules, komi and handicap included.
    pub fn score(&self, game: &Game) -> Score {
        let rules = game.rules();
        let [black, white] = Color::BOTH.map(|color| self.points(game, rules, color));
        let button = match game.moves().find(|(_, mv)| mv.is_pass()) {
            Some((Color::Black, _)) if rules.button => BUTTON,
            Some((Color::White, _)) if rules.button => -BUTTON,
            _ => 0.0,
        };
        Score::from_black((black - white) as f32 + button - game.compensation())
    }

    /// The points of a colour without komi.
    fn points(&self, game: &Game, rules: &Rules, color: Color) -> i32 {
        let own = color.index();
        let territory = match rules.tax {
            Tax::None => self.territory[own],
            Tax::Seki | Tax::All => self.territory[own] - self.seki,
        };
        let mut points = territory.len() as i32;
        match rules.scoring {
            Scoring::Area => points += self.living[own].len() as i32,
            Scoring::Territory => {
                points -= (territory & self.protected).len() as i32;
                let dead = self.dead & *game.board().stone_set(color.opponent());
                points += (dead.len() + game.prisoners(color.opponent())) as i32;
            }
        }
        if rules.tax == Tax::All {
            points -= GROUP_TAX * self.groups[own] as i32;
        }
        points
    }

    /// Who owns a point: 1 for Black, -1 for White, 0 for nobody.
    pub fn owner(&self, point: crate::Point) -> i8 {
        let owns = |color: usize| {
            self.living[color].contains(point) || self.territory[color].contains(point)
        };
        i8::from(owns(0)) - i8::from(owns(1))
    }
}

impl Game {
    /// How many stones of `color` were captured since the game began.
    pub fn prisoners(&self, color: Color) -> usize {
        let is_stone = |&(who, mv): &(Color, Move)| who == color && !mv.is_pass();
        let played = self.moves().filter(is_stone).count();
        let set_up = self.positions()[0].of(color).len();
        (set_up + played).saturating_sub(self.board().stone_set(color).len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoardSize, Komi, Point};

    fn points(text: &str) -> PointSet {
        text.split_whitespace()
            .map(|vertex| vertex.parse::<Point>().unwrap())
            .collect()
    }

    fn game(side: usize, rows: &str, rules: Rules) -> Game {
        let board = Board::from_diagram(BoardSize::new(side).unwrap(), rows).unwrap();
        let mut game = Game::from_board(board, Color::Black, Komi::ZERO);
        game.set_rules(rules);
        game
    }

    const WALLS: &str = ". . # O .
         . O # O .
         . . # O .
         . . # O .
         . . # O .";

    #[test]
    fn dead_stones_are_territory_and_prisoners() {
        let dead = points("B4");
        let area = game(5, WALLS, Rules::CHINESE);
        // Black: five stones and ten points. White: five stones and five points.
        assert_eq!(area.board().count(&dead).score(&area).to_string(), "B+5");
        // Left alive, the White stone makes Black's points neutral: five stones against ten points and a stone.
        let alive = area.board().count(&PointSet::EMPTY);
        assert_eq!(alive.score(&area).to_string(), "W+6");
        assert_eq!(alive.neutral.len(), 9);
        // Japanese: ten points and a prisoner against five points.
        let territory = game(5, WALLS, Rules::JAPANESE);
        assert_eq!(
            territory.board().count(&dead).score(&territory).to_string(),
            "B+6"
        );
    }

    #[test]
    fn captured_stones_count_for_territory() {
        let mut game = Game::new(BoardSize::new(5).unwrap(), Komi::new(0.5).unwrap());
        game.set_rules(Rules::JAPANESE);
        // White A1 is captured by A2 and B1.
        for vertex in ["A2", "A1", "B1", "pass", "C1", "pass"] {
            game.play(vertex.parse().unwrap()).unwrap();
        }
        assert_eq!(game.prisoners(Color::White), 1);
        // The whole board but three stones is Black's: 22 points and a prisoner.
        assert_eq!(
            game.board()
                .count(&PointSet::EMPTY)
                .score(&game)
                .to_string(),
            "B+22.5"
        );
    }

    #[test]
    fn a_point_that_must_be_filled_is_area_and_no_territory() {
        // White takes F4 and Black has to connect at C4.
        let rows = ". # O . . . .
             . # O O . . .
             . # # O O O .
             . # . # # . O
             . # # O O O .
             . # O O . . .
             . # O . . . .";
        let japanese = game(7, rows, Rules::JAPANESE);
        let count = japanese.board().count(&PointSet::EMPTY);
        assert_eq!(count.protected, points("C4"));
        // Seven points against sixteen; by area 11 stones and 8 points against 13 and 16.
        assert_eq!(count.score(&japanese).to_string(), "W+9");
        let chinese = game(7, rows, Rules::CHINESE);
        assert_eq!(count.score(&chinese).to_string(), "W+10");
    }

    #[test]
    fn a_seki_has_no_points_where_it_is_taxed() {
        // Two groups share the liberties C5 and C4... each has one eye: A5 for White, E5 for Black.
        let rows = ". O . # .
             O O . # #
             # # O O #
             # # # O O
             . # . # O";
        let japanese = game(5, rows, Rules::JAPANESE);
        let count = japanese.board().count(&PointSet::EMPTY);
        assert!(
            count.seki.contains("A5".parse().unwrap()),
            "{:?}",
            count.seki
        );
        let with_tax = count.points(&japanese, &Rules::JAPANESE, Color::White);
        assert_eq!(with_tax, 0);
    }

    #[test]
    fn the_button_breaks_ties_for_who_passed_first() {
        let mut game = game(5, WALLS, "aga-button".parse().unwrap());
        game.play(Move::Pass).unwrap();
        game.play(Move::Pass).unwrap();
        let dead = points("B4");
        assert_eq!(game.board().count(&dead).score(&game).to_string(), "B+5.5");
    }
}
