//! An authority of our own, and a certificate of it, made by openssl.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The files of a certificate for a name: the authority's, its own, its key. Nothing where openssl is missing.
pub fn make(dir: &Path, name: &str) -> Option<[PathBuf; 3]> {
    let file = |name: &str| dir.join(name);
    let files = ["ca.pem", "cert.pem", "key.pem"].map(file);
    let path = |name: &str| file(name).to_str().unwrap().to_owned();
    std::fs::write(
        file("ext"),
        format!(
            "subjectAltName=DNS:{name},DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n"
        ),
    )
    .unwrap();
    let run = |words: &str| {
        let words = words.split(' ').map(|word| match word.strip_prefix('@') {
            Some(name) => path(name),
            None => word.to_owned(),
        });
        let status = Command::new("openssl")
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match status {
            Ok(status) => {
                assert!(status.success(), "openssl");
                true
            }
            Err(_) => false,
        }
    };
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let is_made = run(&format!(
        "req -x509 {curve} -keyout @ca.key -out @ca.pem -days 30 -subj /CN=test-authority -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign"
    )) && run(&format!(
        "req {curve} -keyout @key.pem -out @csr.pem -subj /CN={name}"
    )) && run(
        "x509 -req -in @csr.pem -CA @ca.pem -CAkey @ca.key -CAcreateserial -out @cert.pem -days 30 -extfile @ext",
    );
    if !is_made {
        println!("skipped: openssl is not installed");
    }
    is_made.then_some(files)
}
