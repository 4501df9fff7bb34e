//! The AI protocol: every message read and printed, and games played over it.

use std::net::{TcpListener, TcpStream};

use mario::{
    Board, Ending, Game, Placement, Rules, Speed, flood,
    protocol::{
        Client, ClientMessage, Deal, Mode, Pace, Presses, Server, ServerMessage, Situation, Wish,
        play, serve,
    },
};
use proptest::prelude::*;

const RULES: Rules = Rules {
    stall_after: None,
    most_pills: Some(25),
};

fn deal(seed: u16, level: u8, speed: Speed) -> Deal {
    Deal {
        game: Game::console(seed, level, RULES),
        speed,
    }
}

/// The lowest placement, which every path of the board leads to.
fn lowest(situation: &Situation) -> Option<Placement> {
    flood(&situation.board)
        .placements(situation.pill)
        .min_by_key(|at| (at.y, at.x, at.turns))
}

/// Lets a server and a client talk without any stream; the whole conversation.
fn converse(
    server: &mut Server,
    client: &mut Client<impl FnMut(&Situation) -> Wish>,
) -> Vec<String> {
    let mut transcript = Vec::new();
    let mut said = server.greeting();
    while !(server.is_over() && said.is_empty()) {
        let mut answers = Vec::new();
        for message in said {
            transcript.push(format!("> {message}"));
            assert_eq!(message.to_string().parse(), Ok(message.clone()));
            answers.extend(client.receive(message).unwrap());
        }
        said = Vec::new();
        for answer in answers {
            transcript.push(format!("< {answer}"));
            assert_eq!(answer.to_string().parse(), Ok(answer.clone()));
            said.extend(server.receive(answer));
        }
        if said.is_empty() {
            said = server.tick();
        }
    }
    transcript
}

#[test]
fn published_lines_are_read_and_printed() {
    let board = "d".repeat(120) + "addbdddd";
    for line in [
        "propose-version 1".to_owned(),
        "request-version".to_owned(),
        format!("state you 19 qu {board} cleanup"),
        format!("state you 19 qu {board} control 7 3 15 qv"),
        "frame 4294967295".to_owned(),
        "mode you cleanup".to_owned(),
        "mode you control sw".to_owned(),
        "pill you 3 12 im".to_owned(),
        "speed you 18".to_owned(),
        "garbage you 05 eg".to_owned(),
        "winner you".to_owned(),
        "loser ".to_owned(),
        "accept-queue deadbeef".to_owned(),
        "accept-control x".to_owned(),
        "old-control x".to_owned(),
        "far-control x".to_owned(),
        "old-state 3".to_owned(),
        "far-state 900".to_owned(),
    ] {
        assert_eq!(line.parse::<ServerMessage>().unwrap().to_string(), line);
    }
    for line in [
        "version 1",
        "queue deadbeef (la)(la)dddddddddddd",
        "queue  ()",
        "control a 17 +l-l(+a-b)",
        "request-state",
        "request-state 12",
        "request-state control",
        "request-state cleanup",
        "debug",
        "debug 0 15 a 7 0 d",
    ] {
        assert_eq!(line.parse::<ClientMessage>().unwrap().to_string(), line);
    }
}

#[test]
fn damaged_lines_are_refused_with_a_reason() {
    let board = "d".repeat(120) + "addhdddd";
    for (line, complaint) in [
        ("hello".to_owned(), "\"hello\" begins no message"),
        ("frame 01".to_owned(), "\"01\" is no number"),
        ("frame 4294967296".to_owned(), "\"4294967296\" is no number"),
        ("frame  1".to_owned(), "expected `frame NUMBER`"),
        (
            format!("winner {}", "x".repeat(41)),
            "an identifier has at most 40",
        ),
        (
            format!("state you 19 qu {board} cleanup"),
            "letter 124 ('h')",
        ),
        (
            "mode you control im".to_owned(),
            "\"im\" is an upright pill",
        ),
        ("pill you 8 0 qv".to_owned(), "\"8\" is no column"),
        ("garbage you 00 ee".to_owned(), "expected `garbage"),
        ("garbage you 01 ea".to_owned(), "expected `garbage"),
        ("garbage you 012 ee".to_owned(), "expected `garbage"),
    ] {
        let error = line.parse::<ServerMessage>().unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
    }
    for (line, complaint) in [
        ("queue a (l", "the presses end too early"),
        ("control a b l", "\"b\" is no number"),
        ("debug 0 0 h", "letter 1 ('h')"),
        ("debug 0 0", "expected `debug"),
        ("frame 1", "\"frame\" begins no message"),
    ] {
        let error = line.parse::<ClientMessage>().unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
    }
}

#[test]
fn a_game_runs_to_its_end_and_every_pill_lands_where_it_was_meant_to() {
    for (speed, delay) in [(Speed::Low, 1), (Speed::High, 1), (Speed::Medium, 9)] {
        let mut wanted = Vec::new();
        let brain = |situation: &Situation| {
            let target = lowest(situation);
            let mut board = situation.board;
            board.play(situation.pill, target.unwrap());
            wanted.push(board);
            Ok(target)
        };
        let mut server = Server::new(deal(0x8988, 2, speed));
        let mut client = Client::new(delay, brain);
        let mut reached: Vec<Board> = Vec::new();
        let transcript = converse(&mut server, &mut client);
        assert!(client.won().is_some());
        assert_eq!(client.board(), server.game().board());
        let mut game = Game::console(0x8988, 2, RULES);
        while game.ending().is_none() {
            let situation = Situation {
                board: *game.board(),
                pill: game.pill(),
                next: game.next_pill(),
            };
            game.play(lowest(&situation).unwrap()).unwrap();
            reached.push(*game.board());
        }
        assert_eq!(wanted, reached, "delay {delay}");
        assert_eq!(server.game().board(), game.board());
        assert!(
            transcript
                .iter()
                .any(|line| line.starts_with("> accept-control"))
        );
    }
}

#[test]
fn a_client_that_fails_ends_the_conversation_with_its_error() {
    let mut server = Server::new(deal(0x8988, 2, Speed::Low));
    let mut said = server.greeting();
    said.extend(server.receive("version 1".parse().unwrap()));
    while !said
        .iter()
        .any(|message| matches!(message, ServerMessage::Control(..)))
    {
        said.extend(server.tick());
    }
    let heard: String = said.iter().map(|message| format!("{message}\n")).collect();
    let mut client = Client::new(1, |_: &Situation| Err("the card was taken out".into()));
    let error = play(&mut client, heard.as_bytes(), Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "the card was taken out");
}

#[test]
fn the_same_game_is_played_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut server = Server::new(deal(0x8988, 2, Speed::Low));
        serve(
            &mut server,
            stream.try_clone().unwrap(),
            stream,
            Pace::Patient,
        )
        .unwrap();
        *server.game().board()
    });
    let stream = TcpStream::connect(address).unwrap();
    let mut client = Client::new(1, |situation: &Situation| Ok(lowest(situation)));
    let won = play(&mut client, stream.try_clone().unwrap(), stream).unwrap();
    let board = serving.join().unwrap();
    assert_eq!(won, board.viruses_left() == 0);
    assert_eq!(*client.board(), board);
}

#[test]
fn queues_start_with_the_next_pill_and_late_words_are_ignored() {
    let mut server = Server::new(deal(0x8988, 0, Speed::Low));
    let early = server.receive("queue a l".parse().unwrap());
    assert!(early.is_empty(), "nothing counts before a version");
    assert!(server.receive("version 2".parse().unwrap()).is_empty());
    let state = server.receive("version 1".parse().unwrap());
    assert!(matches!(
        &state[..],
        [ServerMessage::State {
            mode: Mode::Cleanup,
            ..
        }]
    ));
    assert!(
        server.receive("request-state".parse().unwrap()).is_empty(),
        "late in setup"
    );
    server.tick();
    assert_eq!(server.falling().unwrap().x, 3);
    let answer = |server: &mut Server, line: &str| -> Vec<String> {
        server
            .receive(line.parse().unwrap())
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(answer(&mut server, "control c 0 l"), ["old-control c"]);
    assert_eq!(answer(&mut server, "control c 300 l"), ["far-control c"]);
    assert_eq!(
        answer(&mut server, "control c 1 l(-l)l"),
        ["accept-control c"]
    );
    assert_eq!(answer(&mut server, "request-state 300"), ["far-state 300"]);
    assert_eq!(
        answer(&mut server, "queue deadbeef (la)(la)"),
        ["accept-queue deadbeef"]
    );
    for _ in 0..3 {
        server.tick();
    }
    assert_eq!(answer(&mut server, "request-state 1"), ["old-state 1"]);
    assert_eq!(server.falling().unwrap().x, 1, "two taps to the left");
    answer(&mut server, "request-state cleanup");
    let mut said = Vec::new();
    while server.falling().is_some() {
        said = server.tick();
    }
    assert!(matches!(
        said.last(),
        Some(ServerMessage::State {
            mode: Mode::Cleanup,
            ..
        })
    ));
    assert!(answer(&mut server, "control late 9 l").is_empty());
    while server.falling().is_none() {
        server.tick();
    }
    server.tick();
    let queued = server.falling().unwrap();
    assert!(
        queued.content.vertical && queued.x == 2,
        "the queue moved and turned it: {queued}"
    );
}

#[test]
fn an_idle_player_tops_out_or_runs_out_of_pills() {
    let mut server = Server::new(deal(4, 20, Speed::Ultra));
    server.receive("version 1".parse().unwrap());
    let mut last = Vec::new();
    while !server.is_over() {
        last = server.tick();
    }
    assert_eq!(server.game().ending(), Some(Ending::ToppedOut));
    assert_eq!(last.last(), Some(&ServerMessage::Loser("you".to_owned())));
}

proptest! {
    #[test]
    fn any_line_is_read_back_as_printed_or_refused(line in "[a-z]{3,15}( [a-z0-9()+-]{0,9}){0,4}") {
        if let Ok(message) = line.parse::<ServerMessage>() {
            prop_assert_eq!(message.to_string().parse::<ServerMessage>(), Ok(message));
        }
        if let Ok(message) = line.parse::<ClientMessage>() {
            prop_assert_eq!(message.to_string().parse::<ClientMessage>(), Ok(message));
        }
    }

    #[test]
    fn presses_survive_their_text(text in "([+-]?[lrdab]|\\(\\)|\\([+-]?l[+-]?a\\)){0,60}") {
        let presses: Presses = text.parse().unwrap();
        prop_assert_eq!(presses.to_string().parse::<Presses>(), Ok(presses));
    }
}
