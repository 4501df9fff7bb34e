//! `tengen mario play`: you, in the terminal, at the console's speed.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use draw::bottle::to_rows;
use mario::{
    Button, Ending, FRAMES_PER_SECOND, Rules, Scenery, Speed,
    protocol::{ClientMessage, Deal, Press, Presses, Server, VERSION},
};

use super::DealArgs;
use super::stage::{Key, Stage};
use crate::commands::terminal::{counted, is_colored};

/// Play in the terminal
///
/// Left, right and down move the pill; x, space or up turn it clockwise, z the other way; p
/// pauses, q ends the game. The exit code is 0 when the board was cleared and 1 when not.
#[derive(Args)]
#[command(after_help = "Example:
  tengen mario play --level 3 --speed low")]
pub struct PlayArgs {
    #[command(flatten)]
    deal: DealArgs,

    /// Starting speed: low, med, hi or ult
    #[arg(long, default_value = "med", value_parser = super::speed)]
    speed: Speed,
}

/// Exit code of a game that was not won.
const EXIT_LOST: u8 = 1;

pub fn run(args: PlayArgs) -> anyhow::Result<ExitCode> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!("play needs a terminal; to see a game elsewhere, use `tengen mario watch`");
    }
    let game = args.deal.game(Rules::default());
    let mut server = Server::new(Deal {
        game,
        speed: args.speed,
    });
    server.receive(ClientMessage::Version(VERSION.to_owned()));
    let mut stage = Stage::enter()?;
    let frame_time = Duration::from_secs_f64(1.0 / FRAMES_PER_SECOND);
    let mut next_frame = Instant::now();
    let mut frame = 0;
    let mut paused = false;
    let mut taps = Taps::default();
    while !server.is_over() {
        loop {
            let wait = next_frame.saturating_duration_since(Instant::now());
            match stage.key(wait)? {
                Some(Key::Quit) => {
                    drop(stage);
                    return Ok(finish(&server));
                }
                Some(Key::Pause) => paused = !paused,
                Some(key) => taps.waiting.extend(button(key)),
                None if Instant::now() >= next_frame => break,
                None => {}
            }
        }
        next_frame = Instant::now().max(next_frame) + frame_time;
        if !paused {
            server.receive(taps.next_frame(frame + 1));
            for message in server.tick() {
                if let mario::protocol::ServerMessage::Frame(number) = message {
                    frame = number;
                }
            }
        }
        stage.show(&rows(&server, &args, paused))?;
    }
    drop(stage);
    Ok(finish(&server))
}

fn button(key: Key) -> Option<Button> {
    match key {
        Key::Left => Some(Button::Left),
        Key::Right => Some(Button::Right),
        Key::Down => Some(Button::Down),
        Key::Clockwise => Some(Button::A),
        Key::Counterclockwise => Some(Button::B),
        Key::Pause | Key::Quit => None,
    }
}

/// Keys that become short taps: a terminal does not say when a key is let go.
#[derive(Default)]
struct Taps {
    waiting: Vec<Button>,
    held: Vec<Button>,
    /// Whether down was pressed in a frame that may not have looked at it.
    down_again: bool,
}

impl Taps {
    /// What the buttons do in `frame`. A button tapped twice is let go for a frame in between;
    /// down is held for two frames, since only every second one looks at it.
    fn next_frame(&mut self, frame: u32) -> ClientMessage {
        let before = std::mem::take(&mut self.held);
        let mut held = Vec::new();
        if std::mem::take(&mut self.down_again) {
            held.push(Button::Down);
        }
        self.waiting.retain(|&button| {
            let free = !before.contains(&button) && !held.contains(&button);
            if free {
                held.push(button);
                self.down_again |= button == Button::Down;
            }
            !free
        });
        let press = |button| match held.contains(&button) {
            true => (Press::Close, button),
            false => (Press::Open, button),
        };
        let presses = Presses(vec![Button::ALL.map(press).to_vec()]);
        self.held = held;
        ClientMessage::Control("key".to_owned(), frame, presses)
    }
}

fn rows(server: &Server, args: &PlayArgs, paused: bool) -> Vec<String> {
    let game = server.game();
    let mut lines = vec![
        format!("level {}   speed {}", args.deal.level, args.speed.name()),
        format!("viruses {}", game.board().viruses_left()),
        format!("pills {}", game.placed()),
        String::new(),
        "arrows move, x and z turn".to_owned(),
        "p pause, q quit".to_owned(),
    ];
    if paused {
        lines.push("PAUSED".to_owned());
    }
    picture(server, &lines)
}

/// The rows of what is seen now, with lines of text beside it.
pub(super) fn picture(server: &Server, lines: &[String]) -> Vec<String> {
    let game = server.game();
    let scenery = Scenery {
        falling: server.falling(),
        ..Scenery::still(*game.board(), Some(shown_next(server)), game.placed())
    };
    to_rows(&scenery.frame(0.0), is_colored(), lines)
}

/// While no pill falls, the one shown is the one about to be launched.
fn shown_next(server: &Server) -> mario::Pill {
    match server.falling() {
        Some(_) => server.game().next_pill(),
        None => server.game().pill(),
    }
}

fn finish(server: &Server) -> ExitCode {
    let game = server.game();
    let pills = counted(game.placed() as usize, "pill", "pills");
    let left = counted(game.board().viruses_left() as usize, "virus", "viruses");
    let how = match game.ending() {
        Some(Ending::Cleared) => {
            println!("cleared with {pills}");
            return ExitCode::SUCCESS;
        }
        Some(_) => "topped out",
        None => "stopped",
    };
    println!("{how} after {pills}, {left} left");
    ExitCode::from(EXIT_LOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(taps: &mut Taps, count: u32) -> Vec<String> {
        let one = |frame| match taps.next_frame(frame) {
            ClientMessage::Control(_, _, presses) => presses.to_string(),
            _ => String::new(),
        };
        (1..=count).map(one).collect()
    }

    #[test]
    fn a_key_pressed_twice_is_let_go_in_between() {
        let mut taps = Taps {
            waiting: vec![Button::Left, Button::Left],
            ..Taps::default()
        };
        let pressed: Vec<bool> = frames(&mut taps, 4)
            .iter()
            .map(|frame| frame.contains("+l"))
            .collect();
        assert_eq!(pressed, [true, false, true, false]);
    }

    #[test]
    fn down_is_held_for_two_frames_and_other_keys_do_not_cut_it() {
        let mut taps = Taps {
            waiting: vec![Button::Down],
            ..Taps::default()
        };
        assert!(frames(&mut taps, 1)[0].contains("+d"));
        taps.waiting.push(Button::A);
        let second = frames(&mut taps, 1);
        assert!(second[0].contains("+d") && second[0].contains("+a"));
        assert!(frames(&mut taps, 1)[0].contains("-d"));
    }
}
