//! Finds guests among the processes of this machine.

use std::path::{Path, PathBuf};

/// The processes whose command line gives a guest this name.
pub(super) fn named(proc: &Path, id: &str) -> Vec<u32> {
    let named = format!("guest={id},debug-threads=on");
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
    let ours = numbered.filter(|(_, path): &(u32, PathBuf)| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|octet| *octet == 0).any(|word| word == named.as_bytes())
    });
    ours.map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_guest_is_known_by_its_whole_name() {
        let proc = tempfile::tempdir().expect("a folder");
        for (process, line) in [
            ("10", "qemu\0-name\0guest=triptime-bay-dut,debug-threads=on\0-smp\0"),
            ("11", "qemu\0-name\0guest=triptime-bay-dut1,debug-threads=on\0"),
            ("12", "grep\0guest=triptime-bay-dut\0"),
            ("self", "qemu\0-name\0guest=triptime-bay-dut,debug-threads=on\0"),
        ] {
            std::fs::create_dir(proc.path().join(process)).expect("made");
            std::fs::write(proc.path().join(process).join("cmdline"), line).expect("written");
        }
        assert_eq!(named(proc.path(), "triptime-bay-dut"), [10]);
        assert_eq!(named(proc.path(), "triptime-bay"), [0_u32; 0]);
    }
}
