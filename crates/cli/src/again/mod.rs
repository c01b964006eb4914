//! Follow-up commands of a run: its own command line, read by the parser of this program and written again with changes.

#[cfg(test)]
mod tests;

use crate::command_line;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use plan::Plan;
use report::again::{Again, Order, Wider};
use units::shell;

/// Options that name files of one run, or that concern only its display or start. A follow-up command leaves them out.
const OF_ONE_RUN: [&str; 18] = [
    "out",
    "html",
    "junit",
    "about",
    "json",
    "full",
    "summary",
    "quiet",
    "capture",
    "capture_around",
    "capture_all",
    "force",
    "list",
    "show",
    "dry_run",
    "detach",
    "detached",
    "restart_after_reboot",
];

const DAY_NS: u64 = 86_400_000_000_000;

/// Next longer durations: as an option, in ns, and in words.
const LONGER: [(&str, u64, &str); 2] = [("24h", DAY_NS, "a day"), ("7d", 7 * DAY_NS, "a week")];

/// Factor by which a follow-up run fires more shots.
const MORE_SHOTS: u32 = 10;

/// For each profile, the plan that measures its subjects, and the kinds of series that the plan measures. None of the plans measures GOOSE.
const PLANS: [(&str, &str, &[&str]); 3] = [
    (
        "substation",
        "substation",
        &["wakeup", "rtt", "hop", "age", "task", "spacing"],
    ),
    ("seapath", "substation", &["hop", "age", "spacing"]),
    ("avb", "avb", &["wakeup", "talk", "listen", "spacing"]),
];

/// Measurements that can follow the command with these words, which measured for `measured_ns`.
pub(crate) fn after(arguments: &[String], measured_ns: u64) -> Again {
    Given::read(arguments).map_or_else(Again::default, |given| Again {
        longer: given.longer(measured_ns),
        wider: given.wider(),
    })
}

/// A command as the user gave it.
struct Given {
    name: String,
    command: Command,
    matches: ArgMatches,
}

/// An option with its values, or a positional argument.
struct Part {
    id: String,
    words: Vec<String>,
}

impl Given {
    /// Returns `None` if this program has no such command.
    fn read(arguments: &[String]) -> Option<Self> {
        let (mut cli, all) = (command_line(), std::iter::once("triptime"));
        let all = all.chain(arguments.iter().map(String::as_str));
        let (name, matches) = cli.try_get_matches_from_mut(all).ok()?.remove_subcommand()?;
        let command = cli.find_subcommand(&name)?.clone();
        Some(Self { name, command, matches })
    }

    /// Value of an option or positional argument, also its default.
    fn text(&self, id: &str) -> Option<String> {
        let mut raw = self.matches.try_get_raw(id).ok()??;
        Some(raw.next()?.to_string_lossy().into_owned())
    }

    fn has(&self, id: &str) -> bool {
        self.command.get_arguments().any(|arg| arg.get_id() == id)
    }

    fn is_given(&self, id: &str) -> bool {
        let source = self.matches.try_contains_id(id).is_ok_and(|is_there| is_there);
        source && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Options as the user wrote them, without those that concern one run only.
    fn parts(&self) -> Vec<Part> {
        let kept = self.command.get_arguments().filter(|arg| {
            let id = arg.get_id().as_str();
            self.is_given(id) && !OF_ONE_RUN.contains(&id)
        });
        let (bare, named): (Vec<&Arg>, Vec<&Arg>) = kept.partition(|arg| arg.is_positional());
        bare.into_iter().chain(named).map(|arg| self.part(arg)).collect()
    }

    fn part(&self, arg: &Arg) -> Part {
        let id = arg.get_id().as_str();
        let mut words = Vec::new();
        let name = arg.get_long().map(|long| format!("--{long}"));
        let times = self.matches.get_raw_occurrences(id).into_iter().flatten();
        for values in times {
            words.extend(name.clone());
            let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
            match arg.get_value_delimiter() {
                _ if !arg.get_action().takes_values() => {}
                Some(between) => words.push(values.join(&between.to_string())),
                None => words.extend(values),
            }
        }
        Part {
            id: id.to_owned(),
            words,
        }
    }

    /// The same command with this option, and without the options that limit the run in another way.
    fn with(&self, id: &str, value: &str, bounds: &[&str], what: String) -> Option<Order> {
        let arg = self.command.get_arguments().find(|arg| arg.get_id() == id)?;
        let own = [format!("--{}", arg.get_long()?), value.to_owned()];
        let parts = self
            .parts()
            .into_iter()
            .filter(|part| part.id != id && !bounds.contains(&part.id.as_str()));
        let words = parts.flat_map(|part| part.words).chain(own.clone());
        let words = std::iter::once(self.name.clone()).chain(words).collect();
        order(words, format!("the same command with {}", own.join(" ")), what)
    }

    fn longer(&self, measured_ns: u64) -> Option<Order> {
        match self.name.as_str() {
            "trip" if self.is_given("type_test") => self.with_next_seed(),
            "trip" if self.is_given("ping_pong") => None,
            "trip" if !self.is_given("watch") && !self.is_given("observe") => self.with_more_shots(),
            // A replay ends with its recording.
            "relay" if ["replay", "type_test"].iter().any(|id| self.is_given(id)) => None,
            "qualify" => self.with_longer_steps(),
            _ if self.has("duration") => {
                let (option, _, words) = self.longer_than(measured_ns)?;
                self.with(
                    "duration",
                    option,
                    &[],
                    format!("the same, for the certainty that {words} can give"),
                )
            }
            _ => None,
        }
    }

    /// The next duration that is longer than the one requested, or else than the one measured.
    fn longer_than(&self, measured_ns: u64) -> Option<(&'static str, u64, &'static str)> {
        let asked = self.text("duration").and_then(|text| units::parse_ns(&text).ok());
        let now = asked.unwrap_or(measured_ns);
        LONGER.into_iter().find(|(_, ns, _)| *ns > now)
    }

    /// Gives every step the next longer duration, if the plan may take that long in all.
    fn with_longer_steps(&self) -> Option<Order> {
        let plan = Plan::load(&self.text("plan")?).ok()?;
        if plan.matrix.is_some() {
            return None;
        }
        let longest = plan.steps.iter().map(|step| step.common.duration.0).max()?;
        let (option, ns, words) = self.longer_than(longest)?;
        plan.lasting(ns).check_length().ok()?;
        self.with(
            "duration",
            option,
            &[],
            format!("the same, each step for the certainty that {words} can give"),
        )
    }

    fn with_more_shots(&self) -> Option<Order> {
        let usual = probes::trip::USUAL_SHOTS;
        let shots = self.text("shots").and_then(|text| text.parse::<u32>().ok());
        let more = shots.unwrap_or(usual).checked_mul(MORE_SHOTS)?.to_string();
        let what = format!("the same, with {MORE_SHOTS} times as many shots of each scenario");
        self.with("shots", &more, &["duration"], what)
    }

    fn with_next_seed(&self) -> Option<Order> {
        let seed: u64 = self.text("seed")?.parse().ok()?;
        let next = seed.checked_add(1)?.to_string();
        self.with(
            "seed",
            &next,
            &[],
            "the same shots in another order, after other pauses".to_owned(),
        )
    }

    /// The plan of the command's profile, on the same CPUs. Returns `None` if the command is itself a plan.
    fn wider(&self) -> Option<Wider> {
        if self.name == "qualify" {
            return None;
        }
        let limits = self.text("limits")?;
        let (_, plan, kinds) = PLANS.into_iter().find(|(profile, ..)| *profile == limits)?;
        let kept = ["cpus", "label"];
        let parts = self.parts().into_iter().filter(|part| kept.contains(&part.id.as_str()));
        let limits = (plan != limits).then(|| ["--limits".to_owned(), limits]);
        let words = ["qualify".to_owned(), plan.to_owned()].into_iter();
        let words = words
            .chain(parts.flat_map(|part| part.words))
            .chain(limits.into_iter().flatten())
            .collect();
        let what = "measures what this run left open".to_owned();
        let order = order(words, format!("triptime qualify {plan}, with the same options"), what)?;
        Some(Wider { order, kinds })
    }
}

/// Returns a command if this program accepts it. All its words were accepted before, but some of them may exclude each other.
fn order(words: Vec<String>, short: String, what: String) -> Option<Order> {
    let all: Vec<String> = std::iter::once("triptime".to_owned()).chain(words).collect();
    command_line().try_get_matches_from(&all).ok()?;
    Some(Order {
        command: shell::line(all.iter().map(String::as_str)),
        short,
        what,
    })
}
