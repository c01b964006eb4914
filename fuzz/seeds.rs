//! Writes the test vectors into the corpus of every target.

use std::path::Path;
use std::{fs, io};

use capture::write::PcapWriter;
use wire::avtp::{AafStream, AafTemplate};
use wire::ether::{Mac, VlanTag};
use wire::redundancy::{self, Lan, Protocol};
use wire::routed::SessionWriter;

/// Session of the datagrams.
const SESSION: SessionWriter = SessionWriter {
    source: std::net::Ipv4Addr::new(10, 0, 0, 1),
    destination: std::net::Ipv4Addr::new(239, 192, 0, 7),
    number: 1,
    key_id: 1,
};

/// Answers of ptp4l 3.1.1: TIME_STATUS_NP, PORT_PROPERTIES_NP, and a refusal.
const PTP_ANSWERS: [(&str, &str); 3] = [
    (
        "time_status",
        "0d02006800000000000000000000000000000000ba7cd7fffeeb876100000009047f0000000000000000241d0000020000010034\
         c00000000000000001d618ea1e8f23158b690000000000000000000000000000000000000000000000000001a28a82fffeaf939c",
    ),
    (
        "port_properties",
        "0d02004600000000000000000000000000000000ba7cd7fffeeb876100010007047f0000000000000000241d0000020000010012\
         c004ba7cd7fffeeb87610001090002706200",
    ),
    (
        "refused",
        "0d02003c00000000000000000000000000000000ba7cd7fffeeb876100010009047f0000000000000000241d0000020000020008\
         0002c0ff00000000",
    ),
];

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(include_str!("../crates/wire/tests/data/vectors.json"))?;
    let mut all = PcapWriter::new(Vec::new())?;
    for vector in &vectors {
        let name = vector["name"].as_str().unwrap_or_default();
        let text = vector["hex"].as_str().unwrap_or_default();
        let frame: Vec<u8> = (0..text.len())
            .step_by(2)
            .filter_map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
            .collect();
        all.write(1_790_000_000_000_000_000, &frame)?;
        for target in ["sv", "goose", "ethernet"] {
            write(&corpus.join(target), name, &frame)?;
        }
        for (protocol, form) in [(Protocol::Prp, "prp"), (Protocol::Hsr, "hsr")] {
            let mut marked = frame.clone();
            if redundancy::add(&mut marked, protocol, Lan::B, 7).is_ok() {
                write(&corpus.join("redundancy"), &format!("{name}-{form}"), &marked)?;
            }
        }
        if let Some(datagram) = SESSION.write(&frame, |_| vec![0x5a; 16]) {
            write(&corpus.join("routed"), name, &datagram)?;
        }
        // Two frames of equal length, because the target splits its input in the middle.
        write(&corpus.join("fast_path"), name, &[&frame[..], &frame].concat())?;
    }
    let all = all.finish()?;
    for target in ["capture", "analysis"] {
        write(&corpus.join(target), "vectors.pcap", &all)?;
    }
    let stream = AafTemplate::new(&AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 0]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: vec![VlanTag::new(3, false, 2)],
        unique_id: 1,
    });
    write(&corpus.join("avtp"), "aaf", stream.bytes())?;
    for (name, text) in PTP_ANSWERS {
        let octets: Vec<u8> = (0..text.len())
            .step_by(2)
            .filter_map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
            .collect();
        write(&corpus.join("ptp"), name, &octets)?;
    }
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/interop/tests/data"))? {
        let file = file?;
        write(
            &corpus.join("cyclictest"),
            &file.file_name().to_string_lossy(),
            &fs::read(file.path())?,
        )?;
    }
    for file in ["station.scd", "edition1.cid"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../crates/scl/tests/data")
            .join(file);
        write(&corpus.join("scl"), file, &fs::read(path)?)?;
    }
    write(
        &corpus.join("stream_set"),
        "bays.toml",
        b"[defaults]\nvlan = 100\n[[stream]]\nsvID = \"BAY{01..20}\"\nprofile = \"F4800S2I4U4\"\nappid = 0x4010\nappid_step = 1\n",
    )?;
    definitions(&corpus)?;
    comtrade(&corpus.join("comtrade"))
}

/// Definitions of the host crate's tests, rules' conditions, a waiver and a journal.
fn definitions(corpus: &Path) -> io::Result<()> {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/host");
    let folder = host.join("src/audit/tests/definitions");
    for file in fs::read_dir(&folder)?.chain(fs::read_dir(folder.join("container"))?) {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.is_file() {
            continue;
        }
        let octets = fs::read(&path)?;
        let form = match name.as_str() {
            "config.json" => 0,
            "docker-inspect.json" => 1,
            "pod.yaml" | "vmi.yaml" => 3,
            "relay.container" => 4,
            _ => 2,
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("xml") => write(&corpus.join("domain"), &name, &octets)?,
            Some("vmx") => write(&corpus.join("vmx"), &name, &octets)?,
            Some("ovf") => write(&corpus.join("ovf"), &name, &octets)?,
            Some("json" | "yaml" | "container") => {
                write(&corpus.join("container"), &name, &[&[form][..], &octets].concat())?;
            }
            _ => {}
        }
    }
    for file in fs::read_dir(host.join("rules"))? {
        let path = file?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let wanted = text
            .lines()
            .filter_map(|line| line.strip_prefix("wanted = "))
            .enumerate();
        for (at, condition) in wanted {
            write(
                &corpus.join("condition"),
                &format!("{name}-{at}"),
                condition.trim_matches('"').as_bytes(),
            )?;
        }
    }
    let waiver = b"[[waiver]]\nid = \"skew-tick\"\nreason = \"two CPUs\"\nby = \"A\"\nuntil = \"2027-01-01\"\n";
    write(&corpus.join("waivers"), "one.toml", waiver)?;
    let journal = br#"{"check":"a","target":{"file":"/proc/a"},"before":"1","after":"2","boot":"b"}"#;
    write(&corpus.join("journal"), "one", &[&journal[..], b"\n"].concat())
}

/// Single files unchanged, the others in the form that the target splits: configuration, a byte 0, data.
fn comtrade(corpus: &Path) -> io::Result<()> {
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/waveform/tests/data"))? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let octets = fs::read(&path)?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("cff") => write(corpus, &name, &octets)?,
            Some("cfg") => {
                let data = fs::read(path.with_extension("dat")).or_else(|_| fs::read(path.with_extension("DAT")))?;
                write(corpus, &name, &[&octets[..], &[0], &data].concat())?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn write(directory: &Path, name: &str, octets: &[u8]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join(name), octets)
}
