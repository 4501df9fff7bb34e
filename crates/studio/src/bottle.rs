//! `bottle.*`: Dr. Mario. The page moves the falling pill; the server replays what was pressed, and its word counts.

use std::{path::Path, sync::Arc};

use mario::{
    Board, Button, Color, Game, Pill, Placement, Rules, Shape, Speed,
    timed::{self, Falling, Held, NextFrame},
};
use mario_player::{Budget, Kind, Lineup, NetSettings, Player, View};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    engine::lock,
    question,
    server::App,
    tab::Tab,
    thinker::Urgency,
    wire::{Answer, Failure, Reply, Request, in_range},
};

/// The most frames a pill can be in the air, with room to spare.
const MOST_FRAMES: usize = 4000;
/// The most playouts a pill.
const MOST_PLAYOUTS: u64 = 100_000;
/// Placements whose shares are shown.
const MOST_GHOSTS: usize = 10;
/// Frames of the showing of a scene: a clear and one row of a fall, as on the console.
const CLEAR_FRAMES: u32 = 20;
const FALL_FRAMES: u32 = 16;

/// The bottles of a tab: its own, and the opponent's.
#[derive(Default)]
pub struct Bottles([Option<Bottle>; 2]);

/// One bottle.
struct Bottle {
    game: Game,
    speed: Speed,
    points: u32,
    frames: u64,
    /// Halves on their way here.
    garbage: Vec<Color>,
    random: u64,
    player: Option<(String, Box<dyn Player>)>,
}

#[derive(Deserialize)]
struct New {
    side: usize,
    level: u8,
    seed: u16,
    speed: String,
}

#[derive(Deserialize)]
struct Locked {
    side: usize,
    /// Buttons held, and for how many frames.
    frames: Vec<(u8, usize)>,
}

#[derive(Clone, Deserialize)]
struct Think {
    side: usize,
    player: String,
    playouts: u64,
    /// A generation of a run that plays instead of the network inside.
    generation: Option<Generation>,
}

#[derive(Clone, Deserialize)]
struct Generation {
    run: String,
    network: String,
}

/// Answers `bottle.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    match request.verb.as_str() {
        "bottle.new" => {
            let asked: New = request.fields()?;
            in_range("side", asked.side, 0, 1)?;
            in_range("level", asked.level, 0, mario::LAST_LEVEL)?;
            let speed = asked
                .speed
                .parse()
                .map_err(|say: String| Failure::new("fields", say))?;
            let rules = Rules {
                stall_after: None,
                most_pills: None,
            };
            let bottle = Bottle {
                game: Game::console(asked.seed, asked.level, rules),
                speed,
                points: 0,
                frames: 0,
                garbage: Vec::new(),
                random: u64::from(asked.seed),
                player: None,
            };
            let state = bottle.state();
            lock(&tab.bottles).0[asked.side] = Some(bottle);
            Ok(Reply::Now(state))
        }
        "bottle.locked" => {
            let asked: Locked = request.fields()?;
            in_range("side", asked.side, 0, 1)?;
            let mut bottles = lock(&tab.bottles);
            let answer = bottles.lock_pill(asked.side, &asked.frames)?;
            Ok(Reply::Now(answer))
        }
        "bottle.think" => {
            let asked: Think = request.fields()?;
            in_range("side", asked.side, 0, 1)?;
            in_range("playouts", asked.playouts, 1, MOST_PLAYOUTS)?;
            let file = match &asked.generation {
                Some(one) => Some(crate::training::network_file(app, &one.run, &one.network)?),
                None => None,
            };
            let thinker_tab = tab.clone();
            question::ask(
                app,
                tab,
                request,
                ("move", Urgency::Move),
                "",
                move |_, _, _| {
                    let mut bottles = lock(&thinker_tab.bottles);
                    let bottle = bottles.0[asked.side].as_mut();
                    bottle
                        .ok_or_else(|| Failure::new("bottle", "there is no bottle: start a game"))?
                        .think(&asked, file.as_deref())
                },
            )
        }
        "bottle.quit" => {
            *lock(&tab.bottles) = Bottles::default();
            Ok(Reply::Now(json!({})))
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

impl Bottles {
    /// Replays the buttons of a pill, lets it lock, and sends what it sends.
    fn lock_pill(&mut self, side: usize, frames: &[(u8, usize)]) -> Result<Value, Failure> {
        let bottle = self.0[side]
            .as_mut()
            .ok_or_else(|| Failure::new("bottle", "there is no bottle: start a game"))?;
        if bottle.game.ending().is_some() {
            return Err(Failure::new("over", "this game is over"));
        }
        let (placement, used) = bottle.replay(frames)?;
        bottle.frames += used as u64;
        let before = *bottle.game.board();
        let content = bottle.game.pill().turned(placement.turns);
        let mut slow = before;
        let mut scenes = slow
            .place_slowly(content, placement.x, placement.y)
            .map_err(|error| Failure::new("bottle", error.to_string()))?;
        let outcome = bottle.game.play_reachable(placement);
        let gained = mario::points(bottle.speed, outcome.viruses);
        bottle.points += gained;
        let sent = mario::versus::attack(&scenes);
        // What the other side sent falls before the next pill.
        let garbage = std::mem::take(&mut bottle.garbage);
        let fell = bottle.receive(&garbage);
        if let Some(board) = fell {
            scenes.push(mario::Scene { board, clearing: 0 });
        }
        let mut state = bottle.state();
        state["placement"] = placement_json(placement);
        state["scenes"] = scenes.iter().map(scene_json).collect::<Vec<_>>().into();
        state["gained"] = gained.into();
        state["sent"] = sent
            .iter()
            .map(|&color| color as u8)
            .collect::<Vec<_>>()
            .into();
        state["received"] = garbage
            .iter()
            .map(|&color| color as u8)
            .collect::<Vec<_>>()
            .into();
        if let Some(other) = self.0[1 - side].as_mut() {
            other.garbage.extend(&sent);
            other.garbage.truncate(4);
        }
        Ok(state)
    }
}

impl Bottle {
    fn launch(&self) -> (Falling, u8) {
        let frames_per_row = self.speed.frames_per_row(self.game.placed());
        (Falling::launched(frames_per_row, true), frames_per_row)
    }

    /// Where the pill lands if these buttons are held, and after how many frames.
    fn replay(&self, runs: &[(u8, usize)]) -> Result<(Placement, usize), Failure> {
        let (mut falling, frames_per_row) = self.launch();
        let total: usize = runs
            .iter()
            .map(|&(_, count)| count.min(MOST_FRAMES + 1))
            .sum();
        in_range("frames", total, 0, MOST_FRAMES)?;
        let held = runs
            .iter()
            .flat_map(|&(bits, count)| std::iter::repeat_n(held_of(bits), count));
        let board = self.game.board();
        for (frame, held) in held
            .chain(std::iter::repeat_n(Held::NONE, MOST_FRAMES))
            .enumerate()
        {
            match falling.step(board, frames_per_row, held) {
                NextFrame::Falling(next) => falling = next,
                NextFrame::Locked(placement) => return Ok((placement, frame + 1)),
            }
        }
        Err(Failure::new("bottle", "the pill never lands"))
    }

    /// Lets halves fall in; returns the board afterwards if there were any.
    fn receive(&mut self, garbage: &[Color]) -> Option<Board> {
        if garbage.is_empty() || self.game.ending().is_some() {
            return None;
        }
        self.random = base::mix(self.random);
        let pieces = mario::versus::columns(garbage, self.random as u8);
        self.game.receive(&pieces);
        Some(*self.game.board())
    }

    /// What the player would do, how it presses it, and what else it looked at.
    fn think(&mut self, asked: &Think, file: Option<&Path>) -> Result<Value, Failure> {
        let key = format!("{} {} {file:?}", asked.player, asked.playouts);
        if self.player.as_ref().is_none_or(|(known, _)| *known != key) {
            self.player = Some((key, make_player(asked, file)?));
        }
        let Some((_, player)) = self.player.as_mut() else {
            return Err(Failure::new("bottle", "there is no player"));
        };
        let decision = player
            .decide(&View::of(&self.game))
            .map_err(|error| Failure::new("network", error.to_string()))?
            .ok_or_else(|| Failure::new("over", "no pill fits any more"))?;
        let (start, frames_per_row) = self.launch();
        let pill = self.game.pill();
        let same = |placement: Placement| {
            placement == decision.placement
                || (pill.is_double() && placement.folded() == decision.placement.folded())
        };
        let schedule = timed::find(self.game.board(), start, frames_per_row, same)
            .or_else(|| {
                timed::search(self.game.board(), start, frames_per_row)
                    .into_values()
                    .next()
            })
            .unwrap_or_default();
        let total: f64 = decision.weights.iter().map(|(_, weight)| weight).sum();
        let mut ghosts = decision.weights.clone();
        ghosts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let ghosts: Vec<Value> = ghosts
            .iter()
            .take(MOST_GHOSTS)
            .filter(|(_, weight)| *weight > 0.0)
            .map(|&(placement, weight)| {
                let mut ghost = placement_json(placement);
                ghost["share"] = (weight / total.max(f64::MIN_POSITIVE)).into();
                ghost["colors"] = colors(pill, placement);
                ghost
            })
            .collect();
        let frames: Vec<u8> = schedule.iter().map(|&held| bits_of(held)).collect();
        Ok(json!({
            "placement": placement_json(decision.placement), "frames": frames, "ghosts": ghosts,
            "positions": decision.positions,
        }))
    }

    fn state(&self) -> Value {
        let board = self.game.board();
        let viruses: Vec<u32> = [Color::Red, Color::Yellow, Color::Blue]
            .iter()
            .map(|&color| (board.of_color(color) & board.viruses()).count_ones())
            .collect();
        let ending = self.game.ending().map(|ending| match ending {
            mario::Ending::Cleared => "cleared",
            mario::Ending::ToppedOut => "topped-out",
            mario::Ending::Stalled => "stalled",
            mario::Ending::OutOfPills => "out-of-pills",
        });
        json!({
            "board": board_json(board), "pill": pill_json(self.game.pill()), "next": pill_json(self.game.next_pill()),
            "frames_per_row": self.speed.frames_per_row(self.game.placed()), "viruses": viruses,
            "left": board.viruses_left(), "placed": self.game.placed(), "points": self.points,
            "frames": self.frames, "ending": ending, "waiting": self.garbage.len(),
        })
    }
}

fn make_player(asked: &Think, file: Option<&Path>) -> Result<Box<dyn Player>, Failure> {
    let budget = Budget::Playouts(asked.playouts);
    let kind: Kind = asked
        .player
        .parse()
        .map_err(|say: String| Failure::new("fields", say))?;
    let lineup = match kind {
        Kind::Network => Lineup::network(file, NetSettings::default(), budget),
        kind => Lineup::new(kind, Default::default(), budget),
    };
    let lineup = lineup.map_err(|error| Failure::new("network", error.to_string()))?;
    Ok(lineup.player(1))
}

fn held_of(bits: u8) -> Held {
    let buttons = [
        Button::Left,
        Button::Right,
        Button::Down,
        Button::A,
        Button::B,
    ];
    let pressed = buttons
        .into_iter()
        .enumerate()
        .filter(|(at, _)| bits >> at & 1 == 1);
    pressed.fold(Held::NONE, |held, (_, button)| held.with(button))
}

fn bits_of(held: Held) -> u8 {
    let buttons = [
        Button::Left,
        Button::Right,
        Button::Down,
        Button::A,
        Button::B,
    ];
    buttons
        .into_iter()
        .enumerate()
        .fold(0, |bits, (at, button)| {
            bits | u8::from(held.holds(button)) << at
        })
}

fn pill_json(pill: Pill) -> Value {
    json!([pill.left as u8, pill.right as u8])
}

/// The colours of a pill after its turns: the cell that names the place, and the other one.
fn colors(pill: Pill, placement: Placement) -> Value {
    let content = pill.turned(placement.turns);
    json!([content.first as u8, content.second as u8])
}

fn placement_json(placement: Placement) -> Value {
    json!({ "turns": placement.turns, "x": placement.x, "y": placement.y })
}

/// Cells from the bottom left, row by row: 0 is empty, else 1 + colour + 3 shape.
fn board_json(board: &Board) -> Value {
    let shapes = [
        Shape::Virus,
        Shape::Left,
        Shape::Right,
        Shape::Bottom,
        Shape::Top,
        Shape::Single,
    ];
    (0..mario::HEIGHT)
        .flat_map(|y| (0..mario::WIDTH).map(move |x| (x, y)))
        .map(|(x, y)| match board.cell(x, y) {
            None => 0,
            Some(cell) => {
                let shape = shapes
                    .iter()
                    .position(|&shape| shape == cell.shape)
                    .unwrap_or(0);
                1 + cell.color as usize + 3 * shape
            }
        })
        .collect::<Vec<_>>()
        .into()
}

fn scene_json(scene: &mario::Scene) -> Value {
    let clearing: Vec<u32> = (0..128)
        .filter(|at| scene.clearing >> at & 1 == 1)
        .collect();
    let frames = if scene.clearing == 0 {
        FALL_FRAMES
    } else {
        CLEAR_FRAMES
    };
    json!({ "board": board_json(&scene.board), "clearing": clearing, "frames": frames })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bottle() -> Bottle {
        Bottle {
            game: Game::console(0x8988, 3, Rules::default()),
            speed: Speed::Medium,
            points: 0,
            frames: 0,
            garbage: Vec::new(),
            random: 1,
            player: None,
        }
    }

    #[test]
    fn the_players_buttons_lead_where_it_decided() {
        let mut bottles = Bottles([Some(bottle()), None]);
        for _ in 0..20 {
            let asked = Think {
                side: 0,
                player: "heuristic".into(),
                playouts: 1,
                generation: None,
            };
            let thought = bottles.0[0].as_mut().unwrap().think(&asked, None).unwrap();
            let frames: Vec<(u8, usize)> = thought["frames"]
                .as_array()
                .unwrap()
                .iter()
                .map(|bits| (bits.as_u64().unwrap() as u8, 1))
                .collect();
            let locked = bottles.lock_pill(0, &frames).unwrap();
            assert_eq!(locked["placement"]["x"], thought["placement"]["x"]);
            assert_eq!(locked["placement"]["y"], thought["placement"]["y"]);
            let shares: f64 = thought["ghosts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|ghost| ghost["share"].as_f64().unwrap())
                .sum();
            assert!(shares <= 1.0 + 1e-9);
        }
    }

    #[test]
    fn an_attack_lands_in_the_other_bottle_before_its_next_pill() {
        let mut bottles = Bottles([Some(bottle()), Some(bottle())]);
        let halves = |bottles: &Bottles| {
            bottles.0[1]
                .as_ref()
                .unwrap()
                .game
                .board()
                .occupied()
                .count_ones()
        };
        bottles.0[1].as_mut().unwrap().garbage = vec![Color::Red, Color::Blue];
        let before = halves(&bottles);
        let state = bottles.lock_pill(1, &[]).unwrap();
        assert_eq!(state["received"].as_array().unwrap().len(), 2);
        assert_eq!(halves(&bottles), before + 2 + 2, "a pill and two halves");
    }

    #[test]
    fn endless_presses_are_refused() {
        assert!(
            bottle()
                .replay(&[(1, usize::MAX), (0, usize::MAX)])
                .is_err()
        );
    }
}
