//! The protocol with an analyst that finds what it is told to: lines in, lines out.

use std::{
    io::{self, Read},
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use analysis::{
    Analyst, Findings, Model, MoveFindings, Perspective, Query, RootFindings, Settings, Values,
    Watch, serve,
};
use go::Move;
use serde_json::{Value, json};

/// Finds the same for every position. A query with many visits runs until it is stopped.
struct Scripted {
    /// Turns in the order they were analysed.
    order: Mutex<Vec<(String, usize)>>,
}

const FOREVER: u64 = 1_000_000;

impl Analyst for Scripted {
    fn analyse(
        &self,
        query: &Query,
        turn: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Findings, String> {
        let done = (query.id.clone(), turn);
        self.order.lock().unwrap().push(done);
        let game = query.game_at(turn);
        let found = findings(game.to_move(), 7);
        if query.max_visits == Some(FOREVER) {
            while !watch.is_stopped() {
                if query.report_every.is_some() {
                    watch.report(findings(game.to_move(), 3));
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(found)
    }

    fn models(&self) -> Vec<Model> {
        vec![Model {
            name: "b1.bin.gz".into(),
            internal_name: "b1".into(),
            max_batch: 16,
            version: 8,
            imitates_people: false,
        }]
    }

    fn clear_cache(&self) {}
}

/// Black is ahead by two points and wins three games of four; the best move is E5.
fn findings(to_move: go::Color, visits: u64) -> Findings {
    let values = Values {
        winrate: 0.75,
        utility: 0.5,
        lead: 2.0,
        score: 2.5,
        score_spread: 11.0,
        no_result: 0.0,
    };
    Findings {
        to_move,
        root: RootFindings {
            visits,
            weight: visits as f64,
            values,
            raw: values,
            raw_winloss_error: -1.0,
            raw_score_error: -1.0,
            raw_variance_time: -1.0,
            hash: 1,
            symmetry_hash: 2,
        },
        moves: vec![MoveFindings {
            mv: "E5".parse().unwrap(),
            visits: visits - 1,
            edge_visits: visits - 1,
            weight: visits as f64 - 1.0,
            values,
            winrate_bound: 0.125,
            utility_bound: 0.25,
            prior: 1.0 / 3.0,
            human_prior: None,
            play_value: 6.0,
            symmetry_of: None,
            pv: vec![("E5".parse().unwrap(), 6), (Move::Pass, 2)],
            ownership: None,
            ownership_spread: None,
        }],
        ownership: Some(vec![0.25, -1.0]),
        ownership_spread: None,
        policy: Some(vec![Some(0.5), None]),
        human_policy: None,
    }
}

fn settings() -> Settings {
    Settings {
        threads: 1,
        perspective: Perspective::Black,
        pv_len: None,
        warn_unused: true,
        version: "1.17.2".into(),
        git_hash: "abc".into(),
    }
}

/// All answers to lines that are there from the start.
fn answers(lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let analyst = Scripted {
        order: Mutex::default(),
    };
    let mut output = Vec::new();
    serve(&analyst, &settings(), input.as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn query(id: &str) -> Value {
    json!({
        "id": id, "rules": "tromp-taylor", "komi": 7, "boardXSize": 9, "boardYSize": 9,
        "moves": [["B", "E5"], ["W", "C5"], ["B", "pass"]],
    })
}

fn with(mut query: Value, field: &str, value: Value) -> Value {
    query[field] = value;
    query
}

#[test]
fn a_query_is_answered_for_black_by_default() {
    let found = answers(&[query("a")]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["id"], "a");
    assert_eq!(found[0]["turnNumber"], 3);
    assert_eq!(found[0]["isDuringSearch"], false);
    assert_eq!(found[0]["rootInfo"]["currentPlayer"], "W");
    assert_eq!(found[0]["rootInfo"]["winrate"], 0.75);
    assert_eq!(found[0]["rootInfo"]["rawStWrError"], -0.5);
    let best = &found[0]["moveInfos"][0];
    assert_eq!(best["pv"], json!(["E5", "pass"]));
    assert_eq!(best["prior"], 0.333333333);
    // White is to move: the bound is on White's side of the mean, which is above it for Black.
    assert_eq!(best["lcb"], 0.875);
    assert_eq!(found[0]["policy"], json!([0.5, -1.0]));
}

#[test]
fn winrates_are_turned_to_the_perspective_that_is_asked_for() {
    for (name, winrate, lead, lcb) in [
        ("BLACK", 0.75, 2.0, 0.875),
        ("WHITE", 0.25, -2.0, 0.125),
        ("SIDETOMOVE", 0.25, -2.0, 0.125),
    ] {
        let asked = json!({ "reportAnalysisWinratesAs": name });
        let found = &answers(&[with(query("a"), "overrideSettings", asked)])[0];
        assert_eq!(found["rootInfo"]["winrate"], winrate, "{name}");
        assert_eq!(found["rootInfo"]["scoreLead"], lead, "{name}");
        assert_eq!(found["moveInfos"][0]["lcb"], lcb, "{name}");
        assert_eq!(
            found["ownership"][1],
            if name == "BLACK" { -1.0 } else { 1.0 }
        );
    }
}

#[test]
fn mistakes_are_answered_as_katago_does() {
    let illegal = with(query("QUERY:2"), "moves", json!([["B", "E5"], ["W", "E5"]]));
    assert_eq!(
        answers(&[illegal]),
        [json!({ "error": "Illegal move 1: E5", "field": "moves", "id": "QUERY:2" })]
    );
    assert_eq!(
        answers(&[json!({ "moves": [] })]),
        [json!({ "error": "Request must have a string \"id\" field" })]
    );
    let typo = answers(&[with(query("w"), "foo", json!(1))]);
    assert_eq!(
        typo[0],
        json!({
            "field": "foo", "id": "w",
            "warning": "Unexpected or unused field, do you have a typo? (set warnUnusedFields=false in the config to disable this warning)",
        })
    );
    assert_eq!(typo[1]["isDuringSearch"], false);

    let mut output = Vec::new();
    let analyst = Scripted {
        order: Mutex::default(),
    };
    serve(
        &analyst,
        &settings(),
        "this is not json\n\n".as_bytes(),
        &mut output,
    )
    .unwrap();
    let refused: Value = serde_json::from_slice(&output).unwrap();
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("could not parse input line as json request: this is not json"));
    assert_eq!(refused.as_object().unwrap().len(), 1);
}

#[test]
fn each_bad_field_is_named() {
    for (field, value) in [
        ("boardXSize", json!(1)),
        ("boardXSize", json!(13)),
        ("komi", json!(7.3)),
        ("komi", json!("seven")),
        ("rules", json!("nobody's rules")),
        ("moves", json!([["B", "Z99"]])),
        ("moves", json!([["G", "E5"]])),
        ("initialStones", json!([["B", "pass"]])),
        ("initialPlayer", json!("x")),
        ("analyzeTurns", json!([4])),
        ("priorities", json!([1])),
        ("maxVisits", json!(0)),
        ("includePolicy", json!("yes")),
        ("reportDuringSearchEvery", json!(-1)),
        ("avoidMoves", json!([{ "player": "B", "moves": ["E5"] }])),
        ("overrideSettings", json!({ "maxTime": "soon" })),
    ] {
        let found = answers(&[with(query("a"), field, value.clone())]);
        assert_eq!(found.len(), 1, "{field}: {value}");
        assert_eq!(found[0]["field"], field, "{}", found[0]);
        assert_eq!(found[0]["id"], "a");
    }
}

#[test]
fn actions_send_their_request_back() {
    let found = answers(&[
        json!({ "id": "v", "action": "query_version" }),
        json!({ "id": "t", "action": "terminate", "terminateId": "nope" }),
        json!({ "id": "c", "action": "clear_cache" }),
        json!({ "id": "m", "action": "query_models" }),
        json!({ "id": "x", "action": "dance" }),
    ]);
    assert_eq!(
        found[0],
        json!({ "action": "query_version", "git_hash": "abc", "id": "v", "version": "1.17.2" })
    );
    assert_eq!(
        found[1],
        json!({ "action": "terminate", "id": "t", "terminateId": "nope" })
    );
    assert_eq!(found[2], json!({ "action": "clear_cache", "id": "c" }));
    assert_eq!(found[3]["models"][0]["internalName"], "b1");
    assert_eq!(found[4]["field"], "action");
}

/// A client that talks while the server works.
struct Client {
    lines: Option<Sender<Vec<u8>>>,
    answers: Receiver<Value>,
    server: thread::JoinHandle<Vec<(String, usize)>>,
}

/// The receiving end of a channel as a stream of bytes.
struct Pipe(Receiver<Vec<u8>>, Vec<u8>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.recv().unwrap_or_default();
        }
        let count = buffer.len().min(self.1.len());
        buffer[..count].copy_from_slice(&self.1[..count]);
        self.1.drain(..count);
        Ok(count)
    }
}

/// Sends every line that is written.
struct Lines(Sender<Value>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unreachable!("write_all is used: {bytes:?}")
    }

    fn write_all(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn write_fmt(&mut self, line: std::fmt::Arguments<'_>) -> io::Result<()> {
        let value = serde_json::from_str(&line.to_string()).unwrap();
        self.0
            .send(value)
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Client {
    fn start() -> Client {
        let (lines, input) = channel();
        let (output, answers) = channel();
        let server = thread::spawn(move || {
            let analyst = Scripted {
                order: Mutex::default(),
            };
            let input = io::BufReader::new(Pipe(input, Vec::new()));
            serve(&analyst, &settings(), input, Lines(output)).unwrap();
            analyst.order.into_inner().unwrap()
        });
        Client {
            lines: Some(lines),
            answers,
            server,
        }
    }

    fn say(&self, line: &Value) {
        let lines = self.lines.as_ref().unwrap();
        lines.send(format!("{line}\n").into_bytes()).unwrap();
    }

    fn hear(&self) -> Value {
        self.answers.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn finish(mut self) -> (Vec<Value>, Vec<(String, usize)>) {
        self.lines = None;
        let rest = self.answers.iter().collect();
        (rest, self.server.join().unwrap())
    }
}

#[test]
fn a_search_reports_until_it_is_terminated_and_then_answers() {
    let client = Client::start();
    let endless = with(query("long"), "maxVisits", json!(FOREVER));
    client.say(&with(endless, "reportDuringSearchEvery", json!(0.01)));
    let first = client.hear();
    assert_eq!(first["isDuringSearch"], true);
    assert_eq!(first["rootInfo"]["visits"], 3);
    client.say(&json!({ "id": "t", "action": "terminate", "terminateId": "long" }));
    let (rest, _) = client.finish();
    let last = rest.iter().rfind(|answer| answer["id"] == "long").unwrap();
    assert_eq!(last["isDuringSearch"], false);
    assert_eq!(last["rootInfo"]["visits"], 7);
    assert!(rest.iter().any(|answer| answer["id"] == "t"));
}

#[test]
fn larger_priorities_go_first_and_waiting_queries_can_be_terminated() {
    let client = Client::start();
    // The only thread is busy once this query reports.
    let endless = with(query("long"), "maxVisits", json!(FOREVER));
    client.say(&with(endless, "reportDuringSearchEvery", json!(0.01)));
    client.hear();
    let turns = with(query("low"), "analyzeTurns", json!([0, 2]));
    client.say(&with(turns, "priority", json!(-5)));
    client.say(&query("middle"));
    client.say(&with(query("high"), "priority", json!(9)));
    client.say(&query("unwanted"));
    client.say(&json!({ "id": "t1", "action": "terminate", "terminateId": "unwanted" }));
    let hear_next = || {
        let mut heard = client.hear();
        while heard["id"] == "long" {
            heard = client.hear();
        }
        heard
    };
    assert_eq!(
        hear_next(),
        json!({ "id": "unwanted", "isDuringSearch": false, "noResults": true, "turnNumber": 3 })
    );
    assert_eq!(hear_next()["id"], "t1");
    client.say(&json!({ "id": "t2", "action": "terminate", "terminateId": "long" }));
    let (_, order) = client.finish();
    let order: Vec<_> = order
        .iter()
        .map(|(id, turn)| (id.as_str(), *turn))
        .collect();
    assert_eq!(
        order,
        [
            ("long", 3),
            ("high", 3),
            ("middle", 3),
            ("low", 0),
            ("low", 2)
        ]
    );
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let mut client = Client::start();
    client.say(&with(query("long"), "maxVisits", json!(FOREVER)));
    let gone = std::mem::replace(&mut client.answers, channel().1);
    drop(gone);
    client.say(&json!({ "id": "v", "action": "query_version" }));
    client.say(&json!({ "id": "v", "action": "query_version" }));
    client.lines = None;
    assert!(
        client.server.join().is_err(),
        "serve reports the broken pipe"
    );
}
