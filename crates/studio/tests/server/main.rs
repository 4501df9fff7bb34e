//! The server without a browser: what it refuses, what it shares, what it forgets.

#[path = "../support/mod.rs"]
mod support;

mod attacks;
mod clock;
mod grafted;

use std::{net::TcpStream, time::Duration};

use serde_json::{Value, json};
use support::{Stage, socket_request};
use tungstenite::Message;

fn new_game(client: &mut support::Client, fields: Value) -> String {
    client.ok("go.new", fields)["doc"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn see(client: &mut support::Client, doc: &str) -> Value {
    client.ok("see", json!({ "doc": doc, "visible": true }));
    let doc = doc.to_owned();
    client.wait("the document", move |event| {
        event["on"] == "doc" && event["doc"] == doc.as_str()
    })
}

#[test]
fn whatever_is_asked_is_answered_and_changes_nothing_if_it_is_nonsense() {
    let stage = Stage::new();
    let mut client = stage.client();
    let doc = new_game(&mut client, json!({ "size": 9, "you": "both" }));
    let before = see(&mut client, &doc);
    for verb in [
        "go.new",
        "go.play",
        "go.goto",
        "go.edit",
        "go.table",
        "go.undo",
        "go.delete",
        "go.promote",
        "think.start",
        "review.start",
        "review.guess",
        "read",
        "why",
        "problem.check",
        "problem.solve",
        "problem.reply",
        "problem.proof",
        "problem.explain",
        "problem.enclose",
        "go.count",
        "bottle.new",
        "bottle.locked",
        "bottle.think",
        "run.watch",
        "run.net",
        "run.game",
        "run.start",
        "net.look",
        "net.film",
        "net.komi",
        "net.ladder",
        "job.cancel",
        "nonsense",
        "go.nonsense",
        "",
    ] {
        for fields in [
            json!({}),
            json!({ "doc": "nosuchdoc", "run": "r0", "net": "x" }),
            json!({ "doc": doc, "size": 1e9, "at": "Z99", "node": -1, "visits": 0, "level": 99, "side": 7, "stones": 3, "playouts": -1, "every_ms": 1 }),
            json!({ "doc": [[[[]]]], "size": "nine", "frames": {}, "set": 1, "you": "nobody", "name": "../../etc", "game": "go" }),
            json!({ "doc": doc, "size": 9, "node": 4_000_000_000_u64, "at": "", "what": "", "visits": 0, "every_ms": 0, "most": 0, "line": 99, "network": "../x", "komi": 1e30, "handicap": 99 }),
        ] {
            let answer = client.ask(verb, fields.clone());
            let is_harmless = [
                "go.edit",
                "go.promote",
                "go.table",
                "go.undo",
                "job.cancel",
                "run.watch",
            ]
            .contains(&verb);
            assert!(
                answer.get("err").is_some() || is_harmless,
                "{verb} {fields}: {answer}"
            );
        }
    }
    let again = client.ok("go.edit", json!({ "doc": doc, "comment": "still here" }));
    assert_eq!(again, json!({}));
    let after = client.wait("the document", |event| {
        event["on"] == "doc" && event["comment"] == "still here"
    });
    assert_eq!(after["stones"], before["stones"]);
    client
        .socket
        .send(Message::text("[".repeat(100_000)))
        .unwrap();
    client.wait("a refusal", |event| event["err"]["code"] == "syntax");
}

#[test]
fn files_are_opened_or_refused_with_their_place() {
    let stage = Stage::new();
    let (status, opened) = stage.own("POST", "/api/docs", b"(;SZ[9]PB[a]PW[b];B[ee];W[cc])");
    assert_eq!(
        (status, &opened["docs"][0]["title"]),
        (200, &json!("a – b"))
    );
    assert_eq!(opened["docs"][0]["moves"], 2);
    let (status, refused) = stage.own("POST", "/api/docs", b"(;SZ[9];B[ee];W[zz])");
    assert_eq!(status, 400);
    assert!(
        refused["err"]["say"]
            .as_str()
            .unwrap()
            .contains("game 1, node 3, property W"),
        "{refused}"
    );
    let (status, refused) = stage.own("POST", "/api/docs", b"\x89PNG");
    assert_eq!((status, &refused["err"]["code"]), (400, &json!("no-game")));
    let (status, refused) = stage.own("POST", "/api/docs", &vec![b' '; (4 << 20) + 1]);
    assert_eq!((status, &refused["err"]["code"]), (413, &json!("large")));
    let (status, refused) = stage.own("POST", "/api/nets?name=a.net", b"no network at all");
    assert_eq!(status, 404, "{refused}");
    let left: Vec<_> = std::fs::read_dir(stage.folder.path().join("cache"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "nothing half-written stays: {left:?}");
    let doc = opened["docs"][0]["doc"].as_str().unwrap();
    let (status, text) = stage.own("GET", &format!("/api/docs/{doc}.sgf"), b"");
    assert_eq!(status, 200);
    assert!(text.as_str().unwrap().contains("CA[UTF-8]"), "{text}");
    assert_eq!(stage.own("GET", "/api/docs/nosuchdoc.sgf", b"").0, 404);
}

#[test]
fn two_tabs_see_one_game_and_the_slower_move_is_stale() {
    let stage = Stage::new();
    let (mut a, mut b) = (stage.client(), stage.client());
    let doc = new_game(&mut a, json!({ "size": 9, "you": "both" }));
    let rev = see(&mut a, &doc)["rev"].clone();
    see(&mut b, &doc);
    a.ok("go.play", json!({ "doc": doc, "rev": rev, "at": "E5" }));
    let seen = b.wait("the move", |event| {
        event["on"] == "doc" && event["last"] == "E5"
    });
    assert_eq!(seen["turn"], "white");
    assert_eq!(
        b.refused("go.play", json!({ "doc": doc, "rev": rev, "at": "C3" })),
        "stale"
    );
}

#[test]
fn the_engine_answers_and_can_be_interrupted_at_any_time() {
    let stage = Stage::new();
    let mut client = stage.client();
    let doc = new_game(
        &mut client,
        json!({ "size": 9, "you": "black", "level": { "visits": 1_000_000 } }),
    );
    see(&mut client, &doc);
    client.ok("go.play", json!({ "doc": doc, "at": "E5" }));
    client.wait("thinking", |event| {
        event["on"] == "engine" && event["state"] == "thinking"
    });
    client.ok("go.undo", json!({ "doc": doc }));
    client.wait("idle", |event| {
        event["on"] == "engine" && event["state"] == "idle"
    });
    let empty = see_again(&mut client, &doc);
    assert!(!empty["stones"].as_str().unwrap().contains('X'), "{empty}");
    client.ok("go.table", json!({ "doc": doc, "level": { "visits": 10 } }));
    client.ok("go.play", json!({ "doc": doc, "at": "E5" }));
    let answered = client.wait("the answer", |event| {
        event["on"] == "doc" && event["move_number"] == 2
    });
    assert_eq!(answered["turn"], "black");
    assert_eq!(answered["stones"].as_str().unwrap().matches('O').count(), 1);
}

fn see_again(client: &mut support::Client, doc: &str) -> Value {
    client.events.clear();
    client.ok("see", json!({ "doc": null }));
    see(client, doc)
}

#[test]
fn analysis_belongs_to_one_tab_and_ends_with_it() {
    let stage = Stage::new();
    let mut a = stage.client();
    let doc = new_game(&mut a, json!({ "size": 9, "you": "both" }));
    see(&mut a, &doc);
    a.ok("think.start", json!({ "doc": doc, "every_ms": 50 }));
    let first = a.wait("analysis", |event| {
        event["on"] == "think" && event["visits"].as_u64() > Some(5)
    });
    let best = &first["moves"][0];
    assert_eq!((&best["order"], &best["loss"]), (&json!(0), &json!(0.0)));
    let mut b = stage.client();
    see(&mut b, &doc);
    b.ok("think.start", json!({ "doc": doc }));
    let number = b.tab;
    a.wait("that another tab thinks", move |event| {
        event["on"] == "engine" && event["tab"] == json!(number)
    });
    drop(b);
    let start = std::time::Instant::now();
    while stage.own("GET", "/api/hello", b"").1["engine"] != "idle" {
        assert!(
            start.elapsed() < support::PATIENCE,
            "still thinking for nobody"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        a.refused(
            "think.start",
            json!({ "doc": doc, "only": ["A1"], "avoid": ["B1"], "every_ms": 5 })
        ),
        "range"
    );
}

#[test]
fn a_review_judges_every_position_and_its_file_needs_no_new_search() {
    let stage = Stage::new();
    let mut client = stage.client();
    let record = b"(;SZ[9]KM[7.5];B[ee];W[aa];B[ge];W[ba];B[ce])";
    let doc = stage.own("POST", "/api/docs", record).1["docs"][0]["doc"]
        .as_str()
        .unwrap()
        .to_owned();
    see(&mut client, &doc);
    client.ok("review.start", json!({ "doc": doc, "visits": 20 }));
    client.wait("the end of the review", |event| {
        event["on"] == "review" && event["state"] == "done"
    });
    let graph = see_graph(&mut client, &doc);
    let points = graph["points"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    assert!(
        points
            .iter()
            .all(|point| point["winrate_black"].is_f64() && point["visits"].as_u64() >= Some(20))
    );
    let (_, text) = stage.own("GET", &format!("/api/docs/{doc}.sgf?with=analysis"), b"");
    let text = text.as_str().unwrap().to_owned();
    for wanted in ["CA[UTF-8]", "SBKV[", "C[Black"] {
        assert!(text.contains(wanted), "{wanted} is missing in {text}");
    }
    let again = stage.own("POST", "/api/docs", text.as_bytes()).1["docs"][0]["doc"]
        .as_str()
        .unwrap()
        .to_owned();
    let opened = see_graph(&mut client, &again);
    assert_eq!(
        opened["mistakes"],
        graph["mistakes"]
            .as_array()
            .map(|list| renumber(list, &opened))
            .unwrap()
    );
    let (status, svg) = stage.own("GET", &format!("/api/docs/{doc}.svg"), b"");
    assert!(status == 200 && svg.as_str().unwrap().contains("<svg"));
}

fn see_graph(client: &mut support::Client, doc: &str) -> Value {
    client.events.clear();
    client.ok("see", json!({ "doc": null }));
    client.ok("see", json!({ "doc": doc }));
    let doc = doc.to_owned();
    client.wait("the graph", move |event| {
        event["on"] == "graph" && event["doc"] == doc.as_str()
    })
}

/// Nodes of the annotated file have other numbers: the same mistakes by move number.
fn renumber(list: &[Value], opened: &Value) -> Value {
    let node = |number: &Value| {
        let points = opened["points"].as_array().unwrap();
        points
            .iter()
            .find(|point| point["number"] == *number)
            .unwrap()["node"]
            .clone()
    };
    let renumbered = list.iter().cloned().map(|mut mistake| {
        mistake["node"] = node(&mistake["number"]);
        mistake["loss"] = opened["mistakes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|other| other["number"] == mistake["number"])
            .map_or(Value::Null, |other| other["loss"].clone());
        mistake
    });
    renumbered.collect::<Vec<_>>().into()
}

#[test]
fn documents_survive_the_program() {
    let stage = Stage::new();
    let mut client = stage.client();
    let doc = new_game(&mut client, json!({ "size": 9, "you": "both" }));
    client.ok("go.play", json!({ "doc": doc, "at": "E5" }));
    drop(client);
    let stage = Stage::at(stage.stop(), 0);
    let mut client = stage.client();
    let state = see(&mut client, &doc);
    assert_eq!(
        (&state["last"], &state["table"]["you"]),
        (&json!("E5"), &json!("both"))
    );
}

#[test]
fn a_slow_tab_skips_pictures_and_sixty_four_tabs_are_enough() {
    let stage = Stage::new();
    let mut clients: Vec<_> = (0..64).map(|_| stage.client()).collect();
    let stream = TcpStream::connect(("127.0.0.1", stage.port)).unwrap();
    let refused = tungstenite::client(socket_request(stage.port, &stage.address()), stream);
    assert!(refused.is_err(), "the 65th was let in");
    let doc = new_game(&mut clients[0], json!({ "size": 9, "you": "both" }));
    for client in &mut clients {
        client.ok("see", json!({ "doc": doc }));
    }
    clients[0].ok("think.start", json!({ "doc": doc, "every_ms": 50 }));
    // Nobody reads but the first: the others keep one picture each, whatever the search does.
    for _ in 0..5 {
        clients[0].wait("analysis", |event| event["on"] == "think");
    }
    clients[0].ok("think.stop", json!({}));
    assert_eq!(
        clients[63].ok("docs", json!({}))["docs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_problem_is_solved_and_its_loser_answered() {
    let stage = Stage::new();
    let mut client = stage.client();
    let record = b"(;SZ[7]AB[ae][be][ce][de][ee][ef][eg]AW[af][bf][cf][df][dg]MA[af]PL[B])";
    let (_, opened) = stage.own("POST", "/api/docs", record);
    assert_eq!(opened["docs"][0]["kind"], "problem");
    let doc = opened["docs"][0]["doc"].as_str().unwrap().to_owned();
    see(&mut client, &doc);
    let solved = client.ok("problem.solve", json!({ "doc": doc, "seconds": 10 }));
    assert_eq!(
        (&solved["attacked"]["verdict"], &solved["attacked"]["move"]),
        (&json!("dies"), &json!("B1"))
    );
    assert_eq!(
        (&solved["defended"]["verdict"], &solved["defended"]["move"]),
        (&json!("lives"), &json!("B1"))
    );
    assert_eq!(solved["attacked"]["checked"], true);
    client.ok("go.play", json!({ "doc": doc, "at": "A1" }));
    let refuted = client.ok("problem.reply", json!({ "doc": doc }));
    assert_eq!(
        (&refuted["winner"], &refuted["reply"]),
        (&json!("defender"), &json!("B1"))
    );
}

#[test]
fn readings_are_certain_or_say_that_they_are_not() {
    let stage = Stage::new();
    let mut client = stage.client();
    let record = b"(;SZ[9]AB[cc]AW[bc][cb][cd]PL[W])";
    let doc = stage.own("POST", "/api/docs", record).1["docs"][0]["doc"]
        .as_str()
        .unwrap()
        .to_owned();
    let ladders = client.ok("read", json!({ "doc": doc, "what": "ladders" }));
    let prey = ladders["ladders"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["prey"] == "C7")
        .unwrap()
        .clone();
    assert!(
        ["captured", "escapes"].contains(&prey["verdict"].as_str().unwrap()),
        "{prey}"
    );
    let safety = client.ok("read", json!({ "doc": doc, "what": "safety" }));
    for group in safety["groups"].as_array().unwrap() {
        assert!(
            ["proved", "read", "open"].contains(&group["certainty"].as_str().unwrap()),
            "{group}"
        );
    }
    let policy = client.ok("read", json!({ "doc": doc, "what": "policy" }));
    let sum: f64 = policy["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point[1].as_f64().unwrap())
        .sum();
    assert!(sum > 0.5 && sum <= 1.001, "{sum}");
    let why = client.ok("why", json!({ "doc": doc, "at": "C7" }));
    assert!(!why["witnesses"].as_array().unwrap().is_empty(), "{why}");
}

#[test]
fn a_book_without_marks_becomes_problems_that_say_what_was_assumed() {
    let stage = Stage::new();
    let mut client = stage.client();
    // Three in a row in a corner with an open outside, twice.
    let page = "(;SZ[19]AB[ao][bo][co][do][eo][ep][eq][er][es]AW[ap][bp][cp][dp][dq][dr][ds]PL[B])";
    let (_, opened) = stage.own("POST", "/api/docs", page.repeat(2).as_bytes());
    let docs = opened["docs"].as_array().unwrap();
    assert_eq!(docs.len(), 2);
    assert!(docs.iter().all(|doc| doc["kind"] == "problem"), "{opened}");
    let doc = docs[0]["doc"].as_str().unwrap().to_owned();
    let state = see(&mut client, &doc);
    assert_eq!(
        state["table"]["problem"]["target"]
            .as_array()
            .unwrap()
            .len(),
        7,
        "{state}"
    );
    assert!(
        !state["notes"].as_array().unwrap().is_empty(),
        "what was assumed is said"
    );
    let checked = client.ok("problem.check", json!({ "doc": doc }));
    assert_eq!(checked["defender"], "white");
}

#[test]
fn one_set_up_position_stays_as_it_is() {
    let stage = Stage::new();
    let (_, opened) = stage.own("POST", "/api/docs", b"(;SZ[9]AB[bc][cb][bd]AW[cc]PL[B])");
    assert_eq!(opened["docs"][0]["kind"], "game");
}

#[test]
fn every_first_move_of_a_problem_is_right_or_refuted() {
    let stage = Stage::new();
    let mut client = stage.client();
    let record = b"(;SZ[7]AB[ae][be][ce][de][ee][ef][eg]AW[af][bf][cf][df][dg]MA[af]PL[B])";
    let (_, opened) = stage.own("POST", "/api/docs", record);
    let doc = opened["docs"][0]["doc"].as_str().unwrap().to_owned();
    see(&mut client, &doc);
    let explained = client.ok("problem.explain", json!({ "doc": doc }));
    assert_eq!(explained["solutions"], json!(["B1"]));
    assert_eq!(
        (&explained["unique"], &explained["first"]),
        (&json!(true), &json!("black"))
    );
    let wrong: Vec<&str> = explained["refutations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["at"].as_str().unwrap())
        .collect();
    assert!(
        wrong.contains(&"A1") && wrong.contains(&"C1"),
        "{explained}"
    );
}

#[test]
fn a_finished_game_is_counted_without_its_dead_stones() {
    let stage = Stage::new();
    let mut client = stage.client();
    // Black owns the left, White the right; a white stone is dead in Black's corner.
    let rows: String = ["abcdefghi"]
        .iter()
        .flat_map(|letters| letters.chars())
        .map(|row| format!("AB[d{row}]AW[f{row}]"))
        .collect();
    let record = format!("(;SZ[9]KM[0.5]{rows}AW[bb];B[];W[])");
    let (_, opened) = stage.own("POST", "/api/docs", record.as_bytes());
    let doc = opened["docs"][0]["doc"].as_str().unwrap().to_owned();
    see(&mut client, &doc);
    let counted = client.ok("go.count", json!({ "doc": doc }));
    assert_eq!(counted["dead"], json!(["B8"]));
    // Four columns each, one neutral: the komi decides.
    assert_eq!(counted["result"], "W+0.5");
    assert_eq!(see(&mut client, &doc)["over"], "W+0.5");
    let open = new_game(&mut client, json!({ "size": 9, "you": "both" }));
    assert_eq!(
        client.ask("go.count", json!({ "doc": open }))["err"]["code"],
        "over"
    );
}

#[test]
fn a_game_is_played_by_the_rules_that_were_chosen() {
    let stage = Stage::new();
    let mut client = stage.client();
    let doc = new_game(
        &mut client,
        json!({ "size": 9, "you": "both", "rules": "japanese" }),
    );
    let state = see(&mut client, &doc);
    assert_eq!(
        (&state["rules"], &state["komi"]),
        (&json!("japanese"), &json!(6.5))
    );
    let wrong = client.ask("go.new", json!({ "size": 9, "rules": "checkers" }));
    assert_eq!(wrong["err"]["code"], "fields");
}

#[test]
fn the_ladder_network_is_followed_beside_the_exact_reader() {
    let stage = Stage::new();
    let mut client = stage.client();
    let ladder = |client: &mut support::Client, breaker: bool| {
        let side = 13;
        let mut rows = vec![vec!['.'; side]; side];
        // White at D4 in atari, Black around it; a white stone on the diagonal breaks the ladder.
        for (x, y, stone) in [
            (3, 3, 'O'),
            (2, 3, 'X'),
            (3, 2, 'X'),
            (4, 3, 'X'),
            (2, 4, 'X'),
        ] {
            rows[side - 1 - y][x] = stone;
        }
        if breaker {
            rows[side - 1 - 9][8] = 'O';
        }
        let stones: String = rows.into_iter().flatten().collect();
        client.ok(
            "net.ladder",
            json!({ "net": "inside", "size": side, "stones": stones, "turn": "white" }),
        )
    };
    let caught = ladder(&mut client, false);
    assert_eq!(caught["followed"], "D5", "{caught}");
    let stages = |answer: &Value| answer["stages"].as_array().unwrap().len();
    assert!(stages(&caught) > 0);
    let verdict = |answer: &Value| {
        (
            answer["ladders"][0]["network"].clone(),
            answer["ladders"][0]["exact"].clone(),
        )
    };
    assert_eq!(verdict(&caught), (json!(false), json!(false)));
    let broken = ladder(&mut client, true);
    assert_eq!(verdict(&broken), (json!(true), json!(true)), "{broken}");
    assert!(
        stages(&broken) > stages(&caught),
        "news of the breaker comes down block by block"
    );
}
