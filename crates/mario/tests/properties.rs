//! What must hold on any board, checked on boards met in random games.

use std::collections::BTreeSet;

use mario::{
    Board, Button, COLOR_PERMUTATIONS, Color, Example, Game, Pill, Placed, Placement, Record,
    RecordEnd, RecordMove, Rules, Shape, StallCounts, bit, boxes, cells_of, chances, flood,
    presses,
    timed::{Falling, Held, NextFrame, search},
    virus_count,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// A position of a random game: console deal, then a number of random legal placements.
fn positions() -> impl Strategy<Value = (Board, Pill)> {
    let choices = prop::collection::vec(any::<Index>(), 0..60);
    (2u16.., 0u8..=24, choices, 0usize..9).prop_map(|(seed, level, choices, pill)| {
        let mut game = Game::console(seed, level, Rules::default());
        for choice in choices {
            if game.ending().is_some() {
                break;
            }
            let placements: Vec<_> = flood(game.board()).placements(game.pill()).collect();
            let before = game.clone();
            game.play(placements[choice.index(placements.len())])
                .unwrap();
            if game.ending().is_some() {
                return (*before.board(), Pill::from_index(pill));
            }
        }
        (*game.board(), Pill::from_index(pill))
    })
}

fn all_turns(board: &Board) -> BTreeSet<Placement> {
    flood(board)
        .placements(Pill::new(Color::Red, Color::Blue))
        .collect()
}

/// Gravity the slow way, one cell at a time, bottom row first, until nothing moves.
fn sweep(board: &Board) -> Vec<Option<mario::Cell>> {
    let mut cells: Vec<_> = (0..128).map(|i| board.cell(i % 8, i / 8)).collect();
    loop {
        let mut moved = false;
        for i in 8..128 {
            let below_free = |i: usize, cells: &[Option<mario::Cell>]| cells[i - 8].is_none();
            match cells[i].map(|cell| cell.shape) {
                None | Some(Shape::Virus | Shape::Right) => {}
                Some(Shape::Left) => {
                    if below_free(i, &cells) && below_free(i + 1, &cells) {
                        cells[i - 8] = cells[i].take();
                        cells[i - 7] = cells[i + 1].take();
                        moved = true;
                    }
                }
                Some(_) => {
                    if below_free(i, &cells) {
                        cells[i - 8] = cells[i].take();
                        moved = true;
                    }
                }
            }
        }
        if !moved {
            return cells;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn after_a_placement_nothing_floats_and_no_run_is_left((board, pill) in positions()) {
        for placement in flood(&board).placements(pill) {
            let mut after = board;
            let outcome = after.play(pill, placement);
            prop_assert_eq!(after.runs(), 0);
            prop_assert_eq!(board.viruses_left() - after.viruses_left(), outcome.viruses);
            let cells: Vec<_> = (0..128).map(|i| after.cell(i % 8, i / 8)).collect();
            prop_assert_eq!(sweep(&after), cells);
            let mut again = after;
            prop_assert_eq!(again.settle().rounds(), 0);
            prop_assert_eq!(again, after);
        }
    }

    #[test]
    fn text_round_trips((board, pill) in positions()) {
        prop_assert_eq!(board.to_string().parse::<Board>().unwrap(), board);
        prop_assert_eq!(pill.to_string().parse::<Pill>().unwrap(), pill);
        prop_assert_eq!(Pill::from_letters(&pill.letters()).unwrap(), pill);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-z \n0-9]{0,140}") {
        if let Ok(board) = text.parse::<Board>() {
            prop_assert_eq!(board.to_string(), text.clone());
        }
        let _ = text.parse::<Record>();
        let _ = text.parse::<Placed>();
        let _ = Example::read_all(&text);
    }

    #[test]
    fn mirror_and_recolouring_commute_with_placing((board, pill) in positions()) {
        prop_assert_eq!(board.mirrored().mirrored(), board);
        for placement in flood(&board).placements(pill) {
            let mut after = board;
            let outcome = after.play(pill, placement);
            prop_assert_eq!(placement.mirrored().mirrored(), placement);
            let mut mirrored = board.mirrored();
            prop_assert_eq!(mirrored.play(pill, placement.mirrored()), outcome);
            prop_assert_eq!(mirrored, after.mirrored());
            let mut swapped = board;
            swapped.play(pill.swapped(), placement.for_swapped_pill());
            prop_assert_eq!(swapped, after);
            for to in COLOR_PERMUTATIONS {
                let mut recolored = board.recolored(to);
                prop_assert_eq!(recolored.play(pill.recolored(to), placement), outcome);
                prop_assert_eq!(recolored, after.recolored(to));
            }
        }
    }

    #[test]
    fn resting_poses_are_free_and_cannot_drop((board, pill) in positions()) {
        let occupied = board.occupied();
        for placement in flood(&board).placements(pill) {
            let here = bit(placement.x, placement.y);
            let cells = if placement.is_vertical() { here | here << 8 } else { here | here << 1 };
            prop_assert_eq!(cells & occupied, 0);
            prop_assert!(placement.y == 0 || (cells >> 8) & !cells & occupied != 0);
        }
        // A double has each place once, listed under no turn or one.
        let double: Vec<_> = flood(&board).placements(Pill::new(Color::Red, Color::Red)).collect();
        prop_assert!(double.iter().all(|placement| placement.turns < 2));
        prop_assert_eq!(2 * double.len(), all_turns(&board).len());
    }

    #[test]
    fn presses_lead_where_they_say((board, _) in positions()) {
        let listed = presses(&board);
        let places: BTreeSet<_> = listed.iter().map(|(at, _)| *at).collect();
        prop_assert_eq!(&places, &all_turns(&board));
        prop_assert!(boxes(&board).placements(Pill::new(Color::Red, Color::Blue))
            .all(|placement| places.contains(&placement)));
        // With a very slow clock, tapping the presses one at a time ends in the same place.
        for (target, buttons) in listed {
            let slow = u8::MAX;
            let mut falling = Falling::launched(slow, true);
            for button in buttons {
                loop {
                    let wait = button == Button::Down && !falling.checks_down;
                    let held = if wait { Held::NONE } else { Held::NONE.with(button) };
                    for held in [held, Held::NONE] {
                        match falling.step(&board, slow, held) {
                            NextFrame::Falling(after) => falling = after,
                            NextFrame::Locked(at) => prop_assert!(false, "locked early at {}", at),
                        }
                        if wait {
                            break;
                        }
                    }
                    if !wait {
                        break;
                    }
                }
            }
            prop_assert_eq!(falling.pose, target);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_flood_equals_the_timed_search_at_console_speeds(
        (board, _) in positions(),
        frames in prop::sample::select(vec![14u8, 20]),
        checks_down in any::<bool>(),
    ) {
        let schedules = search(&board, Falling::launched(frames, checks_down), frames);
        prop_assert_eq!(schedules.keys().copied().collect::<BTreeSet<_>>(), all_turns(&board));
        for (target, schedule) in schedules {
            let mut falling = Falling::launched(frames, checks_down);
            let (last, before) = schedule.split_last().unwrap();
            for &held in before {
                match falling.step(&board, frames, held) {
                    NextFrame::Falling(after) => falling = after,
                    NextFrame::Locked(at) => prop_assert!(false, "locked early at {}", at),
                }
            }
            prop_assert_eq!(falling.step(&board, frames, *last), NextFrame::Locked(target));
        }
    }

    #[test]
    fn fast_clocks_never_reach_more_than_no_clock((board, _) in positions(), checks_down in any::<bool>()) {
        let untimed = all_turns(&board);
        for frames in [6, 3, 1] {
            let found = search(&board, Falling::launched(frames, checks_down), frames);
            let reached: BTreeSet<_> = found.keys().copied().collect();
            prop_assert!(reached.is_subset(&untimed));
        }
    }

    #[test]
    fn records_and_examples_of_random_games_hold_together(
        seed in 2u16..,
        level in 0u8..=20,
        choices in prop::collection::vec((any::<Index>(), 0.0f64..1.0), 1..40),
    ) {
        let mut game = Game::console(seed, level, Rules::SELF_PLAY);
        let board = *game.board();
        let mut moves = Vec::new();
        for (choice, weight) in choices {
            if game.ending().is_some() {
                break;
            }
            let pill = game.pill();
            let placed = |at: Placement| Placed { x: at.x, y: at.y, content: pill.turned(at.turns) };
            let placements: Vec<_> = flood(game.board()).placements(pill).collect();
            let chosen = placements[choice.index(placements.len())];
            let weights = placements.iter().enumerate()
                .map(|(index, &at)| (placed(at), weight / (1 + index) as f64)).collect();
            moves.push(RecordMove { chosen: placed(chosen), weights });
            game.play(chosen).unwrap();
        }
        let record = Record { board, moves, end: RecordEnd::End };
        let read: Record = record.to_string().parse().unwrap();
        prop_assert_eq!(&read, &record);
        let examples = Example::of_record(&read, StallCounts::AsLost).unwrap();
        prop_assert_eq!(examples.len(), game.placed() as usize);
        let total = virus_count(level) - game.board().viruses_left();
        prop_assert_eq!(examples[0].cleared, total);
        // Mirrored examples may list a place the mirrored board cannot reach: a flat pill turns
        // upright over its left cell, never its right one.
        for example in &examples {
            let reachable = all_turns(&example.board);
            prop_assert!(example.moves.keys().all(|at| reachable.contains(at)));
        }
        for example in Example::augmented(&examples) {
            let sum: f64 = example.moves.values().sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            for (at, chance) in &example.moves {
                if example.pill.is_double() {
                    prop_assert_eq!(example.moves[&at.for_swapped_pill()], *chance);
                }
            }
            let read = Example::from_json(&example.to_json(), 1).unwrap();
            prop_assert_eq!(read, example);
        }
    }

    #[test]
    fn chances_sum_to_one(weights in prop::collection::vec(0.0f64..9.0, 1..30), pill in 0usize..9) {
        let pill = Pill::from_index(pill);
        let turns = if pill.is_double() { 2 } else { 4 };
        let placements = weights.iter().enumerate()
            .map(|(index, &weight)| (Placement::new((index % turns) as u8, 0, index as u8 / 4), weight));
        let sum: f64 = chances(pill, placements).values().sum();
        prop_assert!((sum - 1.0).abs() < 1e-9);
    }

    #[test]
    fn sets_list_their_cells(set in any::<u128>()) {
        let listed = cells_of(set).fold(0, |sum, (x, y)| sum | bit(x, y));
        prop_assert_eq!(listed, set);
    }
}
