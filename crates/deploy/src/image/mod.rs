//! The image of the program's own binary: an OCI image layout, which `docker load` and `podman load` can read, too, in one tar file.
//!
//! The layer is not compressed, and time stamps are constants: the same binary gives the same bytes, independent of a compressor's version.

mod layer;
#[cfg(test)]
mod tests;

pub use layer::{Content, LayerEntry, root};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io;
use tar::{Builder, EntryType, Header};

use crate::{PROGRAM, RUNS};

/// Metadata of an image.
#[derive(Debug, Clone)]
pub struct ImageSpec<'a> {
    /// Name and tag: `localhost/triptime:0.1.0`.
    pub reference: &'a Reference,
    /// Version of the binary.
    pub version: &'a str,
    /// Commit it was built from; `None` if unknown.
    pub revision: Option<&'a str>,
    /// Its processor as OCI calls it: `amd64`.
    pub architecture: &'a str,
}

/// Name and tag of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    name: String,
    tag: String,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.name, self.tag)
    }
}

impl std::str::FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not the name of an image with a tag, such as localhost/triptime:0.1.0");
        let (name, tag) = text.rsplit_once(':').ok_or_else(wrong)?;
        let is_part = |part: &str| {
            let inner = part
                .bytes()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"._-:".contains(&c));
            inner
                && part.starts_with(|c: char| c.is_ascii_alphanumeric())
                && part.ends_with(|c: char| c.is_ascii_alphanumeric())
        };
        let is_tag = (1..=128).contains(&tag.len())
            && tag.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c))
            && !tag.starts_with(['.', '-']);
        match is_tag && name.split('/').all(is_part) {
            true => Ok(Self {
                name: name.to_owned(),
                tag: tag.to_owned(),
            }),
            false => Err(wrong()),
        }
    }
}

/// Writes the image of `program` as a tar file.
///
/// # Errors
/// `out` cannot be written.
pub fn write(out: impl io::Write, spec: &ImageSpec<'_>, program: &[u8]) -> io::Result<()> {
    let layer = layer::tar(program, spec.version)?;
    let layer_digest = digest(&layer);
    let config = octets(&config(spec, &layer_digest));
    let config_digest = digest(&config);
    let manifest = octets(&manifest(&config, &config_digest, &layer, &layer_digest));
    let manifest_digest = digest(&manifest);
    let mut tar = Builder::new(out);
    directory(&mut tar, "blobs/")?;
    directory(&mut tar, "blobs/sha256/")?;
    let mut blobs = [
        (&config_digest, &config),
        (&layer_digest, &layer),
        (&manifest_digest, &manifest),
    ];
    blobs.sort();
    for (digest, octets) in blobs {
        file(&mut tar, &blob(digest), octets)?;
    }
    let index = octets(&index(spec.reference, &manifest, &manifest_digest));
    file(&mut tar, "index.json", &index)?;
    let archive = octets(&archive(spec.reference, &config_digest, &layer_digest));
    file(&mut tar, "manifest.json", &archive)?;
    file(&mut tar, "oci-layout", &octets(&json!({"imageLayoutVersion": "1.0.0"})))?;
    tar.finish()
}

/// Lower-case hexadecimal SHA-256.
fn digest(octets: &[u8]) -> String {
    Sha256::digest(octets).iter().fold(String::new(), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

fn octets(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn blob(digest: &str) -> String {
    format!("blobs/sha256/{digest}")
}

/// The configuration of the image (image-spec).
fn config(spec: &ImageSpec<'_>, layer: &str) -> Value {
    let mut labels = json!({
        "org.opencontainers.image.title": "triptime",
        "org.opencontainers.image.version": spec.version,
        "org.opencontainers.image.licenses": "Apache-2.0",
    });
    if let Some(revision) = spec.revision {
        labels["org.opencontainers.image.revision"] = json!(revision);
    }
    json!({
        "created": STAMP,
        "architecture": spec.architecture,
        "os": "linux",
        "config": {
            "Entrypoint": [PROGRAM],
            "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
            "WorkingDir": "/",
            "Volumes": {RUNS: {}},
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created": STAMP, "created_by": "triptime emit image"}],
    })
}

/// The constant time of every stamp.
const STAMP: &str = "1970-01-01T00:00:00Z";

fn manifest(config: &[u8], config_digest: &str, layer: &[u8], layer_digest: &str) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": format!("sha256:{config_digest}"),
            "size": config.len(),
        },
        "layers": [{
            "mediaType": "application/vnd.oci.image.layer.v1.tar",
            "digest": format!("sha256:{layer_digest}"),
            "size": layer.len(),
        }],
    })
}

/// The index of the image, with the names that containerd (`ctr images import`) and OCI tools look for.
fn index(reference: &Reference, manifest: &[u8], digest: &str) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{digest}"),
            "size": manifest.len(),
            "annotations": {
                "io.containerd.image.name": reference.to_string(),
                "org.opencontainers.image.ref.name": reference.tag,
            },
        }],
    })
}

/// Manifest for `docker load`, with the same blobs.
fn archive(reference: &Reference, config: &str, layer: &str) -> Value {
    json!([{"Config": blob(config), "RepoTags": [reference.to_string()], "Layers": [blob(layer)]}])
}

fn file(tar: &mut Builder<impl io::Write>, path: &str, octets: &[u8]) -> io::Result<()> {
    let mut header = header(EntryType::Regular, 0o644, octets.len() as u64);
    tar.append_data(&mut header, path, octets)
}

fn directory(tar: &mut Builder<impl io::Write>, path: &str) -> io::Result<()> {
    let mut header = header(EntryType::Directory, 0o755, 0);
    tar.append_data(&mut header, path, io::empty())
}

/// A tar header owned by root, without a time.
fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}
