//! Findings as the protocol spells them.

use go::{Color, Move};
use serde_json::{Map, Value, json};

use crate::{
    analyst::{Findings, MoveFindings, RootFindings, Values},
    query::{Include, Query},
    serve::Settings,
};

/// KataGo prints that many significant digits.
const DIGITS: i32 = 9;
/// Ownership is printed with that many decimals.
const OWNERSHIP_DECIMALS: f64 = 1e6;
/// KataGo's longest principal variation by default, after the first move.
const DEFAULT_PV_LEN: usize = 15;

/// Numbers as one player sees them.
#[derive(Clone, Copy)]
struct View {
    player: Color,
}

impl View {
    fn winrate(self, winrate_black: f64) -> Value {
        match self.player {
            Color::Black => number(winrate_black),
            Color::White => number(1.0 - winrate_black),
        }
    }

    fn signed(self, for_black: f64) -> Value {
        match self.player {
            Color::Black => number(for_black),
            Color::White => number(0.0 - for_black),
        }
    }

    fn ownership(self, owners: &[f32]) -> Value {
        let sign = if self.player == Color::Black {
            1.0
        } else {
            -1.0
        };
        let rounded = owners.iter().map(|&owner| {
            json!((sign * f64::from(owner) * OWNERSHIP_DECIMALS).round() / OWNERSHIP_DECIMALS)
        });
        Value::Array(rounded.collect())
    }
}

/// The answer for a turn, while its search runs or after.
pub(crate) fn answer(
    settings: &Settings,
    query: &Query,
    turn: usize,
    is_during_search: bool,
    findings: &Findings,
) -> Value {
    let perspective = query.perspective.unwrap_or(settings.perspective);
    let view = View {
        player: perspective.player(findings.to_move),
    };
    let asked = query.pv_len.or(settings.pv_len);
    let moves = move_infos(
        query.include,
        view,
        findings,
        asked.unwrap_or(DEFAULT_PV_LEN),
    );
    let root = root_info(query.include, view, findings);
    let mut answer = Map::from_iter([
        ("id".to_owned(), json!(query.id)),
        ("isDuringSearch".into(), json!(is_during_search)),
        ("turnNumber".into(), json!(turn)),
        ("moveInfos".into(), Value::Array(moves)),
        ("rootInfo".into(), root),
    ]);
    if let Some(owners) = &findings.ownership {
        answer.insert("ownership".into(), view.ownership(owners));
    }
    if let Some(spread) = &findings.ownership_spread {
        answer.insert("ownershipStdev".into(), spread_of(spread));
    }
    if let Some(policy) = &findings.policy {
        answer.insert("policy".into(), chances(policy));
    }
    if let Some(policy) = &findings.human_policy {
        answer.insert("humanPolicy".into(), chances(policy));
    }
    Value::Object(answer)
}

/// `moveInfos` and `rootInfo` as Black sees them.
pub(crate) fn infos_for_black(findings: &Findings) -> (Vec<Value>, Value) {
    let view = View {
        player: Color::Black,
    };
    let include = Include::default();
    (
        move_infos(include, view, findings, DEFAULT_PV_LEN),
        root_info(include, view, findings),
    )
}

/// The answer for a turn that was stopped before anything was known.
pub(crate) fn nothing_found(id: &str, turn: usize) -> Value {
    json!({ "id": id, "isDuringSearch": false, "noResults": true, "turnNumber": turn })
}

fn root_info(include: Include, view: View, findings: &Findings) -> Value {
    let RootFindings {
        visits,
        weight,
        values,
        raw,
        raw_winloss_error,
        raw_score_error,
        raw_variance_time,
        hash,
        symmetry_hash,
    } = findings.root;
    let mut info = json!({
        "currentPlayer": letter(findings.to_move),
        "visits": visits,
        "weight": number(weight),
        "winrate": view.winrate(values.winrate),
        "utility": view.signed(values.utility),
        "scoreLead": view.signed(values.lead),
        "scoreSelfplay": view.signed(values.score),
        "scoreStdev": number(values.score_spread),
        "rawWinrate": view.winrate(raw.winrate),
        "rawLead": view.signed(raw.lead),
        "rawScoreSelfplay": view.signed(raw.score),
        "rawScoreSelfplayStdev": number(raw.score_spread),
        "rawNoResultProb": number(raw.no_result),
        // A winrate moves half as far as win minus loss.
        "rawStWrError": number(raw_winloss_error / 2.0),
        "rawStScoreError": number(raw_score_error),
        "rawVarTimeLeft": number(raw_variance_time),
        "thisHash": format!("{hash:032X}"),
        "symHash": format!("{symmetry_hash:032X}"),
    });
    if include.no_result {
        info["noResultValue"] = number(values.no_result);
    }
    info
}

fn move_infos(include: Include, view: View, findings: &Findings, pv_len: usize) -> Vec<Value> {
    let moves = findings.moves.iter().enumerate();
    moves
        .map(|(order, mv)| move_info(include, view, order, mv, findings.to_move, 1 + pv_len))
        .collect()
}

fn move_info(
    include: Include,
    view: View,
    order: usize,
    found: &MoveFindings,
    to_move: Color,
    pv_most: usize,
) -> Value {
    let line = &found.pv[..found.pv.len().min(pv_most)];
    let Values {
        winrate,
        utility,
        lead,
        score,
        score_spread,
        no_result,
    } = found.values;
    // Bounds are below the mean for the side to move, and so above it for its opponent.
    let sign = if to_move == view.player { 1.0 } else { -1.0 };
    let bound =
        |mean: Value, radius: f64| number(mean.as_f64().unwrap_or_default() - sign * radius);
    let mut info = json!({
        "move": spell(found.mv),
        "visits": found.visits,
        "edgeVisits": found.edge_visits,
        "weight": number(found.weight),
        "edgeWeight": number(found.weight),
        "winrate": view.winrate(winrate),
        "utility": view.signed(utility),
        "scoreMean": view.signed(lead),
        "scoreLead": view.signed(lead),
        "scoreSelfplay": view.signed(score),
        "scoreStdev": number(score_spread),
        "prior": number(found.prior),
        "lcb": bound(view.winrate(winrate), found.winrate_bound),
        "utilityLcb": bound(view.signed(utility), found.utility_bound),
        "playSelectionValue": number(found.play_value),
        "order": order,
        "pv": line.iter().map(|&(mv, _)| spell(mv)).collect::<Vec<_>>(),
    });
    if include.pv_visits {
        let visits: Vec<u64> = line.iter().map(|&(_, visits)| visits).collect();
        info["pvVisits"] = json!(visits);
        info["pvEdgeVisits"] = json!(visits);
    }
    if include.no_result {
        info["noResultValue"] = number(no_result);
    }
    if let Some(prior) = found.human_prior {
        info["humanPrior"] = number(prior);
    }
    if let Some(original) = found.symmetry_of {
        info["isSymmetryOf"] = json!(spell(original));
    }
    if let Some(owners) = &found.ownership {
        info["ownership"] = view.ownership(owners);
    }
    if let Some(spread) = &found.ownership_spread {
        info["ownershipStdev"] = spread_of(spread);
    }
    info
}

fn chances(policy: &[Option<f32>]) -> Value {
    let chances = policy
        .iter()
        .map(|chance| chance.map_or(json!(-1.0), |chance| number(f64::from(chance))));
    Value::Array(chances.collect())
}

fn spread_of(spread: &[f32]) -> Value {
    let rounded = spread.iter().map(|&spread| {
        json!((f64::from(spread) * OWNERSHIP_DECIMALS).round() / OWNERSHIP_DECIMALS)
    });
    Value::Array(rounded.collect())
}

fn spell(mv: Move) -> String {
    mv.to_string()
}

fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

/// A number with as many digits as KataGo prints.
fn number(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return json!(0.0);
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits.clamp(-300, 300));
    json!((value * scale).round() / scale)
}
