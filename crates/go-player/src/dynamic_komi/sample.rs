//! The few positions an adjustment rests on, and the two curves they give.

use std::cell::Cell;

use go::Color;

use super::{
    Curves, Request, TurnKomi,
    collection::SavedPosition,
    look::{Look, winrates},
};
use crate::judge::Judge;

/// Positions of each colour that speak for all that were collected.
pub struct Sample {
    positions: [Vec<SavedPosition>; 2],
    komi: TurnKomi,
    evaluations: Cell<usize>,
}

impl Sample {
    /// Keeps `count` positions of each colour whose winrates are nearest to White's winrate at the
    /// root: what the search believes is what the adjustment must move, and a mean over all
    /// positions counts bad moves as much as good ones. `komi` is what the network was told.
    pub fn nearest(
        collected: [Vec<SavedPosition>; 2],
        komi: TurnKomi,
        white_winrate: f64,
        count: usize,
    ) -> Sample {
        let mut turns = Color::BOTH.into_iter();
        let positions = collected.map(|mut positions| {
            let turn = turns.next().unwrap_or(Color::Black);
            let distance = |position: &SavedPosition| {
                (white_view(turn, f64::from(position.winrate)) - white_winrate).abs()
            };
            positions.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            positions.truncate(count);
            positions
        });
        Sample {
            positions,
            komi,
            evaluations: Cell::new(0),
        }
    }

    /// Positions of each colour.
    pub fn counts(&self) -> [usize; 2] {
        [self.positions[0].len(), self.positions[1].len()]
    }

    /// White's mean winrate on a colour's turn as it was collected.
    pub fn present_winrate(&self, turn: Color) -> Option<f64> {
        let winrates = self.positions[turn.index()]
            .iter()
            .map(|position| f64::from(position.winrate));
        mean(winrates).map(|winrate| white_view(turn, winrate))
    }

    /// What is known of the curves without asking: the winrates at the present komi.
    pub fn known(&self) -> Curves {
        let mut curves = Curves::new();
        for turn in Color::BOTH {
            if let Some(winrate) = self.present_winrate(turn) {
                let komi = self.komi.on_turn(turn);
                curves.insert(Request { turn, komi }, winrate);
            }
        }
        curves
    }

    /// White's mean winrate at each request, all in one batch, shared by `threads`.
    pub fn winrates(&self, judge: &Judge, requests: &[Request], threads: usize) -> Vec<f64> {
        let looks: Vec<Look<'_>> = requests
            .iter()
            .flat_map(|&Request { turn, komi }| {
                self.positions[turn.index()]
                    .iter()
                    .map(move |position| Look {
                        planes: &position.planes,
                        symmetry: position.symmetry,
                        to_move: turn,
                        komi,
                    })
            })
            .collect();
        self.evaluations.set(self.evaluations.get() + looks.len());
        let mut winrates = winrates(judge, &looks, threads).into_iter();
        requests
            .iter()
            .map(|request| {
                let count = self.positions[request.turn.index()].len();
                let winrate = mean(winrates.by_ref().take(count));
                white_view(request.turn, winrate.unwrap_or(0.5))
            })
            .collect()
    }

    /// Evaluations that the answers took so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations.get()
    }
}

/// A winrate of the side to move as White's.
fn white_view(to_move: Color, winrate: f64) -> f64 {
    match to_move {
        Color::White => winrate,
        Color::Black => 1.0 - winrate,
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
