//! The network inside the program, for whoever names none. It plays on every board.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use go::BoardSize;
use net::{Backend, compact};

use crate::network::{LoadedNetwork, NetworkError, Origin};

/// The network, see its card in `nets`.
const BYTES: &[u8] = include_bytes!("../../../nets/go.net");
const NAME: &str = "go (built in)";

/// The network on any board, run by the processor.
pub(crate) fn for_size(size: BoardSize) -> LoadedNetwork {
    load_on(Backend::Cpu)
        .expect("a test loads the shipped network")
        .for_size(size)
        .expect("a test lays the shipped network out for every board")
}

/// The network for 19x19. It is read once for each backend; all boards share its weights.
pub(crate) fn load_on(backend: Backend) -> Result<LoadedNetwork, NetworkError> {
    static READ: Mutex<Vec<(Backend, LoadedNetwork)>> = Mutex::new(Vec::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, loaded)) = read.iter().find(|(runs, _)| *runs == backend) {
        return Ok(loaded.clone());
    }
    let network = compact::read(BYTES).expect("a test reads the shipped network");
    let mut loaded = LoadedNetwork::open_network(&network, Path::new(NAME), backend)?;
    loaded.origin = Origin::Shipped;
    read.push((backend, loaded.clone()));
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use go::{Color, Game, Komi, Move, Symmetry};

    use super::*;
    use crate::{Assumptions, Opinion, Position};

    fn opinion(game: &Game) -> Opinion {
        let judge = for_size(game.size()).judge(0);
        let position = Position::new(game, Assumptions::default());
        judge.mean_opinion(&position).unwrap()
    }

    fn board(side: usize) -> BoardSize {
        BoardSize::new(side).unwrap()
    }

    #[test]
    fn there_is_a_network_for_every_board() {
        for side in 2..=25 {
            let network = for_size(board(side));
            assert_eq!(network.evaluator.shape().input.width, side);
            assert_eq!(network.name(), NAME);
            let game = Game::new(board(side), Komi::default());
            let position = Position::new(&game, Assumptions::default());
            let fast = network.judge(0).opinion(&position, Symmetry::IDENTITY);
            let fast = fast.unwrap();
            assert!((fast.policy.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            assert!((0.0..=1.0).contains(&fast.winrate));
        }
    }

    #[test]
    fn komi_for_white_lowers_blacks_chance_and_takes_its_points_off_the_lead() {
        for side in [7, 9, 13, 19, 25] {
            let mut game = Game::new(board(side), Komi::default());
            let corner = side / 3;
            for (x, y) in [(corner, corner), (side - 1 - corner, side - 1 - corner)] {
                game.play(Move::Play(go::Point::new(x, y))).unwrap();
            }
            assert_eq!(game.to_move(), Color::Black);
            let asked: Vec<Opinion> = [-15.5, -5.5, 0.5, 6.5, 12.5, 20.5, 30.5]
                .into_iter()
                .map(|komi| {
                    game.set_komi(Komi::new(komi).unwrap());
                    opinion(&game)
                })
                .collect();
            let lead = |opinion: &Opinion| opinion.score.unwrap().lead;
            let (first, last) = (&asked[0], &asked[asked.len() - 1]);
            let slope = (lead(first) - lead(last)) / 46.0;
            assert!(
                (0.8..1.2).contains(&slope),
                "{side}: {slope} points of lead a point"
            );
            for pair in asked.windows(2) {
                assert!(
                    pair[1].winrate <= pair[0].winrate + 0.01,
                    "{side}: {} to {}",
                    pair[0].winrate,
                    pair[1].winrate
                );
                assert!(lead(&pair[1]) < lead(&pair[0]), "{side}");
            }
            assert!(first.winrate > 0.9 && last.winrate < 0.1, "{side}");
        }
    }

    #[test]
    fn all_networks_inside_take_less_than_eight_megabytes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nets");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
        let bytes: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
        assert!(bytes < 8 << 20, "{bytes} bytes");
    }
}
