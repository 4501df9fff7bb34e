//! What dynamic komi tells stderr, and what its test answers.

use std::fmt::Write as _;

use go::Color;
use go_player::{
    Guarded, Preparation,
    dynamic_komi::{KomiVerdict, Scores, VerdictTest},
};

/// What was done about komi before a search, in the lines of the original: Lizzie reads the last two.
pub fn preparation(preparation: &Preparation) -> String {
    let mut text = String::new();
    write_counts(&mut text, preparation.collected);
    if preparation.descendants != preparation.collected {
        text.push_str("deleting non-descendants\n");
        write_counts(&mut text, preparation.descendants);
    }
    if let Some(adjusted) = &preparation.adjusted {
        text.push_str("keeping the closest evals\n");
        write_counts(&mut text, adjusted.kept);
        for winrate in adjusted.sample_winrates.into_iter().flatten() {
            let _ = writeln!(text, "{:.6}, {winrate:.6}, 0", adjusted.root_winrate);
        }
        let _ = writeln!(
            text,
            "adjusted in {} batches, {} evaluations, {:.3} s",
            adjusted.batches,
            adjusted.evaluations,
            adjusted.elapsed.as_secs_f64()
        );
    }
    let turn = preparation.to_move;
    let _ = writeln!(text, "NN eval={:.6}", preparation.evaluation);
    let _ = writeln!(text, "komi={:.6}", preparation.komi.on_turn(turn));
    let opponent = turn.opponent();
    let _ = writeln!(text, "opp_komi={:.6}", preparation.komi.on_turn(opponent));
    text
}

/// Which moves a second look refused, and what is played instead; nothing if none was.
pub fn guarded(guarded: &Guarded) -> String {
    let mut text = String::new();
    let choice = &guarded.choice;
    let (safest, most) = choice.safest;
    for (mv, winrate) in &choice.refused {
        let winrate = winrate.map_or("not looked at".to_owned(), percent);
        let _ = writeln!(
            text,
            "{mv} is refused at komi {}: {winrate}, {safest} has {}",
            guarded.komi,
            percent(most)
        );
    }
    if !text.is_empty() {
        let _ = writeln!(text, "playing {}", choice.mv);
    }
    text
}

fn percent(winrate: f64) -> String {
    format!("{:.2}%", 100.0 * winrate)
}

fn write_counts(text: &mut String, counts: [usize; 2]) {
    let _ = writeln!(text, "black positions: {}", counts[Color::Black.index()]);
    let _ = writeln!(text, "white positions: {}", counts[Color::White.index()]);
}

/// Every komi of a test with its winrate, and those at which the winrate rose.
pub fn test_table(test: &VerdictTest) -> String {
    let mut text = String::from("komi | winrate\n");
    for (komi, winrate) in &test.winrates {
        let _ = writeln!(text, "{komi:.6} | {winrate:.6}");
    }
    let rises: Vec<String> = test.rises.iter().map(f64::to_string).collect();
    let _ = writeln!(
        text,
        "Winrate increased at {} komi: {}",
        rises.len(),
        rises.join(" ")
    );
    text
}

/// The scores of a test and what they mean.
pub fn verdict(scores: Scores) -> String {
    format!(
        "Negative komi total score: {:e}\nPositive komi total score: {:e}\n{}",
        scores.negative,
        scores.positive,
        meaning(scores.verdict())
    )
}

fn meaning(verdict: KomiVerdict) -> &'static str {
    match verdict {
        KomiVerdict::Good => "good: this network can be told any komi",
        KomiVerdict::NegativeOnly => "mediocre: usable with --neg",
        KomiVerdict::PositiveOnly => "mediocre: usable with --pos",
        KomiVerdict::Unusable => "unusable: this network cannot be told another komi",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::Move;
    use go_player::Choice;

    #[test]
    fn a_refused_move_is_explained_and_an_accepted_one_is_not() {
        let vertex = |text: &str| text.parse::<Move>().unwrap();
        let look = |mv, refused| Guarded {
            komi: 7.5,
            choice: Choice {
                mv: vertex(mv),
                refused,
                safest: (vertex("C3"), 0.975),
            },
            evaluations: 100,
        };
        assert_eq!(guarded(&look("D4", Vec::new())), "");
        let refused = vec![(vertex("E18"), Some(0.9648)), (vertex("F6"), None)];
        assert_eq!(
            guarded(&look("C3", refused)),
            "E18 is refused at komi 7.5: 96.48%, C3 has 97.50%\n\
             F6 is refused at komi 7.5: not looked at, C3 has 97.50%\n\
             playing C3\n"
        );
    }
}
