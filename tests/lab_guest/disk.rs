//! A disk that boots under UEFI, and stores the result.

use crate::kernel;
use crate::machine::{start, until_off, until_shown};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use store::RunFile;
use support::{run, stderr};

const FIRMWARE: &str = "/usr/share/OVMF/OVMF_CODE_4M.fd";
const STUB: &str = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub";

/// How long the boot may take, from the start of the machine until the command runs.
const BOOT_S: f64 = 60.0;

/// A file of the disk's second partition.
fn copied(disk: &Path, name: &str, to: &Path) {
    let octets = std::fs::read(disk).expect("read");
    // The second entry of its table begins at octet 1152, and has its first sector after three identifiers.
    let first = u64::from_le_bytes(octets[1152 + 32..1152 + 40].try_into().expect("eight octets"));
    let output = Command::new("mcopy")
        .arg("-i")
        .arg(format!("{}@@{}", disk.display(), first * 512))
        .arg(format!("::/{name}"))
        .arg(to)
        .output()
        .expect("mcopy");
    assert!(output.status.success(), "{name}: {}", stderr(&output));
}

#[test]
fn a_disk_boots_by_itself_runs_its_plan_and_takes_the_result() {
    let test = "a_disk_boots_by_itself_runs_its_plan_and_takes_the_result";
    let Some(kernel) = kernel(test) else { return };
    for (file, package) in [
        (FIRMWARE, "ovmf"),
        (STUB, "systemd-boot-efi"),
        ("/usr/bin/mcopy", "mtools"),
    ] {
        if !Path::new(file).exists() {
            testing::skip(test, &format!("{package} is not installed: no {file}"));
            return;
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let words = |path: &Path| path.display().to_string();
    let plan = include_str!("plan.toml");
    std::fs::write(path("plan.toml"), plan).expect("written");
    let disk = path("probe.img");
    let (file, vmlinuz, modules) = (
        words(&path("plan.toml")),
        words(&kernel.join("vmlinuz")),
        words(&kernel.join("disk")),
    );
    let image = words(&disk);
    let guest = ["emit", "guest", "--disk", &image, "--file", &file, "--room", "34MiB"];
    let boot = [
        "--kernel",
        &vmlinuz,
        "--modules",
        &modules,
        "--",
        "qualify",
        "plan.toml",
    ];
    let output = run(&[&guest[..], &boot].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let firmware = format!("if=pflash,format=raw,readonly=on,file={FIRMWARE}");
    let drive = format!("if=ide,format=raw,file={image}");
    let begun = Instant::now();
    let machine = start(&path("console"), &["-smp", "2", "-drive", &firmware, "-drive", &drive]);
    until_shown(&path("console"), "running `triptime");
    let seconds = begun.elapsed().as_secs_f64();
    // Not by eprintln, which the test harness captures.
    let _ = writeln!(std::io::stderr(), "an emulated disk was up in {seconds:.1} s");
    assert!(seconds < BOOT_S, "{seconds}");
    let shown = until_off(machine, &path("console"));
    assert!(shown.contains("running `triptime qualify plan.toml`"), "{shown}");
    assert!(
        shown.contains("INCONCLUSIVE") && shown.contains("folder run-1 of the disk TRIPTIME"),
        "{shown}"
    );

    copied(&disk, "run-1/run.triptime", &path("run.triptime"));
    copied(&disk, "run-1/answer.txt", &path("answer.txt"));
    let kept = RunFile::open(&path("run.triptime")).expect("a run file");
    assert_eq!(kept.series().expect("series").len(), 1);
    let answer = std::fs::read_to_string(path("answer.txt")).expect("text");
    assert!(answer.contains("timing is no evidence"), "{answer}");
}
