//! Tests that the committed eBPF objects are the result of compiling their sources.

use std::path::Path;
use std::process::Command;

#[test]
fn the_objects_are_built_from_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    for tool in ["clang-14", "llvm-strip-14"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return testing::skip("eBPF objects", &format!("no {tool}: run scripts/need.sh test"));
        }
    }
    let place = tempfile::tempdir().expect("a folder");
    let output = Command::new(folder.join("build.sh"))
        .arg(place.path())
        .output()
        .expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["flight", "hops", "passage"] {
        let object = format!("{name}.o");
        let [committed, built] = [&folder, &place.path().to_path_buf()]
            .map(|folder| std::fs::read(folder.join(&object)).expect("an object"));
        assert!(
            committed == built,
            "crates/trace/bpf/{object} is not what {name}.bpf.c gives: run crates/trace/bpf/build.sh"
        );
    }
}
