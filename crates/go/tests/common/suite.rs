//! GNU Go's regression files: `loadsgf`, numbered questions, and `#? [answer]` lines.
#![allow(dead_code)]

use std::path::Path;

use go::{Board, BoardSize, Color, Point, Undo, sgf};

/// A question of a suite on a board.
pub struct Check {
    pub number: usize,
    pub command: String,
    pub point: Point,
    pub board: Board,
    /// What stands between the brackets of the answer.
    pub answer: String,
}

impl Check {
    /// The result codes the answer allows, and the vertices after them.
    pub fn codes_and_moves(&self) -> (Vec<u8>, Vec<String>) {
        let words: Vec<&str> = self
            .answer
            .split(['(', ')', '|', ' '])
            .filter(|word| !word.is_empty())
            .collect();
        let is_code = |word: &&&str| word.parse::<u8>().is_ok();
        let codes: Vec<u8> = words
            .iter()
            .take_while(is_code)
            .map(|word| word.parse().unwrap())
            .collect();
        let moves = words[codes.len()..]
            .iter()
            .map(|word| (*word).to_owned())
            .collect();
        (codes, moves)
    }
}

/// All questions of a suite file.
pub fn checks(file: &Path) -> Vec<Check> {
    let folder = file.parent().unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let mut board = None;
    let mut tried: Vec<Undo> = Vec::new();
    let mut asked: Option<(usize, String, Point)> = None;
    let mut checks = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["loadsgf", name] => board = load(&folder.join(name), usize::MAX),
            ["loadsgf", name, number] => board = load(&folder.join(name), number.parse().unwrap()),
            ["boardsize", side] => {
                board = BoardSize::new(side.parse().unwrap()).map(Board::new);
            }
            ["clear_board"] => board = board.map(|board| Board::new(board.size())),
            ["trymove" | "play", color, vertex] => {
                let color = match color.to_lowercase().starts_with('b') {
                    true => Color::Black,
                    false => Color::White,
                };
                if let Some(board) = &mut board {
                    tried.push(board.play(vertex.parse().unwrap(), color));
                }
            }
            ["popgo"] => {
                if let (Some(board), Some(undo)) = (&mut board, tried.pop()) {
                    board.undo(undo);
                }
            }
            ["#?", ..] => {
                let (number, command, point) = asked.take().unwrap();
                let answer = line[2..]
                    .trim()
                    .trim_end_matches('*')
                    .trim_matches(['[', ']'])
                    .to_owned();
                let Some(board) = board.clone() else {
                    println!("skipped: no data (question {number})");
                    continue;
                };
                checks.push(Check {
                    number,
                    command,
                    point,
                    board,
                    answer,
                });
            }
            [number, command, vertex] if number.parse::<usize>().is_ok() => {
                asked = Some((
                    number.parse().unwrap(),
                    (*command).to_owned(),
                    vertex.parse().unwrap(),
                ));
            }
            _ => {}
        }
    }
    checks
}

/// The position before the move with this number; nothing without the file.
fn load(file: &Path, before_move: usize) -> Option<Board> {
    let collection =
        sgf::read(&std::fs::read(file).ok()?).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let tree = &collection.games[0];
    let mut last = tree.root();
    let mut moves = 0;
    for node in tree.main_line() {
        moves += tree.moves(node).unwrap().len();
        if moves >= before_move {
            break;
        }
        last = node;
    }
    let game = tree
        .game_at(last)
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    Some(game.board().clone())
}
