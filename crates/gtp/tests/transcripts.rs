//! Recorded conversations: every command, every way to get it wrong, every quirk of the framing.
//!
//! What depends on the random network (moves, figures, maps) is replaced by a word in brackets, so a
//! transcript holds the protocol and nothing else.

mod support;
#[path = "support/transcript.rs"]
mod transcript;

use gtp::{Input, Personality};
use support::{engine, quick_options};
use transcript::{converse, converse_with};

#[test]
fn administration() {
    insta::assert_snapshot!(converse(
        "protocol_version
name
version
known_command genmove
known_command dump_training
known_command nonsense
known_command
list_commands
gogui-analyze_commands
clear_cache
lz-memory_report
cputime
kgs-game_over
kgs-chat private someone hello
nonsense
quit now
quit
exit"
    ));
}

#[test]
fn leelaz_answers_with_its_name_and_shows_boards_on_stderr() {
    insta::assert_snapshot!(converse_with(
        "name
version
showboard
heatmap
heatmap all
printsgf",
        9,
        quick_options(),
        Personality::LeelaZero
    ));
}

#[test]
fn framing() {
    insta::assert_snapshot!(converse(
        "1 name
002 name
99999999999999999999999 name
  name
\t3\tname\t
PLAY B E5
Play White pass # a comment
4 # a comment
# only a comment

5
6 nonsense
7 play b e5
8 list_stones b
9play w a1
play\u{1} w c\u{7}3\r
list_stones w
-1 name
1.5 name"
    ));
}

#[test]
fn board_and_komi() {
    insta::assert_snapshot!(converse(
        "boardsize 9
boardsize 19
boardsize 0
boardsize 26
boardsize nine
boardsize
komi 6.5
komi -3
komi nan
komi inf
komi six
komi
final_score
play b e5
final_score
showboard
undo
final_score
clear_board
final_score
komi 7.55
final_score
list_stones black
list_stones green
list_stones
final_status_list alive
final_status_list dead
final_status_list seki
final_status_list all
final_status_list"
    ));
}

#[test]
fn moves() {
    insta::assert_snapshot!(converse(
        "last_move
move_history
undo
play b e5
play w e5
play b e5
play black pass
play w PASS
play w a10
play w k1
play w i5
play w e0
play w e
play w
play
play green e4
last_move
5 move_history
play w resign
undo
undo
last_move
genmove b
12 genmove w
genmove
genmove green
reg_genmove b
reg_genmove
kgs-genmove_cleanup b
kgs-genmove_cleanup
kgs-genmove_cleanup x
go
gomill-explain_last_move"
    ));
}

#[test]
fn ko_superko_and_suicide_are_refused() {
    insta::assert_snapshot!(converse(
        "play b b1
play w c1
play b a2
play w d2
play b b3
play w c3
play b c2
play w b2
play b c2
play b pass
play w pass
play b c2
play w a1
clear_board
play w a2
play w b1
play b a1
list_stones b"
    ));
}

#[test]
fn handicaps() {
    insta::assert_snapshot!(converse(
        "fixed_handicap 4
final_score
showboard
fixed_handicap 4
clear_board
fixed_handicap 1
fixed_handicap 10
fixed_handicap x
fixed_handicap
place_free_handicap 3
clear_board
place_free_handicap 1
place_free_handicap 0
place_free_handicap 1000
place_free_handicap -1
place_free_handicap
set_free_handicap c3 g7
clear_board
set_free_handicap c3 c3
set_free_handicap c3
set_free_handicap
set_free_handicap c3 pass
set_free_handicap c3 z9
set_free_handicap c3 k10
list_stones b
play b e5
set_free_handicap c3 g7"
    ));
}

#[test]
fn clocks() {
    insta::assert_snapshot!(converse(
        "time_settings 600 30 5
time_settings 0 1 0
time_settings 600 0 0
time_settings 600 30
time_settings a b c
time_settings -1 0 0
time_settings
time_left b 30 5
time_left white 0 0
time_left b 57.5 0
time_left b -1 0
time_left b inf 0
time_left green 30 5
time_left b x 5
time_left b
time_left
kgs-time_settings none
kgs-time_settings absolute 300
kgs-time_settings canadian 300 60 10
kgs-time_settings byoyomi 300 30 5
kgs-time_settings fischer 300 10
kata-time_settings fischer 300 10.5
kgs-time_settings byoyomi 300 30
kgs-time_settings canadian 300 60 0
kgs-time_settings absolute
kgs-time_settings absolute -5
kgs-time_settings hourglass 10
kgs-time_settings"
    ));
}

#[test]
fn analysis() {
    insta::assert_snapshot!(converse(
        "lz-analyze 1
3 lz-analyze b 1 minmoves 5
lz-analyze
lz-analyze interval
lz-analyze nonsense
lz-analyze avoid b e5 0
lz-genmove_analyze b 1
4 lz-genmove_analyze w 1 allow w a1,b1 1
last_move
lz-genmove_analyze
lz-genmove_analyze b avoid b e5, 1
heatmap
heatmap 7
heatmap 8
heatmap average
heatmap nonsense
netbench 3
netbench x
gomill-explain_last_move
play b resign
lz-analyze b 1"
    ));
}

#[test]
fn options() {
    insta::assert_snapshot!(converse(
        "lz-setoption
lz-setoption name Visits value 10
lz-setoption name visits value 0
lz-setoption name Visits value -1
lz-setoption name Visits value many
lz-setoption name Playouts value 5
lz-setoption name Pondering value true
lz-setoption name Playouts value 0
lz-setoption name Pondering value true
lz-setoption name Playouts value 5
lz-setoption name Pondering value maybe
lz-setoption name Lagbuffer value 50
lz-setoption name Lagbuffer value 5000
lz-setoption name Resign Percentage value 5
lz-setoption name Resign Percentage value 50
lz-setoption name Maximum Memory Use (MiB) value 256
lz-setoption name Maximum Memory Use (MiB) value 64
lz-setoption name Percentage of memory for cache value 20
lz-setoption name Percentage of memory for cache value 99
lz-setoption name Percentage of memory for cache value 0
lz-setoption name Threads value 2
lz-setoption name Batch Size value 4
lz-setoption name Time Management value fast
lz-setoption name Time Management value slow
lz-setoption name Noise value true
lz-setoption name Dumb Pass value true
lz-setoption name Random Moves value 30
lz-setoption name Random Visits value 2
lz-setoption name Random Temperature value 0.8
lz-setoption name Random Temperature value 0
lz-setoption name First Play Urgency value net
lz-setoption name First Play Urgency value gross
lz-setoption name Unknown value 1
lz-setoption Visits 5
lz-setoption name Visits
lz-setoption name value 5
lz-setoption"
    ));
}

#[test]
fn records_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_string_lossy().into_owned();
    std::fs::write(
        folder.path().join("My Game.SGF"),
        "(;GM[1]SZ[9]KM[5.5]TM[600]OT[5x30 byo-yomi];B[ee];W[ce];B[ge];W[])",
    )
    .unwrap();
    std::fs::write(folder.path().join("large.sgf"), "(;SZ[19];B[dd])").unwrap();
    std::fs::write(folder.path().join("bad.sgf"), "(;SZ[9];B[ee];W[ee])").unwrap();
    let script = "loadsgf DIR/My Game.SGF
move_history
final_score
loadsgf DIR/My Game.SGF 3
move_history
loadsgf DIR/My Game.SGF 1
move_history
loadsgf DIR/missing.sgf
loadsgf DIR/large.sgf
loadsgf DIR/bad.sgf
loadsgf DIR/bad.sgf 2
loadsgf
last_move
printsgf
printsgf DIR/Printed.SGF
printsgf DIR/no/such/folder.sgf
loadsgf DIR/Printed.SGF
last_move
dump_training b DIR/Chunk.txt
save_training DIR/Saved.txt
genmove w
genmove b
dump_training b DIR/Chunk.txt
dump_training white
dump_training
dump_debug DIR/Debug.txt
dump_debug
save_training DIR/Saved.txt
save_training
load_training DIR/Saved.txt
load_training DIR/missing.txt
load_training DIR/Printed.SGF
load_training
dump_supervised DIR/Printed.SGF DIR/Super.txt
dump_supervised DIR/missing.sgf DIR/Super.txt
dump_supervised DIR/Printed.SGF
clear_board
fixed_handicap 2
play w resign
printsgf";
    let transcript = converse(&script.replace("DIR", &name)).replace(&name, "DIR");
    insta::assert_snapshot!(transcript);
    for file in [
        "Printed.SGF",
        "Chunk.txt.0.gz",
        "Debug.txt.0.gz",
        "Saved.txt",
        "Super.txt.0.gz",
    ] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let partial = left.filter(|entry| entry.file_name().to_string_lossy().contains("partial"));
    assert_eq!(partial.count(), 0);
}

#[test]
fn the_clocks_of_a_record_go_on_where_they_stood() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let record = "(;SZ[9]TM[600]OT[5x30 byo-yomi];B[ee]BL[580];W[ce]WL[9]OW[3];B[ge]BL[17]OB[5])";
    std::fs::write(file("game.sgf"), record).unwrap();
    std::fs::write(file("untimed.sgf"), "(;SZ[9];B[ee]BL[3])").unwrap();
    let options = quick_options();
    let (mut engine, answers, _) = engine(9, options, Personality::Tengen, Input::from_text(""));
    let mut clocks = |line: &str| {
        engine.handle(line).unwrap();
        assert!(answers.take().starts_with('='), "{line}");
        go::Color::BOTH.map(|color| engine.player().clock(color).to_string())
    };
    let at_the_end = [
        "00:00:17, 5 period(s) of 30 seconds left",
        "00:00:09, 3 period(s) of 30 seconds left",
    ];
    assert_eq!(clocks(&format!("loadsgf {}", file("game.sgf"))), at_the_end);
    let before_the_second = clocks(&format!("loadsgf {} 2", file("game.sgf")));
    assert_eq!(before_the_second, ["00:09:40", "00:10:00"]);
    clocks(&format!("loadsgf {}", file("game.sgf")));
    clocks(&format!("printsgf {}", file("printed.sgf")));
    clocks("time_settings 60 0 0");
    assert_eq!(
        clocks(&format!("loadsgf {}", file("untimed.sgf"))),
        ["00:01:00"; 2]
    );
    assert_eq!(
        clocks(&format!("loadsgf {}", file("printed.sgf"))),
        at_the_end
    );
}

#[test]
fn a_session_ends_with_quit_or_with_its_input() {
    for (text, expected) in [
        ("name\nquit\nversion\n", "= Tengen\n\n= \n\n"),
        ("name", "= Tengen\n\n"),
        ("", ""),
    ] {
        let (mut engine, answers, _) = engine(
            9,
            quick_options(),
            Personality::Tengen,
            Input::from_text(text),
        );
        engine.run().unwrap();
        assert_eq!(answers.take(), expected);
    }
}

#[test]
fn leela_zero_ends_its_last_line() {
    let input = Input::from_text("name");
    let (mut engine, answers, _) = engine(9, quick_options(), Personality::LeelaZero, input);
    engine.run().unwrap();
    assert_eq!(answers.take(), "= Leela Zero\n\n\n");
}

#[test]
fn listed_commands_are_all_known_whoever_the_engine_is() {
    for personality in [
        Personality::Tengen,
        Personality::LeelaZero,
        Personality::KataGo,
    ] {
        let (mut engine, answers, _) =
            engine(9, quick_options(), personality, Input::from_text(""));
        let names = engine.command_names();
        assert!(names.len() > 35);
        for name in names {
            engine.handle(&format!("known_command {name}")).unwrap();
            assert_eq!(answers.take(), "= true\n\n", "{name}");
        }
    }
}

/// Lizzie splits the answer at spaces and points, and refuses a minor version below 15.
fn minor_version_as_lizzie_reads_it(answer: &str) -> u32 {
    let version = answer.trim().split(' ').nth(1).unwrap();
    version.split('.').nth(1).unwrap().parse().unwrap()
}

#[test]
fn lizzie_accepts_the_version() {
    for personality in [Personality::Tengen, Personality::LeelaZero] {
        let (mut engine, answers, _) =
            engine(9, quick_options(), personality, Input::from_text(""));
        engine.handle("version").unwrap();
        assert!(minor_version_as_lizzie_reads_it(&answers.take()) >= 15);
    }
}

#[test]
fn words_after_a_move_are_refused() {
    let answers = converse("play b d4 junk\nplay b d4\nlast_move");
    assert!(answers.contains("? syntax not understood: junk after the move"));
}
