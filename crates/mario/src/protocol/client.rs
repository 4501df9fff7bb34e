//! The player's end: follows the game from the messages, asks its brain where each pill goes,
//! and presses the buttons that bring it there in time.

use crate::board::Board;
use crate::pill::{Pill, Placement};
use crate::protocol::message::{ClientMessage, Mode, ServerMessage};
use crate::protocol::presses::Presses;
use crate::protocol::{VERSION, YOU, checks_down};
use crate::reach::timed::{Falling, Held, NextFrame, Schedule, find};
use crate::text::Placed;

/// What the brain is asked: a board, the falling pill and the one shown next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    pub board: Board,
    /// The pill to place.
    pub pill: Pill,
    /// The pill after it.
    pub next: Pill,
}

/// The most frames ahead the client ever plans.
const MOST_DELAY: u32 = 128;

/// One player's end of a conversation.
pub struct Client<F> {
    brain: F,
    /// Frames between learning of a pill and the first press.
    delay: u32,
    proposed: bool,
    board: Board,
    speed: u8,
    pill: Option<Pill>,
    next: Option<Pill>,
    falling: Option<Placed>,
    frame: u32,
    controls: u64,
    target: Option<Placement>,
    won: Option<bool>,
}

/// Why a client's brain failed; its text is shown to the user.
pub type BrainError = Box<dyn std::error::Error + Send + Sync>;

/// Where a brain wants the pill, if it can be placed at all.
pub type Wish = Result<Option<Placement>, BrainError>;

impl<F: FnMut(&Situation) -> Wish> Client<F> {
    /// A client that starts to press `delay` frames after a pill appears: 1 when the game waits
    /// for it, more when the clock runs while it thinks.
    pub fn new(delay: u32, brain: F) -> Self {
        Self {
            brain,
            delay: delay.clamp(1, MOST_DELAY),
            proposed: false,
            board: Board::new(),
            speed: 1,
            pill: None,
            next: None,
            falling: None,
            frame: 0,
            controls: 0,
            target: None,
            won: None,
        }
    }

    /// Whether the game was won, once it is over.
    pub fn won(&self) -> Option<bool> {
        self.won
    }

    /// The board as the client follows it.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Takes a message of the game and answers it; fails when the brain does. Messages about other players pass by.
    pub fn receive(&mut self, message: ServerMessage) -> Result<Vec<ClientMessage>, BrainError> {
        match message {
            ServerMessage::ProposeVersion(version) => self.proposed |= version == VERSION,
            ServerMessage::RequestVersion if self.proposed => {
                return Ok(vec![ClientMessage::Version(VERSION.to_owned())]);
            }
            ServerMessage::State {
                player,
                speed,
                next,
                board,
                mode,
            } if player == YOU => {
                self.board = board;
                self.speed = frames(speed);
                self.next = Some(next);
                self.falling = match mode {
                    Mode::Cleanup => None,
                    Mode::Control { falling, .. } => Some(falling),
                };
                self.won = None;
            }
            ServerMessage::Frame(frame) => self.frame = frame,
            ServerMessage::Speed(player, speed) if player == YOU => self.speed = frames(speed),
            ServerMessage::Falling(player, placed) if player == YOU => self.falling = Some(placed),
            ServerMessage::Control(player, next) if player == YOU => {
                self.pill = self.next.replace(next);
                self.falling = None;
                return self.plan();
            }
            ServerMessage::Cleanup(player) if player == YOU => self.lock(),
            ServerMessage::Garbage(player, pieces) if player == YOU => {
                self.board.drop_garbage(&pieces);
            }
            ServerMessage::OldControl(_) => {
                // Too slow: leave more room, for this pill and all that follow.
                self.delay = (2 * self.delay + 1).min(MOST_DELAY);
                return Ok(self.control_towards(self.target));
            }
            ServerMessage::Winner(player) => self.won = Some(player == YOU),
            ServerMessage::Loser(player) => self.won = Some(player != YOU),
            _ => {}
        }
        Ok(Vec::new())
    }

    fn plan(&mut self) -> Result<Vec<ClientMessage>, BrainError> {
        let (Some(pill), Some(next)) = (self.pill, self.next) else {
            return Ok(Vec::new());
        };
        let situation = Situation {
            board: self.board,
            pill,
            next,
        };
        self.target = (self.brain)(&situation)?;
        Ok(self.control_towards(self.target))
    }

    /// Presses for `target`, or, if the clock has run too far for it, for nothing.
    fn control_towards(&mut self, target: Option<Placement>) -> Vec<ClientMessage> {
        let Some(target) = target else {
            return Vec::new();
        };
        let first = self.frame + self.delay;
        let Some(schedule) = self.schedule(target, first) else {
            return Vec::new();
        };
        self.controls += 1;
        let id = format!("pill{}", self.controls);
        vec![ClientMessage::Control(
            id,
            first,
            Presses::holding(&schedule),
        )]
    }

    /// A fastest schedule from frame `first` on; until then the pill only falls.
    fn schedule(&self, target: Placement, first: u32) -> Option<Schedule> {
        let mut falling = match self.falling {
            None => Falling::launched(self.speed, true),
            Some(placed) => Falling {
                pose: Placement {
                    turns: placed.content.turns_of(self.pill?)?,
                    x: placed.x,
                    y: placed.y,
                },
                ..Falling::launched(self.speed, true)
            },
        };
        for frame in self.frame + 1..first {
            falling.checks_down = checks_down(frame);
            match falling.step(&self.board, self.speed, Held::NONE) {
                NextFrame::Falling(after) => falling = after,
                NextFrame::Locked(_) => return None,
            }
        }
        falling.checks_down = checks_down(first);
        // A double looks the same after half a turn, whichever is sooner.
        let twin = match self.pill?.is_double() {
            true => target.for_swapped_pill(),
            false => target,
        };
        find(&self.board, falling, self.speed, |placement| {
            placement == target || placement == twin
        })
    }

    fn lock(&mut self) {
        if let Some(placed) = self.falling.take() {
            // The server says where the pill last was; it locked there.
            let _ = self.board.place(placed.content, placed.x, placed.y);
        }
        self.target = None;
    }
}

fn frames(speed: u32) -> u8 {
    u8::try_from(speed.max(1)).unwrap_or(u8::MAX)
}
