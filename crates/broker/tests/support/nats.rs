//! Real brokers on loopback ports, ended when they are dropped.

// Not every test uses all of it.
#![allow(dead_code)]

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// One node of a broker.
pub struct Node {
    config: PathBuf,
    pub port: u16,
    child: Option<Child>,
}

/// A broker of one node or three.
pub struct Nats {
    pub nodes: Vec<Node>,
    _folder: tempfile::TempDir,
}

impl Nats {
    /// A broker with so many nodes; nothing where the program is missing, which is said.
    pub fn start(nodes: usize) -> Option<Nats> {
        if Command::new("nats-server")
            .arg("--version")
            .output()
            .is_err()
        {
            println!("skipped: nats-server is not installed");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let ports: Vec<u16> = free_ports(2 * nodes);
        let routes: Vec<String> = ports[nodes..]
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        let nodes = (0..nodes)
            .map(|index| {
                let config = folder.path().join(format!("{index}.conf"));
                let store = folder.path().join(format!("store-{index}"));
                let mut text = format!(
                    "server_name: n{index}\nhost: 127.0.0.1\nport: {}\nmax_payload: 4MB\n\
                     jetstream {{ store_dir: \"{}\", max_memory_store: 64MB, max_file_store: 1GB }}\n",
                    ports[index],
                    store.display()
                );
                if nodes > 1 {
                    text += &format!(
                        "cluster {{ name: fleet, listen: 127.0.0.1:{}, routes: [{}] }}\n",
                        ports[nodes + index],
                        routes.join(", ")
                    );
                }
                fs::write(&config, text).expect("a config");
                let mut node = Node {
                    config,
                    port: ports[index],
                    child: None,
                };
                node.start();
                node
            })
            .collect();
        Some(Nats {
            nodes,
            _folder: folder,
        })
    }

    pub fn urls(&self) -> String {
        let urls: Vec<String> = self
            .nodes
            .iter()
            .map(|node| format!("nats://127.0.0.1:{}", node.port))
            .collect();
        urls.join(",")
    }

    pub fn folder(&self) -> &Path {
        self._folder.path()
    }

    /// Ends all nodes, deletes all they kept, and starts them again.
    pub fn wipe(&mut self) {
        for node in &mut self.nodes {
            node.kill();
        }
        for entry in fs::read_dir(self.folder()).expect("a folder").flatten() {
            if entry.path().is_dir() {
                fs::remove_dir_all(entry.path()).expect("the store goes");
            }
        }
        for node in &mut self.nodes {
            node.start();
        }
    }
}

impl Node {
    pub fn start(&mut self) {
        let child = Command::new("nats-server")
            .arg("-c")
            .arg(&self.config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.child = Some(child.expect("nats-server starts"));
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "nats-server does not listen");
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops the process where it is (`STOP`), or lets it go on (`CONT`).
    pub fn signal(&self, name: &str) {
        if let Some(child) = &self.child {
            let _ = Command::new("kill")
                .arg(format!("-{name}"))
                .arg(child.id().to_string())
                .status();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.signal("CONT");
        self.kill();
    }
}

/// Ports that were free a moment ago.
pub fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"))
        .collect();
    listeners
        .iter()
        .map(|listener| listener.local_addr().expect("a port").port())
        .collect()
}
