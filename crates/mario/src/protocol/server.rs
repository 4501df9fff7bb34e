//! The game's end: keeps the clock, moves the pill, answers the player.

use std::collections::BTreeMap;

use crate::game::{Ending, Game};
use crate::protocol::message::{ClientMessage, Mode, ServerMessage, StateRequest};
use crate::protocol::presses::{Press, Presses, apply};
use crate::protocol::{FAR_FRAMES, VERSION, YOU, checks_down};
use crate::reach::Button;
use crate::reach::timed::{Falling, Held, NextFrame};
use crate::speed::{Speed, cleanup_frames};
use crate::text::Placed;

/// What a server plays: a game and how fast its pills fall.
#[derive(Clone, Debug)]
pub struct Deal {
    /// The game at its start.
    pub game: Game,
    /// The starting speed.
    pub speed: Speed,
}

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    VersionSelection,
    /// The board is set up, the clock stands.
    Setup,
    Cleanup {
        frames_left: u32,
    },
    Control(Falling),
    Over,
}

/// One game served to one player.
#[derive(Clone, Debug)]
pub struct Server {
    deal: Deal,
    game: Game,
    phase: Phase,
    frame: u32,
    /// Frames a row, as last told.
    speed: u8,
    held: Held,
    queue: Option<Presses>,
    schedule: BTreeMap<u32, Vec<(Press, Button)>>,
    wanted_states: Vec<StateRequest>,
    /// Whether the player has said anything about the pill it controls now.
    answered: bool,
}

impl Server {
    /// A server about to greet its player.
    pub fn new(deal: Deal) -> Self {
        let speed = deal.speed.frames_per_row(0);
        Self {
            game: deal.game.clone(),
            deal,
            phase: Phase::VersionSelection,
            frame: 0,
            speed,
            held: Held::NONE,
            queue: None,
            schedule: BTreeMap::new(),
            wanted_states: Vec::new(),
            answered: false,
        }
    }

    /// The first lines of the conversation.
    pub fn greeting(&self) -> Vec<ServerMessage> {
        vec![
            ServerMessage::ProposeVersion(VERSION.to_owned()),
            ServerMessage::RequestVersion,
        ]
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Whether the game is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether the clock may run: a version is agreed on and the game is not over.
    pub(crate) fn is_running(&self) -> bool {
        !matches!(self.phase, Phase::VersionSelection | Phase::Over)
    }

    /// Whether a pill is controlled about which the player has said nothing yet.
    pub(crate) fn awaits_answer(&self) -> bool {
        matches!(self.phase, Phase::Control(_)) && !self.answered && self.queue.is_none()
    }

    /// The pill in the air.
    pub fn falling(&self) -> Option<Placed> {
        match self.phase {
            Phase::Control(falling) => Some(self.placed(falling)),
            _ => None,
        }
    }

    /// Takes a message of the player and answers it.
    pub fn receive(&mut self, message: ClientMessage) -> Vec<ServerMessage> {
        match (message, self.phase) {
            (ClientMessage::Version(version), Phase::VersionSelection) if version == VERSION => {
                self.phase = Phase::Setup;
                vec![self.state()]
            }
            // Nothing but a version counts before one is chosen; a game that is over is mute.
            (_, Phase::VersionSelection | Phase::Over | Phase::Setup) => Vec::new(),
            (ClientMessage::Version(_) | ClientMessage::Debug(_), _) => Vec::new(),
            (ClientMessage::Queue(id, presses), _) => {
                self.queue = Some(presses);
                vec![ServerMessage::AcceptQueue(id)]
            }
            (ClientMessage::Control(id, frame, presses), Phase::Control(_)) => {
                vec![self.control(id, frame, presses)]
            }
            // A control that arrives after its pill locked came too late to matter.
            (ClientMessage::Control(..), _) => Vec::new(),
            (ClientMessage::RequestState(request), _) => self.request_state(request),
        }
    }

    /// One frame of the clock.
    pub fn tick(&mut self) -> Vec<ServerMessage> {
        let mut said = Vec::new();
        match self.phase {
            Phase::VersionSelection | Phase::Over => return said,
            Phase::Setup => {
                said.push(ServerMessage::Frame(self.frame));
                self.launch(&mut said);
            }
            Phase::Cleanup { frames_left } => {
                self.frame += 1;
                said.push(ServerMessage::Frame(self.frame));
                if frames_left > 1 {
                    self.phase = Phase::Cleanup {
                        frames_left: frames_left - 1,
                    };
                } else {
                    self.finish_or_launch(&mut said);
                }
            }
            Phase::Control(falling) => {
                self.frame += 1;
                said.push(ServerMessage::Frame(self.frame));
                self.fall(falling, &mut said);
            }
        }
        self.answer_wanted_states(&mut said);
        said
    }

    fn fall(&mut self, falling: Falling, said: &mut Vec<ServerMessage>) {
        if let Some(presses) = self.schedule.remove(&self.frame) {
            self.held = apply(self.held, &presses);
        }
        let falling = Falling {
            checks_down: checks_down(self.frame),
            ..falling
        };
        match falling.step(self.game.board(), self.speed, self.held) {
            NextFrame::Falling(after) => {
                if after.pose != falling.pose {
                    said.push(ServerMessage::Falling(YOU.to_owned(), self.placed(after)));
                }
                self.phase = Phase::Control(after);
            }
            NextFrame::Locked(placement) => {
                let outcome = self.game.play_reachable(placement);
                let frames_left = cleanup_frames(placement.y, &outcome);
                self.phase = Phase::Cleanup { frames_left };
                self.held = Held::NONE;
                self.schedule.clear();
                said.push(ServerMessage::Cleanup(YOU.to_owned()));
            }
        }
    }

    fn finish_or_launch(&mut self, said: &mut Vec<ServerMessage>) {
        match self.game.ending() {
            None => self.launch(said),
            Some(ending) => {
                let you = YOU.to_owned();
                said.push(match ending {
                    Ending::Cleared => ServerMessage::Winner(you),
                    _ => ServerMessage::Loser(you),
                });
                self.phase = Phase::Over;
            }
        }
    }

    fn launch(&mut self, said: &mut Vec<ServerMessage>) {
        let speed = self.deal.speed.frames_per_row(self.game.placed());
        if speed != self.speed {
            self.speed = speed;
            said.push(ServerMessage::Speed(YOU.to_owned(), u32::from(speed)));
        }
        let falling = Falling::launched(speed, checks_down(self.frame + 1));
        self.phase = Phase::Control(falling);
        self.answered = false;
        if let Some(queue) = self.queue.take() {
            self.answered = true;
            self.schedule = (self.frame + 1..).zip(queue.0).collect();
        }
        said.push(ServerMessage::Control(
            YOU.to_owned(),
            self.game.next_pill(),
        ));
        said.push(ServerMessage::Falling(YOU.to_owned(), self.placed(falling)));
    }

    fn control(&mut self, id: String, frame: u32, presses: Presses) -> ServerMessage {
        if frame <= self.frame {
            return ServerMessage::OldControl(id);
        }
        if frame - self.frame >= FAR_FRAMES {
            return ServerMessage::FarControl(id);
        }
        self.schedule.split_off(&frame);
        self.schedule.extend((frame..).zip(presses.0));
        self.answered = true;
        ServerMessage::AcceptControl(id)
    }

    fn request_state(&mut self, request: StateRequest) -> Vec<ServerMessage> {
        match request {
            StateRequest::Now => vec![self.state()],
            StateRequest::Frame(frame) if frame < self.frame => {
                vec![ServerMessage::OldState(frame)]
            }
            StateRequest::Frame(frame) if frame - self.frame >= FAR_FRAMES => {
                vec![ServerMessage::FarState(frame)]
            }
            _ if self.is_wanted_now(request) => vec![self.state()],
            _ => {
                self.wanted_states.push(request);
                Vec::new()
            }
        }
    }

    fn is_wanted_now(&self, request: StateRequest) -> bool {
        match request {
            StateRequest::Now => true,
            StateRequest::Frame(frame) => frame <= self.frame,
            StateRequest::Control => matches!(self.phase, Phase::Control(_)),
            StateRequest::Cleanup => matches!(self.phase, Phase::Cleanup { .. }),
        }
    }

    fn answer_wanted_states(&mut self, said: &mut Vec<ServerMessage>) {
        let wanted = std::mem::take(&mut self.wanted_states);
        for request in wanted {
            if self.is_wanted_now(request) {
                said.push(self.state());
            } else {
                self.wanted_states.push(request);
            }
        }
    }

    fn state(&self) -> ServerMessage {
        let (next, mode) = match self.phase {
            Phase::Control(falling) => {
                let frames_left = u32::from(falling.frames_left);
                let falling = self.placed(falling);
                (
                    self.game.next_pill(),
                    Mode::Control {
                        frames_left,
                        falling,
                    },
                )
            }
            _ => (self.game.pill(), Mode::Cleanup),
        };
        ServerMessage::State {
            player: YOU.to_owned(),
            speed: u32::from(self.speed),
            next,
            board: *self.game.board(),
            mode,
        }
    }

    fn placed(&self, falling: Falling) -> Placed {
        let content = self.game.pill().turned(falling.pose.turns);
        Placed {
            x: falling.pose.x,
            y: falling.pose.y,
            content,
        }
    }
}
