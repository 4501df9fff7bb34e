//! KataGo's networks: files of versions 8 to 17, plain or gzip, with binary or decimal floats.
//!
//! A file is one stream of tokens separated by white space; each layer states its own sizes, and its floats follow, as
//! decimals or as `@BIN@` and raw little-endian f32. There is no table of contents and no checksum, so everything is
//! checked on the way: names of layers, sizes against the layers before, finite numbers, and that nothing follows the
//! last layer. One description of the format serves reading and writing, so that a file comes back byte for
//! byte.
//!
//! A [`KataNetwork`] is what the file says, layer by layer. [`KataNetwork::network`] turns it into the layers that
//! every backend runs, for any board size. Input rows hold 22 planes (row 0 is the top of the board), then 19 globals,
//! then 192 numbers about the players if the network has a metadata encoder. Outputs are raw numbers:
//!
//! | name | length | meaning |
//! | --- | --- | --- |
//! | [`POLICY`] | area + 1 | logits of the points, row by row from the top, and of the pass |
//! | [`POLICY_OPTIMISTIC`] | area + 1 | the same for the optimistic policy, from version 12 on |
//! | [`VALUE`] | 3 | logits of win, loss and no result for the side to move |
//! | [`SCORE`] | 4 or 6 | score mean, score deviation, lead, variance time, and from version 9 on two short-term errors |
//! | [`OWNERSHIP`] | area | before the tanh, for the side to move |

mod layers;
mod model;
mod random;
mod reader;
mod stored;
mod tape;
mod writer;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::file::{GZIP_MAGIC, LoadError, unreadable};

pub use model::{Header, KataNetwork, Multipliers};
pub use random::RandomKind;
pub use reader::KataDamage;
pub use writer::FloatStyle;

/// The name of the policy output.
pub const POLICY: &str = "policy";
/// The name of the optimistic policy output.
pub const POLICY_OPTIMISTIC: &str = "policy_optimistic";
/// The name of the value output.
pub const VALUE: &str = "value";
/// The name of the score output.
pub const SCORE: &str = "score";
/// The name of the ownership output.
pub const OWNERSHIP: &str = "ownership";

/// Input planes of every version from 8 on.
pub const INPUT_PLANES: usize = 22;
/// Numbers about the whole position that follow the planes.
pub const INPUT_GLOBALS: usize = 19;
/// Numbers about the players that follow those, if the network has a metadata encoder.
pub const INPUT_METADATA: usize = 192;

/// Versions that are read.
pub const VERSIONS: std::ops::RangeInclusive<u32> = 8..=17;

/// How much is read from the file, or unpacked, at a time.
const BUFFER: usize = 1 << 18;

impl KataNetwork {
    /// Reads a file, plain or gzip, and checks all of it.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        let damaged = |damage: KataDamage| match damage {
            KataDamage::Unreadable(reason) => unreadable(file, reason),
            damage => LoadError::KataGo {
                file: file.to_owned(),
                damage,
            },
        };
        let mut open = File::open(file).map_err(|reason| unreadable(file, reason))?;
        let mut start = Vec::new();
        let first = (&mut open).take(GZIP_MAGIC.len() as u64);
        first
            .read_to_end_into(&mut start)
            .map_err(|reason| unreadable(file, reason))?;
        let is_packed = start == GZIP_MAGIC;
        let whole = std::io::Cursor::new(start).chain(open);
        if is_packed {
            let unpacked = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole));
            Self::read(BufReader::with_capacity(BUFFER, unpacked)).map_err(damaged)
        } else {
            Self::read(BufReader::with_capacity(BUFFER, whole)).map_err(damaged)
        }
    }

    /// Whether unpacked bytes look like the start of a KataGo network: a name, a version and the number of planes. Our
    /// compact format has the same after a few bytes of its own.
    pub fn starts(bytes: &[u8]) -> bool {
        if bytes.starts_with(&crate::compact::MAGIC) {
            return false;
        }
        let mut tokens = bytes
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|token| !token.is_empty());
        let Some(_name) = tokens.next() else {
            return false;
        };
        let mut number = || {
            let token = std::str::from_utf8(tokens.next()?).ok()?;
            token.parse::<u32>().ok()
        };
        matches!((number(), number()), (Some(1..=99), Some(1..=99)))
    }
}

/// Reads to the end, under a name that says where to.
trait ReadInto {
    fn read_to_end_into(self, bytes: &mut Vec<u8>) -> std::io::Result<usize>;
}

impl<R: Read> ReadInto for R {
    fn read_to_end_into(mut self, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
        self.read_to_end(bytes)
    }
}
