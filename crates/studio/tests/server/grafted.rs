//! Networks that were made from others, and what komi does to a network.

use serde_json::json;

use crate::support::Stage;

#[test]
fn ladders_are_grafted_into_a_dropped_network() {
    let stage = Stage::new();
    let network = net::leela::LeelaNetwork::random(
        net::leela::LeelaVersion::V1,
        net::leela::LeelaShape::stock(9, 1, 4),
        1,
    );
    let file = net::gzip(&network.to_text(Default::default()));
    let (status, dropped) = stage.own("POST", "/api/nets?name=small.gz", &file);
    assert_eq!(status, 200, "{dropped}");
    let base = dropped["net"].as_str().unwrap();
    let mut client = stage.client();
    assert_eq!(
        client.refused("net.graft", json!({ "net": "inside" })),
        "network"
    );
    let made = client.ok("net.graft", json!({ "net": base }));
    let id = made["net"].as_str().unwrap();
    let (status, detail) = stage.own("GET", &format!("/api/nets/{id}"), b"");
    assert_eq!(status, 200, "{detail}");
    assert_eq!(detail["name"], "small.gz + ladders");
    assert!(detail["blocks"].as_u64() > Some(1), "{detail}");
    // White in atari, whose only way out is a ladder; and a board without one.
    let mut rows = vec![vec!['.'; 9]; 9];
    for (x, y, stone) in [
        (2, 3, 'O'),
        (1, 3, 'X'),
        (2, 2, 'X'),
        (3, 2, 'X'),
        (2, 4, 'X'),
    ] {
        rows[8 - y][x] = stone;
    }
    let ladder: String = rows.into_iter().flatten().collect();
    for (stones, differs) in [(ladder, true), (".".repeat(81), false)] {
        let mut last_policy = |net: &str| -> Vec<f64> {
            let asked = json!({ "net": net, "size": 9, "stones": stones, "turn": "white" });
            let film = client.ok("net.film", asked);
            let last = film["frames"].as_array().unwrap().last().unwrap();
            let points = last["points"].as_array().unwrap();
            points
                .iter()
                .map(|point| point[1].as_f64().unwrap())
                .collect()
        };
        let (plain, grafted) = (last_policy(base), last_policy(id));
        let change = plain.iter().zip(&grafted).map(|(a, b)| (a - b).abs());
        let most = change.fold(0.0, f64::max);
        assert_eq!(most > 1e-3, differs, "{most}");
    }
}

#[test]
fn a_network_that_is_told_komi_gives_black_less_the_more_he_pays() {
    let stage = Stage::new();
    let asked = json!({ "net": "inside", "size": 9, "stones": ".".repeat(81), "turn": "black" });
    let answer = stage.client().ok("net.komi", asked);
    let curve = answer["curve"].as_array().unwrap();
    assert!(curve.len() > 20);
    let chance = |point: &serde_json::Value| point[1].as_f64().unwrap();
    assert!(
        chance(&curve[0]) > 0.9 && chance(curve.last().unwrap()) < 0.1,
        "{answer}"
    );
}
