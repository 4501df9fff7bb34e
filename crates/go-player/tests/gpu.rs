//! A whole game on a graphics processor, which is lost in the middle of it. Mesa's llvmpipe is enough to run this.
#![cfg(feature = "gpu")]

use std::{fs, path::Path};

use go::{BoardSize, Color, Game, Komi, Move, Symmetry};
use go_player::{Decision, LoadedNetwork, Options, Player, Request, ResignPolicy, StopMode};
use net::{
    Backend, GpuOptions, GpuPrecision,
    gpu::{Gpu, adapters},
    katago::{FloatStyle, KataNetwork, RandomKind},
};

/// Moves before the device is lost.
const MOVES_BEFORE: usize = 12;
/// A game of a random network need not end by itself.
const MOST_MOVES: usize = 120;

fn write_network(file: &Path) -> KataNetwork {
    let network = KataNetwork::random(RandomKind::Nested, 2, 16, 9);
    fs::write(file, network.to_bytes(FloatStyle::Binary)).unwrap();
    network
}

#[test]
fn a_game_goes_on_to_its_end_when_the_device_is_lost() {
    let Some(adapter) = adapters().first().map(|adapter| adapter.index) else {
        println!("skipped: there is no Vulkan, Metal or Direct3D adapter here");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("random.bin");
    let kata = write_network(&file);
    let options = GpuOptions {
        adapter: Some(adapter),
        precision: GpuPrecision::F32,
    };
    let on_device = LoadedNetwork::load_on(&file, Backend::Gpu(options)).unwrap();
    let on_processor = LoadedNetwork::load_on(&file, Backend::Cpu).unwrap();
    assert!(on_device.is_on_device() && !on_processor.is_on_device());

    let (network, batch) = on_device.for_threads(2);
    assert_eq!(batch, 16, "each thread has a whole batch");
    let options_of_player = Options {
        threads: 2,
        batch,
        visits: Some(40),
        stop_mode: StopMode::Off,
        resign: ResignPolicy::Never,
        ..Options::default()
    };
    let size = BoardSize::new(7).unwrap();
    let mut player = Player::new(network, options_of_player).unwrap();
    player.start(size).unwrap();
    player
        .set_game(Game::new(size, Komi::new(6.5).unwrap()))
        .unwrap();
    let mut is_lost = false;
    let mut color = Color::Black;
    let (mut passes, mut moves) = (0, 0);
    for number in 0..MOST_MOVES {
        if number == MOVES_BEFORE {
            // All networks of this process share the device.
            let other = Gpu::new(&kata.network(5, 5), Some(adapter), GpuPrecision::F32).unwrap();
            other.lose_device();
            is_lost = true;
        }
        let thought = player.generate(color, &Request::default(), &mut ());
        let thought = thought.unwrap();
        assert!(thought.report.visits >= 40, "move {number}");
        match thought.decision {
            Decision::Resign => unreachable!("it never resigns"),
            Decision::Move(Move::Pass) => passes += 1,
            Decision::Move(_) => passes = 0,
        }
        moves += 1;
        color = color.opponent();
        if passes == 2 {
            break;
        }
    }
    assert_eq!(player.game().move_number(), moves);
    assert!(is_lost, "the game ended too early to show anything");

    // What is said now is said by the processor, to the last bit.
    let mut alone = Player::new(on_processor, Options::default()).unwrap();
    alone.start(size).unwrap();
    alone.set_game(player.game().clone()).unwrap();
    let said = player.opinion(Some(Symmetry::IDENTITY)).unwrap();
    let expected = alone.opinion(Some(Symmetry::IDENTITY)).unwrap();
    assert_eq!(said.policy, expected.policy);
    assert_eq!(said.winrate, expected.winrate);
}
