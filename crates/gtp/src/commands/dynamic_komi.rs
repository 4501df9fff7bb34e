//! Testing what the network makes of other komi.

use std::io;

use go::Symmetry;

use super::SYNTAX;
use crate::{
    engine::{Answer, Engine},
    komi_report,
    line::Request,
};

/// Tells the network 1202 komi in the current position: the table on stderr, the verdict in the answer.
/// The board is seen through one symmetry, the first unless one is named, or the mean of all.
pub fn test(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    if engine.player.network().encoder.as_leela().is_none() {
        return Ok(Answer::failure(
            "this network is told the komi of the game: there is nothing to test",
        ));
    }
    let symmetries = match request.word(0).as_deref() {
        None => vec![Symmetry::IDENTITY],
        Some("average" | "avg") => Symmetry::ALL.to_vec(),
        Some(word) => match word.parse().ok().and_then(Symmetry::new) {
            Some(symmetry) => vec![symmetry],
            None => return Ok(Answer::failure(SYNTAX)),
        },
    };
    let test = engine.player.test_komi(&symmetries);
    engine.outputs.remark(&komi_report::test_table(&test));
    Ok(Answer::ok(komi_report::verdict(test.scores)))
}
