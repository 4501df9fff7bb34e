//! Our ladder network as a file: the circuit of [`reader`], compiled, with stock heads.

use net::{
    OpenError,
    leela::{IDENTITY_VARIANCE, LeelaNetwork},
};

use crate::compile::{Compiled, Target, compile};
use crate::exam::Candidate;
use crate::heads::{Voice, write_heads};
use crate::reader::{Reader, reader};

/// Logit of a move that works: with nothing else on the board its policy is e^8 / (e^8 + 361) = 0.892.
const GOOD_LOGIT: f32 = 8.0;
/// Taken from the logit of a move that fails.
const BAD_LOGIT: f32 = 16.0;
/// What winning a ladder adds to the value before its tanh: (1 + tanh 0.8) / 2 = 0.832.
const DECIDED: f32 = 0.8;
/// The same for a ladder that merely does not lose.
const HELD: f32 = 0.2;
/// What an atari that does not capture takes off: hardly anything, for nobody has to play it.
const MISSED: f32 = 0.01;
/// Lifts the value plane above every sum of voices at one point.
const OFFSET: f32 = 8.0;

/// A ladder network and the planes its answers are read from.
#[derive(Clone, Debug)]
pub struct LadderNetwork {
    pub reader: Reader,
    pub compiled: Compiled,
}

impl LadderNetwork {
    /// The network that follows a ladder for `steps` diagonal steps on a board of `size` rows.
    pub fn new(size: usize, steps: usize) -> LadderNetwork {
        let reader = reader(size, steps);
        let target = Target {
            size,
            min_filters: 0,
            variance: IDENTITY_VARIANCE,
        };
        let mut compiled = compile(&reader.circuit, target);
        let voice = |plane, good, bad, value| Voice {
            place: compiled.final_place(plane),
            good,
            bad,
            value,
        };
        let voices = [
            voice(reader.escape_ok, GOOD_LOGIT, 0.0, HELD),
            voice(reader.escape_bad, 0.0, BAD_LOGIT, -DECIDED),
            voice(reader.chase_ok, GOOD_LOGIT, 0.0, DECIDED),
            voice(reader.chase_bad, 0.0, BAD_LOGIT, -MISSED),
        ];
        write_heads(&mut compiled.leela, &voices, OFFSET, IDENTITY_VARIANCE);
        LadderNetwork { reader, compiled }
    }

    /// The rows of the file.
    pub fn leela(&self) -> &LeelaNetwork {
        &self.compiled.leela
    }

    /// The network as a candidate for the [examination](crate::examine).
    pub fn candidate(&self) -> Result<Candidate, OpenError> {
        let reader = &self.reader;
        Candidate::new(
            &self.compiled,
            [vec![reader.escape_ok], vec![reader.chase_ok]],
            [Vec::new(), Vec::new()],
            [
                vec![reader.escape_ok, reader.escape_bad],
                vec![reader.chase_ok, reader.chase_bad],
            ],
        )
    }
}
