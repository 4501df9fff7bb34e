//! The decision table: from the winrate at the root and the two curves to a new komi.
//!
//! Points of both colours share their batches: the second colour's aim is nearly always the first
//! one's, so it is looked up speculatively.

use go::Color;

use super::{
    Curves, Request, Settings, TurnKomi, curve::Missing, seek::Seeker, turn_komi::TRAINED_KOMI,
};

/// What an adjustment came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjustment {
    /// Komi to search with from now on.
    pub komi: TurnKomi,
    /// Network batches that were needed.
    pub batches: usize,
    /// Points of the curves that were evaluated.
    pub points: usize,
}

/// Whether White's winrate at the root calls for an adjustment.
pub fn is_out_of_range(settings: &Settings, komi: TurnKomi, white_winrate: f64) -> bool {
    if settings.mode.is_none() {
        return false;
    }
    let nonslack = settings.is_nonslack();
    let target = settings.target_komi;
    let below_target = komi.black < target || komi.white < target;
    let above_target = komi.black > target || komi.white > target;
    white_winrate < settings.min_winrate
        || white_winrate > settings.max_winrate && (nonslack || below_target || above_target)
        || nonslack && below_target && white_winrate < settings.high_aim()
        || nonslack && above_target && white_winrate > settings.low_aim()
}

/// Finds the new komi. `to_move` is the side to move at the root, `white_winrate` the root's mean,
/// `known` what is known of the curves already, and `evaluate` gives White's mean winrate of the
/// kept positions at each request. The positions of a colour that only follows
/// ([`Settings::follower`]) are never asked for.
pub fn adjust(
    settings: &Settings,
    komi: TurnKomi,
    to_move: Color,
    white_winrate: f64,
    known: Curves,
    mut evaluate: impl FnMut(&[Request]) -> Vec<f64>,
) -> Adjustment {
    let mut curves = known;
    let (mut batches, mut points) = (0, 0);
    loop {
        let decision = Decision {
            settings,
            curves: &curves,
            old: komi,
            to_move,
            white_winrate,
        };
        let mut wanted = match decision.both_turns() {
            Ok(komi) => {
                return Adjustment {
                    komi,
                    batches,
                    points,
                };
            }
            Err(Missing(wanted)) => wanted,
        };
        if let Err(Missing(speculative)) = decision.likely_second_turn() {
            wanted.extend(
                speculative
                    .into_iter()
                    .filter(|request| !wanted.contains(request))
                    .collect::<Vec<_>>(),
            );
        }
        for (&request, winrate) in wanted.iter().zip(evaluate(&wanted)) {
            curves.insert(request, winrate);
        }
        batches += 1;
        points += wanted.len();
    }
}

struct Decision<'a> {
    settings: &'a Settings,
    curves: &'a Curves,
    old: TurnKomi,
    to_move: Color,
    white_winrate: f64,
}

impl Decision<'_> {
    /// The komi of both turns: first that of the side to move, then the other's to match it.
    fn both_turns(&self) -> Result<TurnKomi, Missing> {
        if let Some(follower) = self.settings.follower(self.old) {
            return self.one_turn_and_its_follower(follower);
        }
        let (first, second) = (self.to_move, self.to_move.opponent());
        let trust_all = self.settings.trust.is_full();
        let (first_komi, aim) = self.one_turn(self.old, first, None)?;
        let mut komi = self.old.with(first, first_komi);
        if first_komi != self.old.on_turn(first) || !trust_all {
            let second_komi = if trust_all && self.is_anchor(first_komi) {
                first_komi
            } else {
                self.one_turn(komi, second, aim)?.0
            };
            komi = komi.with(second, second_komi);
            if second_komi == self.old.on_turn(second) && trust_all && second_komi != first_komi {
                // The other side cannot follow: an adjustment of one turn alone is undone.
                komi = komi.with(first, self.old.on_turn(first));
            }
        }
        if trust_all && self.is_anchor(komi.on_turn(second)) {
            komi = komi.with(first, komi.on_turn(second));
        }
        Ok(komi)
    }

    /// The trusted colour decides; the other goes along as far as the trained range reaches.
    fn one_turn_and_its_follower(&self, follower: Color) -> Result<TurnKomi, Missing> {
        let (komi, _) = self.one_turn(self.old, follower.opponent(), None)?;
        let followed = komi.clamp(-TRAINED_KOMI, TRAINED_KOMI);
        Ok(TurnKomi::both(komi).with(follower, followed))
    }

    /// Asks for what the second colour will want if the first one moves the way its winrate says.
    fn likely_second_turn(&self) -> Result<(), Missing> {
        if self.settings.follower(self.old).is_some() {
            return Ok(());
        }
        let second = self.to_move.opponent();
        let aim = if self.white_winrate < self.settings.min_winrate {
            self.settings.low_aim()
        } else {
            self.settings.high_aim()
        };
        self.one_turn(self.old, second, Some(aim)).map(|_| ())
    }

    /// The komi for one colour's turn, and the winrate aimed at if komi had to move.
    /// `follow` is the winrate the other turn was brought to.
    fn one_turn(
        &self,
        komi: TurnKomi,
        turn: Color,
        follow: Option<f64>,
    ) -> Result<(f64, Option<f64>), Missing> {
        let settings = self.settings;
        let seeker = Seeker {
            settings,
            curves: self.curves,
            komi,
            turn,
        };
        let current = komi.on_turn(turn);
        let out =
            self.white_winrate < settings.min_winrate || self.white_winrate > settings.max_winrate;
        if out {
            let winrate = self.curves.winrate(turn, current)?;
            if let (Some(aim), true) = (follow, settings.trust.is_full()) {
                if winrate < aim {
                    return Ok((seeker.raise(aim)?, None));
                }
                if winrate > aim {
                    return Ok((seeker.lower(aim)?, None));
                }
            } else if winrate < settings.min_winrate {
                let aim = settings.low_aim();
                return Ok((seeker.raise(aim)?, Some(aim)));
            } else if winrate > settings.max_winrate
                && (settings.is_nonslack() || current != settings.target_komi)
            {
                let aim = settings.high_aim();
                return Ok((seeker.lower(aim)?, Some(aim)));
            }
        }
        if settings.is_nonslack()
            && self.is_comfortable(self.curves.winrate(turn, settings.target_komi)?)
        {
            return Ok((settings.target_komi, None));
        }
        Ok((current, None))
    }

    fn is_anchor(&self, komi: f64) -> bool {
        Seeker::is_anchor(self.settings, komi)
    }

    fn is_comfortable(&self, winrate: f64) -> bool {
        (self.settings.low_aim()..=self.settings.high_aim()).contains(&winrate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic_komi::{Mode, Trust};
    use proptest::prelude::*;

    /// White's winrate of a network for which the position is even at `even`.
    fn sigmoid(even: f64, slope: f64) -> impl Fn(Color, f64) -> f64 {
        move |_, komi| 1.0 / (1.0 + (-(komi - even) / slope).exp())
    }

    fn handicap() -> Settings {
        Settings::for_mode(Some(Mode::Handicap))
    }

    fn nonslack() -> Settings {
        Settings::for_mode(Some(Mode::NonSlack))
    }

    fn run(
        settings: &Settings,
        komi: TurnKomi,
        root: f64,
        curve: impl Fn(Color, f64) -> f64,
    ) -> Adjustment {
        adjust(
            settings,
            komi,
            Color::White,
            root,
            Curves::new(),
            |requests| {
                requests
                    .iter()
                    .map(|request| curve(request.turn, request.komi))
                    .collect()
            },
        )
    }

    fn assert_reaches(adjustment: &Adjustment, curve: impl Fn(Color, f64) -> f64, aim: f64) {
        for turn in Color::BOTH {
            let winrate = curve(turn, adjustment.komi.on_turn(turn));
            assert!(
                (winrate - aim).abs() < 0.01,
                "{turn}: {winrate} instead of {aim} in {adjustment:?}"
            );
        }
    }

    #[test]
    fn handicap_raises_komi_to_the_lower_aim() {
        let curve = sigmoid(60.0, 10.0);
        let result = run(&handicap(), TurnKomi::TRAINED, 0.01, &curve);
        assert_reaches(&result, &curve, 0.09);
    }

    #[test]
    fn handicap_leaves_a_winrate_within_the_range_alone() {
        let result = run(&handicap(), TurnKomi::TRAINED, 0.08, sigmoid(60.0, 10.0));
        assert_eq!(
            result,
            Adjustment {
                komi: TurnKomi::TRAINED,
                batches: 0,
                points: 0
            }
        );
    }

    #[test]
    fn handicap_returns_to_the_target_when_white_can_afford_it() {
        let result = run(&handicap(), TurnKomi::both(30.0), 0.6, sigmoid(10.0, 10.0));
        assert_eq!(result.komi, TurnKomi::TRAINED);
    }

    #[test]
    fn handicap_comes_down_only_as_far_as_the_upper_aim() {
        let curve = sigmoid(60.0, 10.0);
        let result = run(&handicap(), TurnKomi::both(50.0), 0.27, &curve);
        assert_reaches(&result, &curve, 0.09);
        assert!(result.komi.white < 50.0 && result.komi.white > 7.5);
    }

    #[test]
    fn handicap_at_its_target_never_goes_lower() {
        let result = run(&handicap(), TurnKomi::TRAINED, 0.9, sigmoid(-20.0, 10.0));
        assert_eq!(result.komi, TurnKomi::TRAINED);
    }

    #[test]
    fn nonslack_pushes_against_either_leader() {
        let leading = sigmoid(-60.0, 10.0);
        let result = run(&nonslack(), TurnKomi::TRAINED, 0.999, &leading);
        assert_reaches(&result, &leading, 0.8);
        let trailing = sigmoid(60.0, 10.0);
        let result = run(&nonslack(), TurnKomi::TRAINED, 0.001, &trailing);
        assert_reaches(&result, &trailing, 0.2);
    }

    #[test]
    fn nonslack_accepts_an_end_of_the_trained_range_early() {
        // At -7.5 White's winrate is 0.5, inside the aims, so no komi between is sought.
        let result = run(&nonslack(), TurnKomi::TRAINED, 0.97, sigmoid(-7.5, 4.0));
        assert_eq!(result.komi, TurnKomi::both(-7.5));
    }

    #[test]
    fn nonslack_snaps_back_to_the_target_when_it_will_do() {
        let result = run(&nonslack(), TurnKomi::both(-20.0), 0.5, sigmoid(7.5, 20.0));
        assert_eq!(result.komi, TurnKomi::TRAINED);
    }

    #[test]
    fn a_turn_that_cannot_follow_undoes_the_adjustment() {
        let curve = |turn, komi| match turn {
            Color::White => sigmoid(60.0, 10.0)(turn, komi),
            Color::Black => 0.01,
        };
        assert_eq!(
            run(&handicap(), TurnKomi::TRAINED, 0.01, curve).komi,
            TurnKomi::TRAINED
        );
    }

    #[test]
    fn flat_curve_changes_nothing() {
        assert_eq!(
            run(&handicap(), TurnKomi::TRAINED, 0.01, |_, _| 0.01).komi,
            TurnKomi::TRAINED
        );
        assert_eq!(
            run(&nonslack(), TurnKomi::TRAINED, 0.99, |_, _| 0.99).komi,
            TurnKomi::TRAINED
        );
    }

    #[test]
    fn a_curve_that_goes_the_wrong_way_changes_nothing() {
        let falling = |_, komi: f64| 0.05 / (1.0 + (komi / 30.0).exp());
        assert_eq!(
            run(&handicap(), TurnKomi::TRAINED, 0.01, falling).komi,
            TurnKomi::TRAINED
        );
    }

    #[test]
    fn komi_stops_at_its_limit_and_stays_there() {
        let settings = Settings {
            max_komi: 40.0,
            ..handicap()
        };
        let result = run(&settings, TurnKomi::TRAINED, 0.001, sigmoid(100.0, 10.0));
        assert_eq!(result.komi, TurnKomi::both(40.0));
    }

    #[test]
    fn raising_starts_from_any_komi() {
        let curve = sigmoid(250.0, 20.0);
        for start in [-20.0, 0.0, 7.5, 100.0] {
            let result = run(&handicap(), TurnKomi::both(start), 0.001, &curve);
            assert_reaches(&result, &curve, 0.09);
        }
    }

    #[test]
    fn an_untrusted_colour_stays_within_the_trained_range() {
        let curve = sigmoid(60.0, 10.0);
        let settings = Settings {
            trust: Trust::NEGATIVE_ONLY,
            ..handicap()
        };
        let result = run(&settings, TurnKomi::TRAINED, 0.01, &curve);
        assert_eq!(
            result.komi.black, 7.5,
            "Black pays, so its positive komi is not trusted"
        );
        assert!((curve(Color::White, result.komi.white) - 0.09).abs() < 0.01);
        let settings = Settings {
            original_policy: false,
            ..settings
        };
        assert!(run(&settings, TurnKomi::TRAINED, 0.01, &curve).komi.black > 7.5);
    }

    #[test]
    fn both_colours_share_a_handful_of_batches() {
        let result = run(&handicap(), TurnKomi::TRAINED, 0.01, sigmoid(60.0, 10.0));
        assert!(result.batches <= 6, "{} batches", result.batches);
    }

    #[test]
    fn out_of_range_follows_the_four_conditions() {
        let target = TurnKomi::TRAINED;
        assert!(is_out_of_range(&handicap(), target, 0.05));
        assert!(!is_out_of_range(&handicap(), target, 0.5));
        assert!(is_out_of_range(&handicap(), TurnKomi::both(20.0), 0.5));
        assert!(is_out_of_range(&nonslack(), target, 0.95));
        assert!(is_out_of_range(&nonslack(), TurnKomi::both(0.0), 0.7));
        assert!(is_out_of_range(&nonslack(), TurnKomi::both(20.0), 0.3));
        assert!(!is_out_of_range(&nonslack(), target, 0.5));
        assert!(!is_out_of_range(&Settings::for_mode(None), target, 0.0));
    }

    proptest! {
        #[test]
        fn monotone_curves_are_always_met(even in -300.0..300.0f64, slope in 5.0..30.0f64, start in -50.0..50.0f64) {
            let curve = sigmoid(even, slope);
            let root = curve(Color::White, start);
            prop_assume!(root < 0.06);
            let result = run(&handicap(), TurnKomi::both(start), root, &curve);
            for turn in Color::BOTH {
                let winrate = curve(turn, result.komi.on_turn(turn));
                prop_assert!((winrate - 0.09).abs() < 0.03, "{winrate} with {result:?}");
            }
        }
    }
}
