//! Finds the argument of `--container`: a file, or a container of this machine by its id.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::definition::beside;
use crate::definition::container::{self, Shape};
use crate::definition::drop_ins::joined;
use host::reader::Reader;

/// Maximum size of a definition.
const MOST_OCTETS: u64 = 4 << 20;

/// Folders with one folder per container, which contains its definition.
const PLACES: [(&str, &str); 8] = [
    ("/run/containerd/io.containerd.runtime.v2.task/moby", "config.json"),
    ("/run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json"),
    ("/run/containerd/io.containerd.runtime.v2.task/default", "config.json"),
    (
        "/run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby",
        "config.json",
    ),
    ("/run/containers/storage/overlay-containers", "userdata/config.json"),
    ("/var/lib/containers/storage/overlay-containers", "userdata/config.json"),
    ("/run/crun", "config.json"),
    ("/var/lib/docker/containers", "hostconfig.json"),
];

/// Minimum length of an id prefix, as the runtimes accept it.
const SHORTEST: usize = 4;

/// Containers of one name. An unreadable one is included, with the reason.
pub(super) fn read(reader: &Reader, name: &str) -> Vec<Shape> {
    let (called, text) = match text(reader, name) {
        Ok(found) => found,
        Err(why) => return vec![Shape::broken(name, &why)],
    };
    // A container found by its id has no files next to its definition.
    let beside = |other: &str| beside(Path::new(name), other);
    container::read(&called, &text, &beside).unwrap_or_else(|why| vec![Shape::broken(&called, &why)])
}

fn text(reader: &Reader, name: &str) -> Result<(String, String), String> {
    let file = Path::new(name);
    if file.is_file() {
        let called = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut text = String::new();
        let opened = fs::File::open(file).map_err(|error| error.to_string())?;
        opened
            .take(MOST_OCTETS + 1)
            .read_to_string(&mut text)
            .map_err(|error| error.to_string())?;
        return Ok((called, joined(file, text)?));
    }
    if name.len() < SHORTEST
        || !name
            .bytes()
            .all(|octet| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet))
    {
        return Err("no such file, and not the id of a container".to_owned());
    }
    for (place, definition) in PLACES {
        let begins = |id: &str| id.starts_with(name);
        for id in reader.names(place, begins).unwrap_or_default() {
            if let Ok(text) = reader.text(&format!("{place}/{id}/{definition}")) {
                return Ok((name.to_owned(), whole(definition, &text)));
            }
        }
    }
    Err("no such file, and no container of docker, podman, containerd or crun with such an id; give a definition, such as the output of `docker inspect`".to_owned())
}

/// Docker stores in separate files the data that `inspect` joins.
fn whole(definition: &str, text: &str) -> String {
    match definition {
        "hostconfig.json" => format!("{{\"HostConfig\": {text}}}"),
        _ => text.to_owned(),
    }
}
