//! SGF as it is found: every way to write the same thing, and every way to damage it.

mod common;

use go::{
    BoardSize, Color, Game, Illegal, Komi, Move, Point, PointSet,
    sgf::{self, GameResult, NodeId, Overtime, Problem, SgfError, Tree, WinBy},
};
use proptest::prelude::*;

fn only_game(text: &str) -> Tree {
    let mut games = sgf::read_text(text).unwrap();
    assert_eq!(games.len(), 1);
    games.pop().unwrap()
}

fn end_of(tree: &Tree) -> Game {
    tree.game_at(*tree.main_line().last().unwrap()).unwrap()
}

fn moves(tree: &Tree) -> String {
    let game = end_of(tree);
    let moves = game
        .moves()
        .map(|(color, mv)| format!("{}{mv}", if color == Color::Black { "b " } else { "w " }));
    moves.collect::<Vec<_>>().join(", ")
}

fn error(text: &str) -> SgfError {
    let replayed = sgf::read_text(text).and_then(|games| {
        games
            .iter()
            .try_for_each(|tree| tree.game_at(*tree.main_line().last().unwrap()).map(drop))
    });
    replayed.unwrap_err()
}

#[test]
fn rows_count_from_the_top() {
    assert_eq!(
        moves(&only_game("(;B[aa];W[as];B[sa];W[pd])")),
        "b A19, w A1, b T19, w Q16"
    );
    assert_eq!(moves(&only_game("(;SZ[9];B[ee];W[ai])")), "b E5, w A1");
    assert_eq!(moves(&only_game("(;SZ[25];B[yy];W[ta])")), "b Z1, w U25");
}

#[test]
fn passes_are_empty_or_one_beyond_the_edge() {
    assert_eq!(
        moves(&only_game("(;B[];W[tt];B[dd])")),
        "b pass, w pass, b D16"
    );
    assert_eq!(moves(&only_game("(;SZ[9];B[tt])")), "b pass");
    // On a board with a twentieth column it is a point.
    assert_eq!(moves(&only_game("(;SZ[21];B[tt])")), "b U2");
}

#[test]
fn collections_variations_and_main_lines() {
    let games =
        sgf::read_text("(;B[aa](;W[bb];B[cc](;W[dd])(;W[ee]))(;W[ff]))\n\n(;SZ[9];B[gg])").unwrap();
    assert_eq!(games.len(), 2);
    let tree = &games[0];
    assert_eq!(moves(tree), "b A19, w B18, b C17, w D16");
    let branch = tree.children(tree.root())[1];
    assert_eq!(tree.path(branch), [tree.root(), branch]);
    assert_eq!(
        tree.game_at(branch)
            .unwrap()
            .last_move()
            .unwrap()
            .1
            .to_string(),
        "F14"
    );
    assert_eq!(tree.parent(branch), Some(tree.root()));
    assert_eq!(games[1].size().unwrap(), BoardSize::NINE);
    assert_eq!(games[1].number(), 2);
}

#[test]
fn line_ends_blanks_and_byte_order_marks_do_not_matter() {
    let plain = "(;SZ[9]C[one\ntwo];B[ee];W[cc])";
    for variant in [
        "\u{feff}(;SZ[9]C[one\r\ntwo]\r\n;B[ee]\r\n;W[cc])\r\n",
        "From: someone\n\n ( ; SZ [9] C[one\rtwo] ; B [ee] ; W\n[cc] )\n-- \nsignature",
        "(;SiZe[9]Comment[one\n\rtwo];Black[ee];White[cc])",
    ] {
        let collection = sgf::read(variant.as_bytes()).unwrap();
        assert_eq!(
            collection.games[0].to_string(),
            only_game(plain).to_string(),
            "{variant:?}"
        );
    }
}

#[test]
fn text_keeps_brackets_backslashes_and_colons_but_not_soft_line_breaks() {
    let tree =
        only_game("(;C[a \\] b \\\\ c \\: d: e \\\nf]LB[dd:1:2][ee:x]XX[odd \\] one];B[dd])");
    assert_eq!(tree.text(tree.root(), "C"), Some("a ] b \\ c : d: e f"));
    assert_eq!(tree.text(tree.root(), "XX"), Some("odd ] one"));
    let again = only_game(&tree.to_string());
    for name in ["C", "XX", "LB"] {
        assert!(
            tree.values(tree.root(), name)
                .eq(again.values(again.root(), name)),
            "{name}"
        );
    }
    assert!(tree.to_string().contains("[dd:1\\:2]"));
}

#[test]
fn setup_stones_and_rectangles_make_positions() {
    let tree = only_game("(;SZ[9]AB[aa:ca][bb]AW[ii]PL[W];AE[ba]AB[ii];W[ee])");
    let points = |vertices: &str| -> PointSet {
        vertices
            .split_whitespace()
            .map(|vertex| vertex.parse::<Point>().unwrap())
            .collect()
    };
    let root = tree.game_at(tree.root()).unwrap();
    assert_eq!(*root.board().stone_set(Color::Black), points("A9 B9 C9 B8"));
    assert_eq!(*root.board().stone_set(Color::White), points("J1"));
    assert_eq!(root.to_move(), Color::White);
    let end = end_of(&tree);
    assert_eq!(*end.board().stone_set(Color::Black), points("A9 C9 B8 J1"));
    assert_eq!(end.move_number(), 1);
}

#[test]
fn the_turn_comes_from_pl_then_the_next_move_then_the_handicap() {
    let turn = |text: &str| {
        let tree = only_game(text);
        tree.game_at(tree.root()).unwrap().to_move()
    };
    assert_eq!(turn("(;SZ[9]AB[ee]PL[W];B[aa])"), Color::White);
    assert_eq!(turn("(;SZ[9]AB[ee];W[aa])"), Color::White);
    assert_eq!(turn("(;SZ[9]HA[2]AB[cc][gg])"), Color::White);
    assert_eq!(turn("(;SZ[9]AB[cc])"), Color::Black);
    assert_eq!(turn("(;SZ[9];W[cc])"), Color::White);
}

#[test]
fn roots_say_what_was_agreed() {
    let tree = only_game("(;HA[3]KM[0.50]RE[W+Resign]TM[1200]OT[25/600 Canadian]AB[dd][pp][dp])");
    assert_eq!(tree.komi().unwrap(), Komi::new(0.5));
    assert_eq!(tree.handicap().unwrap(), 3);
    assert_eq!(
        tree.result(),
        GameResult::Win(Color::White, WinBy::Resignation)
    );
    let time = tree.time_limits().unwrap();
    assert_eq!(time.main_seconds, Some(1200.0));
    assert_eq!(
        time.overtime,
        Some(Overtime::Canadian {
            stones: 25,
            seconds: 600.0
        })
    );
    assert_eq!(
        "5x30 byo-yomi".parse(),
        Ok(Overtime::ByoYomi {
            periods: 5,
            seconds: 30.0
        })
    );
    assert_eq!("fischer".parse(), Ok(Overtime::Other("fischer".into())));
    let game = tree.game_at(tree.root()).unwrap();
    assert_eq!((game.komi(), game.handicap()), (Komi::new(0.5).unwrap(), 3));
    assert_eq!(only_game("(;KM[]HA[]SZ[]TM[])").komi(), Ok(None));
}

#[test]
fn results_are_read_in_every_spelling_and_written_in_one() {
    for (text, written) in [
        ("B+3.5", "B+3.5"),
        ("w+R", "W+Resign"),
        ("W+Resign", "W+Resign"),
        ("B+T", "B+Time"),
        ("B+Forfeit", "B+Forfeit"),
        ("B+", "B+"),
        ("0", "0"),
        ("Draw", "0"),
        ("Void", "Void"),
        ("?", "?"),
        ("nobody knows", "?"),
    ] {
        let result: GameResult = text.parse().unwrap();
        assert_eq!(result.to_string(), written);
    }
}

#[test]
fn damage_is_reported_with_game_node_and_property() {
    for (text, message) in [
        ("", "game 1 (line 1): there is no game: expected `(;`"),
        (
            "(;B[aa]",
            "game 1, node 1 (line 1): the text ends before the game does: a `)` is missing",
        ),
        (
            "(;B[aa])(;B[aa];W[bb",
            "game 2, node 2, property W (line 1): the value has no end: a `]` is missing",
        ),
        (
            "(;B[aa];\nW;B[cc])",
            "game 1, node 2, property W (line 2): the property has no value: expected `[`",
        ),
        (
            "(;B[aa];[bb])",
            "game 1, node 2 (line 1): there is a value without a property name",
        ),
        (
            "(;B[aa](;W[bb])C[late])",
            "game 1, node 2 (line 1): the property stands outside a node: a `;` is missing",
        ),
        (
            "(;B[aa](;W[bb]);B[cc])",
            "game 1, node 2 (line 1): a node follows after variations",
        ),
        (
            "(;B[aa]((;W[bb])))",
            "game 1, node 1 (line 1): a variation starts where a node was expected",
        ),
        (
            "(;B[aa];#W[bb])",
            "game 1, node 2 (line 1): `#` was not expected",
        ),
        (
            "(;GM[2]SZ[8])",
            "game 1, node 1, property GM: the game is not Go but GM[2]",
        ),
        (
            "(;SZ[26])",
            "game 1, node 1, property SZ: `26` is not the side of a square board from 2 to 25",
        ),
        (
            "(;SZ[19:13])",
            "game 1, node 1, property SZ: `19:13` is not the side of a square board from 2 to 25",
        ),
        (
            "(;KM[much])",
            "game 1, node 1, property KM: `much` is not a number of points",
        ),
        (
            "(;HA[-1])",
            "game 1, node 1, property HA: `-1` is not a number of stones",
        ),
        (
            "(;SZ[9];B[ee];W[jj])",
            "game 1, node 3, property W: `jj` is not a move on the board",
        ),
        (
            "(;SZ[9];B[e])",
            "game 1, node 2, property B: `e` is not a move on the board",
        ),
        (
            "(;SZ[9];B[ee];W[ee])",
            "game 1, node 3, property W: the point is occupied",
        ),
        (
            "(;SZ[9]AB[zz])",
            "game 1, node 1, property AB: `zz` is not a point of the board",
        ),
        (
            "(;SZ[9]AB[aa]AW[aa])",
            "game 1, node 1, property AB: A9 would hold stones of both colours",
        ),
        (
            "(;SZ[9]AB[aa]AW[ab][ba])",
            "game 1, node 1, property AB: the stone at A9 would have no liberty",
        ),
        (
            "(;SZ[9]AB[aa]PL[red])",
            "game 1, node 1, property PL: `red` is not B or W",
        ),
    ] {
        assert_eq!(error(text).to_string(), message, "{text}");
    }
}

#[test]
fn moves_that_other_rules_allow_are_played_and_listed() {
    let suicide = only_game("(;SZ[5];B[bb];W[ab];B[ee];W[ba];B[aa])");
    let replay = suicide
        .replay(NodeId::clone(suicide.main_line().last().unwrap()))
        .unwrap();
    assert_eq!(
        replay.irregular,
        [(*suicide.main_line().last().unwrap(), Illegal::Suicide)]
    );
    assert!(replay.game.board().is_empty(Point::new(0, 4)));
}

#[test]
fn a_long_game_does_not_overflow_the_stack() {
    let text = format!("(;{})", "B[];W[];".repeat(200_000).trim_end_matches(';'));
    let tree = only_game(&text);
    assert_eq!(tree.main_line().len(), 400_000);
    assert_eq!(only_game(&tree.to_string()).main_line().len(), 400_000);
    let nested = format!("{}{}", "(;B[]".repeat(50_000), ")".repeat(50_000));
    assert_eq!(only_game(&nested).main_line().len(), 50_000);
    assert_eq!(
        error(&"(;B[]".repeat(50_000)).problem,
        Problem::UnclosedGame
    );
}

/// Node by node, properties and shape.
fn assert_same_tree(a: &Tree, b: &Tree) {
    assert_eq!(a.nodes().len(), b.nodes().len());
    for node in a.nodes() {
        assert_eq!(a.properties(node), b.properties(node));
        assert_eq!(a.parent(node), b.parent(node));
        assert_eq!(a.children(node), b.children(node));
    }
}

#[test]
fn kgs_games_replay_and_read_back_the_same() {
    const STRIDE: usize = 20;
    let Some(folder) = common::data("games/kgs-6d") else {
        return;
    };
    let games = common::archived_games(&folder, STRIDE);
    assert_eq!(games.len(), 16_625usize.div_ceil(STRIDE));
    for (name, bytes) in games {
        let collection = sgf::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        for tree in &collection.games {
            let game = end_of(tree);
            let again = only_game(&tree.to_string());
            assert_same_tree(tree, &again);
            let rewritten = end_of(&only_game(&Tree::from_game(&game).to_string()));
            assert_eq!(rewritten.board().hash(), game.board().hash());
            assert!(rewritten.moves().eq(game.moves()));
            assert_eq!(rewritten.komi(), game.komi());
            assert_eq!(rewritten.handicap(), game.handicap());
            assert_eq!(rewritten.to_move(), game.to_move());
        }
    }
}

fn property_names() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("C".to_owned()),
        Just("N".to_owned()),
        Just("LB".to_owned()),
        Just("GC".to_owned()),
        "X[A-Z]{1,3}",
    ]
}

/// Text as it can be after reading: line breaks are `\n`.
fn any_text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.replace('\r', ""))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_reads_back_as_it_was_written(
        nodes in prop::collection::vec((any::<prop::sample::Index>(), property_names(), any_text()), 1..40)
    ) {
        let mut tree = Tree::new(BoardSize::NINE);
        for (parent, name, text) in nodes {
            let parent = tree.nodes().nth(parent.index(tree.nodes().len())).unwrap();
            let node = tree.add_child(parent);
            tree.set_text(node, &name, &text);
        }
        // Reading numbers nodes in the order of the text, so compare from the second reading on.
        let first = only_game(&tree.to_string());
        prop_assert_eq!(first.nodes().len(), tree.nodes().len());
        let second = only_game(&first.to_string());
        assert_same_tree(&first, &second);
        let mut texts: Vec<_> = tree.nodes().flat_map(|n| tree.properties(n).to_vec()).map(|p| (p.name, p.values)).collect();
        let mut texts_read: Vec<_> = first.nodes().flat_map(|n| first.properties(n).to_vec()).map(|p| (p.name, p.values)).collect();
        texts.sort();
        texts_read.sort();
        prop_assert_eq!(texts, texts_read);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = sgf::read(&bytes);
    }

    #[test]
    fn no_damaged_game_makes_the_reader_panic(
        cut in 0usize..90, replaced in 0usize..90, with in prop::sample::select(b"()[];\\BAW\n:z".to_vec())
    ) {
        let mut bytes = b"(;SZ[9]HA[2]AB[cc][gg]KM[0.5]C[a \\] b];W[ee](;B[ce]LB[aa:1])(;B[]TW[aa:cc];W[tt]))".to_vec();
        if let Some(byte) = bytes.get_mut(replaced) {
            *byte = with;
        }
        bytes.truncate(cut.max(1));
        if let Ok(collection) = sgf::read(&bytes) {
            for tree in &collection.games {
                for node in tree.nodes() {
                    let _ = tree.game_at(node);
                }
            }
        }
    }

    #[test]
    fn any_game_reads_back_from_its_record(side in 2usize..=25, seeds in prop::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        let mut game = Game::new(BoardSize::new(side).unwrap(), Komi::new(6.5).unwrap());
        for seed in seeds {
            let mut choices: Vec<Move> = game.legal_points(game.to_move()).map(Move::Play).collect();
            choices.push(Move::Pass);
            game.play(*seed.get(&choices)).unwrap();
        }
        let read = end_of(&only_game(&Tree::from_game(&game).to_string()));
        prop_assert!(read.moves().eq(game.moves()));
        prop_assert_eq!(read.board().hash(), game.board().hash());
        prop_assert_eq!(read.komi(), game.komi());
        prop_assert_eq!(read.to_move(), game.to_move());
    }
}
