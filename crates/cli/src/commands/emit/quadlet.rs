//! `triptime emit quadlet`.

use super::{CommandArgs, absolute, reference, unwritten, write};
use crate::failure::{Failure, say};
use crate::verdict;
use audit::rule;
use deploy::image::Reference;
use deploy::{QuadletSpec, Setting, UnitNetwork, quadlet};
use std::fs;
use std::path::PathBuf;
use units::CpuList;

/// Writes a podman quadlet: a unit from which systemd starts the container
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Its settings are those that the rules of the audit ask of containers (docs/rules.md), each under the name of its rule.

Examples: triptime emit quadlet --cpus 2-3 --nic eth1 --out /etc/containers/systemd
          systemctl daemon-reload && systemctl start triptime.service")]
pub(super) struct QuadletArgs {
    #[command(flatten)]
    command: CommandArgs,
    /// Folder for the units [default: all on standard output]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// CPUs of the container, by the host's numbers: those that are judged and one for everything else
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: CpuList,
    /// Interface of the process bus: the container gets a macvlan interface on it
    #[arg(long, value_name = "IF", required_unless_present = "net")]
    nic: Option<String>,
    /// Existing network: host, none, or the name of one
    #[arg(long, value_name = "NAME", conflicts_with = "nic")]
    net: Option<String>,
    /// Folder of the host for run files
    #[arg(long, value_name = "DIR", default_value = "/var/lib/triptime")]
    runs: PathBuf,
    /// Name of the unit and of the container
    #[arg(long, value_name = "NAME", default_value = "triptime")]
    name: String,
    /// Name and tag of the image
    #[arg(long, value_name = "NAME:TAG", default_value_t = reference().parse().expect("a reference"))]
    image: Reference,
}

pub(super) fn run(args: &QuadletArgs) -> Result<(), Failure> {
    let runs = absolute(&args.runs)?;
    let network = match &args.net {
        Some(name) => UnitNetwork::Named(name),
        None => UnitNetwork::OfRules,
    };
    let files = quadlet(&QuadletSpec {
        name: &args.name,
        image: &args.image.to_string(),
        words: &args.command.words,
        runs: &runs.display().to_string(),
        network,
        settings: &settings(&args.cpus, args.nic.as_deref()),
    });
    let Some(folder) = &args.out else {
        let texts = files.iter().map(|file| format!("# {}\n{}", file.name, file.text));
        return verdict::write(&texts.collect::<Vec<_>>().join("\n"));
    };
    fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    for file in &files {
        let path = folder.join(&file.name);
        write(&path, file.text.as_bytes())?;
        say(&path.display());
    }
    Ok(())
}

/// Settings that the rules of containers require of a quadlet, with the values of this command filled in.
fn settings(cpus: &CpuList, nic: Option<&str>) -> Vec<Setting> {
    let groups = rule::built_in();
    let of_containers = groups.iter().filter(|(name, _)| *name == "container");
    let rules = of_containers.flat_map(|(_, group)| &group.rules);
    let asked = rules.filter_map(|rule| Some((rule, rule.remedy.emit.get("quadlet")?)));
    let fill = |line: &String| {
        let line = line.replace("{rt_cpus}", &cpus.to_string());
        line.replace("{nic}", nic.unwrap_or_default())
    };
    let settings = asked.map(|(rule, lines)| Setting {
        check: rule.id.clone(),
        title: rule.title.clone(),
        lines: lines.iter().map(fill).collect(),
    });
    settings.collect()
}
