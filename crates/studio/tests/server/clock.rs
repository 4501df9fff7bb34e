//! Clocks of a game.

use serde_json::{Value, json};

use crate::{new_game, see, support::Stage};

#[test]
fn a_clock_runs_from_the_first_move_and_its_end_ends_the_game() {
    let stage = Stage::new();
    let mut client = stage.client();
    let clock = json!({ "kind": "fischer", "main": 3, "increment": 1 });
    let doc = new_game(
        &mut client,
        json!({ "size": 9, "you": "both", "clock": clock }),
    );
    let before = see(&mut client, &doc);
    assert_eq!(before["clock"]["running"], Value::Null);
    assert_eq!(before["clock"]["black"]["seconds"], 3.0);
    client.ok("go.play", json!({ "doc": doc, "at": "E5" }));
    let running = client.wait("White's clock", |event| {
        event["on"] == "doc" && event["clock"]["running"] == "white"
    });
    assert_eq!(
        running["clock"]["black"]["seconds"], 3.0,
        "the first move is free"
    );
    client.ok("go.play", json!({ "doc": doc, "at": "C3" }));
    let earned = client.wait("Black's clock", |event| {
        event["on"] == "doc" && event["clock"]["running"] == "black"
    });
    let white = earned["clock"]["white"]["seconds"].as_f64().unwrap();
    assert!(white > 1.0 && white <= 4.0, "{white}");
    let over = client.wait("the end", |event| {
        event["on"] == "doc" && event["state"] == "over"
    });
    assert_eq!(over["over"], "W+Time");
    assert_eq!(over["clock"]["running"], Value::Null);
    let refused = client.refused("go.play", json!({ "doc": doc, "at": "G7" }));
    assert_eq!(refused, "over");
    // Taking back gives the time back, and the record keeps what was left.
    client.ok("go.undo", json!({ "doc": doc }));
    let again = client.wait("the game again", |event| {
        event["on"] == "doc" && event["over"].is_null()
    });
    assert_eq!(again["clock"]["white"]["seconds"], 3.0);
    let (_, sgf) = stage.own("GET", &format!("/api/docs/{doc}.sgf"), b"");
    let sgf = sgf.as_str().unwrap();
    for part in ["TM[3]", "OT[1 fischer]", "BL[3]"] {
        assert!(sgf.contains(part), "{part} is missing in {sgf}");
    }
}

#[test]
fn the_engine_moves_before_its_clock_ends() {
    let stage = Stage::new();
    let mut client = stage.client();
    let clock = json!({ "kind": "byoyomi", "main": 0, "period": 4, "periods": 1 });
    let level = json!({ "visits": 10_000_000 });
    let fields = json!({ "size": 9, "you": "black", "clock": clock, "level": level });
    let doc = new_game(&mut client, fields);
    see(&mut client, &doc);
    client.ok("go.play", json!({ "doc": doc, "at": "E5" }));
    let answered = client.wait("its move or the end", |event| {
        event["on"] == "doc" && (event["move_number"] == 2 || event["state"] == "over")
    });
    assert_eq!(answered["over"], Value::Null, "{answered}");
    for clock in [
        json!({ "kind": "absolute", "main": 0 }),
        json!({ "kind": "byoyomi", "main": 1, "period": 0, "periods": 1 }),
        json!({ "kind": "sundial" }),
    ] {
        let code = client.refused("go.new", json!({ "size": 9, "clock": clock }));
        assert!(["range", "fields"].contains(&code.as_str()), "{code}");
    }
}

#[test]
fn a_move_that_the_engine_makes_for_the_user_is_answered() {
    let stage = Stage::new();
    let mut client = stage.client();
    let doc = new_game(
        &mut client,
        json!({ "size": 9, "you": "black", "level": "policy" }),
    );
    see(&mut client, &doc);
    client.ok("go.genmove", json!({ "doc": doc }));
    client.wait("the answer", |event| {
        event["on"] == "doc" && event["move_number"] == 2 && event["state"] == "yours"
    });
}
