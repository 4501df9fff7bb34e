//! TLS by rustls. Handshakes run beside each other, so that one that stalls holds up nobody.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::serve::Listener;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::StartError;

/// A handshake that takes longer is given up.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Connections that wait to be served.
const WAITING: usize = 64;

/// The server's certificate and its key, both as PEM files.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate, followed by those that lead to its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Tls {
    /// Reads both files, so that a wrong one is named at the start and not to the first client.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, StartError> {
        let bad = |path: &Path, why: String| StartError::Tls {
            path: path.to_owned(),
            why,
        };
        let certificates = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| bad(&self.certificate, error.to_string()))?;
        if certificates.is_empty() {
            let why = "there is no certificate in it".to_owned();
            return Err(bad(&self.certificate, why));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| bad(&self.key, error.to_string()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(certificates, key)
            })
            .map_err(|error| bad(&self.key, error.to_string()))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Connections that have shaken hands.
pub(crate) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Begins to accept, in a task of its own.
    pub(crate) fn start(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<TlsListener> {
        let address = listener.local_addr()?;
        let (send, ready) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            loop {
                let Ok((stream, peer)) = listener.accept().await else {
                    // Too many files are open, for example; others may close theirs.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let (acceptor, send) = (acceptor.clone(), send.clone());
                if send.is_closed() {
                    return;
                }
                tokio::spawn(async move {
                    // A failed handshake is the client's matter.
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        let _ = send.send((stream, peer)).await;
                    }
                });
            }
        });
        Ok(TlsListener { ready, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(ready) => ready,
            // The accepting task ends with the runtime only.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
