//! `tengen mario serve`: the AI protocol, as the game or as the player.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use mario::{
    Ending, Rules, Speed,
    protocol::{Client, Deal, Pace, Rest, Server, Situation, play, serve},
};
use mario_player::{Clock, NetSettings, View};

use super::{DealArgs, PlayerArgs};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Deal a game and let the other side play it
    Game,
    /// Play the game the other side deals
    Player,
}

/// Speak maryodel's AI protocol, version 1
///
/// As the game or as the player, over standard input and output or over TCP: --listen waits for
/// one connection, --connect makes one. The exit code is 0 when the board was cleared, 1 when
/// not.
#[derive(Args)]
#[command(after_help = "Examples:
  tengen mario serve --level 5 --listen 127.0.0.1:7777 --patient
  tengen mario serve --role player --connect 127.0.0.1:7777 --player heuristic")]
pub struct ServeArgs {
    /// Which side to be
    #[arg(long, value_enum, default_value = "game")]
    role: Role,

    /// Wait for a connection at this address, instead of standard input and output
    #[arg(long, value_name = "ADDRESS", conflicts_with = "connect")]
    listen: Option<String>,

    /// Connect to this address, instead of standard input and output
    #[arg(long, value_name = "ADDRESS")]
    connect: Option<String>,

    /// As the game: let the clock stand at each new pill until the player has spoken
    #[arg(long)]
    patient: bool,

    /// As the game: how many times as fast as the console
    #[arg(long, default_value_t = 1)]
    times: u32,

    /// As the player: frames between seeing a pill and the first press
    #[arg(long, default_value_t = 6)]
    delay: u32,

    /// Starting speed: low, med, hi or ult
    #[arg(long, default_value = "med", value_parser = super::speed)]
    speed: Speed,

    #[command(flatten)]
    deal: DealArgs,

    #[command(flatten)]
    player: PlayerArgs,
}

/// How long a player may take to read the last line and leave.
const PATIENCE: Duration = Duration::from_secs(60);

/// Exit code of a game that was not won.
const EXIT_LOST: u8 = 1;

pub fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let won = match connection(&args)? {
        None => talk(
            &args,
            std::io::stdin(),
            std::io::stdout().lock(),
            |_| Ok(()),
        )?,
        Some(stream) => talk(&args, stream.try_clone()?, &stream, |rest| {
            // No more comes from us; the player may still be reading, or writing.
            match stream.shutdown(Shutdown::Write) {
                Err(error) if error.kind() != ErrorKind::NotConnected => return Err(error),
                _ => rest.read_to_end(PATIENCE),
            }
            Ok(())
        })?,
    };
    Ok(if won {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_LOST)
    })
}

fn connection(args: &ServeArgs) -> anyhow::Result<Option<TcpStream>> {
    if let Some(address) = &args.connect {
        let stream =
            TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        return Ok(Some(stream));
    }
    let Some(address) = &args.listen else {
        return Ok(None);
    };
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))?;
    eprintln!("listening at {}", listener.local_addr()?);
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    Ok(Some(stream))
}

fn talk(
    args: &ServeArgs,
    reader: impl Read + Send + 'static,
    writer: impl Write,
    close: impl FnOnce(Rest) -> std::io::Result<()>,
) -> anyhow::Result<bool> {
    if args.role == Role::Game {
        let deal = Deal {
            game: args.deal.game(Rules::default()),
            speed: args.speed,
        };
        let mut server = Server::new(deal);
        let pace = match args.patient {
            true => Pace::Patient,
            false => Pace::Console { times: args.times },
        };
        let rest = serve(&mut server, reader, writer, pace)?;
        close(rest)?;
        return Ok(server.game().ending() == Some(Ending::Cleared));
    }
    let lineup = args.player.lineup(NetSettings::default(), Clock::Wall)?;
    let mut player = lineup.player(0);
    player.new_game();
    let start = RefCell::new(None);
    let placed = RefCell::new(0);
    let brain = |situation: &Situation| {
        let viruses = situation.board.viruses_left();
        let view = View {
            board: situation.board,
            pill: situation.pill,
            next: Some(situation.next),
            viruses_at_start: *start.borrow_mut().get_or_insert(viruses),
            placed: placed.replace_with(|count| *count + 1),
        };
        let decision = player.decide(&view)?;
        Ok(decision.map(|decision| decision.placement))
    };
    Ok(play(&mut Client::new(args.delay, brain), reader, writer)?)
}
