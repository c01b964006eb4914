//! Quadlets: `.container` files of podman's generator for systemd (podman-systemd.unit), and the `.network` files that they name.

use super::Beside;
use super::annotations::time_daemons;
use super::capabilities::{Runtime, after, refused};
use super::shape::{Form, Shape};

/// True if a text is a container quadlet.
pub(super) fn is_one(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[Container]")
}

/// Lines of a unit file: section, key, value.
struct Unit(Vec<(String, String, String)>);

impl Unit {
    /// # Errors
    /// A line does not belong in a unit file.
    fn parse(text: &str) -> Result<Self, String> {
        let mut section = String::new();
        let mut lines = Vec::new();
        let mut joined = String::new();
        for (number, line) in (1..).zip(text.lines()) {
            // A backslash at the end joins a line with the next one.
            let is_comment = joined.is_empty() && line.trim_start().starts_with(['#', ';']);
            if let Some(begin) = line.strip_suffix('\\').filter(|_| !is_comment) {
                joined.push_str(begin);
                joined.push(' ');
                continue;
            }
            let whole = std::mem::take(&mut joined) + line;
            let line = whole.trim();
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name.to_owned();
            } else if line.is_empty() || line.starts_with(['#', ';']) {
            } else if let Some((key, value)) = line.split_once('=') {
                lines.push((section.clone(), key.trim().to_owned(), value.trim().to_owned()));
            } else {
                return Err(format!(
                    "line {number}: \"{line}\" is neither [SECTION], KEY=VALUE nor a comment"
                ));
            }
        }
        Ok(Self(lines))
    }

    /// All values of a key. An empty value deletes the earlier ones (podman 5, pkg/systemd/parser/unitfile.go: LookupAll).
    fn all(&self, section: &str, key: &str) -> Vec<String> {
        let of = self.0.iter().filter(|(at, name, _)| at == section && name == key);
        let values: Vec<String> = of.map(|(.., value)| value.clone()).collect();
        let taken_back = values.iter().rposition(String::is_empty).map_or(0, |at| at + 1);
        values[taken_back..].to_vec()
    }

    /// The last value of a key counts.
    fn last(&self, section: &str, key: &str) -> Option<String> {
        self.all(section, key).pop()
    }

    /// Values of an option in `PodmanArgs=`: `--name=value` and `--name value`.
    fn arguments(&self, option: &str) -> Vec<String> {
        let lines = self.all("Container", "PodmanArgs");
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            match word.strip_prefix(option) {
                Some("") => found.push(words.get(at + 1).map_or(String::new(), |next| (*next).to_owned())),
                Some(rest) if rest.starts_with('=') => found.push(rest[1..].to_owned()),
                _ => {}
            }
        }
        found
    }

    fn words(&self, key: &str, option: &str) -> Vec<String> {
        [self.words_at(key), self.words_of(option)].concat()
    }

    /// Words of a key.
    fn words_at(&self, key: &str) -> Vec<String> {
        words(&self.all("Container", key))
    }

    /// Words of an option in `PodmanArgs=`.
    fn words_of(&self, option: &str) -> Vec<String> {
        words(&self.arguments(option))
    }
}

fn words(lines: &[String]) -> Vec<String> {
    let words = lines.iter().flat_map(|line| line.split([' ', ',']));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// # Errors
/// The text is not a unit file; the message names the line.
pub(super) fn read(name: &str, text: &str, beside: Beside<'_>) -> Result<Shape, String> {
    let unit = Unit::parse(text)?;
    let called = unit
        .last("Container", "ContainerName")
        .unwrap_or_else(|| name.to_owned());
    let mut shape = Shape::new(Form::Quadlet, &called);
    // The container runs in the service's group (`--cgroups=split`), so settings of the service also apply to it.
    let cpus = unit
        .arguments("--cpuset-cpus")
        .pop()
        .or_else(|| unit.last("Service", "AllowedCPUs"));
    shape.set_cpus(cpus.map(|list| list.replace(' ', ",")));
    let mems = unit
        .arguments("--cpuset-mems")
        .pop()
        .or_else(|| unit.last("Service", "AllowedMemoryNodes"));
    shape.set("ctr.mems", mems.unwrap_or_default());
    let limited = ["--cpus", "--cpu-quota"]
        .iter()
        .any(|option| !unit.arguments(option).is_empty());
    shape.set("ctr.quota", limited || unit.last("Service", "CPUQuota").is_some());
    let privileged = unit
        .arguments("--privileged")
        .last()
        .is_some_and(|value| value != "false");
    shape.set("ctr.privileged", privileged);
    let arguments = [unit.words_of("--cap-add"), unit.words_of("--cap-drop")];
    let (added, dropped) = (unit.words_at("AddCapability"), unit.words_at("DropCapability"));
    shape.set_changes([&added, &dropped], arguments);
    shape.set("ctr.refuses-both", true);
    let added = unit.words("AddCapability", "--cap-add");
    let dropped = unit.words("DropCapability", "--cap-drop");
    shape.set("ctr.refused", refused(&added, &dropped, privileged));
    shape.set("ctr.capabilities", after(Runtime::Podman, &added, &dropped, privileged));
    limits(&unit, &mut shape);
    let (network, why) = network(&unit, beside);
    shape.set_or("ctr.network", network, &why);
    shape.set("ctr.devices", unit.words("AddDevice", "--device"));
    memory(&unit, &mut shape);
    let probed = [
        unit.last("Container", "HealthCmd"),
        unit.arguments("--health-cmd").pop(),
    ];
    shape.set(
        "ctr.exec-probe",
        probed.into_iter().flatten().any(|command| command != "none"),
    );
    shape.set("ctr.cache-class", "");
    let words = [unit.all("Container", "Exec"), unit.all("Container", "Entrypoint")].concat();
    shape.set("ctr.time-daemons", time_daemons(&words));
    Ok(shape)
}

fn limits(unit: &Unit, shape: &mut Shape) {
    let given = unit.words("Ulimit", "--ulimit");
    let soft = |name: &str| {
        let of = given
            .iter()
            .rev()
            .find_map(|limit| limit.strip_prefix(name)?.strip_prefix('='));
        of.map(|limit| limit.split(':').next().unwrap_or_default().to_owned())
    };
    let rtprio = soft("rtprio").or_else(|| unit.last("Service", "LimitRTPRIO"));
    shape.set(
        "ctr.rtprio",
        rtprio.and_then(|limit| limit.parse::<f64>().ok()).unwrap_or(0.0),
    );
    let memlock = soft("memlock").or_else(|| unit.last("Service", "LimitMEMLOCK"));
    shape.set(
        "ctr.memlock",
        memlock.is_some_and(|limit| ["-1", "unlimited", "infinity"].contains(&limit.as_str())),
    );
}

/// Connection of the process bus: the best of its networks, each of which must be known, as in compose files.
fn network(unit: &Unit, beside: Beside<'_>) -> (Option<String>, String) {
    let named = unit.words("Network", "--network");
    let named = match named.is_empty() {
        true => unit.arguments("--net"),
        false => named,
    };
    let is_alone = named.len() < 2;
    let kinds = named.iter().map(|name| name.split(':').next().unwrap_or_default());
    let drivers: Result<Vec<String>, String> = kinds
        .map(|kind| match kind {
            "bridge" => Ok("bridge".to_owned()),
            "pasta" | "slirp4netns" | "private" if is_alone => Ok("bridge".to_owned()),
            "host" | "none" if is_alone => Ok(kind.to_owned()),
            name if name.ends_with(".network") => beside(name).and_then(|text| driver(name, &text)),
            name => Err(format!("network {name} is defined elsewhere: check its driver")),
        })
        .collect();
    match drivers {
        Ok(drivers) => {
            let best = drivers.iter().find(|driver| *driver != "bridge").or(drivers.first());
            (Some(best.map_or("bridge".to_owned(), String::clone)), String::new())
        }
        Err(why) => (None, why),
    }
}

/// Driver of a `.network` file; podman's own default is a bridge.
fn driver(name: &str, text: &str) -> Result<String, String> {
    let unit = Unit::parse(text).map_err(|why| format!("{name}: {why}"))?;
    match unit.all("Network", "PodmanArgs").is_empty() {
        true => Ok(unit.last("Network", "Driver").unwrap_or("bridge".to_owned())),
        false => Err(format!("{name} has arguments of its own: check its driver")),
    }
}

fn memory(unit: &Unit, shape: &mut Shape) {
    let limit = unit
        .arguments("--memory")
        .pop()
        .or_else(|| unit.last("Container", "Memory"));
    let limit = limit.or_else(|| unit.last("Service", "MemoryMax").filter(|max| max != "infinity"));
    let octets = limit.as_deref().map(super::compose::octets);
    shape.set_memory(octets.unwrap_or(Some(0.0)));
    let with_swap = unit.arguments("--memory-swap").pop();
    let equal = limit.is_some() && with_swap.as_deref().map(super::compose::octets) == octets;
    let none = unit.last("Service", "MemorySwapMax").is_some_and(|max| max == "0");
    shape.set("ctr.swap", !(equal || none));
    let high = unit.last("Service", "MemoryHigh").filter(|high| high != "infinity");
    shape.set("ctr.memory-high", high.is_some());
    let score = unit
        .arguments("--oom-score-adj")
        .pop()
        .or_else(|| unit.last("Service", "OOMScoreAdjust"));
    shape.set(
        "ctr.oom-score",
        score.and_then(|score| score.parse::<f64>().ok()).unwrap_or(0.0),
    );
}
