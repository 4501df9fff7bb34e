//! The run's figures in the text form that Prometheus reads.

use std::fmt::Write;

use serde_json::Value;

/// Figures of a run, from its status.
pub(crate) fn text(status: &Value) -> String {
    let number = |name: &str| status[name].as_f64();
    let figures = [
        (
            "games_total",
            "counter",
            "Self-play games of the run",
            number("games"),
        ),
        (
            "match_games_total",
            "counter",
            "Match games of the run",
            number("match_games"),
        ),
        (
            "positions_total",
            "counter",
            "Positions recorded",
            number("positions"),
        ),
        (
            "rounds_total",
            "counter",
            "Trainings finished",
            number("round"),
        ),
        (
            "games_per_hour",
            "gauge",
            "Self-play games an hour",
            number("games_per_hour"),
        ),
        (
            "elo",
            "gauge",
            "Elo of the best network over the first",
            number("elo"),
        ),
        (
            "elo_error",
            "gauge",
            "Half the 95 % interval of that Elo",
            number("elo_error"),
        ),
        (
            "workers_live",
            "gauge",
            "Workers seen in the last ten minutes",
            number("workers_live"),
        ),
        (
            "match_llr",
            "gauge",
            "Log likelihood ratio of the match under way",
            status["match"]["llr"].as_f64(),
        ),
        (
            "broker_inbox",
            "gauge",
            "Games that wait for the ledger",
            status["broker"]["inbox"].as_f64(),
        ),
        (
            "broker_dead",
            "gauge",
            "Messages that nobody could deal with",
            status["broker"]["dead"].as_f64(),
        ),
        (
            "ledger_answering",
            "gauge",
            "Whether a ledger answers this gateway",
            status["is_ledger_answering"]
                .as_bool()
                .map(|is| f64::from(u8::from(is))),
        ),
        (
            "server_starts_total",
            "counter",
            "Starts of the server",
            number("epoch"),
        ),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in figures {
        if let Some(value) = value {
            let _ = writeln!(
                text,
                "# HELP tengen_{name} {help}\n# TYPE tengen_{name} {kind}\ntengen_{name} {value}"
            );
        }
    }
    let verdicts = ["accepted", "duplicate", "refused", "stale", "quarantined"];
    let _ = writeln!(
        text,
        "# HELP tengen_uploads_total Games handed in since the server started, by verdict\n# TYPE tengen_uploads_total counter"
    );
    let workers = status["workers"].as_array();
    for verdict in verdicts {
        let sum: u64 = workers
            .into_iter()
            .flatten()
            .filter_map(|worker| worker["counts"][verdict].as_u64())
            .sum();
        let _ = writeln!(text, "tengen_uploads_total{{verdict=\"{verdict}\"}} {sum}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn figures_that_are_not_known_are_left_out() {
        let status = json!({
            "games": 12, "elo": 3.5, "match": null, "is_ledger_answering": false, "broker": { "inbox": 7 },
            "workers": [{ "counts": { "accepted": 4, "refused": 1 } }, { "counts": { "accepted": 2 } }, { "counts": null }],
        });
        let text = super::text(&status);
        assert!(text.contains("\ntengen_games_total 12\n"));
        assert!(text.contains("# TYPE tengen_elo gauge\ntengen_elo 3.5\n"));
        assert!(text.contains("tengen_uploads_total{verdict=\"accepted\"} 6\n"));
        assert!(text.contains("\ntengen_broker_inbox 7\n"));
        assert!(text.contains("\ntengen_ledger_answering 0\n"));
        assert!(!text.contains("tengen_match_llr") && !text.contains("tengen_broker_dead"));
    }
}
