//! Scores finished games of a folder of SGF files and compares with the results they state:
//! `cargo run --release -p gtp --example score_games -- FOLDER [NETWORK]`.
//!
//! Prints a line a game: file, stated result, ours, dead stones.

use std::{env, error::Error, fs, path::Path};

use go::{
    Color, Rules,
    sgf::{GameResult, WinBy},
};
use go_player::{LoadedNetwork, Options, Player, Settled, Status};
use gtp::SolverReader;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let folder = words.next().ok_or("which folder?")?;
    let network = words.next();
    let mut player = match network {
        Some(file) => Some(Player::new(
            LoadedNetwork::load(Path::new(&file))?,
            Options::default(),
        )?),
        None => None,
    };
    let mut files: Vec<_> = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let (mut equal, mut near, mut all) = (0, 0, 0);
    for file in files {
        let collection = go::sgf::read(&fs::read(&file)?)?;
        let Some(tree) = collection.games.into_iter().next() else {
            continue;
        };
        let stated = tree.result();
        let GameResult::Win(winner, WinBy::Points(points)) = stated else {
            continue;
        };
        let Some(&last) = tree.main_line().last() else {
            continue;
        };
        let mut game = tree.game_at(last)?;
        let rules = tree.text(tree.root(), "RU").unwrap_or("Japanese");
        game.set_rules(rules.parse().unwrap_or(Rules::JAPANESE));
        let settled = match &mut player {
            Some(player) => {
                player.set_game(game.clone())?;
                player.settle()
            }
            None => Settled::by_reading(&game, &SolverReader::default()),
        };
        let stated_lead = if winner == Color::Black {
            points
        } else {
            -points
        };
        let difference = settled.score.lead(Color::Black) - stated_lead;
        all += 1;
        equal += usize::from(difference == 0.0);
        near += usize::from(difference.abs() <= 2.0);
        let dead: Vec<String> = settled
            .stones(game.board(), Status::Dead)
            .iter()
            .map(|stone| stone.to_string())
            .collect();
        println!(
            "{}\t{rules}\t{stated}\t{}\t{difference}\t{}",
            file.file_name().unwrap_or_default().to_string_lossy(),
            settled.score,
            dead.join(" ")
        );
    }
    println!("# {all} games, {equal} equal, {near} within two points");
    Ok(())
}
