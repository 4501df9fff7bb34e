//! A run over a real broker: roles that die and go on elsewhere, data that is wiped, games that come twice, and the same
//! run in the end.

#[path = "../../fleet/tests/support/mod.rs"]
mod coins;
#[path = "support/nats.rs"]
mod nats;

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use broker::{Checker, LedgerRole, Link, LinkOptions, Remote, RoleOptions, Streams, Trainer};
use coins::{
    Coins, Record,
    player::{Worker, games},
};
use fleet::{
    Beginning, Game, Order, RefusalKind, Run, ServeOptions, Service, State,
    wire::{Acceptance, Envelope},
};
use nats::Nats;

const LEASE: Duration = Duration::from_secs(3);

fn connect(nats: &Nats) -> Streams {
    let link = Link::connect(LinkOptions {
        lease: LEASE,
        ..LinkOptions::new(&nats.urls(), "coins")
    });
    Streams::open(&link.unwrap()).unwrap()
}

fn options() -> RoleOptions {
    RoleOptions {
        serve: ServeOptions {
            is_open: true,
            local_games: Some(0),
            engine: "cpu".into(),
            audit_every: 1,
            ..ServeOptions::default()
        },
        trains_elsewhere: false,
    }
}

fn ledger(streams: &Streams, dir: &Path, options: RoleOptions) -> LedgerRole<Coins> {
    let stop = AtomicBool::new(false);
    let beginning = Beginning::default();
    LedgerRole::take(streams, dir, &beginning, options, &stop, &mut |_| {})
        .unwrap()
        .unwrap()
}

fn gateway(streams: &Streams, dir: &Path) -> Remote {
    let stop = AtomicBool::new(false);
    Remote::open(streams, dir, &stop, &mut |_| {})
        .unwrap()
        .unwrap()
}

/// Gives a standby the run's key.
fn share_key(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("fleet")).unwrap();
    fs::copy(from.join("fleet/server.key"), to.join("fleet/server.key")).unwrap();
}

/// Runs the loop until it has trained so often and decided; a worker plays meanwhile.
fn run_rounds(run: &mut Run<Coins>, rounds: u64, service: &dyn Service, worker: &Worker) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                for task in worker.tasks(service, 1) {
                    worker.hand_in(service, &worker.play(service, &task));
                }
            }
        });
        let stop = AtomicBool::new(false);
        while run.state().rounds < rounds || run.state().candidate.is_some() {
            run.step(&stop, &|_| {}).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_run_over_the_broker_with_a_trainer_elsewhere_is_the_run_alone() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [alone, served, gate, trainer] =
        ["alone", "served", "gate", "trainer"].map(|name| folder.path().join(name));
    let mut alone_run = Run::<Coins>::open(&alone, &Beginning::default()).unwrap();
    let stop = AtomicBool::new(false);
    while alone_run.state().rounds < 1 || alone_run.state().candidate.is_some() {
        alone_run.step(&stop, &|_| {}).unwrap();
    }
    let streams = connect(&nats);
    let elsewhere = RoleOptions {
        trains_elsewhere: true,
        ..options()
    };
    let mut role = ledger(&streams, &served, elsewhere);
    let gateway = gateway(&streams, &gate);
    let worker = Worker::join(&gateway, "ann");
    let trainer = Trainer::<Coins>::new(&streams, &trainer);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| trainer.run(&is_over, &mut |_| {}).unwrap());
        run_rounds(&mut role.run, 1, &gateway, &worker);
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(games(&alone)[..10], games(&served)[..10]);
    let of = |run: &Run<Coins>| {
        let state = run.state();
        let lines = state.matches.iter();
        let lines: Vec<_> = lines
            .map(|line| (line.network.clone(), line.score, line.promoted))
            .collect();
        (state.best.clone(), state.newest.clone(), lines)
    };
    assert_eq!(of(&alone_run), of(&role.run));
    let network = gateway.network(&role.run.state().newest).unwrap();
    assert!(network.is_some(), "everybody finds the new network");
}

#[test]
fn another_ledger_goes_on_from_an_empty_folder_and_the_old_one_writes_nothing_more() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [first, second, gate] = ["first", "second", "gate"].map(|name| folder.path().join(name));
    let streams = connect(&nats);
    let mut old = ledger(&streams, &first, options());
    let gateway = gateway(&streams, &gate);
    let worker = Worker::join(&gateway, "ann.of-b");
    // These games come late, and are of the network before; they are taken all the same.
    let tasks = worker.tasks(&gateway, 4);
    let envelopes: Vec<Envelope> = tasks
        .iter()
        .map(|task| worker.play(&gateway, task))
        .collect();
    run_rounds(&mut old.run, 1, &gateway, &worker);
    let receipt = worker.hand_in(&gateway, &envelopes[0]);
    assert_eq!(receipt.verdict, Acceptance::Accepted);
    // A standby without the run's key is refused with a sentence, and waits with it.
    let (state, count) = (old.run.state().clone(), games(&first).len());
    share_key(&first, &second);
    // Its role is taken away, as if it had been stopped for longer than its lease.
    let LedgerRole {
        run,
        ledger: served,
        guard,
    } = old;
    let old_service: Arc<dyn Service> = served;
    nats_forget_lease(&nats);
    let mut new = ledger(&connect(&nats), &second, options());
    assert_eq!(new.run.state().best, state.best);
    assert_eq!(games(&second).len(), count, "every acknowledged game moved");
    let receipt = worker.hand_in(&gateway, &envelopes[1]);
    assert_eq!(receipt.verdict, Acceptance::Accepted);
    assert!(receipt.epoch > 1);
    let late = old_service.hand_in(&worker.token, &envelopes[2].pack());
    assert!(matches!(late.unwrap_err().kind, RefusalKind::Later(_)));
    assert!(guard.is_lost());
    assert_eq!(games(&second).len(), count + 1);
    drop((run, guard, old_service));
    // What was out before is taken once, and numbers are never given out again.
    for (envelope, verdict) in envelopes.iter().zip([
        Acceptance::Duplicate,
        Acceptance::Duplicate,
        Acceptance::Accepted,
        Acceptance::Accepted,
    ]) {
        assert_eq!(worker.hand_in(&gateway, envelope).verdict, verdict);
    }
    new.run.step(&AtomicBool::new(true), &|_| {}).unwrap();
    let more = worker.tasks(&gateway, 4);
    assert!(
        more.iter()
            .all(|task| tasks.iter().all(|old| old.number != task.number))
    );
    drop(new);
    // The old folder, whose end differs, is brought up to what happened meanwhile.
    let again = ledger(&connect(&nats), &first, options());
    assert_eq!(games(&first), games(&second));
    drop(again);
}

/// Deletes the ledger's lease behind its back.
fn nats_forget_lease(nats: &Nats) {
    let link = Link::connect(LinkOptions::new(&nats.urls(), "coins")).unwrap();
    link.forget_lease("ledger").unwrap();
}

#[test]
fn a_standby_without_the_runs_key_is_refused_with_a_sentence() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let streams = connect(&nats);
    drop(ledger(&streams, &first, options()));
    let stop = AtomicBool::new(false);
    let taken = LedgerRole::<Coins>::take(
        &streams,
        &second,
        &Beginning::default(),
        options(),
        &stop,
        &mut |_| {},
    );
    let error = taken.err().unwrap().to_string();
    assert!(error.contains("copy fleet/server.key"), "{error}");
}

#[test]
fn all_data_of_the_broker_is_wiped_and_nothing_of_the_run_is_lost() {
    let Some(mut nats) = Nats::start(1) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [dir, gate] = ["run", "gate"].map(|name| folder.path().join(name));
    let streams = connect(&nats);
    let mut role = ledger(&streams, &dir, options());
    let before = gateway(&streams, &gate);
    let worker = Worker::join(&before, "ann");
    let task = worker.tasks(&before, 1).pop().unwrap();
    let envelope = worker.play(&before, &task);
    run_rounds(&mut role.run, 1, &before, &worker);
    // As its file has it: the last digit of a number of seconds may be lost there.
    let text = serde_json::to_vec(role.run.state()).unwrap();
    let state: State = serde_json::from_slice(&text).unwrap();
    let kept = games(&dir);
    drop((before, role, streams));
    nats.wipe();
    let streams = connect(&nats);
    let role = ledger(&streams, &dir, options());
    let after = gateway(&streams, &gate);
    assert_eq!((role.run.state(), games(&dir)), (&state, kept));
    assert!(after.network(&state.best).unwrap().is_some());
    assert_eq!(
        worker.hand_in(&after, &envelope).verdict,
        Acceptance::Accepted
    );
    drop((after, role));
    // The history was written anew: a fresh folder gets all of it.
    let fresh = folder.path().join("fresh");
    share_key(&dir, &fresh);
    let role = ledger(&streams, &fresh, options());
    assert_eq!(games(&fresh), games(&dir));
    drop(role);
}

#[test]
fn a_game_waits_for_a_ledger_that_is_down_and_counts_once() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [dir, gate] = ["run", "gate"].map(|name| folder.path().join(name));
    let streams = connect(&nats);
    let role = ledger(&streams, &dir, options());
    let gateway = gateway(&streams, &gate);
    let worker = Worker::join(&gateway, "ann");
    let tasks = worker.tasks(&gateway, 2);
    let envelopes: Vec<Envelope> = tasks
        .iter()
        .map(|task| worker.play(&gateway, task))
        .collect();
    drop(role);
    // Nobody answers: questions are put off, the page shows what was last known, and the game lies in the inbox.
    let refusal = gateway
        .tasks(&worker.token, &Default::default())
        .unwrap_err();
    assert!(matches!(refusal.kind, RefusalKind::Later(_)), "{refusal:?}");
    assert_eq!(gateway.status()["is_ledger_answering"], false);
    assert_eq!(gateway.status()["game"], "coins");
    thread::scope(|scope| {
        let waits = scope.spawn(|| worker.hand_in(&gateway, &envelopes[0]));
        thread::sleep(Duration::from_millis(500));
        let _role = ledger(&streams, &dir, options());
        assert_eq!(waits.join().unwrap().verdict, Acceptance::Accepted);
        assert_eq!(
            worker.hand_in(&gateway, &envelopes[0]).verdict,
            Acceptance::Duplicate
        );
        assert_eq!(gateway.status()["is_ledger_answering"], true);
    });
    assert_eq!(games(&dir).len(), 1);
}

#[test]
fn forged_games_and_strangers_are_refused_at_the_gateway_or_by_the_ledger() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [dir, gate] = ["run", "gate"].map(|name| folder.path().join(name));
    let streams = connect(&nats);
    let role = ledger(&streams, &dir, options());
    let gateway = gateway(&streams, &gate);
    let worker = Worker::join(&gateway, "ann");
    let task = worker.tasks(&gateway, 1).pop().unwrap();
    let good = worker.play(&gateway, &task);
    assert_eq!(
        gateway.hand_in("tgn_00", &good.pack()).unwrap_err().kind,
        RefusalKind::Unknown
    );
    let mut forged: Record = serde_json::from_slice(&good.body).unwrap();
    forged.heads += 1;
    let content = Coins::moves_and_result(&forged);
    let envelope = worker.envelope(&task, &content, Coins::encode(&forged));
    assert_eq!(
        worker.hand_in(&gateway, &envelope).verdict,
        Acceptance::Refused
    );
    let packed = good.pack();
    let cut = gateway
        .hand_in(&worker.token, &packed[..packed.len() - 5])
        .unwrap();
    assert_eq!(cut.verdict, Acceptance::Refused);
    let thief = Worker {
        signer: fleet::wire::Signer::from_secret(&[77; 32]).unwrap(),
        token: worker.token.clone(),
    };
    let stolen = thief.envelope(&task, "x", good.body.clone());
    let receipt = worker.hand_in(&gateway, &stolen);
    assert!(
        receipt.why.contains("not signed with the key"),
        "{receipt:?}"
    );
    assert_eq!(
        worker.hand_in(&gateway, &good).verdict,
        Acceptance::Accepted
    );
    let ban = Order::Ban {
        name: "ann".into(),
        why: "a test".into(),
    };
    gateway.operate(&ban).unwrap();
    thread::sleep(Duration::from_millis(5500));
    let refusal = gateway.hand_in(&worker.token, &good.pack()).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Forbidden);
    assert_eq!(games(&dir).len(), 1);
    drop(role);
}

#[test]
fn a_checker_elsewhere_plays_samples_again_and_finds_the_one_that_differs() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [dir, gate, check] = ["run", "gate", "check"].map(|name| folder.path().join(name));
    let streams = connect(&nats);
    let role = ledger(&streams, &dir, options());
    let gateway = gateway(&streams, &gate);
    let (ann, bob) = (
        Worker::join(&gateway, "ann"),
        Worker::join(&gateway, "robert"),
    );
    for (worker, is_honest) in [(&ann, true), (&bob, false)] {
        let task = worker.tasks(&gateway, 1).pop().unwrap();
        let mut record: Record =
            serde_json::from_slice(&worker.play(&gateway, &task).body).unwrap();
        if !is_honest {
            record.played[0] = !record.played[0];
            record.heads = record.played.iter().filter(|coin| **coin).count();
        }
        let content = Coins::moves_and_result(&record);
        let envelope = worker.envelope(&task, &content, Coins::encode(&record));
        assert_eq!(
            worker.hand_in(&gateway, &envelope).verdict,
            Acceptance::Accepted
        );
    }
    let checker = Checker::<Coins>::new(&streams, &check, "cpu");
    let (stop, mut checked) = (AtomicBool::new(false), 0);
    checker
        .run(&stop, &mut |said| {
            checked += usize::from(said.starts_with("game "));
            stop.store(checked == 2, Ordering::Relaxed);
        })
        .unwrap();
    let next = |worker: &Worker| {
        let task = worker.tasks(&gateway, 1).pop().unwrap();
        worker
            .hand_in(&gateway, &worker.play(&gateway, &task))
            .verdict
    };
    assert_eq!(next(&ann), Acceptance::Accepted);
    assert_eq!(next(&bob), Acceptance::Quarantined);
    drop(role);
}

#[test]
fn a_full_inbox_puts_games_off_and_takes_them_later() {
    let Some(nats) = Nats::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [dir, gate] = ["run", "gate"].map(|name| folder.path().join(name));
    let link = Link::connect(LinkOptions {
        lease: LEASE,
        inbox_bytes: Some(4000),
        ..LinkOptions::new(&nats.urls(), "coins")
    });
    let streams = Streams::open(&link.unwrap()).unwrap();
    let role = ledger(&streams, &dir, options());
    let gateway = gateway(&streams, &gate);
    let worker = Worker::join(&gateway, "ann");
    let tasks = worker.tasks(&gateway, 10);
    let envelopes: Vec<Envelope> = tasks
        .iter()
        .map(|task| worker.play(&gateway, task))
        .collect();
    drop(role);
    thread::scope(|scope| {
        let handed: Vec<_> = envelopes
            .iter()
            .map(|envelope| {
                let (gateway, worker) = (&gateway, &worker);
                let hand = move || gateway.hand_in(&worker.token, &envelope.pack());
                let first = scope.spawn(hand);
                thread::sleep(Duration::from_millis(50));
                first
            })
            .collect();
        thread::sleep(Duration::from_millis(300));
        let role = ledger(&streams, &dir, options());
        let mut put_off = 0;
        for (handed, envelope) in handed.into_iter().zip(&envelopes) {
            match handed.join().unwrap() {
                Ok(receipt) => assert_eq!(receipt.verdict, Acceptance::Accepted),
                Err(refusal) => {
                    assert!(matches!(refusal.kind, RefusalKind::Later(_)), "{refusal:?}");
                    put_off += 1;
                    let receipt = worker.hand_in(&gateway, envelope);
                    assert_eq!(receipt.verdict, Acceptance::Accepted);
                }
            }
        }
        assert!((1..10).contains(&put_off), "{put_off} of 10 were put off");
        drop(role);
    });
    assert_eq!(games(&dir).len(), 10);
}

#[test]
fn a_broker_that_is_not_there_is_named() {
    let port = nats::free_ports(1)[0];
    let link = Link::connect(LinkOptions {
        patience: Duration::from_millis(300),
        ..LinkOptions::new(&format!("nats://127.0.0.1:{port}"), "coins")
    });
    let error = link.err().unwrap().to_string();
    assert!(
        error.contains(&port.to_string()) && error.contains("nats-server"),
        "{error}"
    );
    let bad = Link::connect(LinkOptions::new("nats://127.0.0.1:1", "a.b"));
    assert!(bad.err().unwrap().to_string().contains("letters, digits"));
}
