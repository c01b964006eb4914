//! `triptime emit job` and `triptime emit checkup`.

use super::oci::huge_pages;
use super::{CommandArgs, reference};
use crate::arguments::size;
use crate::failure::{Failure, say};
use crate::verdict;
use cluster::MapName;
use deploy::checkup::{CheckupSpec, PARAMETER, PARAMETERS, Parameters, TIMEOUT, manifests};
use deploy::image::Reference;
use deploy::{JobSpec, PodNetwork, documents};
use place::container::HugePages;

/// Writes a Kubernetes Job that measures once, in a guaranteed pod with whole CPUs of its own
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The image must be on the node (`triptime emit image`); nothing is pulled. The node's kubelet needs the static CPU manager; the \
annotations hold with CRI-O and the runtime class of its high-performance handler.

Example: triptime emit job --net sriov-bus --runtime-class performance-relay -- qualify vm-wakeup --duration 1h > job.yaml")]
pub(super) struct JobArgs {
    #[command(flatten)]
    command: CommandArgs,
    /// Name of the Job
    #[arg(long, value_name = "NAME", default_value = "triptime", value_parser = object)]
    name: String,
    #[command(flatten)]
    pod: PodArgs,
}

/// Writes a checkup by the contract of KubeVirt's: parameters and result in one ConfigMap, the Job that fills it, and its account
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example: triptime emit checkup --net sriov-bus --param duration=5m > checkup.yaml
         kubectl apply -f checkup.yaml
         kubectl get configmap triptime-checkup-config -o yaml")]
pub(super) struct CheckupArgs {
    /// Name of the Job and of its account; the ConfigMap is NAME-config
    #[arg(long, value_name = "NAME", default_value = "triptime-checkup", value_parser = object)]
    name: String,
    /// How long it may take: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", default_value = "10m")]
    timeout: String,
    /// A parameter: plan, duration, cpus, housekeeping, limits or label, as options of `triptime qualify`; may be given again
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    #[command(flatten)]
    pod: PodArgs,
}

/// The pod of either.
#[derive(Debug, Clone, clap::Args)]
struct PodArgs {
    /// Namespace [default: that of whoever applies it]
    #[arg(long, value_name = "NAME", value_parser = object)]
    namespace: Option<String>,
    /// Name and tag of the image
    #[arg(long, value_name = "NAME:TAG", default_value_t = reference().parse().expect("a reference"))]
    image: Reference,
    /// Whole CPUs: those that are judged, and one for everything else
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

/// The name of an object.
fn object(text: &str) -> Result<String, String> {
    MapName::new(text, text).map(|_| text.to_owned())
}

/// A folder of another machine.
fn folder(text: &str) -> Result<String, String> {
    match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err("a folder of the node begins with /".to_owned()),
    }
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let names = || PARAMETERS.map(|(name, _)| name).join(", ");
    match text.split_once('=') {
        Some((name, value)) if PARAMETERS.iter().any(|(known, _)| *known == name) => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(format!("write it as NAME=VALUE with one of {}", names())),
    }
}

impl PodArgs {
    fn job<'a>(&'a self, name: &'a str, image: &'a str, memory: &'a str, words: &'a [String]) -> JobSpec<'a> {
        JobSpec {
            name,
            namespace: self.namespace.as_deref(),
            image,
            words,
            cpus: self.cpu_count,
            memory,
            huge_pages: self.hugepages.map(|pages| {
                let size = if pages.is_of_gib() { "1Gi" } else { "2Mi" };
                (size, quantity(pages.octets()))
            }),
            network: match self.net.as_str() {
                "host" => PodNetwork::Host,
                name => PodNetwork::Attached(name),
            },
            runtime_class: self.runtime_class.as_deref(),
            node: self.node.as_deref(),
            runs: &self.runs,
            account: None,
        }
    }

    fn note(&self) {
        if self.runtime_class.is_none() {
            say(
                &"no --runtime-class: without the class of CRI-O's high-performance handler its annotations do nothing",
            );
        }
    }
}

/// Octets as Kubernetes writes them.
fn quantity(octets: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let whole = UNITS.iter().find(|(unit, _)| octets.is_multiple_of(*unit));
    whole.map_or_else(|| octets.to_string(), |(unit, name)| format!("{}{name}", octets / unit))
}

pub(super) fn job(args: &JobArgs) -> Result<(), Failure> {
    let (image, memory) = (args.pod.image.to_string(), quantity(args.pod.memory));
    args.pod.note();
    let spec = args.pod.job(&args.name, &image, &memory, &args.command.words);
    let comment = format!("Measures once; run files come into {} of the node.", args.pod.runs);
    verdict::write(&documents(&[(comment, deploy::job(&spec))]))
}

pub(super) fn checkup(args: &CheckupArgs) -> Result<(), Failure> {
    let (image, memory) = (args.pod.image.to_string(), quantity(args.pod.memory));
    let given = args
        .param
        .iter()
        .map(|(name, value)| (format!("{PARAMETER}{name}"), value.clone()));
    let data = given.chain([(TIMEOUT.to_owned(), args.timeout.clone())]).collect();
    Parameters::read(&data).map_err(Failure::Usage)?;
    args.pod.note();
    let spec = CheckupSpec {
        job: args.pod.job(&args.name, &image, &memory, &[]),
        timeout: &args.timeout,
        parameters: &args.param,
    };
    verdict::write(&documents(&manifests(&spec)))
}
