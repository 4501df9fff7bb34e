//! A game of the player against itself, for whoever has no record at hand.

use go::{
    BoardSize,
    sgf::{GameResult, Tree, WinBy},
};

use crate::{
    player::{Player, PlayerError},
    think::Request,
};

/// A game longer than so many moves a point is broken off.
const LONGEST: usize = 2;

/// Plays a game with the player's limits and gives its record. On 9x9, or on the only board that the
/// network knows. `progress` is told how many moves have been played.
pub fn exhibition(
    player: &mut Player,
    progress: &mut dyn FnMut(usize),
) -> Result<Tree, PlayerError> {
    let own = player.judge().size();
    player
        .start(BoardSize::NINE)
        .or_else(|_| player.start(own))?;
    let most = LONGEST * player.game().size().area();
    while !player.game().is_over() && player.resigned().is_none() {
        let played = player.game().move_number();
        if played >= most {
            break;
        }
        progress(played);
        let color = player.game().to_move();
        player.generate(color, &Request::default(), &mut ())?;
    }
    let mut tree = Tree::from_game(player.game());
    let root = tree.root();
    let name = player.network().name().into_owned();
    for part in ["PB", "PW"] {
        tree.set_text(root, part, &name);
    }
    tree.set_text(root, "RE", &result(player).to_string());
    Ok(tree)
}

/// How the game ended.
fn result(player: &Player) -> GameResult {
    if let Some(loser) = player.resigned() {
        return GameResult::Win(loser.opponent(), WinBy::Resignation);
    }
    let score = player.game().score();
    score.winner().map_or(GameResult::Draw, |winner| {
        GameResult::Win(winner, WinBy::Points(score.lead(winner)))
    })
}
