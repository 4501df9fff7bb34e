//! The whole way: JSON in, a network of KataGo's kind and a search, JSON out.

use analysis::{GoAnalyst, Limits, Perspective, Settings, serve};
use go_player::{LoadedNetwork, Options};
use net::katago::{KataNetwork, RandomKind};
use serde_json::{Value, json};

fn random(kind: RandomKind) -> LoadedNetwork {
    let kata = KataNetwork::random(kind, 1, 8, 5);
    LoadedNetwork::from_katago(&kata, "random".as_ref()).unwrap()
}

fn answers(queries: &[Value]) -> Vec<Value> {
    answers_with(analyst(RandomKind::Plain), queries)
}

fn analyst(kind: RandomKind) -> GoAnalyst {
    let options = Options {
        ponder: false,
        ..Options::default()
    };
    let limits = Limits {
        positions: 2,
        threads: 2,
        threads_per_position: 1,
        cache_bytes: 1 << 20,
        max_time: None,
    };
    GoAnalyst::new(random(kind), options, limits)
}

fn answers_with(analyst: GoAnalyst, queries: &[Value]) -> Vec<Value> {
    let settings = Settings {
        threads: 2,
        perspective: Perspective::Black,
        pv_len: None,
        warn_unused: true,
        version: "0".into(),
        git_hash: "0".into(),
    };
    let input: String = queries.iter().map(|query| format!("{query}\n")).collect();
    let mut output = Vec::new();
    serve(&analyst, &settings, input.as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn query(id: &str, side: usize) -> Value {
    json!({
        "id": id, "rules": "japanese", "komi": 6.5, "boardXSize": side, "boardYSize": side,
        "moves": [["B", "C3"], ["W", "D4"]], "maxVisits": 30, "includeOwnership": true,
        "includePolicy": true, "includePVVisits": true, "includeMovesOwnership": true,
    })
}

#[test]
fn an_answer_has_every_field_that_katrain_reads() {
    let found = &answers(&[query("a", 7)])[0];
    let area = 7 * 7;
    assert_eq!(found["rootInfo"]["visits"], 30);
    assert_eq!(found["rootInfo"]["currentPlayer"], "B");
    assert_eq!(found["ownership"].as_array().unwrap().len(), area);
    let policy = found["policy"].as_array().unwrap();
    assert_eq!(policy.len(), area + 1);
    // C3 is the third point of the fifth row from the top: taken, so not legal.
    assert_eq!(policy[4 * 7 + 2], -1.0);
    let legal: f64 = policy
        .iter()
        .filter_map(Value::as_f64)
        .filter(|&p| p >= 0.0)
        .sum();
    assert!((legal - 1.0).abs() < 1e-4, "{legal}");
    for field in ["winrate", "scoreLead", "utility", "rawWinrate", "thisHash"] {
        assert!(!found["rootInfo"][field].is_null(), "{field}");
    }
    let moves = found["moveInfos"].as_array().unwrap();
    // The position is its own mirror image: of two moves that mirror each other one is searched, and both are told.
    let searched = moves.iter().filter(|mv| mv["isSymmetryOf"].is_null());
    let visits: u64 = searched.map(|mv| mv["visits"].as_u64().unwrap()).sum();
    assert_eq!(visits, 29);
    assert!(moves.iter().any(|mv| mv["isSymmetryOf"].is_string()));
    for (order, mv) in moves.iter().enumerate() {
        assert_eq!(mv["order"], order);
        assert_eq!(mv["pv"][0], mv["move"]);
        assert_eq!(
            mv["pv"].as_array().unwrap().len(),
            mv["pvVisits"].as_array().unwrap().len()
        );
        assert_eq!(mv["ownership"].as_array().unwrap().len(), area);
        for field in ["winrate", "scoreLead", "prior", "utility", "lcb", "weight"] {
            assert!(mv[field].is_number(), "{field}");
        }
    }
}

#[test]
fn positions_of_several_sizes_and_turns_are_answered_once_each() {
    let mut turns = query("turns", 9);
    turns["analyzeTurns"] = json!([0, 1, 2]);
    let found = answers(&[turns, query("five", 5), query("thirteen", 13)]);
    let mut seen: Vec<(String, u64)> = found
        .iter()
        .map(|answer| {
            let id = answer["id"].as_str().unwrap().to_owned();
            (id, answer["turnNumber"].as_u64().unwrap())
        })
        .collect();
    seen.sort();
    let expected = [
        ("five", 2),
        ("thirteen", 2),
        ("turns", 0),
        ("turns", 1),
        ("turns", 2),
    ];
    assert_eq!(seen, expected.map(|(id, turn)| (id.to_owned(), turn)));
}

/// Clients ask about the last position of a finished game, to show its score.
#[test]
fn a_game_that_two_passes_have_ended_is_searched_like_any_other() {
    for rules in ["japanese", "chinese", "tromp-taylor"] {
        let mut ended = query("a", 7);
        ended["rules"] = json!(rules);
        ended["moves"] = json!([["B", "C3"], ["W", "D4"], ["B", "pass"], ["W", "pass"]]);
        let found = &answers(&[ended])[0];
        assert_eq!(found["rootInfo"]["visits"], 30, "{found}");
        assert_eq!(found["turnNumber"], 4);
        assert_eq!(found["ownership"].as_array().unwrap().len(), 7 * 7);
        assert!(!found["moveInfos"].as_array().unwrap().is_empty());
    }
}

/// A query about what 8 kyu players would play, as KaTrain's imitating players ask.
fn human_query(profile: &str) -> Value {
    let mut asked = query("a", 7);
    asked["overrideSettings"] = json!({ "humanSLProfile": profile, "ignorePreRootHistory": false });
    asked
}

#[test]
fn a_second_network_says_what_people_of_a_profile_would_play() {
    let human = || analyst(RandomKind::Plain).with_human(random(RandomKind::Human));
    let said = |profile| answers_with(human(), &[human_query(profile)]).remove(0);
    let weak = said("rank_8k");
    let policy = |answer: &Value, field: &str| -> Vec<f64> {
        let chances = answer[field].as_array().unwrap().iter();
        chances.map(|chance| chance.as_f64().unwrap()).collect()
    };
    let people = policy(&weak, "humanPolicy");
    assert_eq!(people.len(), 7 * 7 + 1);
    assert_eq!(people[4 * 7 + 2], -1.0, "C3 is taken");
    let legal: f64 = people.iter().filter(|&&chance| chance >= 0.0).sum();
    assert!((legal - 1.0).abs() < 1e-4, "{legal}");
    assert_ne!(people, policy(&weak, "policy"));
    for mv in weak["moveInfos"].as_array().unwrap() {
        let prior = mv["humanPrior"].as_f64().unwrap();
        assert!(people.iter().any(|&chance| (chance - prior).abs() < 1e-6));
    }
    // Other people play otherwise, and the search is the first network's whoever is imitated.
    let strong = said("preaz_9d");
    assert_ne!(policy(&strong, "humanPolicy"), people);
    assert_eq!(strong["rootInfo"]["rawLead"], weak["rootInfo"]["rawLead"]);

    // A network that imitates people itself needs no second one.
    let alone = answers_with(analyst(RandomKind::Human), &[human_query("rank_8k")]).remove(0);
    assert_eq!(policy(&alone, "humanPolicy"), people);
}

#[test]
fn a_profile_without_such_a_network_is_a_warning_and_a_wrong_one_is_refused() {
    let found = answers(&[human_query("rank_8k")]);
    assert!(
        found[0]["warning"]
            .as_str()
            .unwrap()
            .contains("-human-model")
    );
    assert_eq!(found[1]["rootInfo"]["visits"], 30);
    assert!(found[1]["humanPolicy"].is_null());
    let found = &answers(&[human_query("rank_30k")])[0];
    assert_eq!(found["field"], "overrideSettings");
    assert!(
        found["error"].as_str().unwrap().contains("rank_30k"),
        "{found}"
    );
}

#[test]
fn only_allowed_moves_are_searched() {
    let mut allowed = query("a", 7);
    allowed["allowMoves"] = json!([{ "player": "B", "moves": ["E5", "E3"], "untilDepth": 1 }]);
    let found = &answers(&[allowed])[0];
    for mv in found["moveInfos"].as_array().unwrap() {
        assert!(
            ["E5", "E3", "pass"].contains(&mv["move"].as_str().unwrap()),
            "{mv}"
        );
    }
    let mut avoided = query("a", 7);
    avoided["avoidMoves"] = json!([{ "player": "B", "moves": ["E5"], "untilDepth": 1 }]);
    let found = &answers(&[avoided])[0];
    let moves = found["moveInfos"].as_array().unwrap();
    assert!(moves.iter().all(|mv| mv["move"] != "E5"));
}
