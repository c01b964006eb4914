//! The committed eBPF object is what its source gives.

use std::path::Path;
use std::process::Command;

#[test]
fn the_object_is_built_from_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    for tool in ["clang-14", "llvm-strip-14"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return testing::skip("eBPF object", &format!("no {tool}: run scripts/need.sh test"));
        }
    }
    let place = tempfile::tempdir().expect("a folder");
    let built = place.path().join("flight.o");
    let output = Command::new(folder.join("build.sh"))
        .arg(&built)
        .output()
        .expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [committed, built] = [folder.join("flight.o"), built].map(|path| std::fs::read(path).expect("an object"));
    assert!(
        committed == built,
        "crates/trace/bpf/flight.o is not what flight.bpf.c gives: run crates/trace/bpf/build.sh"
    );
}
