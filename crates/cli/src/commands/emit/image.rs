//! `triptime emit image`.

use super::{own_binary, reference, unwritten};
use crate::failure::{Failure, say};
use crate::version::COMMIT;
use deploy::image::{ImageSpec, Reference, write};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

/// Writes an image of this binary: an OCI image layout in a tar file, which docker and podman load too
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The same binary gives the same file, byte for byte.

Examples: triptime emit image && podman load --input triptime-*.oci.tar
          triptime emit image relay.tar && ctr --namespace k8s.io images import relay.tar")]
pub(super) struct ImageArgs {
    /// File to write [default: triptime-VERSION.oci.tar]
    #[arg(value_name = "FILE")]
    out: Option<PathBuf>,
    /// Name and tag of the image
    #[arg(long, value_name = "NAME:TAG", default_value_t = reference().parse().expect("a reference"))]
    tag: Reference,
}

pub(super) fn run(args: &ImageArgs) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let spec = ImageSpec {
        reference: &args.tag,
        version,
        revision: COMMIT,
        architecture: architecture(),
    };
    let default = || PathBuf::from(format!("triptime-{version}.oci.tar"));
    let path = args.out.clone().unwrap_or_else(default);
    let program = own_binary()?;
    let file = File::create(&path).map_err(|error| unwritten(&path, &error))?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out, &spec, &program).and_then(|()| out.into_inner()?.sync_all());
    written.map_err(|error| unwritten(&path, &error))?;
    say(&format!("{}: {} of this binary", path.display(), args.tag));
    Ok(())
}

/// Name of the processor in Go (GOARCH), and thus in OCI.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
