//! The data folder that some tests read when it is there.
#![allow(dead_code)]

use std::{io::Read, path::PathBuf};

use go::{Board, BoardSize, Color};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A path in the data folder: `$TENGEN_DATA`, or `../shared/data` beside the workspace. Says
/// so and returns nothing when it is not there.
pub fn data(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TENGEN_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let found = Some(folder.join(path)).filter(|path| path.exists());
    if found.is_none() {
        println!("skipped: no data ({path})");
    }
    found
}

/// Every `stride`th SGF of the tar.gz archives in a folder: name and bytes.
pub fn archived_games(folder: &std::path::Path, stride: usize) -> Vec<(String, Vec<u8>)> {
    const BLOCK: usize = 512;
    const NAME: std::ops::Range<usize> = 0..100;
    const SIZE: std::ops::Range<usize> = 124..135;
    let mut games = Vec::new();
    let mut seen = 0;
    let mut archives: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    archives.sort();
    for archive in archives {
        let mut tar = Vec::new();
        flate2::read::MultiGzDecoder::new(std::fs::File::open(archive).unwrap())
            .read_to_end(&mut tar)
            .unwrap();
        let mut at = 0;
        while at + BLOCK <= tar.len() && tar[at] != 0 {
            let header = &tar[at..at + BLOCK];
            let name = String::from_utf8_lossy(&header[NAME])
                .trim_end_matches('\0')
                .to_owned();
            let size = String::from_utf8_lossy(&header[SIZE]);
            let size = usize::from_str_radix(size.trim_matches(['\0', ' ']), 8).unwrap();
            at += BLOCK;
            if name.ends_with(".sgf") {
                if seen % stride == 0 {
                    games.push((name, tar[at..at + size].to_vec()));
                }
                seen += 1;
            }
            at += size.next_multiple_of(BLOCK);
        }
    }
    games
}

/// A board with stones of both colours at random points, between a sparse and a crowded one.
pub fn random_board(side: usize, seed: u64) -> Board {
    let size = BoardSize::new(side).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut board = Board::new(size);
    let stones = (size.area() as f64 * rng.random_range(0.15..0.85)) as usize;
    for _ in 0..stones {
        let point = size.point(rng.random_range(0..size.area()));
        let color = Color::BOTH[usize::from(rng.random_bool(0.5))];
        if board.is_legal(point, color) {
            let _ = board.play(point, color);
        }
    }
    board
}
