//! `report.html`: how the run went, on one page that needs nothing else.

use std::fmt::Write as _;

use draw::axis::{label, ticks, whole_ticks};

use crate::{MatchGame, Ratings, State, TrainingLine};

/// The size of a chart.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
/// Room for the labels of the axes.
const MARGIN: f64 = 48.0;
/// Where labels stand: left of the axis, on the line, below the chart.
const LABEL_GAP: f64 = 6.0;
const LABEL_DROP: f64 = 4.0;
const LABEL_BELOW: f64 = 18.0;

/// What a game adds to the page.
pub struct Page {
    pub title: String,
    /// Over the chart of Elo by games.
    pub elo_title: &'static str,
    /// Over the chart of the policy's loss.
    pub policy_title: &'static str,
    /// Over the chart of the value's error.
    pub value_title: &'static str,
    /// Charts of its own, drawn by [`chart`].
    pub more_charts: String,
    /// The recent games as JSON.
    pub games: String,
    /// What draws them: it finds them in `games`.
    pub script: String,
}

impl Page {
    /// A page without anything of the game's own.
    pub fn plain(title: &str) -> Page {
        Page {
            title: title.to_owned(),
            elo_title: "Elo of the best network by games played",
            policy_title: "Policy loss by training, positions kept out",
            value_title: "Value error by training, positions kept out",
            more_charts: String::new(),
            games: "[]".to_owned(),
            script: String::new(),
        }
    }
}

/// The page of a run.
pub(crate) fn page(state: &State, games: u64, match_games: &[MatchGame], page: &Page) -> String {
    let ratings = state.ratings(match_games);
    // Ratings change as more games are played, so the curve is drawn from the ratings of today.
    let elo: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
        .chain(
            state
                .matches
                .iter()
                .filter(|line| line.promoted)
                .map(|line| {
                    let elo = ratings.of(&line.network).map_or(0.0, |rating| rating.elo.0);
                    (line.games as f64, elo)
                }),
        )
        .collect();
    let losses = |value: fn(&TrainingLine) -> Option<f64>| -> Vec<(f64, f64)> {
        state
            .trainings
            .iter()
            .filter_map(|line| Some((line.round as f64, value(line)?)))
            .collect()
    };
    let seconds = state.seconds;
    let share = |part: f64| 100.0 * part / seconds.total().max(1.0);
    let summary = format!(
        "{}, {}, {}; the best network stands at Elo {} over the first. \
         {:.1} hours: {:.0} % self-play, {:.0} % training, {:.0} % matches.",
        counted(games, "game of self-play", "games of self-play"),
        counted(state.rounds, "training", "trainings"),
        counted(
            state.matches.iter().filter(|line| line.promoted).count() as u64,
            "promotion",
            "promotions"
        ),
        with_error(state.elo, state.elo_error),
        seconds.total() / 3600.0,
        share(seconds.selfplay),
        share(seconds.training),
        share(seconds.matches),
    );
    let policy = losses(|line| line.policy_loss);
    let value = losses(|line| line.value_error);
    PAGE.replace("{{title}}", &page.title)
        .replace("{{summary}}", &summary)
        .replace("{{elo}}", &chart(page.elo_title, &elo, Join::Steps))
        .replace("{{more}}", &page.more_charts)
        .replace(
            "{{policy}}",
            &chart(page.policy_title, &policy, Join::Slopes),
        )
        .replace("{{value}}", &chart(page.value_title, &value, Join::Slopes))
        .replace("{{ratings}}", &rating_table(state, &ratings))
        .replace("{{matches}}", &match_table(state))
        .replace("{{script}}", &page.script)
        .replace("{{games}}", &page.games.replace('<', "\\u003c"))
}

/// A number with its noun.
fn counted(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{count} {noun}")
}

/// Elo with half its 95 % interval.
fn with_error(elo: f64, error: Option<f64>) -> String {
    match error {
        Some(error) => format!("{elo:+.0} ± {error:.0}"),
        None => format!("{elo:+.0}"),
    }
}

/// Rows of a table that are shown before the rest is folded away.
const SHOWN_ROWS: usize = 8;

/// The first rows of a table; the rest opens on a click.
fn folded(head: &str, rows: &[String]) -> String {
    let table = |rows: &[String]| format!("<table><tr>{head}</tr>\n{}</table>", rows.concat());
    let (shown, rest) = rows.split_at(rows.len().min(SHOWN_ROWS));
    let mut text = table(shown);
    if !rest.is_empty() {
        let _ = write!(
            text,
            "<details><summary>{} more</summary>{}</details>",
            rest.len(),
            table(rest)
        );
    }
    text
}

fn match_table(state: &State) -> String {
    let rows: Vec<String> = state
        .matches
        .iter()
        .rev()
        .map(|line| {
            let verdict = if line.promoted {
                "promoted"
            } else {
                "kept out"
            };
            format!(
                "<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{verdict}</td></tr>\n",
                line.round,
                short(&line.network),
                line.score
            )
        })
        .collect();
    folded(
        "<th>round<th>network<th>score against the best<th>verdict",
        &rows,
    )
}

/// Everybody who was best and every anchor, the strongest first.
fn rating_table(state: &State, ratings: &Ratings) -> String {
    let chain = state.best_chain();
    let rows: Vec<String> = ratings
        .table()
        .into_iter()
        .filter(|rating| rating.games > 0)
        .filter(|rating| chain.contains(&rating.name.as_str()) || !is_hash(&rating.name))
        .map(|rating| {
            let elo = match rating.error {
                Some(error) => with_error(rating.elo.0, Some(error)),
                None => "not comparable".to_owned(),
            };
            format!(
                "<tr><td><code>{}</code></td><td>{elo}</td><td>{}</td></tr>\n",
                short(&rating.name),
                rating.games
            )
        })
        .collect();
    if rows.is_empty() {
        return "<p class=none>no match game yet</p>".to_owned();
    }
    folded(
        "<th>player<th>Elo over the first network<th>match games",
        &rows,
    )
}

/// Networks are named by hashes, anchors by words.
fn is_hash(name: &str) -> bool {
    name.len() >= 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn short(name: &str) -> String {
    match is_hash(name) {
        true => name.chars().take(8).collect(),
        false => name.replace('<', "&lt;"),
    }
}

/// How the points of a chart are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// By straight lines.
    Slopes,
    /// By a level line and a step.
    Steps,
}

/// Points as an SVG picture with a title.
pub fn chart(title: &str, points: &[(f64, f64)], join: Join) -> String {
    if points.len() < 2 {
        return format!("<p class=none>{title}: not enough points yet</p>");
    }
    let range = |value: fn(&(f64, f64)) -> f64| {
        let low = points.iter().map(value).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        if high > low {
            (low, high)
        } else {
            (low - 1.0, high + 1.0)
        }
    };
    let ((left, right), (bottom, top)) = (range(|point| point.0), range(|point| point.1));
    let x = |value: f64| MARGIN + (value - left) / (right - left) * (WIDTH - 2.0 * MARGIN);
    let y =
        |value: f64| HEIGHT - MARGIN - (value - bottom) / (top - bottom) * (HEIGHT - 2.0 * MARGIN);
    let mut svg =
        format!("<figure><figcaption>{title}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\">");
    for level in ticks(bottom, top) {
        let height = y(level);
        let _ = write!(
            svg,
            "<line class=grid x1={MARGIN} x2={} y1={height:.1} y2={height:.1} />\
             <text x={} y={:.1} class=level>{}</text>",
            WIDTH - MARGIN,
            MARGIN - LABEL_GAP,
            height + LABEL_DROP,
            label(level)
        );
    }
    for place in whole_ticks(left, right) {
        let _ = write!(
            svg,
            "<text x={:.1} y={} class=place>{}</text>",
            x(place),
            HEIGHT - MARGIN + LABEL_BELOW,
            label(place)
        );
    }
    let mut path = String::new();
    for (index, &(across, up)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        if join == Join::Steps && index > 0 {
            let _ = write!(path, "L{:.1} {:.1}", x(across), y(points[index - 1].1));
        }
        let _ = write!(path, "{command}{:.1} {:.1}", x(across), y(up));
    }
    let _ = write!(svg, "<path class=line d=\"{path}\" />");
    svg.push_str("</svg></figure>");
    svg
}

/// Everything around the numbers.
const PAGE: &str = r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{title}}</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:760px;margin:2rem auto;padding:0 1rem;color:#222;background:#fafaf7}
h1,h2{font-weight:600}figure{margin:1.5rem 0}figcaption{font-weight:600}
svg{width:100%;height:auto}.grid{stroke:#ddd}.line{fill:none;stroke:#2a6;stroke-width:2.5}
text{font-size:11px;fill:#555}.level{text-anchor:end}.place{text-anchor:middle}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .5rem;border-bottom:1px solid #ddd}
#board{width:min(100%,420px);background:#e8c37a;border-radius:6px}.none{color:#777}
button{font:inherit;padding:.2rem .8rem;margin-right:.3rem}
</style></head><body>
<h1>{{title}}</h1><p>{{summary}}</p>
{{elo}}{{more}}{{policy}}{{value}}
<h2>Recent games</h2>
<p><select id="pick"></select> <button id="back">&larr;</button><button id="on">&rarr;</button> <span id="where"></span></p>
<svg id="board"></svg>
<h2>Ratings</h2>
{{ratings}}
<h2>Matches</h2>
{{matches}}
<script>
const games={{games}};
{{script}}</script></body></html>
"##;
