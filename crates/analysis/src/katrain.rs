//! An analysed position as KaTrain keeps it in a game record, so that it shows the analysis without asking again.
//!
//! The property `KT` has three values, each gzipped and in base64: who owns each point and the policy, both in half
//! precision, and the rest as JSON. `KTV` at the root names the version of that.

use std::io::{self, Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use go::sgf::{NodeId, Tree};
use go_player::Player;
use half::f16;
use serde_json::{Map, Value, json};

use crate::{
    analyst::Findings, answer::infos_for_black, go_analyst::opinion_without_search, query::Include,
    report::Report,
};

/// The version of the format.
const VERSION: &str = "1.0";
/// What stands in the policy for a move that is not legal.
const ILLEGAL: f32 = -1.0;

/// What a player has just found out about its position, for KaTrain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KatrainEntry {
    values: [String; 3],
}

impl KatrainEntry {
    /// What the player's last search found.
    pub fn of(player: &Player) -> KatrainEntry {
        let include = Include {
            ownership: true,
            policy: true,
            ..Include::default()
        };
        let report = Report {
            include,
            symmetries: player.pruned_symmetries(),
            raw: opinion_without_search(player, include),
            human: None,
            game: player.game().clone(),
        };
        KatrainEntry::from_findings(&report.findings(&player.view()))
    }

    fn from_findings(findings: &Findings) -> KatrainEntry {
        let owners = findings.ownership.as_deref().unwrap_or_default();
        let chances = findings.policy.iter().flatten();
        let policy: Vec<f32> = chances.map(|chance| chance.unwrap_or(ILLEGAL)).collect();
        let (moves, root) = infos_for_black(findings);
        let by_name = |info: Value| Some((info["move"].as_str()?.to_owned(), info));
        let moves: Map<String, Value> = moves.into_iter().filter_map(by_name).collect();
        let rest = json!({ "moves": moves, "root": root, "completed": true });
        KatrainEntry {
            values: [
                packed(&halves(owners)),
                packed(&halves(&policy)),
                packed(rest.to_string().as_bytes()),
            ],
        }
    }

    /// Writes it into a record.
    pub fn write(&self, tree: &mut Tree, node: NodeId) {
        tree.set_text(tree.root(), "KTV", VERSION);
        tree.set(node, "KT", self.values.to_vec());
    }
}

fn halves(numbers: &[f32]) -> Vec<u8> {
    let halves = numbers.iter().map(|&number| f16::from_f32(number));
    halves.flat_map(f16::to_le_bytes).collect()
}

fn packed(bytes: &[u8]) -> String {
    let pack = || -> io::Result<Vec<u8>> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(bytes)?;
        gzip.finish()
    };
    STANDARD.encode(pack().expect("memory can be written to"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_little_endian() {
        // Sign, five bits of exponent, ten of fraction.
        assert_eq!(
            halves(&[1.0, -1.0, 0.5]),
            [0x00, 0x3C, 0x00, 0xBC, 0x00, 0x38]
        );
    }
}
