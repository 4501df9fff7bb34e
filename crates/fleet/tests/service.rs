//! Workers play for a run: honest ones, forgetful ones, forged games, and a server that dies in between.

mod support;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use fleet::{
    Beginning, Game, Ledger, Order, RefusalKind, Run, ServeOptions, Service,
    wire::{Acceptance, Envelope, Signer, Task, TaskRequest},
};
use support::{
    Coins, Record,
    player::{Worker, games},
};

fn open(dir: &Path) -> (Run<Coins>, Arc<Ledger<Coins>>) {
    let mut run = Run::<Coins>::open(dir, &Beginning::default()).unwrap();
    let ledger = run
        .serve(ServeOptions {
            is_open: true,
            local_games: Some(0),
            engine: "cpu".into(),
            audit_every: 1,
            ..ServeOptions::default()
        })
        .unwrap();
    (run, ledger)
}

/// Runs the loop until it has trained so often and decided, with `help` called meanwhile.
fn run_rounds(mut run: Run<Coins>, rounds: u64, help: impl Fn()) -> Run<Coins> {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let looping = scope.spawn(|| {
            let stop = AtomicBool::new(false);
            while run.state().rounds < rounds || run.state().candidate.is_some() {
                run.step(&stop, &|_| {}).unwrap();
            }
            is_done.store(true, Ordering::Relaxed);
            run
        });
        while !is_done.load(Ordering::Relaxed) {
            help();
        }
        looping.join().unwrap()
    })
}

#[test]
fn a_run_played_by_a_worker_is_the_run_played_alone() {
    let (alone, served) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = Run::<Coins>::open(alone.path(), &Beginning::default()).unwrap();
    let alone_run = run_rounds(run, 3, thread::yield_now);

    let (run, ledger) = open(served.path());
    let worker = Worker::join(&*ledger, "ann");
    let served_run = run_rounds(run, 3, || {
        for task in worker.tasks(&*ledger, 1) {
            let receipt = worker.hand_in(&*ledger, &worker.play(&*ledger, &task));
            assert_ne!(receipt.verdict, Acceptance::Refused, "{receipt:?}");
        }
    });
    let of = |run: &Run<Coins>| {
        let state = run.state();
        let matches: Vec<_> = state
            .matches
            .iter()
            .map(|line| (line.round, line.network.clone(), line.promoted, line.score))
            .collect();
        (state.best.clone(), matches)
    };
    // Workers play on for the next round while a network is compared, so the rounds after the first learn from more.
    assert_eq!(of(&alone_run).1[0], of(&served_run).1[0]);
    let (alone_games, served_games) = (games(alone.path()), games(served.path()));
    assert_eq!(
        alone_games[..10],
        served_games[..10],
        "the first round, game by game"
    );
}

#[test]
fn a_game_counts_once_however_often_and_after_whatever_crash_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let (run, ledger) = open(folder.path());
    let worker = Worker::join(&*ledger, "ann");
    let tasks = worker.tasks(&*ledger, 6);
    let envelopes: Vec<Envelope> = tasks
        .iter()
        .map(|task| worker.play(&*ledger, task))
        .collect();
    for (index, envelope) in envelopes[..3].iter().enumerate() {
        let receipt = worker.hand_in(&*ledger, envelope);
        assert_eq!(receipt.verdict, Acceptance::Accepted);
        assert_eq!(receipt.seq, index as u64 + 1);
        assert_eq!(
            worker.hand_in(&*ledger, envelope).verdict,
            Acceptance::Duplicate
        );
    }
    // The server dies, and knows nothing of the tasks that are out but its own signature on them.
    drop((run, ledger));
    let (run, ledger) = open(folder.path());
    for envelope in &envelopes[..3] {
        assert_eq!(
            worker.hand_in(&*ledger, envelope).verdict,
            Acceptance::Duplicate
        );
    }
    for envelope in &envelopes[3..] {
        assert_eq!(
            worker.hand_in(&*ledger, envelope).verdict,
            Acceptance::Accepted
        );
    }
    // Numbers that were out are not given out again.
    let more = worker.tasks(&*ledger, 6);
    let numbers: BTreeSet<u64> = tasks.iter().chain(&more).map(|task| task.number).collect();
    assert_eq!(numbers.len(), 12);
    assert_eq!(games(folder.path()).len(), 6);
    drop(run);
}

#[test]
fn no_forged_game_is_ever_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (run, ledger) = open(folder.path());
    let service: &dyn Service = &*ledger;
    let honest = Worker::join(service, "honest");
    type Forge = fn(&Worker, &Task, &Envelope) -> Envelope;
    fn with(worker: &Worker, task: &Task, good: &Envelope, change: fn(&mut Record)) -> Envelope {
        let mut record: Record = serde_json::from_slice(&good.body).unwrap();
        change(&mut record);
        worker.envelope(
            task,
            &Coins::moves_and_result(&record),
            Coins::encode(&record),
        )
    }
    let forgeries: [(&str, Forge); 10] = [
        ("the result is another one", |worker, task, good| {
            with(worker, task, good, |record| record.heads += 1)
        }),
        ("dealt from another seed", |worker, task, good| {
            with(worker, task, good, |record| {
                record.dealt[0] = !record.dealt[0]
            })
        }),
        ("played by another network", |worker, task, good| {
            with(worker, task, good, |record| record.network = "other".into())
        }),
        ("but the task was game", |worker, task, good| {
            with(worker, task, good, |record| record.number += 1)
        }),
        ("never given out", |worker, task, good| {
            let mut task = task.clone();
            task.seed += 1;
            worker.envelope(&task, "x", good.body.clone())
        }),
        ("never given out", |worker, task, good| {
            let mut task = task.clone();
            task.number += 1000;
            worker.envelope(&task, "x", good.body.clone())
        }),
        ("was given to", |worker, task, good| {
            let mut task = task.clone();
            task.worker = "somebody".into();
            worker.envelope(&task, "x", good.body.clone())
        }),
        ("not signed with the key", |_, task, good| {
            let thief = Signer::from_secret(&[99; 32]).unwrap();
            let told = ("test", "cpu", 0.1);
            Envelope::new(
                task,
                good.header.game.clone(),
                good.body.clone(),
                told,
                &thief,
            )
        }),
        ("does not have the hash", |_, _, good| {
            let mut bad = good.clone();
            bad.body.push(b' ');
            bad
        }),
        ("its moves have the id", |worker, task, good| {
            worker.envelope(task, "another game", good.body.clone())
        }),
    ];
    for (index, (reason, forge)) in forgeries.into_iter().enumerate() {
        // A worker of its own, since five refused games would pause one.
        let worker = Worker::join(service, &"x".repeat(index + 10));
        let task = worker.tasks(service, 1).pop().unwrap();
        let good = worker.play(service, &task);
        let receipt = worker.hand_in(service, &forge(&worker, &task, &good));
        assert_eq!(receipt.verdict, Acceptance::Refused, "{reason}");
        assert!(receipt.why.contains(reason), "{reason}: {}", receipt.why);
        assert_eq!(games(folder.path()).len(), 0);
    }
    let cut = {
        let task = honest.tasks(service, 1).pop().unwrap();
        let packed = honest.play(service, &task).pack();
        service
            .hand_in(&honest.token, &packed[..packed.len() - 9])
            .unwrap()
    };
    assert_eq!(cut.verdict, Acceptance::Refused);
    // The control group.
    for _ in 0..50 {
        let task = honest.tasks(service, 1).pop().unwrap();
        let receipt = honest.hand_in(service, &honest.play(service, &task));
        assert_eq!(receipt.verdict, Acceptance::Accepted, "{receipt:?}");
        if games(folder.path()).len() >= 9 {
            break;
        }
    }
    assert_eq!(
        service
            .tasks("tgn_0", &TaskRequest::default())
            .unwrap_err()
            .kind,
        RefusalKind::Unknown
    );
    let old = TaskRequest {
        client: "tengen 0.0.1".into(),
        ..TaskRequest::default()
    };
    let refusal = service.tasks(&honest.token, &old).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::TooOld);
    assert!(refusal.why.contains("get the newest tengen"));
    drop(run);
}

#[test]
fn a_game_that_comes_out_differently_puts_its_worker_in_quarantine() {
    let folder = tempfile::tempdir().unwrap();
    let (run, ledger) = open(folder.path());
    let (ann, bob) = (
        Worker::join(&*ledger, "ann"),
        Worker::join(&*ledger, "robert"),
    );
    let stop = AtomicBool::new(false);
    for (worker, plays_itself) in [(&ann, true), (&bob, false)] {
        let task = worker.tasks(&*ledger, 1).pop().unwrap();
        let mut record: Record =
            serde_json::from_slice(&worker.play(&*ledger, &task).body).unwrap();
        if !plays_itself {
            // Legal, but not what the network plays.
            record.played.rotate_left(1);
            record.played[0] = !record.played[0];
            record.heads = record.played.iter().filter(|coin| **coin).count();
        }
        let content = Coins::moves_and_result(&record);
        let envelope = worker.envelope(&task, &content, Coins::encode(&record));
        assert_eq!(
            worker.hand_in(&*ledger, &envelope).verdict,
            Acceptance::Accepted
        );
        assert!(ledger.audit(&stop), "every game is played again here");
    }
    let next = |worker: &Worker| {
        let task = worker.tasks(&*ledger, 1).pop().unwrap();
        worker
            .hand_in(&*ledger, &worker.play(&*ledger, &task))
            .verdict
    };
    assert_eq!(next(&ann), Acceptance::Accepted);
    assert_eq!(next(&bob), Acceptance::Quarantined);
    let release = Order::Release {
        name: "robert".into(),
    };
    ledger.operate(&release).unwrap();
    assert_eq!(next(&bob), Acceptance::Accepted);
    drop(run);
}

#[test]
fn a_ban_takes_games_back_and_a_released_worker_plays_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut run, ledger) = open(folder.path());
    let (ann, bob) = (
        Worker::join(&*ledger, "ann"),
        Worker::join(&*ledger, "robert"),
    );
    for worker in [&ann, &bob, &bob] {
        let task = worker.tasks(&*ledger, 1).pop().unwrap();
        worker.hand_in(&*ledger, &worker.play(&*ledger, &task));
    }
    let ban = Order::Ban {
        name: "robert".into(),
        why: "a test".into(),
    };
    ledger.operate(&ban).unwrap();
    let refusal = ledger
        .tasks(&bob.token, &TaskRequest::default())
        .unwrap_err();
    assert!(
        refusal.why.contains("banned from this run: a test"),
        "{}",
        refusal.why
    );
    let stop = AtomicBool::new(true);
    run.step(&stop, &|_| {}).unwrap();
    assert_eq!(run.games(), 1, "what is left is ann's");
    drop((run, ledger));
    let (run, ledger) = open(folder.path());
    assert_eq!(run.games(), 1);
    assert!(
        ledger
            .operate(&Order::Ban {
                name: "nobody".into(),
                why: String::new()
            })
            .is_err()
    );
    drop(run);
}

#[test]
fn a_game_that_breaks_its_check_is_filed_and_the_next_one_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (run, ledger) = open(folder.path());
    let worker = Worker::join(&*ledger, "ann");
    let tasks = worker.tasks(&*ledger, 2);
    let mut record: Record =
        serde_json::from_slice(&worker.play(&*ledger, &tasks[0]).body).unwrap();
    record.heads = support::POISON;
    let content = Coins::moves_and_result(&record);
    let poison = worker.envelope(&tasks[0], &content, Coins::encode(&record));
    let receipt = worker.hand_in(&*ledger, &poison);
    assert_eq!(receipt.verdict, Acceptance::Refused);
    assert!(
        receipt.why.contains("its check broke down"),
        "{}",
        receipt.why
    );
    let receipt = worker.hand_in(&*ledger, &worker.play(&*ledger, &tasks[1]));
    assert_eq!(receipt.verdict, Acceptance::Accepted);
    drop((run, ledger));
    let mut filed = Vec::new();
    let log = folder.path().join("fleet/quarantine.log");
    base::Log::open(&log, |record| filed.push(record.to_vec())).unwrap();
    assert_eq!(filed, [poison.pack()]);
}

#[test]
fn a_worker_that_sends_rubbish_is_paused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (run, ledger) = open(folder.path());
    let worker = Worker::join(&*ledger, "ann");
    for _ in 0..5 {
        let receipt = ledger.hand_in(&worker.token, b"rubbish").unwrap();
        assert_eq!(receipt.verdict, Acceptance::Refused);
    }
    let refusal = ledger.hand_in(&worker.token, b"rubbish").unwrap_err();
    assert!(
        matches!(refusal.kind, RefusalKind::TooMuch(_)),
        "{refusal:?}"
    );
    assert!(refusal.why.contains("refused within an hour"));
    drop(run);
}
