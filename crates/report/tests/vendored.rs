//! The vendored chart library is the version that was reviewed: uPlot 1.6.32 as published on npm.

use std::process::Command;

#[test]
fn uplot_is_what_was_published() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/uplot");
    let output = Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(directory)
        .output()
        .expect("sha256sum (coreutils)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let listed = std::fs::read_to_string(format!("{directory}/SHA256SUMS")).expect("the list");
    for file in ["uPlot.iife.min.js", "uPlot.min.css", "LICENSE"] {
        assert!(listed.contains(file), "{file} is not in the list");
    }
    assert!(listed.starts_with("19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f  uPlot.iife.min.js"));
}
