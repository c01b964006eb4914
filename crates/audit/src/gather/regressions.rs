//! Known kernel regressions that affect this machine.

use super::shared::{Search, unclear};
use crate::condition::evaluate;
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::regressions::{Regression, Release, known};
use crate::value::Unknown;
use host::reader::Reader;

/// Runs last, since rows use the facts of other gatherers.
pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let release = release(reader);
    let upstream = release
        .as_ref()
        .map_err(Unknown::clone)
        .and_then(|release| match release {
            Upstream::Is(release) => Ok(release.to_string()),
            Upstream::TakesLater(release) => Err(Unknown::unclear(format!(
                "this distribution takes changes from later releases than its {release}"
            ))),
        });
    facts.set("kernel.upstream-release", upstream);
    let profile = parameters.profile.as_deref().unwrap_or_default();
    let mut fixes: Vec<String> = Vec::new();
    let mut of = |tolerated: bool| {
        let release = release.clone()?;
        let mut search = Search::default();
        for row in known() {
            let Some(certain) = has(&row, release) else { continue };
            let is_tolerated = !certain || row.profiles.iter().any(|name| name == profile);
            match row.when.as_ref().map_or(Ok(true), |when| evaluate(when, facts, None)) {
                Ok(true) if is_tolerated == tolerated => {
                    search.add(format!("{}: {} (remedy: {})", row.id, row.symptom, row.fix));
                    fixes.push(row.fix);
                }
                Ok(_) => {}
                Err(unknown) => search.missed(unknown),
            }
        }
        search.result()
    };
    let (found, tolerated) = (of(false), of(true));
    facts.set("kernel.regressions", found);
    facts.set("kernel.regressions-tolerated", tolerated);
    facts.set(
        "kernel.regression-fixes",
        match fixes.is_empty() {
            true => Err(Unknown::absent("no known regression concerns this machine")),
            false => Ok(fixes.join("; ")),
        },
    );
}

/// True if the kernel certainly has it, false if it may have it; `None` if it lacks it, as far as known.
///
/// A distribution that takes changes from later releases may have later regressions, if they concern the machine. A fault of a stable
/// release is not among those changes.
fn has(row: &Regression, release: Upstream) -> Option<bool> {
    match release {
        Upstream::Is(release) => row.concerns(release).then_some(true),
        Upstream::TakesLater(_) if row.from.is_none() => Some(true),
        Upstream::TakesLater(base) => {
            let is_later = |from: Release| from.is_mainline() && base < from;
            let may_be_taken = row.when.is_some() && row.from.is_some_and(is_later);
            (may_be_taken || row.concerns(base)).then_some(false)
        }
    }
}

/// Release on which the running kernel is based.
#[derive(Debug, Clone, Copy)]
enum Upstream {
    Is(Release),
    TakesLater(Release),
}

/// Reads the release from the place where a distribution with its own numbers states it.
fn release(reader: &Reader) -> Result<Upstream, Unknown> {
    let name = reader.line("/proc/sys/kernel/osrelease").map_err(unclear)?;
    let unread = || Unknown::unclear(format!("\"{name}\" is not a release of Linux"));
    if name.contains(".el") {
        return Release::parse(&name).map(Upstream::TakesLater).ok_or_else(unread);
    }
    let version = reader.line("/proc/sys/kernel/version").unwrap_or_default();
    let signature = reader.line("/proc/version_signature").unwrap_or_default();
    let of_debian = version.split_once("Debian ").and_then(|(_, rest)| Release::parse(rest));
    let of_ubuntu = signature.split_whitespace().last().and_then(Release::parse);
    let found = of_debian.or(of_ubuntu).or_else(|| Release::parse(&name));
    found.map(Upstream::Is).ok_or_else(unread)
}
