//! Testing whether a network can be told another komi at all.

use std::path::Path;

use go::{Color, Game, Komi, Symmetry};
use thiserror::Error;

use super::{
    Scores, Settings, SettingsError, Trust, TurnKomi, VerdictTest,
    look::{Look, winrates},
    verdicts,
};
use crate::{
    judge::Judge,
    planes::BitPlanes,
    position::{Assumptions, Position},
};

/// Positions of the test that are evaluated at once by a thread.
const TEST_BATCH: usize = 64;

/// Why a mode of dynamic komi cannot be used with a network.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Refusal {
    /// The settings contradict each other.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The network's value is for Black, whoever is to move.
    #[error(
        "dynamic komi needs a network that judges for the side to move; this one judges for Black, \
         and its two colour planes say nothing like komi"
    )]
    BlackView,
    /// The network failed the test.
    #[error(
        "this network cannot be told another komi: its total scores are {:.3} for negative and {:.3} for \
         positive komi, and one of them must not be above 0.05; take another network, or \
         --tg-auto-pn to use it without the test",
        .0.negative, .0.positive
    )]
    Unusable(Scores),
}

/// What is known about a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assessment {
    /// What the test found.
    pub scores: Scores,
    /// Whether an earlier test found it.
    pub remembered: bool,
}

/// Winrates of a position over the whole range of komi, each the mean over some symmetries.
pub fn test_position(
    judge: &Judge,
    position: &Position,
    symmetries: &[Symmetry],
    threads: usize,
) -> VerdictTest {
    let planes = BitPlanes::of(position.size(), position.to_move(), position.history());
    let komi: Vec<f64> = VerdictTest::komi_values().collect();
    let batch = (TEST_BATCH * threads.max(1) / symmetries.len().max(1)).max(1);
    let mut winrates = Vec::with_capacity(komi.len());
    for some in komi.chunks(batch) {
        winrates.extend(paid_by_side_to_move(
            judge,
            &planes,
            position.to_move(),
            symmetries,
            some,
            threads,
        ));
    }
    VerdictTest::new(&winrates)
}

/// Tests a network on the empty board, or remembers that this was done.
pub fn assess(judge: &Judge, file: Option<&Path>, threads: usize) -> Assessment {
    let position = empty_board(judge);
    let planes = BitPlanes::new(position.size());
    let ends = ends_of_range().map(|komi| {
        let looks = [komi];
        paid_by_side_to_move(
            judge,
            &planes,
            Color::Black,
            &[Symmetry::IDENTITY],
            &looks,
            1,
        )[0]
    });
    let opinion = judge.evaluate_anew(&[(&position, Symmetry::IDENTITY)]);
    let known = opinion.map(|opinion| {
        let answers = opinion[0].policy.iter().copied();
        verdicts::fingerprint(answers.chain([opinion[0].winrate, ends[0] as f32, ends[1] as f32]))
    });
    // A network that cannot be evaluated is remembered by nobody.
    let (fingerprint, file) = known.map_or((0, None), |fingerprint| (fingerprint, file));
    if let Some(scores) = file.and_then(|file| verdicts::recall(file, fingerprint)) {
        return Assessment {
            scores,
            remembered: true,
        };
    }
    // The whole test, as `dyn_komi_test` makes it, so that both give the same figures.
    let scores = test_position(judge, &position, &[Symmetry::IDENTITY], threads).scores;
    if let Some(file) = file {
        verdicts::remember(file, fingerprint, scores);
    }
    Assessment {
        scores,
        remembered: false,
    }
}

/// Why a network cannot be told another komi whatever a test says, if there is a reason.
pub fn unfit(judge: &Judge) -> Option<Refusal> {
    let leela = judge.encoder().as_leela()?;
    leela.values_for_black().then_some(Refusal::BlackView)
}

/// Which evaluations count with these settings, or why there can be no dynamic komi. What the user says
/// about trust goes before what the test says; `assess` is only asked if it matters.
pub fn trust(
    settings: &Settings,
    unfit: Option<Refusal>,
    assess: impl FnOnce() -> Scores,
) -> Result<Trust, Refusal> {
    settings.check()?;
    if settings.mode.is_none() {
        return Ok(Trust::BOTH);
    }
    if let Some(refusal) = unfit {
        return Err(refusal);
    }
    if !settings.test_network {
        return Ok(settings.trust);
    }
    let scores = assess();
    let tested = scores.verdict().trust().ok_or(Refusal::Unusable(scores))?;
    Ok(if settings.trust.is_full() {
        tested
    } else {
        settings.trust
    })
}

fn paid_by_side_to_move(
    judge: &Judge,
    planes: &BitPlanes,
    to_move: Color,
    symmetries: &[Symmetry],
    komi: &[f64],
    threads: usize,
) -> Vec<f64> {
    // Black pays komi, White receives it.
    let sign = match to_move {
        Color::Black => 1.0,
        Color::White => -1.0,
    };
    let looks: Vec<Look<'_>> = komi
        .iter()
        .flat_map(|&komi| {
            symmetries.iter().map(move |&symmetry| Look {
                planes,
                symmetry,
                to_move,
                komi: sign * komi,
            })
        })
        .collect();
    let winrates = winrates(judge, &looks, threads);
    let each = symmetries.len().max(1);
    winrates
        .chunks(each)
        .map(|same| same.iter().sum::<f64>() / each as f64)
        .collect()
}

fn ends_of_range() -> [f64; 2] {
    let mut komi = VerdictTest::komi_values();
    let lowest = komi.next().unwrap_or_default();
    [lowest, komi.last().unwrap_or_default()]
}

fn empty_board(judge: &Judge) -> Position {
    let assumptions = Assumptions {
        net_komi: TurnKomi::TRAINED,
        trust: Trust::BOTH,
        compensation: 0.0,
        always_considers_pass: false,
        ..Assumptions::default()
    };
    Position::new(&Game::new(judge.size(), Komi::default()), assumptions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic_komi::Mode;

    fn scores(negative: f64, positive: f64) -> Scores {
        Scores { negative, positive }
    }

    fn never() -> Scores {
        panic!("the network need not be tested")
    }

    #[test]
    fn the_test_decides_unless_the_user_does() {
        let auto = Settings::for_mode(Some(Mode::Handicap));
        let tested = |scores: Scores| trust(&auto, None, || scores);
        assert_eq!(tested(scores(0.0, 0.0)), Ok(Trust::BOTH));
        assert_eq!(tested(scores(0.0, 0.4)), Ok(Trust::NEGATIVE_ONLY));
        assert_eq!(tested(scores(0.4, 0.0)), Ok(Trust::POSITIVE_ONLY));
        let bad = scores(0.4, 0.4);
        assert_eq!(tested(bad), Err(Refusal::Unusable(bad)));
        let pos = Settings {
            trust: Trust::POSITIVE_ONLY,
            ..auto.clone()
        };
        let asked = trust(&pos, None, || scores(0.0, 0.4));
        assert_eq!(asked, Ok(Trust::POSITIVE_ONLY), "no contradiction, no exit");
        let untested = Settings {
            test_network: false,
            ..auto
        };
        assert_eq!(trust(&untested, None, never), Ok(Trust::BOTH));
    }

    #[test]
    fn without_a_mode_nothing_is_tested_or_refused() {
        let plain = Settings::for_mode(None);
        assert_eq!(
            trust(&plain, Some(Refusal::BlackView), never),
            Ok(Trust::BOTH)
        );
        let nonslack = Settings::for_mode(Some(Mode::NonSlack));
        assert_eq!(
            trust(&nonslack, Some(Refusal::BlackView), never),
            Err(Refusal::BlackView)
        );
    }

    #[test]
    fn the_range_ends_where_the_test_does() {
        assert_eq!(ends_of_range(), [-300.5, 300.0]);
    }
}
