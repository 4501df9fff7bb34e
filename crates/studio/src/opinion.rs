//! What was thought of a position, and how a game record keeps it.

use go::{
    Move,
    sgf::{NodeId, Tree},
};

/// Node property of ours that keeps an opinion: visits, Black's chance, Black's lead, best line.
const OPINION_PROPERTY: &str = "XOPINION";
/// What was thought of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Visits behind it; 0 if a file did not say.
    pub visits: u64,
    /// Black's chance.
    pub winrate_black: f64,
    /// Points Black is ahead, where the network says.
    pub lead_black: Option<f64>,
    /// The line expected, the best move first.
    pub line: Vec<Move>,
}

/// Writes an opinion on its node, in our own property and in Sabaki's.
pub fn write_opinion(tree: &mut Tree, node: NodeId, opinion: &Opinion) {
    let lead = opinion
        .lead_black
        .map_or("-".to_owned(), |lead| format!("{lead:.2}"));
    let line: Vec<String> = opinion.line.iter().map(Move::to_string).collect();
    let text = format!(
        "{} {:.4} {lead} {}",
        opinion.visits,
        opinion.winrate_black,
        line.join(" ")
    );
    tree.set_text(node, OPINION_PROPERTY, text.trim_end());
    tree.set_text(
        node,
        "SBKV",
        &format!("{:.2}", opinion.winrate_black * 100.0),
    );
}

/// The opinion that a record keeps at a node: our own, or a winrate that another program wrote.
pub fn read_opinion(tree: &Tree, node: NodeId) -> Option<Opinion> {
    let parse_own = |text: &str| {
        let mut words = text.split_whitespace();
        Some(Opinion {
            visits: words.next()?.parse().ok()?,
            winrate_black: words
                .next()?
                .parse()
                .ok()
                .filter(|w| (0.0..=1.0).contains(w))?,
            lead_black: words
                .next()?
                .parse()
                .ok()
                .filter(|lead: &f64| lead.is_finite()),
            line: words.map_while(|word| word.parse().ok()).collect(),
        })
    };
    if let Some(own) = tree.text(node, OPINION_PROPERTY).and_then(parse_own) {
        return Some(own);
    }
    let percent: f64 = tree.text(node, "SBKV")?.trim().parse().ok()?;
    (0.0..=100.0).contains(&percent).then(|| Opinion {
        visits: 0,
        winrate_black: percent / 100.0,
        lead_black: None,
        line: Vec::new(),
    })
}
