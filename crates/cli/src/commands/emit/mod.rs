//! `triptime emit`: writes images and definitions that bring triptime to another place. Nothing is downloaded.

mod disk;
mod guest;
mod image;
mod job;
mod oci;
mod quadlet;

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Writes its own container image, and the files that run it elsewhere: guest, OCI bundle, podman quadlet, Kubernetes Job
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Nothing is downloaded: the image holds this binary and nothing else. Every definition requests the settings that a \
protection application should have, so that `triptime audit --container FILE` finds nothing in it.

Exit status: 0 done; 2 wrong usage; 3 a file could not be written.

Examples: triptime emit image
          triptime emit oci --bundle relay --cpus 2-3 -- wakeup --cpus 3 --duration 60s
          triptime emit quadlet --cpus 2-3 --nic eth1
          triptime emit job --net sriov-bus --runtime-class performance-relay > job.yaml")]
pub(crate) struct EmitArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum What {
    Image(image::ImageArgs),
    Guest(Box<guest::GuestArgs>),
    Oci(oci::OciArgs),
    Quadlet(quadlet::QuadletArgs),
    Job(job::JobArgs),
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &EmitArgs) -> Result<u8, Failure> {
    match &args.what {
        What::Image(args) => image::run(args)?,
        What::Guest(args) => guest::run(args)?,
        What::Oci(args) => oci::run(args)?,
        What::Quadlet(args) => quadlet::run(args)?,
        What::Job(args) => job::run(args)?,
    }
    Ok(0)
}

/// The command in the container, and its image.
#[derive(Debug, Clone, clap::Args)]
struct CommandArgs {
    /// Command to run, without `triptime`
    #[arg(last = true, value_name = "COMMAND", default_values = ["qualify", "vm-wakeup"])]
    words: Vec<String>,
}

/// Default name and tag of the image.
fn reference() -> String {
    format!("localhost/triptime:{}", env!("CARGO_PKG_VERSION"))
}

/// The bytes of this binary, even if its file was replaced since it started.
fn own_binary() -> Result<Vec<u8>, Failure> {
    let path = Path::new("/proc/self/exe");
    std::fs::read(path).map_err(|error| unwritten(path, &error))
}

/// An absolute folder as text that other machines and programs can read.
fn absolute(folder: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(folder).map_err(|error| unwritten(folder, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::CouldNotMeasure(format!("{}: {error}", path.display()))
}

fn write(path: &Path, octets: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, octets).map_err(|error| unwritten(path, &error))
}
