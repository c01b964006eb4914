//! `triptime emit job`.

use super::oci::huge_pages;
use super::{CommandArgs, reference};
use crate::arguments::size;
use crate::failure::{Failure, say};
use crate::verdict;
use deploy::image::Reference;
use deploy::{JobSpec, PodNetwork, documents};
use place::container::HugePages;

/// Writes a Kubernetes Job that measures once, in a guaranteed pod with whole CPUs of its own
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The image must be on the node (`triptime emit image`); nothing is pulled. The node's kubelet needs the static CPU manager; the \
annotations take effect only with CRI-O and the runtime class of its high-performance handler.

Example: triptime emit job --net sriov-bus --runtime-class performance-relay -- qualify vm-wakeup --duration 1h > job.yaml")]
pub(super) struct JobArgs {
    #[command(flatten)]
    command: CommandArgs,
    /// Name of the Job
    #[arg(long, value_name = "NAME", default_value = "triptime", value_parser = object)]
    name: String,
    /// Namespace [default: that of the user who applies it]
    #[arg(long, value_name = "NAME", value_parser = object)]
    namespace: Option<String>,
    /// Name and tag of the image
    #[arg(long, value_name = "NAME:TAG", default_value_t = reference().parse().expect("a reference"))]
    image: Reference,
    /// Number of CPUs: the judged ones, and one for everything else
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    cpu_count: u32,
    /// Memory
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    memory: u64,
    /// Huge pages, at /dev/hugepages: pages of 1 GiB where they divide it, else of 2 MiB
    #[arg(long, value_name = "SIZE", value_parser = huge_pages)]
    hugepages: Option<HugePages>,
    /// Its network: `host`, or a network attachment definition (SR-IOV, macvlan)
    #[arg(long, value_name = "NETWORK", default_value = "process-bus")]
    net: String,
    /// Runtime class whose handler obeys the annotations of CRI-O
    #[arg(long, value_name = "NAME", value_parser = object)]
    runtime_class: Option<String>,
    /// Node to run on [default: any]
    #[arg(long, value_name = "NAME", value_parser = object)]
    node: Option<String>,
    /// Folder of the node for run files
    #[arg(long, value_name = "DIR", default_value = "/var/lib/triptime", value_parser = folder)]
    runs: String,
}

/// Parses the name of an object (RFC 1123).
fn object(text: &str) -> Result<String, String> {
    let is_inner = |c: &u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-.".contains(c);
    let is_end = |c: Option<&u8>| c.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    match text.len() <= 253 && bytes.iter().all(is_inner) && is_end(bytes.first()) && is_end(bytes.last()) {
        true => Ok(text.to_owned()),
        false => Err("not a name in Kubernetes: use lower-case letters, digits, - and .".to_owned()),
    }
}

/// Parses a folder of another machine.
fn folder(text: &str) -> Result<String, String> {
    match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err("a folder of the node begins with /".to_owned()),
    }
}

/// A size in bytes in the notation of Kubernetes.
fn quantity(octets: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let whole = UNITS.iter().find(|(unit, _)| octets.is_multiple_of(*unit));
    whole.map_or_else(|| octets.to_string(), |(unit, name)| format!("{}{name}", octets / unit))
}

pub(super) fn run(args: &JobArgs) -> Result<(), Failure> {
    if args.runtime_class.is_none() {
        say(&"no --runtime-class: without the class of CRI-O's high-performance handler its annotations do nothing");
    }
    let (image, memory) = (args.image.to_string(), quantity(args.memory));
    let job = deploy::job(&JobSpec {
        name: &args.name,
        namespace: args.namespace.as_deref(),
        image: &image,
        words: &args.command.words,
        cpus: args.cpu_count,
        memory: &memory,
        huge_pages: args.hugepages.map(|pages| {
            let size = if pages.is_of_gib() { "1Gi" } else { "2Mi" };
            (size, quantity(pages.octets()))
        }),
        network: match args.net.as_str() {
            "host" => PodNetwork::Host,
            name => PodNetwork::Attached(name),
        },
        runtime_class: args.runtime_class.as_deref(),
        node: args.node.as_deref(),
        runs: &args.runs,
    });
    let comment = format!("Measures once; run files are written to {} of the node.", args.runs);
    verdict::write(&documents(&[(comment, job)]))
}

#[cfg(test)]
mod tests {
    use super::object;

    #[test]
    fn names_are_those_of_kubernetes() {
        assert!(object("a.b-c1").is_ok() && object(&"a".repeat(253)).is_ok());
        for wrong in ["", "../x", "a/b", "A", "-a", "a-", "a?", "a ", "a\n", &"a".repeat(254)] {
            assert!(object(wrong).is_err(), "{wrong:?}");
        }
    }
}
