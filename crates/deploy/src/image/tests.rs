use super::{ImageSpec, Reference, digest, write};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

fn image() -> Vec<u8> {
    let mut out = Vec::new();
    let spec = ImageSpec {
        reference: &"localhost/triptime:0.1.0".parse().expect("a reference"),
        version: "0.1.0",
        revision: Some("abc"),
        architecture: "amd64",
    };
    write(&mut out, &spec, b"the binary").expect("written");
    out
}

fn files(tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().expect("a tar file");
    let read = entries.map(|entry| {
        let mut entry = entry.expect("an entry");
        assert_eq!(entry.header().mtime().expect("a time"), 0);
        assert_eq!(
            (entry.header().uid().ok(), entry.header().gid().ok()),
            (Some(0), Some(0))
        );
        let path = entry.path().expect("a path").display().to_string();
        let mut octets = Vec::new();
        entry.read_to_end(&mut octets).expect("contents");
        (path, octets)
    });
    read.collect()
}

fn json(files: &BTreeMap<String, Vec<u8>>, path: &str) -> Value {
    serde_json::from_slice(&files[path]).expect("JSON")
}

/// The blob of a descriptor; checks its size.
fn described<'a>(files: &'a BTreeMap<String, Vec<u8>>, descriptor: &Value) -> &'a [u8] {
    let digest = descriptor["digest"]
        .as_str()
        .and_then(|text| text.strip_prefix("sha256:"));
    let octets = &files[&format!("blobs/sha256/{}", digest.expect("SHA-256"))];
    assert_eq!(descriptor["size"], octets.len());
    octets
}

#[test]
fn every_digest_is_of_what_it_names_and_the_layer_has_the_binary() {
    let files = files(&image());
    for (path, octets) in files
        .iter()
        .filter(|(path, octets)| path.starts_with("blobs/sha256/") && !octets.is_empty())
    {
        assert_eq!(*path, format!("blobs/sha256/{}", digest(octets)));
    }
    let manifest = described(&files, &json(&files, "index.json")["manifests"][0]);
    let manifest: Value = serde_json::from_slice(manifest).expect("JSON");
    let config: Value = serde_json::from_slice(described(&files, &manifest["config"])).expect("JSON");
    let layer = described(&files, &manifest["layers"][0]);
    assert_eq!(config["rootfs"]["diff_ids"][0], manifest["layers"][0]["digest"]);
    assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/triptime");
    let root = self::files(layer);
    assert_eq!(root["usr/bin/triptime"], b"the binary");
    assert!(root.contains_key("tmp/") && root.contains_key("runs/"));
}

#[test]
fn docker_finds_the_same_blobs() {
    let files = files(&image());
    let archive = json(&files, "manifest.json");
    assert_eq!(archive[0]["RepoTags"][0], "localhost/triptime:0.1.0");
    for path in [&archive[0]["Config"], &archive[0]["Layers"][0]] {
        assert!(files.contains_key(path.as_str().expect("a path")), "{path}");
    }
}

#[test]
fn the_same_binary_gives_the_same_octets() {
    assert_eq!(image(), image());
}

#[test]
fn names_of_images_are_checked() {
    for good in [
        "localhost/triptime:0.1.0",
        "triptime:latest",
        "registry:5000/a/b-c:V1_2",
    ] {
        assert_eq!(good.parse::<Reference>().expect(good).to_string(), good);
    }
    for wrong in [
        "",
        "triptime",
        "Triptime:1",
        "a//b:1",
        "a:",
        "a:-1",
        ":1",
        "a b:1",
        "-a:1",
    ] {
        assert!(wrong.parse::<Reference>().is_err(), "{wrong:?}");
    }
}
