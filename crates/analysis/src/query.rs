//! A query: a game, which of its positions to analyse, for how long, and what to report.

use std::time::Duration;

use go::{BoardSize, Color, Game, Komi, Move, PointSet, Rules};
use go_player::{HumanProfile, Restrictions, Rule, RuleKind};
use serde_json::{Map, Value};

use crate::{
    fields::Fields,
    request::{Refusal, Warning},
};

/// The largest board the protocol is spoken for here.
const BOARD_SIDES: std::ops::RangeInclusive<i64> = 2..=25;
/// A komi beyond this is a mistake on every board.
const MOST_KOMI: f64 = 1000.0;
/// Priorities are whole numbers of this size.
const MOST_PRIORITY: i64 = 1 << 62;
/// "Until told to stop" is written as a large number of visits.
const MOST_VISITS: i64 = 1 << 50;
/// The longest time between two reports, or for one position: more than a month.
const MOST_SECONDS: f64 = 4e6;
/// Moves of a principal variation are limited by nothing but sense.
const MOST_PV: i64 = 1000;

const UNUSED: &str = "Unexpected or unused field, do you have a typo? (set warnUnusedFields=false in the config to disable this warning)";

/// Whose chances the answers speak of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Perspective {
    #[default]
    Black,
    White,
    /// Those of the side to move.
    SideToMove,
}

impl Perspective {
    /// Reads KataGo's name of it.
    pub fn read(name: &str) -> Option<Perspective> {
        match name.to_ascii_uppercase().as_str() {
            "BLACK" | "B" => Some(Perspective::Black),
            "WHITE" | "W" => Some(Perspective::White),
            "SIDETOMOVE" | "SIDE_TO_MOVE" => Some(Perspective::SideToMove),
            _ => None,
        }
    }

    /// The player whose chances are reported when `to_move` is to move.
    pub fn player(self, to_move: Color) -> Color {
        match self {
            Perspective::Black => Color::Black,
            Perspective::White => Color::White,
            Perspective::SideToMove => to_move,
        }
    }
}

/// What an answer holds beyond moves and root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Include {
    /// Who will own each point.
    pub ownership: bool,
    /// How far the tree disagrees about that.
    pub ownership_spread: bool,
    /// Ownership after each move.
    pub moves_ownership: bool,
    /// And its spread.
    pub moves_ownership_spread: bool,
    /// The network's policy.
    pub policy: bool,
    /// Visits along each principal variation.
    pub pv_visits: bool,
    /// The chance that the game has no result.
    pub no_result: bool,
}

/// Positions of one game to analyse.
#[derive(Clone)]
pub struct Query {
    /// The client's name for it.
    pub id: String,
    /// Each turn to analyse, and its priority: larger first.
    pub turns: Vec<(usize, i64)>,
    /// Most visits of the root.
    pub max_visits: Option<u64>,
    /// Most playouts of the search.
    pub max_playouts: Option<u64>,
    /// Longest time of one search.
    pub max_time: Option<Duration>,
    /// Report while searching, this often.
    pub report_every: Option<Duration>,
    /// Whose chances to report; the server's choice if none.
    pub perspective: Option<Perspective>,
    /// Noise that widens the search at the root; the server's choice if none.
    pub wide_root_noise: Option<f64>,
    /// Temperature of the priors at the root.
    pub root_policy_temperature: Option<f64>,
    /// How pessimistic the root is about moves it has not tried.
    pub root_fpu_reduction: Option<f64>,
    /// Whether the network is shown the moves before the position; it is not if nothing is said.
    pub shows_history: bool,
    /// Whom a human-imitation network is to imitate; it is not asked if none.
    pub human_profile: Option<HumanProfile>,
    /// Longest principal variation after its first move.
    pub pv_len: Option<usize>,
    /// What to report.
    pub include: Include,
    /// Parts that are ignored.
    pub warnings: Vec<Warning>,
    /// Moves to leave out, or to choose from; move numbers are counted from the turn that is analysed.
    restrictions: Restrictions,
    start: Game,
    moves: Vec<(Color, Move)>,
}

impl Query {
    /// The game after `turn` moves.
    ///
    /// # Panics
    /// If the query has fewer moves.
    pub fn game_at(&self, turn: usize) -> Game {
        let mut game = self.start.clone();
        for &(color, mv) in &self.moves[..turn] {
            let played = game.force(color, mv);
            debug_assert!(played.is_ok(), "moves were checked when the query was read");
        }
        if let Some(&(color, _)) = self.moves.get(turn) {
            game.set_to_move(color);
        }
        game
    }

    /// The moves to leave out, or to choose from, when the position after `turn` moves is analysed.
    pub fn restrictions_at(&self, turn: usize) -> Restrictions {
        let mut shifted = Restrictions::default();
        for rule in self.restrictions.rules() {
            let mut rule = rule.clone();
            rule.last_move_number += turn;
            // The rules did not contradict each other before either.
            let _ = shifted.add(rule);
        }
        shifted
    }

    pub(crate) fn read(id: String, mut map: Map<String, Value>) -> Result<Query, Refusal> {
        map.remove("id");
        let mut fields = Fields::new(Some(id.clone()), map);
        let start = read_start(&mut fields)?;
        let moves = read_moves(&mut fields, &start)?;
        let turns = read_turns(&mut fields, moves.len())?;
        let seconds = |seconds: f64| Duration::from_secs_f64(seconds.max(0.0));
        let count = |number: i64| number as u64;
        let mut query = Query {
            id,
            turns,
            max_visits: fields.integer("maxVisits", 1..=MOST_VISITS)?.map(count),
            max_playouts: None,
            max_time: None,
            report_every: fields
                .number("reportDuringSearchEvery", 0.001..=MOST_SECONDS)?
                .map(seconds),
            perspective: None,
            wide_root_noise: None,
            root_policy_temperature: fields.number("rootPolicyTemperature", 0.01..=100.0)?,
            root_fpu_reduction: fields.number("rootFpuReductionMax", 0.0..=2.0)?,
            shows_history: false,
            human_profile: None,
            pv_len: fields
                .integer("analysisPVLen", 1..=MOST_PV)?
                .map(|len| len as usize),
            include: Include {
                ownership: fields.bool("includeOwnership")?,
                ownership_spread: fields.bool("includeOwnershipStdev")?,
                moves_ownership: fields.bool("includeMovesOwnership")?,
                moves_ownership_spread: fields.bool("includeMovesOwnershipStdev")?,
                policy: fields.bool("includePolicy")?,
                pv_visits: fields.bool("includePVVisits")?,
                no_result: fields.bool("includeNoResultValue")?,
            },
            warnings: Vec::new(),
            restrictions: Restrictions::default(),
            start,
            moves,
        };
        query.read_restrictions(&mut fields)?;
        query.read_overrides(&mut fields)?;
        let unused = fields.left_over().into_iter().map(|field| Warning {
            field,
            warning: UNUSED.into(),
        });
        query.warnings.extend(unused);
        Ok(query)
    }

    /// `avoidMoves` and `allowMoves`: lists of moves, whom they bind, and how deep.
    fn read_restrictions(&mut self, fields: &mut Fields) -> Result<(), Refusal> {
        const DEEPEST: u64 = 10_000;
        for (field, kind) in [
            ("avoidMoves", RuleKind::Avoid),
            ("allowMoves", RuleKind::Allow),
        ] {
            for entry in fields.list(field)?.unwrap_or_default() {
                let wrong = || {
                    fields.refuse(
                        field,
                        "Must be a list of dicts with \"player\", \"moves\" and \"untilDepth\" (at least 1)",
                    )
                };
                let color = entry.get("player").and_then(color_of).ok_or_else(wrong)?;
                let depth = entry.get("untilDepth").and_then(Value::as_u64);
                let depth = depth.filter(|depth| (1..=DEEPEST).contains(depth));
                let moves = entry.get("moves").and_then(Value::as_array);
                let (depth, moves) = depth.zip(moves).ok_or_else(wrong)?;
                let mut rule = Rule {
                    kind,
                    color,
                    points: PointSet::EMPTY,
                    pass: false,
                    resign: false,
                    last_move_number: depth as usize - 1,
                };
                for mv in moves {
                    match self.vertex(mv) {
                        Some(Move::Play(point)) => {
                            rule.points.insert(point);
                        }
                        Some(Move::Pass) => rule.pass = true,
                        None => {
                            return Err(fields.refuse(field, format!("Could not parse move: {mv}")));
                        }
                    }
                }
                if self.restrictions.add(rule).is_err() {
                    return Err(fields.refuse(
                        field,
                        "Cannot specify both allowMoves and avoidMoves for the same player",
                    ));
                }
            }
        }
        Ok(())
    }

    /// `overrideSettings`: what KataGo's configuration calls search parameters. Those that have no counterpart here
    /// are named in a warning.
    fn read_overrides(&mut self, fields: &mut Fields) -> Result<(), Refusal> {
        const FIELD: &str = "overrideSettings";
        let map = match fields.take(FIELD) {
            None => return Ok(()),
            Some(Value::Object(map)) => map,
            Some(_) => return Err(fields.refuse(FIELD, "Must be an object")),
        };
        let mut unknown = Vec::new();
        for (name, value) in map {
            let wrong = || fields.refuse(FIELD, format!("Could not use {name}: {value}"));
            let number = || {
                let text = value.as_str().and_then(|text| text.parse().ok());
                value.as_f64().or(text).ok_or_else(wrong)
            };
            let positive = || number().and_then(|n| if n > 0.0 { Ok(n) } else { Err(wrong()) });
            match name.as_str() {
                "reportAnalysisWinratesAs" => {
                    let found = value.as_str().and_then(Perspective::read);
                    self.perspective = Some(found.ok_or_else(wrong)?);
                }
                "wideRootNoise" | "analysisWideRootNoise" => {
                    self.wide_root_noise = Some(number()?.clamp(0.0, 5.0));
                }
                "maxTime" => {
                    let seconds = positive()?.min(MOST_SECONDS);
                    self.max_time = Some(Duration::from_secs_f64(seconds));
                }
                "maxVisits" => self.max_visits = Some(positive()?.ceil() as u64),
                "maxPlayouts" => self.max_playouts = Some(positive()?.ceil() as u64),
                "rootPolicyTemperature" => self.root_policy_temperature = Some(positive()?),
                "rootFpuReductionMax" => self.root_fpu_reduction = Some(number()?.clamp(0.0, 2.0)),
                "ignorePreRootHistory" => {
                    self.shows_history = match &value {
                        Value::Bool(ignored) => !ignored,
                        Value::String(text) if text == "true" => false,
                        Value::String(text) if text == "false" => true,
                        _ => return Err(wrong()),
                    };
                }
                "humanSLProfile" => {
                    let profile = value.as_str().map(str::parse::<HumanProfile>);
                    self.human_profile = Some(match profile {
                        Some(Ok(profile)) => profile,
                        Some(Err(error)) => {
                            return Err(fields.refuse(FIELD, format!("humanSLProfile: {error}")));
                        }
                        None => return Err(wrong()),
                    });
                }
                "analysisPVLen" => {
                    self.pv_len = Some((positive()?.ceil() as usize).min(MOST_PV as usize));
                }
                _ => unknown.push(name),
            }
        }
        if !unknown.is_empty() {
            self.warnings.push(Warning {
                field: FIELD.into(),
                warning: format!("Unknown config params: {}", unknown.join(",")),
            });
        }
        Ok(())
    }

    fn vertex(&self, value: &Value) -> Option<Move> {
        vertex_of(value, self.start.size())
    }
}

/// The position before the first move: board, stones, rules, komi and who begins.
fn read_start(fields: &mut Fields) -> Result<Game, Refusal> {
    let mut side = |field| {
        let side = fields.integer(field, BOARD_SIDES)?;
        side.ok_or_else(|| fields.refuse(field, "Must specify an integer board size"))
    };
    let (width, height) = (side("boardXSize")?, side("boardYSize")?);
    if width != height {
        let error = format!("Boards must be square here, and {width}x{height} is not");
        return Err(fields.refuse("boardXSize", error));
    }
    let size = BoardSize::new(width as usize)
        .ok_or_else(|| fields.refuse("boardXSize", "Must be a board size from 2 to 25"))?;
    const BONUS: &str = "whiteHandicapBonus";
    let Some(rules) = fields.take("rules") else {
        return Err(fields.refuse("rules", "Must specify rules: a name or an object"));
    };
    let mut rules =
        Rules::from_json(&rules).map_err(|error| fields.refuse("rules", error.to_string()))?;
    if let Some(bonus) = fields.take(BONUS) {
        rules = rules
            .with_field(BONUS, &bonus)
            .map_err(|error| fields.refuse(BONUS, error.to_string()))?;
    }
    let komi = match fields.number("komi", -MOST_KOMI..=MOST_KOMI)? {
        None => Some(rules.default_komi()),
        Some(komi) if (2.0 * komi).fract() == 0.0 => Komi::new(komi as f32),
        Some(_) => None,
    };
    let komi = komi.ok_or_else(|| fields.refuse("komi", "Must be an integer or half-integer"))?;

    let mut stones = [PointSet::EMPTY; 2];
    for stone in fields.list("initialStones")?.unwrap_or_default() {
        match pair(&stone, size) {
            Some((color, Move::Play(point))) => stones[color.index()].insert(point),
            _ => {
                let error = format!("Must be a list of [player, vertex] pairs, but found {stone}");
                return Err(fields.refuse("initialStones", error));
            }
        };
    }
    let mut game = Game::new(size, komi);
    game.set_rules(rules);
    if let Err(error) = game.set_up(&stones[0], &stones[1], &PointSet::EMPTY) {
        return Err(fields.refuse("initialStones", error.to_string()));
    }
    let has_handicap = !stones[0].is_empty() && stones[1].is_empty();
    if has_handicap {
        game.set_handicap(stones[0].len());
    }
    match fields.text("initialPlayer")? {
        None if has_handicap => game.set_to_move(Color::White),
        None => {}
        Some(player) => match color_of(&Value::String(player)) {
            Some(color) => game.set_to_move(color),
            None => return Err(fields.refuse("initialPlayer", "Must be \"b\" or \"w\"")),
        },
    }
    Ok(game)
}

/// The moves, each checked to be legal where it is played.
fn read_moves(fields: &mut Fields, start: &Game) -> Result<Vec<(Color, Move)>, Refusal> {
    let Some(list) = fields.list("moves")? else {
        return Err(fields.refuse("moves", "Must specify an array of [player, vertex] moves"));
    };
    let mut game = start.clone();
    let mut moves = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        let Some((color, mv)) = pair(value, start.size()) else {
            let error = format!("Could not parse move {index}: {value}");
            return Err(fields.refuse("moves", error));
        };
        // What a client sends was played: only moves that no rule allows are refused.
        if game.force(color, mv).is_err() {
            return Err(fields.refuse("moves", format!("Illegal move {index}: {mv}")));
        }
        moves.push((color, mv));
    }
    Ok(moves)
}

/// The turns to analyse, the last position by default, and the priority of each.
fn read_turns(fields: &mut Fields, moves: usize) -> Result<Vec<(usize, i64)>, Refusal> {
    let range = -MOST_PRIORITY..=MOST_PRIORITY;
    let priority = fields.integer("priority", range.clone())?.unwrap_or(0);
    let turns = fields.integers("analyzeTurns", 0..=moves as i64)?;
    let listed = fields.integers("priorities", range)?;
    if let Some(listed) = listed {
        return match turns {
            Some(turns) if turns.len() == listed.len() => {
                let turns = turns.into_iter().map(|turn| turn as usize);
                Ok(turns.zip(listed).collect())
            }
            _ => Err(fields.refuse("priorities", "Must be as many as there are analyzeTurns")),
        };
    }
    let turns = turns.unwrap_or_else(|| vec![moves as i64]).into_iter();
    Ok(turns.map(|turn| (turn as usize, priority)).collect())
}

fn pair(value: &Value, size: BoardSize) -> Option<(Color, Move)> {
    match value.as_array()?.as_slice() {
        [player, vertex] => color_of(player).zip(vertex_of(vertex, size)),
        _ => None,
    }
}

fn color_of(value: &Value) -> Option<Color> {
    match value.as_str()?.to_ascii_lowercase().as_str() {
        "b" | "black" => Some(Color::Black),
        "w" | "white" => Some(Color::White),
        _ => None,
    }
}

/// A vertex as GTP spells it, or `(x,y)` counted from the top left corner.
fn vertex_of(value: &Value, size: BoardSize) -> Option<Move> {
    let text = value.as_str()?;
    let mv = match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inside) => {
            let (x, y) = inside.split_once(',')?;
            let (x, y): (usize, usize) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
            Move::Play(go::Point::new(
                (x < size.get()).then_some(x)?,
                size.get().checked_sub(y + 1)?,
            ))
        }
        None => text.parse().ok()?,
    };
    match mv {
        Move::Play(point) => (point.x() < size.get() && point.y() < size.get()).then_some(mv),
        Move::Pass => Some(mv),
    }
}
