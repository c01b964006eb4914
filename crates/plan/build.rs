//! Lists the files in `plans/` for `EMBEDDED`, by name: a new plan is a new file.

use std::env::var_os;
use std::fmt::Write;
use std::fs::{read_dir, write};
use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new(&var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../plans");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut plans: Vec<PathBuf> = read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of plans/").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    plans.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let mut list = String::from("&[\n");
    for path in &plans {
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name in UTF-8");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").expect("a string takes text");
    }
    list.push(']');
    let to = Path::new(&var_os("OUT_DIR").expect("cargo sets it")).join("plans.rs");
    write(&to, list).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
}
