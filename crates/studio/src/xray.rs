//! `net.*`: a look inside a network. The planes after a block, the heads put after every block, and what komi does.
//!
//! Blocks are residual, so the heads that were trained for the end of the tower make some sense of every stage before.

use std::sync::Arc;

use axum::extract::ws::Message;
use go::{Board, BoardSize, Color, Game, Komi, LadderReader, Move, Point, PointSet, Symmetry};
use go_player::{Assumptions, LoadedNetwork, Player, Position};
use ladder::{Kind, News, journey, questions_for, truth};
use net::{Backend, Layer, Network, NetworkContent, NetworkFile, leela::TextStyle};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    engine::{self, lock},
    question,
    server::App,
    state::color_name,
    tab::Tab,
    thinker::Urgency,
    wire::{Answer, Failure, Reply, Request},
};

/// Komi that is drawn, on both sides of none.
const KOMI_RANGE: f64 = 60.0;
/// Komi between two evaluations of a network that is told it.
const TOLD_KOMI_STEP: f64 = 4.0;
/// Points of the drawn curve.
const KOMI_POINTS: usize = 240;

#[derive(Clone, Deserialize)]
struct Look {
    net: String,
    size: usize,
    /// Rows from the top, `.XO`.
    stones: String,
    turn: String,
    #[serde(default)]
    layer: usize,
    /// The ladder to follow, by its first move.
    at: Option<String>,
}

#[derive(Deserialize)]
struct Graft {
    net: String,
}

/// Answers `net.*`.
pub fn handle(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    if request.verb == "net.graft" {
        let Graft { net } = request.fields()?;
        let how = ("question", Urgency::Question);
        return question::ask(app, tab, request, how, "", move |app, _, _| {
            let id = graft(app, &net)?;
            Ok(json!({ "net": id }))
        });
    }
    let asked: Look = request.fields()?;
    let game = asked.game()?;
    if request.verb == "net.ladder" {
        return Ok(Reply::Now(ladders(&game, asked.at.as_deref())?));
    }
    let network = lock(&app.networks).load(&asked.net, game.size())?;
    let how = ("question", Urgency::Question);
    match request.verb.as_str() {
        "net.film" => question::ask(app, tab, request, how, "", move |_, _, _| {
            film(&network, &game)
        }),
        "net.komi" => question::ask(app, tab, request, how, "", move |app, _, _| {
            komi(app, &network, &game)
        }),
        "net.look" => {
            let (tab, id, layer) = (tab.clone(), request.id, asked.layer);
            let planes = planes(&network, &game, layer)?;
            let id = u32::try_from(id).unwrap_or(0);
            let mut frame = id.to_le_bytes().to_vec();
            frame.extend(planes.iter().flat_map(|value| value.to_le_bytes()));
            tab.send(Message::Binary(frame.into()));
            Ok(Reply::Later)
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}

/// What the ladder network says of every ladder (null: nothing), what the exact reader says, and how the news of one of
/// them comes down its diagonal block by block.
fn ladders(game: &Game, at: Option<&str>) -> Result<Value, Failure> {
    let board = game.board();
    let reader = ladder::reader(board.size().get(), ladder::DEFAULT_STEPS);
    let mut exact = LadderReader::default();
    let found = questions_for(board, game.to_move());
    let asked: Vec<Value> = found
        .iter()
        .map(|question| {
            json!({
                "at": question.point.to_string(), "prey": question.prey.to_string(), "color": color_name(question.to_move),
                "kind": match question.kind { Kind::Escape => "escape", Kind::Chase => "chase" },
                "network": journey(&reader, board, question).works, "exact": truth(&mut exact, board, question),
            })
        })
        .collect();
    let followed = match at {
        Some(at) => found
            .iter()
            .find(|question| question.point.to_string() == at),
        None => found.first(),
    };
    let Some(followed) = followed else {
        return Ok(json!({ "ladders": asked, "followed": null, "stages": [], "path": [] }));
    };
    let way = journey(&reader, board, followed);
    let letter = |news: &News| match news {
        News::None => '.',
        News::Open => '-',
        News::Out => '!',
        News::Safe => 's',
        News::Turn => 't',
    };
    let side = board.size().get();
    let stages: Vec<Value> = way
        .stages
        .iter()
        .map(|stage| {
            let rows = stage.news.chunks(side).rev();
            json!({ "block": stage.block, "news": rows.flatten().map(letter).collect::<String>() })
        })
        .collect();
    let path: Vec<String> = way.path.iter().map(Point::to_string).collect();
    Ok(
        json!({ "ladders": asked, "followed": followed.point.to_string(), "stages": stages, "path": path }),
    )
}

impl Look {
    /// The position to look at.
    fn game(&self) -> Result<Game, Failure> {
        let size = BoardSize::new(self.size)
            .ok_or_else(|| Failure::new("range", "boards are from 2x2 to 25x25"))?;
        if self.stones.len() != size.area() {
            return Err(Failure::new(
                "fields",
                "`stones` has a letter for each point",
            ));
        }
        let mut sets = [PointSet::EMPTY; 2];
        for (index, letter) in self.stones.bytes().enumerate() {
            let point = Point::new(index % size.get(), size.get() - 1 - index / size.get());
            match letter {
                b'X' => sets[0].extend([point]),
                b'O' => sets[1].extend([point]),
                b'.' => {}
                _ => return Err(Failure::new("fields", "`stones` is of the letters . X O")),
            }
        }
        let board = Board::with_stones(size, &sets[0], &sets[1])
            .map_err(|error| Failure::new("setup", error.to_string()))?;
        let turn = if self.turn == "white" {
            Color::White
        } else {
            Color::Black
        };
        Ok(Game::from_board(board, turn, Komi::SEVEN_AND_A_HALF))
    }
}

fn layers(network: &LoadedNetwork) -> Result<Network, Failure> {
    let layers = network
        .layers()
        .map_err(|error| Failure::new("network", error.to_string()))?;
    let is_known = match (layers.trunk.first(), layers.trunk.last()) {
        (Some(Layer::Conv(_)), _) => true,
        (Some(Layer::AddVector { planes, .. }), Some(Layer::Scale(_))) => {
            matches!(planes[..], [Layer::Conv(_)])
        }
        _ => false,
    };
    if is_known {
        return Ok(layers);
    }
    Err(Failure::new(
        "network",
        "this kind of network cannot be looked into yet",
    ))
}

/// The input layer with the blocks, and what follows the last block: blocks that begin with their norm leave one for the
/// end.
fn stages(network: &Network) -> (&[Layer], &[Layer]) {
    let ends_with_norm = matches!(network.trunk.last(), Some(Layer::Scale(_)));
    let stages = network.trunk.len() - usize::from(ends_with_norm);
    network.trunk.split_at(stages)
}

fn input(network: &LoadedNetwork, position: &Position, len: usize) -> Vec<f32> {
    let mut row = vec![0.0; len];
    network
        .encoder
        .write(position, Symmetry::IDENTITY, &mut row);
    row
}

fn run(network: &Network, row: &[f32]) -> Result<Vec<f32>, Failure> {
    let failed = |error: String| Failure::new("network", error);
    let evaluator = Backend::Cpu
        .open(network)
        .map_err(|error| failed(error.to_string()))?;
    let mut outputs = vec![0.0; evaluator.shape().output_len()];
    evaluator
        .evaluate(row, &mut outputs)
        .map_err(|error| failed(error.to_string()))?;
    Ok(outputs)
}

/// The heads after every block: policy and winning chance as they form.
fn film(network: &LoadedNetwork, game: &Game) -> Result<Value, Failure> {
    let whole = layers(network)?;
    let position = Position::new(game, Assumptions::default());
    let row = input(network, &position, network.evaluator.shape().input_len());
    let mut frames = Vec::new();
    let (stages, last) = stages(&whole);
    for end in 1..=stages.len() {
        let cut = Network {
            trunk: [&stages[..end], last].concat(),
            ..whole.clone()
        };
        let outputs = run(&cut, &row)?;
        let opinion = network
            .encoder
            .read(&position, Symmetry::IDENTITY, &outputs);
        let size = game.size();
        let points: Vec<Value> = game
            .legal_points(game.to_move())
            .map(|point| {
                json!([
                    Move::Play(point).to_string(),
                    opinion.policy[size.index(point)]
                ])
            })
            .collect();
        let winrate_black = engine::for_black(f64::from(opinion.winrate), game.to_move());
        frames.push(json!({ "points": points, "winrate_black": winrate_black }));
    }
    Ok(json!({ "frames": frames }))
}

/// Every plane after a block, each row by row from the top.
fn planes(network: &LoadedNetwork, game: &Game, layer: usize) -> Result<Vec<f32>, Failure> {
    let whole = layers(network)?;
    let end = (layer + 1).clamp(1, stages(&whole).0.len());
    let position = Position::new(game, Assumptions::default());
    let row = input(network, &position, network.evaluator.shape().input_len());
    let filters: Vec<usize> = (0..network.filters).collect();
    let outputs = run(&ladder::planes_of(&whole, end, &filters), &row)?;
    let (side, area) = (game.size().get(), game.size().area());
    let flip = |index: usize| (side - 1 - index / side) * side + index % side;
    Ok((0..outputs.len())
        .map(|at| outputs[at / area * area + flip(at % area)])
        .collect())
}

/// Black's chance over komi, and the komi at which it is even if the curve falls everywhere.
fn komi(app: &App, network: &LoadedNetwork, game: &Game) -> Result<Value, Failure> {
    let options = go_player::Options {
        threads: app.settings.threads,
        ..go_player::Options::default()
    };
    let mut player = Player::new(network.clone(), options)
        .map_err(|error| Failure::new("network", error.to_string()))?;
    player
        .set_game(game.clone())
        .map_err(|error| Failure::new("size", error.to_string()))?;
    let mut curve = match network.encoder.as_leela() {
        Some(_) => tested_curve(&player)?,
        None => told_curve(&mut player, game)?,
    };
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    let falls = curve.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 0.005);
    let fair = curve
        .windows(2)
        .find(|pair| pair[0].1 >= 0.5 && pair[1].1 < 0.5)
        .map(|pair| (pair[0].0 + pair[1].0) / 2.0)
        .filter(|_| falls);
    let step = curve.len().div_ceil(KOMI_POINTS).max(1);
    let drawn: Vec<(f64, f64)> = curve.into_iter().step_by(step).collect();
    Ok(json!({ "curve": drawn, "fair": fair }))
}

/// The curve of a network whose planes of colours stand for komi.
fn tested_curve(player: &Player) -> Result<Vec<(f64, f64)>, Failure> {
    let test = engine::test_komi(player)?;
    let to_move = player.game().to_move();
    // The test counts komi as the side to move pays it.
    let curve = test.winrates.iter().map(|&(paid, winrate)| match to_move {
        Color::Black => (paid, winrate),
        Color::White => (-paid, 1.0 - winrate),
    });
    Ok(curve.filter(|(komi, _)| komi.abs() <= KOMI_RANGE).collect())
}

/// The curve of a network that is told komi as it is: one evaluation for each.
fn told_curve(player: &mut Player, game: &Game) -> Result<Vec<(f64, f64)>, Failure> {
    let steps = (KOMI_RANGE / TOLD_KOMI_STEP) as i32;
    let mut curve = Vec::new();
    for step in -steps..=steps {
        let points = f64::from(step) * TOLD_KOMI_STEP;
        let mut game = game.clone();
        game.set_komi(Komi::new(points as f32).unwrap_or_default());
        let to_move = game.to_move();
        player
            .set_game(game)
            .map_err(|error| Failure::new("size", error.to_string()))?;
        let opinion = player
            .opinion(Some(Symmetry::IDENTITY))
            .map_err(|error| Failure::new("network", error.to_string()))?;
        curve.push((
            points,
            engine::for_black(f64::from(opinion.winrate), to_move),
        ));
    }
    Ok(curve)
}

/// Puts the ladder network beside a network of Leela Zero's kind; returns the id of the new one, which lies in the cache.
fn graft(app: &App, net: &str) -> Result<String, Failure> {
    let refuse = |say: String| Failure::new("network", say);
    let known = lock(&app.networks).file(net)?.clone();
    let wrong_kind = || {
        refuse(
            "ladders can be grafted into networks of Leela Zero's kind only: drop such a file"
                .into(),
        )
    };
    let file = known.file.as_ref().ok_or_else(wrong_kind)?;
    let content = NetworkFile::load(file).map_err(|error| refuse(error.to_string()))?;
    let NetworkContent::Leela(base, _) = content.content else {
        return Err(wrong_kind());
    };
    let reader = ladder::LadderNetwork::new(base.size, ladder::DEFAULT_STEPS);
    let grafted = ladder::graft(&base, reader.leela(), ladder::Gains::default())
        .map_err(|error| refuse(error.to_string()))?;
    let text = grafted.to_exact_text(TextStyle::default());
    let hash = engine::short_hash(&text);
    let made = app
        .settings
        .cache_folder
        .join(format!("ladders-{hash}.txt"));
    std::fs::create_dir_all(&app.settings.cache_folder)
        .and_then(|()| base::write_whole(&made, &text))
        .map_err(|error| Failure::new("disk", format!("cannot keep the network: {error}")))?;
    let id = format!("n{hash}");
    let name = format!("{} + ladders", known.name);
    lock(&app.networks).add(id.clone(), name, made, "made");
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nine() -> (LoadedNetwork, Game) {
        let look = Look {
            net: "inside".into(),
            size: 9,
            stones: format!("{}X{}", ".".repeat(30), ".".repeat(50)),
            turn: "white".into(),
            layer: 0,
            at: None,
        };
        (LoadedNetwork::inside(BoardSize::NINE), look.game().unwrap())
    }

    #[test]
    fn the_last_frame_of_the_film_is_what_the_network_says() {
        let (network, game) = nine();
        let film = film(&network, &game).unwrap();
        let frames = film["frames"].as_array().unwrap();
        assert_eq!(frames.len(), network.blocks + 1);
        let position = Position::new(&game, Assumptions::default());
        let row = input(&network, &position, network.evaluator.shape().input_len());
        let mut outputs = vec![0.0; network.evaluator.shape().output_len()];
        network.evaluator.evaluate(&row, &mut outputs).unwrap();
        let whole = network
            .encoder
            .read(&position, Symmetry::IDENTITY, &outputs);
        let last = frames.last().unwrap()["winrate_black"].as_f64().unwrap();
        assert!((last - (1.0 - f64::from(whole.winrate))).abs() < 1e-4);
    }

    #[test]
    fn a_stone_changes_planes_and_every_filter_is_shown() {
        let (network, game) = nine();
        let with = planes(&network, &game, 1).unwrap();
        assert_eq!(with.len(), network.filters * 81);
        let empty = Game::from_board(
            Board::new(BoardSize::NINE),
            Color::White,
            Komi::SEVEN_AND_A_HALF,
        );
        assert_ne!(with, planes(&network, &empty, 1).unwrap());
    }
}
