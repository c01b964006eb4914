//! Facts of this binary's build.

use place::PlaceError;
use std::env::consts::{ARCH, OS};
use std::sync::LazyLock;

/// Commit and date passed by `make build`; other builds do not know them.
pub(crate) const COMMIT: Option<&str> = option_env!("TRIPTIME_COMMIT");

/// Version, build and commit, for the other end, which must be the same.
///
/// # Errors
/// The program's file cannot be read.
pub(crate) fn identity() -> Result<String, PlaceError> {
    let commit = COMMIT.map(|commit| format!(" of commit {commit}"));
    Ok(place::build()? + &commit.unwrap_or_default())
}

/// Version, commit and build in one line, as a certificate states them.
pub(crate) fn one_line() -> String {
    let build = place::build().map_or_else(|_| "not known".to_owned(), |build| id(&build).to_owned());
    let commit = COMMIT.unwrap_or("not known");
    format!("{}, commit {commit}, build {build}", env!("CARGO_PKG_VERSION"))
}

/// Text of `--version`, without the name: number, commit, target, contents, and supported formats.
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(text);
    &TEXT
}

/// The ID alone.
fn id(build: &str) -> &str {
    build.rsplit(' ').next().unwrap_or(build)
}

fn text() -> String {
    let linked = if cfg!(target_feature = "crt-static") {
        "static"
    } else {
        "dynamic"
    };
    let library = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let profile = if cfg!(debug_assertions) {
        "development"
    } else {
        "release"
    };
    format!(
        "{}\n\
         commit: {}\n\
         build: {}\n\
         target: {ARCH}-unknown-{OS}-{library}, {linked}, {profile}\n\
         features: AF_PACKET, AF_XDP, eBPF (hops, flight recorder), osnoise, hwlat\n\
         formats: run file {}, {}",
        env!("CARGO_PKG_VERSION"),
        COMMIT.unwrap_or("not known (not built by make)"),
        place::build().map_or_else(|error| format!("not known: {error}"), |build| id(&build).to_owned()),
        store::SCHEMA_VERSION,
        report::document::SCHEMA
    )
}
