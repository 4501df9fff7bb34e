//! From a node of a tree to the game at that node.

use super::{NodeId, SgfError, Tree, tree::color_letter};
use crate::{Color, Game, Illegal, Komi};

/// A game replayed from a record.
#[derive(Clone)]
pub struct Replay {
    /// The game at the node asked for.
    pub game: Game,
    /// Moves that were played although our rules forbid them: other rules allow suicide, and
    /// many know no superko.
    pub irregular: Vec<(NodeId, Illegal)>,
}

impl Tree {
    /// The game at `node`: setup stones and moves from the root up to and with it.
    ///
    /// A move on a stone or off the board is an error. Any other move is played as recorded.
    pub fn game_at(&self, node: NodeId) -> Result<Game, SgfError> {
        self.replay(node).map(|replay| replay.game)
    }

    /// The node of the main line after which `number` moves have been played; nothing if there
    /// are fewer.
    pub fn node_after(&self, number: usize) -> Result<Option<NodeId>, SgfError> {
        let mut played = 0;
        for node in self.main_line() {
            played += self.moves(node)?.len();
            if played >= number {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }

    /// The game at `node`, and which of its moves our rules forbid.
    pub fn replay(&self, node: NodeId) -> Result<Replay, SgfError> {
        let mut game = Game::new(self.size()?, self.komi()?.unwrap_or(Komi::ZERO));
        let handicap = self.handicap()?;
        game.set_handicap(handicap);
        let mut irregular = Vec::new();
        let mut turn_is_stated = false;
        for step in self.path(node) {
            let has_setup = self.set_up(step, &mut game)?;
            for (color, mv) in self.moves(step)? {
                if let Err(reason) = game.check(color, mv) {
                    irregular.push((step, reason));
                }
                game.force(color, mv)
                    .map_err(|reason| self.error(step, color_letter(color), reason.into()))?;
                turn_is_stated = true;
            }
            if let Some(color) = self.player_to_move(step)? {
                game.set_to_move(color);
                turn_is_stated = true;
            } else if has_setup && self.moves(step)?.is_empty() {
                turn_is_stated = false;
            }
        }
        if !turn_is_stated {
            game.set_to_move(self.likely_turn(node, handicap)?);
        }
        Ok(Replay { game, irregular })
    }

    /// Applies the setup of a node; whether there was any.
    fn set_up(&self, node: NodeId, game: &mut Game) -> Result<bool, SgfError> {
        const SETUP: [&str; 3] = ["AB", "AW", "AE"];
        let Some(name) = SETUP
            .into_iter()
            .find(|name| self.text(node, name).is_some())
        else {
            return Ok(false);
        };
        let [black, white, removed] = SETUP.map(|name| self.points(node, name));
        game.set_up(&black?, &white?, &removed?)
            .map_err(|reason| self.error(node, name, reason.into()))?;
        Ok(true)
    }

    /// Without `PL`, the next recorded move tells whose turn it is; without one, White starts
    /// handicap games and Black all others.
    fn likely_turn(&self, node: NodeId, handicap: usize) -> Result<Color, SgfError> {
        let next = match self.children(node).first() {
            Some(&child) => self.moves(child)?.first().copied(),
            None => None,
        };
        Ok(match next {
            Some((color, _)) => color,
            None if handicap > 1 => Color::White,
            None => Color::Black,
        })
    }
}
