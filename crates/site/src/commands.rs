//! Command lines for the next steps, in the order in which they help.

use crate::answers::Answers;
use crate::files::Settled;
use crate::found::Found;
use units::shell::word;

/// A command line, and its purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The line, quoted for a shell.
    pub line: String,
    /// Its purpose, and its effect on a host in service.
    pub purpose: &'static str,
}

/// The next commands at a site whose files are in `folder`.
pub fn commands(answers: &Answers, found: &Found, folder: &str) -> Vec<Command> {
    let settled = Settled { answers, found };
    let mut commands = vec![audit(&settled)];
    commands.extend(on_the_process_bus(&settled));
    let plan = word(&format!("{folder}/plan.toml")).into_owned();
    let about = word(&format!("{folder}/about.toml")).into_owned();
    commands.push(Command {
        line: format!("triptime qualify {plan} --duration 10s --about {about}"),
        purpose: "a first answer in some two minutes; loads and real-time threads run meanwhile",
    });
    commands.extend(trips(&settled));
    commands.push(Command {
        line: format!("triptime qualify {plan} --about {about} --detach"),
        purpose: "the whole measurement, in the background; `triptime status` shows it",
    });
    commands
}

fn audit(settled: &Settled<'_>) -> Command {
    let cpus = settled.of("cpus").map(|cpus| format!(" --cpus {}", word(cpus)));
    let nic = settled.of("interface").map(|name| format!(" --nic {}", word(name)));
    Command {
        line: format!("triptime audit{}{}", cpus.unwrap_or_default(), nic.unwrap_or_default()),
        purpose: "the set-up of this machine, with remedies; changes nothing",
    }
}

fn on_the_process_bus(settled: &Settled<'_>) -> Option<Command> {
    let interface = settled.of("interface")?;
    let scl = settled.of("scl").map(|file| format!(" --scl {}", word(file)));
    Some(Command {
        line: format!(
            "triptime subscribe {} --duration 30s{}",
            word(interface),
            scl.unwrap_or_default()
        ),
        purpose: "the streams and GOOSE that arrive; only listens",
    })
}

/// A command for each relay of others: it publishes faults, so it is never for a bus in service.
fn trips(settled: &Settled<'_>) -> Vec<Command> {
    let (Some(interface), Some(relays)) = (settled.of("interface"), settled.of("relays")) else {
        return Vec::new();
    };
    let member = settled
        .of("trip_member")
        .map(|member| format!(" --trip-member {}", word(member)));
    let scl = settled.of("scl").map(|file| format!(" --scl {}", word(file)));
    let (member, scl) = (member.unwrap_or_default(), scl.unwrap_or_default());
    let one = |relay: &str| Command {
        line: format!(
            "triptime trip {} --scenario overcurrent --scenario load --shots 20 --goose {}{member}{scl}",
            word(interface),
            word(relay)
        ),
        purpose: "trips of that relay; publishes faults: only on a bus and with a relay out of service",
    };
    relays.split(',').map(str::trim).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::commands;
    use crate::{Answers, Found, Question};

    #[test]
    fn names_are_quoted_and_each_relay_has_its_command() {
        let mut answers = Answers::default();
        for (key, answer) in [
            ("interface", "eth1"),
            ("relays", "ALD0/LLN0$GO$a, BLD0/LLN0$GO$b"),
            ("scl", "my file.scd"),
        ] {
            answers
                .give(Question::of(key).expect("a key"), answer)
                .expect("an answer");
        }
        let lines: Vec<String> = commands(&answers, &Found::default(), "site")
            .into_iter()
            .map(|one| one.line)
            .collect();
        assert_eq!(lines[0], "triptime audit --nic eth1");
        assert_eq!(lines[1], "triptime subscribe eth1 --duration 30s --scl 'my file.scd'");
        assert!(
            lines[3].ends_with("--goose 'ALD0/LLN0$GO$a' --scl 'my file.scd'"),
            "{}",
            lines[3]
        );
        assert!(lines[4].contains("'BLD0/LLN0$GO$b'"));
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn nothing_is_sent_where_no_interface_is_known() {
        let lines: Vec<String> = commands(&Answers::default(), &Found::default(), "site")
            .into_iter()
            .map(|one| one.line)
            .collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| !line.contains(" trip ")));
    }
}
