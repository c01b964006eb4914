//! Steps of a plan in places, and what they could leave behind.

use super::{generous_limits, run, traces};
use std::path::Path;
use std::process::Output;

const HEAD: &str = r#"
name = "short"
what = "Each step in a few seconds, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"
"#;

/// The path of a plan of these steps in `directory`.
pub fn plan(directory: &Path, steps: &str) -> String {
    let path = directory.join("short.toml");
    std::fs::write(&path, format!("{HEAD}{steps}")).expect("written");
    path.display().to_string()
}

/// `qualify` of these steps in a container, with more words behind; its output, and the path of its run file.
pub fn in_container(directory: &Path, steps: &str, more: &[&str]) -> (Output, String) {
    let out = directory.join("run.triptime").display().to_string();
    let (plan, limits) = (plan(directory, steps), generous_limits(directory));
    let words = ["--place", "container", "--json", "--quiet", "--disturb"];
    let output = run(&[
        &["qualify", &plan, "--limits", &limits, "--out", &out],
        &words[..],
        more,
    ]
    .concat());
    (output, out)
}

/// What containers could leave: beside namespaces and mounts, control groups and folders.
pub fn left() -> String {
    let of_ours = |folder: &str| {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_ours = |name: &String| {
            ["triptime-", "lxc.", "libpod", "conmon"]
                .iter()
                .any(|begin| name.starts_with(begin))
        };
        let mut ours: Vec<String> = names.filter(is_ours).collect();
        ours.sort();
        format!("{folder}: {ours:?}\n")
    };
    let folders = [
        "/run",
        "/run/triptime/labs",
        "/sys/fs/cgroup",
        "/sys/fs/cgroup/cpu",
        "/sys/fs/cgroup/cpuset",
    ];
    let names = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let bundles: Vec<String> = names.filter(|name| name.starts_with("triptime-container-")).collect();
    format!("{}{}/tmp: {bundles:?}\n", traces(), folders.map(of_ours).concat())
}
