//! What a network is told beyond the stones, where its family has inputs for it.

use crate::encoder::HumanProfile;

/// Choices of the caller that change what a KataGo network sees or how its numbers are read. A Leela Zero network sees
/// none of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkView {
    /// How much of the optimistic policy is mixed in at the root.
    pub root_optimism: f32,
    /// The same below the root.
    pub optimism: f32,
    /// Whether the root hides that the opponent has passed, so that the network plays on where it is not sure.
    pub conservative_pass: bool,
    /// Whether a pass that would lose the game as it stands is made less likely.
    pub passing_hacks: bool,
    /// Whether moves before the root are shown. Analysis hides them, so that an odd move does not look clever.
    pub history_before_root: bool,
    /// Whether a finished game is scored with dead stones in alive territory taken off. Leela Zero counts every stone.
    pub settled_scores: bool,
    /// By how many doublings of its playouts the side to move at the root is stronger, if that differs.
    pub playout_doublings: f32,
    /// Whom a human-imitation network imitates; other networks do not see it.
    pub profile: HumanProfile,
}

impl Default for NetworkView {
    fn default() -> NetworkView {
        NetworkView {
            root_optimism: 0.2,
            optimism: 1.0,
            conservative_pass: false,
            passing_hacks: false,
            history_before_root: true,
            settled_scores: false,
            playout_doublings: 0.0,
            profile: HumanProfile::default(),
        }
    }
}
