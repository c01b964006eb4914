//! Results are read by third-party programs.

use super::{Disk, DiskError, DiskSpec, Identity, Parts, disk, unified, vhd_footer, vmdk};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

fn files() -> Vec<(String, Vec<u8>)> {
    let text = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    vec![
        text("words.txt", "wakeup\n"),
        text("plan.toml", "name = \"x\"\n"),
        text("limits-of-our-own-site-and-no-other.toml", "a"),
        text("limits-of-our-own-site.toml", "b"),
        text("EMPTY", ""),
    ]
}

fn identity() -> Identity {
    Identity::of([b"a".as_slice(), b"b"])
}

fn made(program: &[u8], room: u64) -> Disk {
    let files = files();
    disk(&DiskSpec {
        identity: identity(),
        program,
        files: &files,
        room,
    })
    .expect("a disk")
}

fn written(disk: &Disk, path: &Path) {
    let file = File::create(path).expect("a file");
    file.set_len(disk.size).expect("its length");
    for (at, octets) in &disk.pieces {
        file.write_all_at(octets, *at).expect("written");
    }
}

/// Output of a program; `None` after skipping the test because the program is not installed.
fn said(test: &str, program: &str, words: &[&str]) -> Option<String> {
    let output = match Command::new(program).args(words).env("MTOOLS_SKIP_CHECK", "1").output() {
        Ok(output) => output,
        Err(error) => {
            testing::skip(test, &format!("{program}: {error}"));
            return None;
        }
    };
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{program} {words:?}: {all}");
    Some(all)
}

/// A volume of the disk as a separate file.
fn volume(disk: &Path, number: usize, path: &Path) {
    let octets = std::fs::read(disk).expect("read");
    let entry = &octets[1024 + 128 * number..];
    let sector = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().expect("eight")) as usize;
    std::fs::write(path, &octets[sector(32) * 512..(sector(40) + 1) * 512]).expect("written");
}

#[test]
fn partitions_and_volumes_are_what_other_programs_read() {
    let test = "partitions_and_volumes_are_what_other_programs_read";
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let program: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    // Clusters of one sector and clusters of eight sectors.
    for room in [0, 300 << 20] {
        written(&made(&program, room), Path::new(&path("disk")));
        let Some(table) = said(test, "sgdisk", &["-v", &path("disk")]) else {
            return;
        };
        assert!(table.contains("No problems found"), "{table}");
        let Some(_) = said(test, "sfdisk", &["--verify", &path("disk")]) else {
            return;
        };
        for number in [0, 1] {
            volume(Path::new(&path("disk")), number, Path::new(&path("volume")));
            let Some(checked) = said(test, "fsck.fat", &["-n", "-v", &path("volume")]) else {
                return;
            };
            assert!(
                !checked.contains("differ") && checked.contains("32 bit entries"),
                "{checked}"
            );
        }
        let Some(listed) = said(test, "mdir", &["-b", "-i", &path("volume"), "::/"]) else {
            return;
        };
        for (name, content) in files() {
            assert!(listed.contains(&format!("::/{name}\n")), "{name} in {listed}");
            let read = said(test, "mtype", &["-i", &path("volume"), &format!("::/{name}")]);
            assert_eq!(read.as_deref().map(str::as_bytes), Some(content.as_slice()));
        }
        let at = format!("{}@@1M", path("disk"));
        let out = path("program");
        said(test, "mcopy", &["-n", "-o", "-i", &at, "::/EFI/BOOT/BOOTX64.EFI", &out]);
        assert!(std::fs::read(&out).expect("copied") == program, "the program differs");
    }
}

#[test]
fn forms_of_other_hypervisors_are_what_qemu_reads() {
    let test = "forms_of_other_hypervisors_are_what_qemu_reads";
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let disk = made(b"MZ", 0);
    written(&disk, &path("d-flat.vmdk"));
    std::fs::write(path("d.vmdk"), vmdk(&identity(), disk.size, "d-flat.vmdk")).expect("written");
    written(&disk, &path("d.vhd"));
    let file = File::options().write(true).open(path("d.vhd")).expect("a file");
    file.write_all_at(&vhd_footer(&identity(), disk.size), disk.size)
        .expect("written");
    for (name, form) in [("d.vmdk", "vmdk"), ("d.vhd", "vpc")] {
        let words = [
            "info",
            "-f",
            form,
            "--output",
            "json",
            &path(name).display().to_string(),
        ]
        .map(str::to_owned);
        let Some(told) = said(test, "qemu-img", &words.each_ref().map(String::as_str)) else {
            return;
        };
        assert!(told.contains(&format!("\"virtual-size\": {},", disk.size)), "{told}");
        let (one, other) = (
            path(name).display().to_string(),
            path("d-flat.vmdk").display().to_string(),
        );
        said(test, "qemu-img", &["compare", "-f", form, "-F", "raw", &one, &other]);
    }
}

#[test]
fn the_same_input_gives_the_same_octets_and_another_gives_another_name() {
    let (one, other) = (made(b"MZ", 0), made(b"MZ", 0));
    assert!(one.size == other.size && one.pieces == other.pieces);
    // Boundaries between contents count.
    let moved = Identity::of([b"ab".as_slice(), b""]);
    assert_ne!(moved.partition(), identity().partition());
    assert_eq!(identity().partition().len(), "triptime-".len() + 8);
}

#[test]
fn names_that_cannot_be_are_refused() {
    let refused = |names: &[&str]| {
        let files: Vec<(String, Vec<u8>)> = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
        let (identity, program, room) = (identity(), b"MZ".as_slice(), 0);
        let spec = DiskSpec {
            identity,
            program,
            files: &files,
            room,
        };
        disk(&spec).map(|_| ()).expect_err("refused")
    };
    for name in ["a/b", "", ".a", "a b", "é"] {
        assert_eq!(refused(&[name]), DiskError::Name(name.to_owned()));
    }
    assert_eq!(
        refused(&["Plan.toml", "plan.toml"]),
        DiskError::Name("plan.toml".to_owned())
    );
}

/// The smallest program with one section and room for more.
fn stub(room: usize) -> Vec<u8> {
    let mut octets = vec![0; 1024];
    octets[..2].copy_from_slice(b"MZ");
    octets[0x3c] = 0x40;
    octets[0x40..0x44].copy_from_slice(b"PE\0\0");
    let mut set = |at: usize, value: u32| octets[at..at + 4].copy_from_slice(&value.to_le_bytes());
    set(0x44, 0x0001_8664);
    set(0x54, 240);
    let optional = 0x40 + 24;
    set(optional, 0x20b);
    set(optional + 32, 4096);
    set(optional + 36, 512);
    set(optional + 60, (optional + 240 + 40 * (1 + room)) as u32);
    let section = optional + 240;
    set(section + 8, 100);
    set(section + 12, 4096);
    octets
}

fn kernel() -> Vec<u8> {
    let mut octets = vec![7; 5000];
    octets[..2].copy_from_slice(b"MZ");
    octets[0x202..0x206].copy_from_slice(b"HdrS");
    octets
}

#[test]
fn sections_stand_behind_each_other_in_file_and_memory() {
    let (stub, kernel) = (stub(3), kernel());
    let parts = Parts {
        stub: &stub,
        kernel: &kernel,
        arguments: "quiet",
        initramfs: b"root",
    };
    let image = unified(&parts).expect("an image");
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().expect("four")) as usize;
    let sections = 0x40 + 24 + 240;
    let mut places = Vec::new();
    for (number, (name, content)) in [
        (".cmdline", b"quiet".as_slice()),
        (".initrd", b"root"),
        (".linux", &kernel),
    ]
    .into_iter()
    .enumerate()
    {
        let header = sections + 40 * (number + 1);
        assert_eq!(&image[header..header + name.len()], name.as_bytes());
        let (size, place, at) = (word(header + 8), word(header + 12), word(header + 20));
        assert_eq!(&image[at..at + size], content);
        assert_eq!(at % 512, 0);
        places.push(place);
    }
    assert_eq!(places, [8192, 12288, 16384]);
    // Up to the end of the last section, in whole pages.
    assert_eq!(word(0x40 + 24 + 56), 16384 + 8192);
}

#[test]
fn what_is_no_kernel_or_no_stub_is_told() {
    let said = |stub: &[u8], kernel: &[u8]| {
        let parts = Parts {
            stub,
            kernel,
            arguments: "",
            initramfs: b"",
        };
        unified(&parts).expect_err("refused").to_string()
    };
    assert!(said(&stub(3), b"\x7fELF").contains("vmlinuz"));
    assert!(said(&stub(3), b"MZ").contains("CONFIG_EFI_STUB"));
    assert!(said(b"MZ", &kernel()).contains("no EFI program"));
    assert!(said(&stub(2), &kernel()).contains("no room"));
    let mut signed = stub(3);
    signed[0x40 + 24 + 112 + 32] = 1;
    assert!(said(&signed, &kernel()).contains("signed"));
    // A truncated program is either refused, or parsed up to its end.
    for length in 0..stub(3).len() {
        let (stub, kernel) = (&stub(3)[..length], kernel());
        let _ = unified(&Parts {
            stub,
            kernel: &kernel,
            arguments: "",
            initramfs: b"",
        });
    }
}
