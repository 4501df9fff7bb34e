//! Answers recorded from KataGo 1.17.2, in `katago/protocol-samples.json` of the data folder: ours have the same fields,
//! the same kinds of values and the same sentences.

use std::{collections::BTreeSet, fs, path::Path, path::PathBuf};

use analysis::{GoAnalyst, Limits, Perspective, Request, Settings, read_request, serve};
use go::{BoardSize, Symmetry};
use go_player::{LoadedNetwork, Options, Player};
use net::katago::{KataNetwork, RandomKind};
use serde_json::{Value, json};

fn samples() -> Option<Value> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENGEN_DATA").map_or(beside, PathBuf::from);
    let Ok(text) = fs::read_to_string(folder.join("katago/protocol-samples.json")) else {
        println!("skipped: no data");
        return None;
    };
    let samples: Value = serde_json::from_str(&text).unwrap();
    Some(samples["analysis"].clone())
}

fn answers(network: LoadedNetwork, input: &str) -> Vec<Value> {
    let limits = Limits {
        positions: 1,
        threads: 1,
        threads_per_position: 1,
        cache_bytes: 1 << 20,
        max_time: None,
    };
    let analyst = GoAnalyst::new(network, Options::default(), limits);
    let settings = Settings {
        threads: 1,
        perspective: Perspective::Black,
        pv_len: None,
        warn_unused: true,
        version: "1.17.2".into(),
        git_hash: "<omitted>".into(),
    };
    let mut output = Vec::new();
    serve(&analyst, &settings, input.as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn random_network() -> LoadedNetwork {
    let kata = KataNetwork::random(RandomKind::Plain, 1, 8, 5);
    LoadedNetwork::from_katago(&kata, "random".as_ref()).unwrap()
}

fn fields(value: &Value) -> BTreeSet<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn an_answer_has_the_recorded_fields() {
    let Some(samples) = samples() else { return };
    let found = answers(random_network(), &format!("{}\n", samples["query"]));
    let [found] = found.as_slice() else {
        panic!("{found:?}")
    };
    let recorded = &samples["response"];
    assert_eq!(fields(found), fields(recorded));
    assert_eq!(fields(&found["rootInfo"]), fields(&recorded["rootInfo"]));
    let of_moves = fields(&recorded["moveInfos"][0]);
    let moves = found["moveInfos"].as_array().unwrap();
    assert!(!moves.is_empty());
    for mv in moves {
        assert_eq!(fields(mv), of_moves);
    }
    for field in ["id", "isDuringSearch", "turnNumber"] {
        assert_eq!(found[field], recorded[field], "{field}");
    }
    for field in ["visits", "currentPlayer"] {
        assert_eq!(found["rootInfo"][field], recorded["rootInfo"][field]);
    }
    for field in ["thisHash", "symHash"] {
        let hash = found["rootInfo"][field].as_str().unwrap();
        assert_eq!(hash.len(), 32);
    }
    // Illegal moves are the same.
    let illegal = |answer: &Value| -> Vec<bool> {
        let policy = answer["policy"].as_array().unwrap();
        policy.iter().map(|chance| *chance == -1.0).collect()
    };
    assert_eq!(illegal(found), illegal(recorded));
    assert_eq!(
        found["ownership"].as_array().unwrap().len(),
        recorded["ownership"].as_array().unwrap().len()
    );
}

/// Searches are random; what the network says without search is what it says of the board seen from one of eight sides.
#[test]
fn the_recorded_network_says_what_was_recorded() {
    let Some(samples) = samples() else { return };
    let folder = std::env::var_os("TENGEN_KATAGO_NETS").map(PathBuf::from);
    let files = folder.and_then(|folder| fs::read_dir(folder).ok());
    let file = files.into_iter().flatten().flatten().find(|file| {
        let name = file.file_name();
        name.to_string_lossy().starts_with("g170e-b15c192")
    });
    let Some(file) = file else {
        println!("skipped: no data (TENGEN_KATAGO_NETS names no folder with g170e-b15c192)");
        return;
    };
    let Ok(Request::Query(query)) = read_request(&samples["query"].to_string()) else {
        panic!("the recorded query is refused");
    };
    let network = LoadedNetwork::load(&file.path()).unwrap();
    let network = network.for_size(BoardSize::NINE).unwrap();
    // An analysis does not show the network how the position came about.
    let mut options = Options::default();
    options.view.history_before_root = false;
    let mut player = Player::new(network, options).unwrap();
    player.set_game(query.game_at(20)).unwrap();
    let recorded = &samples["response"]["rootInfo"];
    let [winrate, lead] = ["rawWinrate", "rawLead"].map(|field| recorded[field].as_f64().unwrap());
    let said = Symmetry::ALL.map(|symmetry| {
        let opinion = player.raw_opinion(symmetry, None).unwrap();
        (
            f64::from(opinion.winrate),
            f64::from(opinion.score.unwrap().lead),
        )
    });
    let is_recorded =
        |said: &(f64, f64)| (said.0 - winrate).abs() < 1e-3 && (said.1 - lead).abs() < 1e-2;
    assert!(
        said.iter().any(is_recorded),
        "{winrate} {lead} is none of {said:?}"
    );
}

#[test]
fn mistakes_and_actions_have_the_recorded_answers() {
    let Some(samples) = samples() else { return };
    let mut illegal = samples["query"].clone();
    illegal["id"] = json!("QUERY:2");
    illegal["moves"] = json!([["B", "E5"], ["W", "E5"]]);
    illegal["analyzeTurns"] = json!([2]);
    let mut misspelt = samples["query"].clone();
    misspelt["id"] = json!("w");
    misspelt["foo"] = json!(1);
    let input = [
        illegal,
        json!({ "rules": "tromp-taylor" }),
        misspelt,
        json!({ "id": "v", "action": "query_version" }),
        json!({ "id": "t", "action": "terminate", "terminateId": "nope" }),
    ];
    let mut input: String = input.iter().map(|line| format!("{line}\n")).collect();
    input += "this is not json\n";
    let found = answers(random_network(), &input);
    for recorded in samples["errors"].as_array().unwrap() {
        let said = recorded["error"].as_str().unwrap_or_default();
        // What a parser says about bad JSON is its own; the rest is the protocol's.
        match said.split_once(" - could not parse") {
            Some((_, rest)) => assert!(found.iter().any(|answer| {
                fields(answer) == fields(recorded)
                    && answer["error"]
                        .as_str()
                        .is_some_and(|said| said.ends_with(rest))
            })),
            None => assert!(found.contains(recorded), "{recorded} is not in {found:?}"),
        }
    }
    assert!(found.contains(&samples["version"]));
    assert!(found.contains(&samples["terminate"]));
}
