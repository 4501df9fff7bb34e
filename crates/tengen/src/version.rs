//! What `tengen --version` says: the release, the commit it was built from, and how it computes on this machine.

use std::sync::OnceLock;

use net::Isa;

/// The text after the program's name.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let release = env!("CARGO_PKG_VERSION");
        let commit = match option_env!("TENGEN_COMMIT") {
            Some(commit) => format!("commit {commit}, "),
            None => String::new(),
        };
        format!("{release} ({commit}{} instructions)", Isa::detect())
    })
}
