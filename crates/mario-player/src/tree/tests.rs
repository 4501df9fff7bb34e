use mario::{Game, Rules};
use proptest::prelude::*;
use proptest::sample::Index;
use search::{Game as _, Snapshot, Turn};

use super::*;

/// A position of a random game that is not over, the next pill not shown.
fn views() -> impl Strategy<Value = View> {
    let choices = prop::collection::vec(any::<Index>(), 0..20);
    (2u16.., 0u8..=20, choices).prop_map(|(seed, level, choices)| {
        let mut game = Game::console(seed, level, Rules::default());
        for choice in choices {
            let mut after = game.clone();
            let placements: Vec<_> = flood(game.board()).placements(game.pill()).collect();
            after.play_reachable(placements[choice.index(placements.len())]);
            if after.ending().is_some() {
                break;
            }
            game = after;
        }
        View::without_next(&game)
    })
}

fn child_visits(snapshot: &Snapshot<Move>) -> u64 {
    let visits = snapshot.moves.iter().map(|entry| u64::from(entry.visits));
    visits.sum()
}

/// Checks the root, the chance node below its most visited placement, and the position below that one's most visited
/// pill. `own_of_chance` is what a chance node counts for itself.
fn check_visits(search: &Search<Position>, root: &Position, own_of_chance: u64) {
    let at_root = search.snapshot();
    assert_eq!(at_root.visits, 1 + child_visits(&at_root), "at the root");
    let most = |snapshot: &Snapshot<Move>| {
        let most = snapshot.moves.iter().max_by_key(|entry| entry.visits);
        most.map(|entry| entry.mv)
    };
    let mut position = root.clone();
    position.play(most(&at_root).unwrap());
    if position.turn() != Turn::Chance {
        return;
    }
    search.set_root(&position);
    let at_chance = search.snapshot();
    assert_eq!(at_chance.moves.len(), 9, "nine pills");
    let own = own_of_chance.min(at_chance.visits);
    assert_eq!(at_chance.visits, own + child_visits(&at_chance));
    let visits = || at_chance.moves.iter().map(|entry| entry.visits);
    let (fewest, most_visits) = (visits().min().unwrap(), visits().max().unwrap());
    assert!(most_visits - fewest <= 1, "{fewest} to {most_visits}");
    position.play(most(&at_chance).unwrap());
    if most_visits > 0 && position.turn() == Turn::Player(search::Side::First) {
        search.set_root(&position);
        let below = search.snapshot();
        assert_eq!(below.visits, 1 + child_visits(&below), "below the pill");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn visits_add_up_and_pills_are_tried_alike_in_round_zero(view in views(), seed in any::<u64>()) {
        let root = Position::new(&view, Utility::Progress);
        let search = Search::new(seed);
        let task = Task::playouts(700);
        search.run(&root, &RandomGames, &RoundZero::settings(), &task).unwrap();
        check_visits(&search, &root, 1);
    }

    #[test]
    fn visits_add_up_and_pills_are_tried_alike_under_the_heuristic(view in views(), seed in any::<u64>()) {
        let player = HeuristicTree::new(
            Weights::default(),
            TreeSettings::default(),
            Budget::Playouts(400),
            seed,
        );
        let root = Position::new(&view, Utility::Win);
        let search = Search::new(seed);
        search.run(&root, &player.judge(&view), &player.search_settings(), &Task::playouts(400)).unwrap();
        check_visits(&search, &root, 0);
    }
}

#[test]
fn a_win_at_hand_is_played_without_a_search() {
    // A red virus under two red halves, and a red pill.
    let letters = "d".repeat(104) + "edddddddedddddddaddddddd";
    let view = View {
        board: letters.parse().unwrap(),
        pill: "qu".parse().unwrap(),
        next: None,
        viruses_at_start: 1,
        placed: 0,
    };
    let budget = Budget::Time(Duration::from_secs(3600), Clock::Processor);
    let mut player = HeuristicTree::new(Weights::default(), TreeSettings::default(), budget, 1);
    let decision = player.decide(&view).unwrap().unwrap();
    let mut board = view.board;
    board.play(view.pill, decision.placement);
    assert_eq!(board.viruses_left(), 0);
}

/// The claim behind having no rule for forced moves, on a bottle that is full up to its throat.
#[test]
fn an_open_throat_leaves_three_poses() {
    let full = |row: usize, column: usize| {
        if (row / 2 + column).is_multiple_of(2) {
            'e'
        } else {
            'f'
        }
    };
    let mut letters = String::new();
    for row in 0..16 {
        for column in 0..8 {
            let open = row == 0 && (3..5).contains(&column);
            letters.push(if open { 'd' } else { full(row, column) });
        }
    }
    let board: Board = letters.parse().unwrap();
    let double = mario::Pill::all().find(|pill| pill.is_double()).unwrap();
    assert!(!board.is_topped_out());
    assert_eq!(flood(&board).count(double), 3);
}

#[test]
fn the_time_left_is_counted_in_playouts_at_the_pace_so_far() {
    let used = Duration::from_millis(10);
    assert_eq!(playouts_left(1000, used, 3 * used), 2000);
    assert_eq!(playouts_left(1000, used, used), 0);
    // Nothing is said before the pace is known.
    assert_eq!(playouts_left(3, used, 3 * used), u64::MAX);
}

/// The playouts that are left are fewer than the leader is ahead.
#[test]
fn a_choice_that_nothing_can_overtake_is_not_thought_about_any_longer() {
    let game = Game::console(0x8988, 0, Rules::default());
    let view = View::of(&game);
    let new = |playouts| {
        let budget = Budget::Playouts(playouts);
        HeuristicTree::new(Weights::default(), TreeSettings::default(), budget, 5)
    };
    let most = 4000;
    let decision = new(most).decide(&view).unwrap().unwrap();
    assert!(decision.positions < most, "{}", decision.positions);
    let visits = |at: usize| decision.weights.get(at).map_or(0.0, |entry| entry.1);
    assert!(visits(0) - visits(1) > 0.0);
}
