//! What can be said of a position without reading on: who has won, or how far it looks from that.

use go::Point;

use crate::problem::Side;
use crate::problem::Threats;
use crate::search::bits::Bits;
use crate::search::field::{Field, index};
use crate::search::position::Position;
use crate::search::table::INFINITE;
use crate::solver::Guide;

/// Liberties beyond this many make no difference to the estimate.
const MANY_LIBERTIES: u32 = 6;

/// What a guide's full confidence adds to a first number.
const GUIDE_WEIGHT: f32 = 8.0;

/// Proof and disproof number of a position, and the cells a solved one rests on.
pub(crate) struct Judgement<B> {
    pub pn: u32,
    pub dn: u32,
    pub zone: B,
}

impl<B> Judgement<B> {
    fn captured(zone: B) -> Judgement<B> {
        Judgement {
            pn: 0,
            dn: INFINITE,
            zone,
        }
    }

    fn safe(zone: B) -> Judgement<B> {
        Judgement {
            pn: INFINITE,
            dn: 0,
            zone,
        }
    }
}

/// Judges positions of a field.
pub(crate) struct Judge<'a, B> {
    pub field: &'a Field<B>,
    pub guide: Option<&'a dyn Guide>,
    /// Whether a target without room for two eyes is given up as captured.
    pub knows_hopeless: bool,
}

impl<B: Bits> Judge<'_, B> {
    /// Judges a position, or estimates it. Life is looked for where the defender may just have
    /// made it.
    pub fn judge(
        &self,
        position: &Position<B>,
        to_move: Side,
        defender_moved: bool,
    ) -> Judgement<B> {
        let field = self.field;
        if field.is_captured(position) {
            return Judgement::captured(B::NONE);
        }
        if to_move == Side::Attacker
            && let Some(liberty) = field.last_liberty(position)
            && self.may_play(position, Side::Attacker, liberty)
        {
            return Judgement::captured(field.atari_zone(position, liberty));
        }
        let eye_room = field.eye_room(position);
        if self.knows_hopeless
            && let Some(room) = field.hopeless_room(position, eye_room)
        {
            return Judgement::captured(room | field.hopeless_zone(position));
        }
        if defender_moved && let Some(zone) = field.life(position) {
            return Judgement::safe(zone);
        }
        self.estimate(position, to_move, eye_room)
    }

    /// First numbers of a position nobody has read: the more room for eyes and liberties the
    /// target has, the harder its capture looks.
    fn estimate(&self, position: &Position<B>, to_move: Side, eye_room: B) -> Judgement<B> {
        let field = self.field;
        let empty = field.empty(position);
        let liberties = field
            .target_blocks(position)
            .map(|block| (field.beside(block) & empty).count())
            .min()
            .unwrap_or(MANY_LIBERTIES)
            .min(MANY_LIBERTIES);
        Judgement {
            pn: 1 + eye_room.count() / 2 + liberties / 4,
            dn: 1 + (MANY_LIBERTIES - liberties) * 3 / 4 + u32::from(to_move == Side::Attacker),
            zone: B::NONE,
        }
    }

    /// What the guide adds to the first numbers of positions, asked about all of them at once.
    pub fn guided(&self, positions: &[Position<B>], to_move: Side) -> Vec<(u32, u32)> {
        let Some(guide) = self.guide else {
            return vec![(0, 0); positions.len()];
        };
        let stones: Vec<_> = positions
            .iter()
            .map(|position| {
                move |point: Point| {
                    let cell = self.field.cell(point)?;
                    Side::BOTH
                        .into_iter()
                        .find(|&side| position.stones[index(side)].has(cell))
                }
            })
            .collect();
        let views: Vec<&dyn Fn(Point) -> Option<Side>> = stones
            .iter()
            .map(|stone_at| stone_at as &dyn Fn(Point) -> Option<Side>)
            .collect();
        let chances = guide.chances_of_life(&views, to_move);
        chances
            .into_iter()
            .map(|life| {
                let life = life.clamp(0.0, 1.0);
                let hardness = |chance: f32| (GUIDE_WEIGHT * chance) as u32;
                (hardness(life), hardness(1.0 - life))
            })
            .collect()
    }

    /// Whether no ban keeps a side from a cell.
    fn may_play(&self, position: &Position<B>, side: Side, cell: usize) -> bool {
        position.ban != cell as u16 || position.threats[index(side)] != Threats::NONE
    }
}
