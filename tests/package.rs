//! The packages for Debian and for RPM: made twice from one binary, checked by lintian, installed in empty systems.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use support::{binary, root_or_skip, stderr};
use testing::skip;

/// Makes a package of `program` in `folder`, under this umask and in this time zone; returns its file.
fn package(program: &Path, folder: &Path, umask: &str, zone: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/package.sh");
    let output = Command::new("sh")
        .args(["-c", "umask $1; exec \"$2\" \"$3\"", "sh", umask])
        .args([&script, folder])
        .env("TRIPTIME_BIN", program)
        .env("TZ", zone)
        // No test checks the size, so nothing is compressed.
        .env("DPKG_DEB_COMPRESSOR_LEVEL", "0")
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{}", stderr(&output));
    PathBuf::from(text(&output).trim())
}

/// The package for most tests.
fn made() -> &'static Path {
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package");
        // Packages of earlier commits.
        let _ = fs::remove_dir_all(&folder);
        package(&whole_binary(), &folder, "022", "UTC")
    });
    &MADE
}

fn whole_binary() -> PathBuf {
    fs::canonicalize(binary()).expect("a binary")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn two_packages_of_one_binary_are_the_same_octets() {
    let folder = folder();
    // A small program that answers like the binary, because it can be packed quickly.
    let program = folder.path().join("triptime");
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", whole_binary().display());
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    let first = package(&program, &folder.path().join("first"), "022", "UTC");
    let second = package(&program, &folder.path().join("second"), "077", "Asia/Tokyo");
    assert_eq!(first.file_name(), second.file_name());
    let same = fs::read(&first).expect("there") == fs::read(&second).expect("there");
    assert!(same, "{second:?}");
    let [first, second] =
        [rpm(&first), rpm(&second)].map(|file| file.expect("rpmbuild is installed: scripts/need.sh test"));
    assert!(
        fs::read(first).expect("there") == fs::read(&second).expect("there"),
        "{second:?}"
    );
    let mut command = Command::new("sh");
    let checked = command
        .args(["-c", "sha256sum --check *.sha256"])
        .current_dir(folder.path().join("second"))
        .output()
        .expect("a shell");
    assert_eq!(text(&checked).matches(": OK").count(), 2, "{}", text(&checked));
}

/// The RPM next to a Debian package.
fn rpm(package: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(package.parent()?)
        .ok()?
        .filter_map(Result::ok)
        .map(|file| file.path());
    files.find(|file| file.extension().is_some_and(|end| end == "rpm"))
}

#[test]
fn the_rpm_installs_in_an_empty_system_and_the_program_runs_there() {
    if !root_or_skip("the_rpm_installs_in_an_empty_system_and_the_program_runs_there") {
        return;
    }
    let file = rpm(made()).expect("rpmbuild is installed: scripts/need.sh test");
    let system = folder();
    let rpm = |words: &[&str]| {
        let mut command = Command::new("rpm");
        let output = command
            .args(["--root", &system.path().display().to_string()])
            .args(words)
            .output()
            .expect("rpm");
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        text(&output)
    };
    rpm(&["--initdb"]);
    rpm(&["--install", &file.display().to_string()]);
    assert_eq!(rpm(&["--verify", "triptime"]), "", "every file is as packed");
    for name in [
        "man/man1/triptime-qualify.1.gz",
        "doc/triptime/triptime.spdx.json",
        "zsh/site-functions/_triptime",
    ] {
        assert!(system.path().join("usr/share").join(name).exists(), "{name}");
    }
    let output = Command::new("chroot")
        .arg(system.path())
        .args(["/usr/bin/triptime", "--version"])
        .output();
    assert!(text(&output.expect("chroot")).starts_with("triptime "));
    rpm(&["--erase", "triptime"]);
    assert!(!system.path().join("usr/bin/triptime").exists());
}

#[test]
fn lintian_finds_nothing() {
    if Command::new("lintian").arg("--version").output().is_err() {
        skip("lintian_finds_nothing", "no lintian: apt-get install lintian");
        return;
    }
    let mut command = Command::new("lintian");
    let command = command.args(["--allow-root", "--no-cfg", "--fail-on", "error,warning"]);
    let output = command.arg(made()).output().expect("lintian");
    assert_eq!(text(&output), "", "{}", stderr(&output));
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A folder with the completions of the program, and one with the program under its name, as they are when it is installed.
fn installed() -> [tempfile::TempDir; 2] {
    let [share, bin] = [folder(), folder()];
    let output = Command::new(binary()).arg("manual").arg(share.path()).output();
    assert!(output.expect("the binary").status.success());
    std::os::unix::fs::symlink(whole_binary(), bin.path().join("triptime")).expect("a link");
    [share, bin]
}

/// Output of a script in this shell, with `triptime` in its path.
fn in_shell(shell: &[&str], script: &str, bin: &Path) -> String {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let mut command = Command::new(shell[0]);
    let output = command
        .args(&shell[1..])
        .arg(script)
        .env("PATH", path)
        .env("TERM", "dumb")
        .output();
    let output = output.expect("the shell was found");
    text(&output)
}

/// True if the shell is there; otherwise the test is skipped.
fn has_shell(test: &str, shell: &str) -> bool {
    let there = Command::new(shell).args(["-c", "true"]).output().is_ok();
    if !there {
        skip(test, &format!("no {shell}: apt-get install {shell}"));
    }
    there
}

#[test]
fn bash_completes_commands_options_and_values() {
    let [share, bin] = installed();
    let place = folder();
    for name in ["site.toml", "one.triptime", "notes.txt"] {
        fs::write(place.path().join(name), "").expect("written");
    }
    let complete = |words: &str| {
        let script = format!(
            "cd {}; source {}/bash-completion/completions/triptime; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9; \
             _clap_complete_triptime triptime \"${{COMP_WORDS[-1]}}\" x 2>/dev/null; echo \"${{COMPREPLY[*]}}\"",
            place.path().display(),
            share.path().display()
        );
        in_shell(&["bash", "-c"], &script, bin.path())
    };
    assert_eq!(complete("triptime qual"), "qualify\n");
    // Also the options that the help hides.
    assert_eq!(complete("triptime wakeup --jun"), "--junit\n");
    assert_eq!(complete("triptime qualify two"), "two-guests\n");
    assert_eq!(complete("triptime qualify si"), "site.toml\n");
    assert_eq!(complete("triptime report --limits vp"), "vpac\n");
    assert_eq!(complete("triptime tune rt-thr"), "rt-throttling\n");
    assert_eq!(complete("triptime reflect lo"), "lo\n");
    assert_eq!(complete("triptime qualify --nic x0,lo"), "x0,lo\n");
    assert_eq!(complete("triptime wakeup --load hack"), "hackbench\n");
    assert_eq!(complete("triptime trip --scenario swing-f"), "swing-fault\n");
    assert_eq!(complete("triptime report o"), "one.triptime\n", "no other files");
    assert_eq!(complete("triptime report n"), "\n");
}

#[test]
fn zsh_completes_at_the_first_key_already() {
    let test = "zsh_completes_at_the_first_key_already";
    if !has_shell(test, "zsh") {
        return;
    }
    let [share, bin] = installed();
    // A line is typed in a terminal of zsh's own. Once completed, it becomes the argument of an echo instead of being run.
    let script = format!(
        "zmodload zsh/zpty; zpty inner zsh -f -i; \
         zpty -w inner 'PS1=; fpath=({}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -d {}/dump; echo ready'; \
         zpty -r inner out '*ready*ready*'; zpty -n -w inner $'triptime tune rt-thr\\t\\C-aecho completed: \\n'; \
         zpty -r inner out $'*\\ncompleted: *\\n'; echo $out; zpty -d inner",
        share.path().display(),
        share.path().display()
    );
    let typed = in_shell(&["timeout", "60", "zsh", "-f", "-c"], &script, bin.path());
    let last = typed.lines().rfind(|line| line.starts_with("completed:"));
    assert_eq!(
        last.map(str::trim_end),
        Some("completed: triptime tune rt-throttling"),
        "{typed}"
    );
}

#[test]
fn fish_completes_values_with_their_meaning() {
    let test = "fish_completes_values_with_their_meaning";
    if !has_shell(test, "fish") {
        return;
    }
    let [share, bin] = installed();
    let script = format!(
        "source {}/fish/vendor_completions.d/triptime.fish; complete -C 'triptime tune rt-thr'; complete -C 'triptime qualify vpa'",
        share.path().display()
    );
    let offered = in_shell(&["fish", "--no-config", "-c"], &script, bin.path());
    let lines: Vec<&str> = offered.lines().collect();
    assert!(
        matches!(lines[..], [check, plan] if check.starts_with("rt-throttling\t") && plan.starts_with("vpac\tAcceptance")),
        "{offered}"
    );
}

/// The pages of a folder, with those of its folders.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let own = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "md"));
    let inside = folders.iter().flat_map(|folder| pages(folder));
    own.chain(inside).collect()
}

/// Targets of the links in a page, without those to other machines and to the page itself.
fn links(page: &str) -> Vec<&str> {
    let ends = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = ends.map(|(target, _)| target.split('#').next().unwrap_or_default());
    targets
        .filter(|target| !target.is_empty() && !target.contains(':') && !target.contains(char::is_whitespace))
        .collect()
}

#[test]
fn every_link_in_a_page_of_the_package_leads_to_a_file_of_the_package() {
    let folder = folder();
    let mut dpkg = Command::new("dpkg-deb");
    let unpacked = dpkg
        .arg("--extract")
        .arg(made())
        .arg(folder.path())
        .output()
        .expect("dpkg-deb");
    assert!(unpacked.status.success(), "{}", stderr(&unpacked));
    let docs = folder.path().join("usr/share/doc/triptime");
    let mut checked = 0;
    for page in pages(&docs) {
        let text = fs::read_to_string(&page).expect("a page");
        for target in links(&text) {
            let file = page.parent().expect("a folder").join(target);
            assert!(file.exists(), "{}: {target}", page.display());
            let whole = fs::canonicalize(&file).expect("there");
            assert!(
                whole.starts_with(fs::canonicalize(&docs).expect("there")),
                "{}: {target}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 400, "only {checked} links were found");
}

/// Files on a machine after `apt install ./triptime_….deb`: the files in dpkg's list, and otherwise only the program.
#[test]
fn it_installs_where_nothing_else_is_and_judges_there() {
    let test = "it_installs_where_nothing_else_is_and_judges_there";
    if !root_or_skip(test) {
        return;
    }
    let root = folder();
    let path = root.path();
    for name in ["proc", "sys", "dev", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates"] {
        fs::create_dir_all(path.join(name)).expect("created");
    }
    fs::write(path.join("var/lib/dpkg/status"), "").expect("written");
    let mut dpkg = Command::new("dpkg");
    let dpkg = dpkg.arg(format!("--root={}", path.display())).arg("--install");
    let installed = dpkg.arg(made()).output().expect("dpkg");
    assert!(installed.status.success(), "{}", stderr(&installed));
    for name in [
        "man/man1/triptime-qualify.1.gz",
        "doc/triptime/copyright",
        "doc/triptime/notices.gz",
        "doc/triptime/triptime.cdx.json",
        "ansible/collections/ansible_collections/triptime/host/roles/qualify/tasks/main.yml",
    ] {
        assert!(path.join("usr/share").join(name).exists(), "{name}");
    }
    // In a separate mount namespace, so that the mounts disappear with it.
    let script = "set -e; cd \"$1\"; mount -t proc p proc; mount --rbind /sys sys; mount --rbind /dev dev; \
                  exec chroot . /usr/bin/triptime qualify avb-wakeup --duration 1s --out /tmp/q.triptime --junit /tmp/q.xml";
    let mut unshare = Command::new("unshare");
    let output = unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(path).output();
    let output = output.expect("unshare is installed");
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    let file = |name: &str| fs::read_to_string(path.join("tmp").join(name)).expect(name);
    assert!(
        file("q.xml").contains("name=\"wakeup.max: wakeup/cpu"),
        "{}",
        file("q.xml")
    );
    assert!(file("q.html").contains("<title>triptime: qualify"));
}
