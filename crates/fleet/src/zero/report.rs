//! `report.html`: how the run went, on one page that needs nothing else.

use std::fmt::Write as _;

use crate::zero::{Head, State, ZeroSettings};

/// The size of a chart.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
/// Room for the labels of the axes.
const MARGIN: f64 = 48.0;
/// Where labels stand: left of the axis, on the line, below the chart.
const LABEL_GAP: f64 = 6.0;
const LABEL_DROP: f64 = 4.0;
const LABEL_BELOW: f64 = 18.0;
/// Lines across a chart.
const GRID_LINES: usize = 4;

/// The page.
pub fn report(settings: &ZeroSettings, state: &State, games: u64, recent: &[Head]) -> String {
    let elo: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
        .chain(
            state
                .matches
                .iter()
                .filter(|line| line.promoted)
                .map(|line| (line.games as f64, line.elo)),
        )
        .collect();
    let losses = |value: fn(&crate::zero::TrainingLine) -> Option<f64>| -> Vec<(f64, f64)> {
        state
            .trainings
            .iter()
            .filter_map(|line| Some((line.round as f64, value(line)?)))
            .collect()
    };
    let seconds = state.seconds;
    let share = |part: f64| 100.0 * part / seconds.total().max(1.0);
    let games_json = serde_json::to_string(recent)
        .unwrap_or_else(|_| "[]".into())
        .replace('<', "\\u003c");
    PAGE.replace("{{title}}", &format!("Go {0}x{0} from zero", settings.size))
        .replace("{{summary}}", &format!(
            "{games} games of self-play, {} trainings, {} promotions; the best network stands at Elo {:+.0} over the first. \
             {:.1} hours: {:.0} % self-play, {:.0} % training, {:.0} % matches.",
            state.rounds,
            state.matches.iter().filter(|line| line.promoted).count(),
            state.elo,
            seconds.total() / 3600.0,
            share(seconds.selfplay),
            share(seconds.training),
            share(seconds.matches),
        ))
        .replace("{{elo}}", &chart("Elo of the best network by games played", &elo, Join::Steps))
        .replace("{{policy}}", &chart("Policy loss by training, positions kept out", &losses(|line| line.policy_loss), Join::Slopes))
        .replace("{{value}}", &chart("Squared error of the winning chance by training", &losses(|line| line.value_error), Join::Slopes))
        .replace("{{matches}}", &match_rows(state))
        .replace("{{size}}", &settings.size.to_string())
        .replace("{{games}}", &games_json)
}

fn match_rows(state: &State) -> String {
    let mut rows = String::new();
    for line in state.matches.iter().rev() {
        let verdict = if line.promoted {
            "promoted"
        } else {
            "kept out"
        };
        let name: String = line.network.chars().take(8).collect();
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td><code>{name}</code></td><td>{}</td><td>{:+.0}</td><td>{verdict}</td></tr>",
            line.round, line.score, line.elo
        );
    }
    rows
}

/// How the points of a chart are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    Slopes,
    Steps,
}

fn chart(title: &str, points: &[(f64, f64)], join: Join) -> String {
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
    for line in 0..=GRID_LINES {
        let part = line as f64 / GRID_LINES as f64;
        let (level, place) = (bottom + part * (top - bottom), left + part * (right - left));
        let (height, across) = (y(level), x(place));
        let _ = write!(
            svg,
            "<line class=grid x1={MARGIN} x2={} y1={height:.1} y2={height:.1} />",
            WIDTH - MARGIN
        );
        let _ = write!(
            svg,
            "<text x={} y={:.1} class=level>{}</text>",
            MARGIN - LABEL_GAP,
            height + LABEL_DROP,
            label(level)
        );
        let _ = write!(
            svg,
            "<text x={across:.1} y={} class=place>{place:.0}</text>",
            HEIGHT - MARGIN + LABEL_BELOW
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

fn label(value: f64) -> String {
    if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}")
    }
}

/// Everything around the numbers. The board is drawn by a few lines of script that know captures.
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
{{elo}}{{policy}}{{value}}
<h2>Matches</h2><table><tr><th>round<th>network<th>score against the best<th>Elo<th>verdict</tr>
{{matches}}</table>
<h2>Recent games</h2>
<p><select id="pick"></select> <button id="back">&larr;</button><button id="on">&rarr;</button> <span id="where"></span></p>
<svg id="board"></svg>
<script>
const size={{size}},games={{games}},letters="ABCDEFGHJKLMNOPQRSTUVWXYZ";
const pick=document.getElementById("pick"),board=document.getElementById("board"),where=document.getElementById("where");
let at=0;
games.forEach((g,i)=>pick.add(new Option(`game ${g.number}, round ${g.round}: ${g.result}, ${g.moves.length} moves`,i)));
function around(p){const x=p%size,y=Math.floor(p/size);return[[x-1,y],[x+1,y],[x,y-1],[x,y+1]].filter(([a,b])=>a>=0&&b>=0&&a<size&&b<size).map(([a,b])=>b*size+a)}
function block(s,p){const seen=new Set([p]),open=[p];let free=false;while(open.length){for(const n of around(open.pop())){if(!s[n])free=true;else if(s[n]===s[p]&&!seen.has(n)){seen.add(n);open.push(n)}}}return[seen,free]}
function position(moves){const s=Array(size*size).fill(0);let last=-1;moves.forEach((m,i)=>{last=-1;if(m==="pass")return;const p=(+m.slice(1)-1)*size+letters.indexOf(m[0]);const c=1+i%2;s[p]=c;last=p;
for(const n of around(p))if(s[n]===3-c){const[b,free]=block(s,n);if(!free)b.forEach(q=>s[q]=0)}});return[s,last]}
function draw(){const g=games[pick.value];if(!g){where.textContent="no game yet";return}
at=Math.max(0,Math.min(g.moves.length,at));const[s,last]=position(g.moves.slice(0,at));const c=20,w=size*c;
let h="";for(let i=0;i<size;i++){const a=c/2+i*c;h+=`<path d="M${c/2} ${a}H${w-c/2}M${a} ${c/2}V${w-c/2}" stroke="#654" stroke-width="1"/>`}
s.forEach((v,p)=>{if(v){const x=c/2+p%size*c,y=w-c/2-Math.floor(p/size)*c;h+=`<circle cx="${x}" cy="${y}" r="9" fill="${v===1?"#111":"#fff"}" stroke="#333"/>`;if(p===last)h+=`<circle cx="${x}" cy="${y}" r="4" fill="#d33"/>`}});
board.setAttribute("viewBox",`0 0 ${w} ${w}`);board.innerHTML=h;where.textContent=`move ${at} of ${g.moves.length}${at?": "+g.moves[at-1]:""}`}
pick.onchange=()=>{at=0;draw()};document.getElementById("back").onclick=()=>{at--;draw()};document.getElementById("on").onclick=()=>{at++;draw()};
document.onkeydown=e=>{if(e.key==="ArrowLeft"){at--;draw()}if(e.key==="ArrowRight"){at++;draw()}};
pick.value=games.length-1;at=1e9;draw();
</script></body></html>
"##;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Score,
        zero::{MatchLine, TrainingLine},
    };

    #[test]
    fn the_page_fills_every_place_and_escapes_what_it_embeds() {
        let line = |round, promoted| MatchLine {
            round,
            network: "0123456789abcdef".into(),
            score: Score::new(60, 40),
            promoted,
            elo: 70.0,
            games: 100 * round,
            at_seconds: 5.0,
        };
        let training = |round| TrainingLine {
            round,
            policy_loss: Some(3.0 / round as f64),
            value_error: None,
            positions: 10,
        };
        let state = State {
            rounds: 2,
            elo: 70.0,
            matches: vec![line(1, true), line(2, false)],
            trainings: vec![training(1), training(2)],
            ..State::default()
        };
        let head = Head {
            number: 1,
            round: 1,
            network: "</script>".into(),
            moves: vec!["E5".into()],
            result: "B+1".into(),
        };
        let page = report(&ZeroSettings::default(), &state, 200, &[head]);
        assert!(!page.contains("{{"), "a place is left open");
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(page.contains("kept out") && page.contains("promoted") && page.contains("Elo +70"));
        assert!(
            page.contains("Squared error of the winning chance by training: not enough points yet")
        );
    }
}
