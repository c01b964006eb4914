//! Known regressions of kernels that concern this machine.

use super::shared::{Search, unclear};
use crate::audit::condition::evaluate;
use crate::audit::facts::Facts;
use crate::audit::parameters::Parameters;
use crate::audit::regressions::{Release, known};
use crate::audit::value::Unknown;
use crate::reader::Reader;

/// Comes last, since rows ask for facts of others.
pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    let release = release(reader);
    facts.set(
        "kernel.upstream-release",
        release.as_ref().map(Release::to_string).map_err(Unknown::clone),
    );
    let found = release.and_then(|release| {
        let mut search = Search::default();
        for row in known().into_iter().filter(|row| row.concerns(release)) {
            match row.when.as_ref().map_or(Ok(true), |when| evaluate(when, facts, None)) {
                Ok(true) => search.add(format!("{}: {} (mended by: {})", row.id, row.symptom, row.fix)),
                Ok(false) => {}
                Err(unknown) => search.missed(unknown),
            }
        }
        search.result()
    });
    facts.set("kernel.regressions", found);
}

/// The upstream release. Distributions that number their own way are looked up where they say it; those that take changes from
/// later releases into one number say nothing.
fn release(reader: &Reader) -> Result<Release, Unknown> {
    let name = reader.line("/proc/sys/kernel/osrelease").map_err(unclear)?;
    if name.contains(".el") {
        return Err(Unknown::unclear(format!(
            "{name}: this distribution takes changes from later releases, so the number says nothing"
        )));
    }
    let version = reader.line("/proc/sys/kernel/version").unwrap_or_default();
    let signature = reader.line("/proc/version_signature").unwrap_or_default();
    let of_debian = version.split_once("Debian ").and_then(|(_, rest)| Release::parse(rest));
    let of_ubuntu = signature.split_whitespace().last().and_then(Release::parse);
    let found = of_debian.or(of_ubuntu).or_else(|| Release::parse(&name));
    found.ok_or_else(|| Unknown::unclear(format!("\"{name}\" is no release of Linux")))
}
