//! Is a game that came from elsewhere what it claims to be?
//!
//! The rules are cheap to check, so they are checked always. Whether the network really chose these moves costs a whole
//! game; since the number of a game fixes it bit for bit, a sample is played again and compared.

use std::sync::atomic::AtomicBool;

use crate::{
    Game, GameError, MatchRecord, SelfPlayTask,
    wire::{Kind, MatchBody, Task, game_id},
};

/// A game that was found good.
pub enum Checked<G: Game> {
    /// A game of self-play.
    Selfplay(G::Record),
    Match(MatchRecord),
}

/// Checks the game of a task by the rules, and that its id is the one it is handed in under.
pub fn check_game<G: Game>(
    settings: &G::Settings,
    task: &Task,
    claimed_id: &str,
    body: &[u8],
) -> Result<Checked<G>, String> {
    let (checked, content) = match task.kind {
        Kind::Selfplay => {
            let record = check_selfplay::<G>(settings, &selfplay_task(task), body)?;
            let content = G::moves_and_result(&record);
            (Checked::Selfplay(record), content)
        }
        Kind::Match => {
            let body: MatchBody = serde_json::from_slice(body)
                .map_err(|error| format!("the match game cannot be read: {error}"))?;
            let record = MatchRecord::from(body);
            let slot = u32::try_from(task.number).map_err(|_| "there is no such slot")?;
            G::verify_match(settings, slot, task.seed, &record)?;
            let content = record.moves.clone();
            (Checked::Match(record), content)
        }
    };
    let id = id_of(task, &content);
    if id != claimed_id {
        return Err(format!(
            "the game is handed in as {claimed_id}, but its moves have the id {id}"
        ));
    }
    Ok(checked)
}

/// The id of the game of a task with these moves and this result.
pub fn id_of(task: &Task, moves_and_result: &str) -> String {
    game_id(
        &task.game,
        &task.id(),
        &task.network_names(),
        &task.settings_hash,
        moves_and_result,
    )
}

/// Checks a record of self-play by the rules.
pub fn check_selfplay<G: Game>(
    settings: &G::Settings,
    task: &SelfPlayTask<'_>,
    body: &[u8],
) -> Result<G::Record, String> {
    let record = G::decode(settings, body)?;
    if G::encode(&record) != body {
        return Err("the record holds more than a game".into());
    }
    let (number, round) = G::number_and_round(&record);
    if (number, round) != (task.number, task.round) {
        return Err(format!(
            "the record is game {number} of round {round}, but the task was game {} of round {}",
            task.number, task.round
        ));
    }
    G::verify(settings, task, &record)?;
    Ok(record)
}

/// What the game of a task is played from.
pub fn selfplay_task(task: &Task) -> SelfPlayTask<'_> {
    SelfPlayTask {
        number: task.number,
        round: task.round,
        network: task
            .networks
            .first()
            .map_or("", |network| network.hash.as_str()),
        seed: task.seed,
    }
}

/// Plays a game again and says whether it is the same, bit for bit; nothing when `stop` was set before its end.
pub fn is_played_by<G: Game>(
    settings: &G::Settings,
    player: &G::Player,
    task: &SelfPlayTask<'_>,
    body: &[u8],
    stop: &AtomicBool,
) -> Result<Option<bool>, GameError> {
    let again = G::play(settings, player, task, stop)?;
    Ok(again.map(|again| G::encode(&again) == body))
}
