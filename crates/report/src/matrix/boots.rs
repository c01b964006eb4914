//! The boots in which the cells were measured, if there was more than one: a matrix may be continued after a boot with other arguments.

use super::{Matrix, Measurement};
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use askama::Template;
use model::RunView;
use model::fact::{BOOT_ID, KERNEL_LINE};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use units::foreign::Show;

/// The heading of the section.
const TITLE: &str = "Boots";

/// Statement about cells of different boots.
const MEANING: &str =
    "The machine was booted in between: cells of different boots also differ in everything that changed with the boot.";

/// A boot of this machine, and the cells that were measured in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Boot {
    /// Its identity by the kernel; `None` if a run does not say it.
    id: Option<String>,
    /// The arguments of the kernel, or `None` if they are not known.
    arguments: Option<Vec<String>>,
    /// The isolations of its cells.
    isolation: BTreeSet<String>,
    /// Number of its runs.
    runs: u32,
    /// Arguments that the first boot does not have, and those that only the first has; `None` if either is not known.
    differs: Option<[Vec<String>; 2]>,
}

impl Boot {
    /// The boots of this machine in these runs, the earliest first: a guest boots for each of its own. Runs that do not say their boot are one, whose arguments may be any.
    pub(super) fn of(runs: &[Measurement]) -> Vec<Self> {
        let mut views: Vec<&RunView> = runs
            .iter()
            .map(|run| &run.view)
            .filter(|view| is_of_the_machine(view))
            .collect();
        views.sort_by_key(|view| view.info.started);
        let mut boots: Vec<Self> = Vec::new();
        for view in views {
            let id = BOOT_ID.of(&view.facts);
            let at = boots.iter().position(|boot| boot.id == id).unwrap_or_else(|| {
                let line = KERNEL_LINE.of(&view.facts);
                boots.push(Self {
                    arguments: line.map(|line| line.split_whitespace().map(str::to_owned).collect()),
                    id: id.clone(),
                    isolation: BTreeSet::new(),
                    runs: 0,
                    differs: None,
                });
                boots.len() - 1
            });
            boots[at].runs += 1;
            boots[at]
                .isolation
                .extend(super::Conditions::of(view).map(|own| own.isolation));
        }
        if let Some(first) = boots.first().and_then(|boot| boot.arguments.clone()) {
            for boot in boots.iter_mut().skip(1) {
                boot.differs = boot
                    .arguments
                    .as_ref()
                    .map(|own| [without(own, &first), without(&first, own)]);
            }
        }
        boots
    }

    fn text(&self, number: usize) -> String {
        let isolation: Vec<&str> = self.isolation.iter().map(String::as_str).collect();
        let runs = crate::text::plural(u64::from(self.runs), "run");
        format!(
            "boot {}, {runs} with isolation {}: {}",
            number + 1,
            isolation.join(", "),
            self.arguments_text(number)
        )
    }

    fn arguments_text(&self, number: usize) -> String {
        match (&self.arguments, &self.differs) {
            (None, _) => "the kernel's arguments are not known".to_owned(),
            (Some(all), _) if number == 0 => format!("kernel arguments {}", all.join(" ")),
            (Some(all), None) => format!(
                "kernel arguments {}, not compared: those of boot 1 are not known",
                all.join(" ")
            ),
            (Some(_), Some([added, gone])) => match (added.is_empty(), gone.is_empty()) {
                (true, true) => "the same kernel arguments as boot 1".to_owned(),
                (false, true) => format!("in addition to boot 1: {}", added.join(" ")),
                (true, false) => format!("without {} of boot 1", gone.join(" ")),
                (false, false) => format!("in addition to boot 1: {}; without {}", added.join(" "), gone.join(" ")),
            },
        }
    }
}

/// True if the cell runs on the kernel of the machine itself.
fn is_of_the_machine(view: &RunView) -> bool {
    super::Conditions::of(view).is_some_and(|own| !own.place.contains("vm"))
}

/// The arguments that the other list lacks.
fn without(these: &[String], others: &[String]) -> Vec<String> {
    these.iter().filter(|one| !others.contains(one)).cloned().collect()
}

impl Show for Boot {
    fn show(&mut self) {
        self.id.show();
        for argument in self.arguments.iter_mut().flatten() {
            argument.show();
        }
        for argument in self.differs.iter_mut().flatten().flatten() {
            argument.show();
        }
        self.isolation = std::mem::take(&mut self.isolation)
            .into_iter()
            .map(|isolation| isolation.shown())
            .collect();
    }
}

/// The section of a matrix.
pub(super) struct BootsSection;

impl Section<Matrix> for BootsSection {
    fn text(&self, matrix: &Matrix, _paint: &Paint) -> String {
        let mut out = String::new();
        for line in lines(matrix) {
            let head = if out.is_empty() {
                format!("{TITLE}\n")
            } else {
                String::new()
            };
            let _ = writeln!(out, "{head}  {line}");
        }
        out
    }

    fn html(&self, matrix: &Matrix) -> askama::Result<String> {
        Html {
            title: TITLE,
            lines: lines(matrix),
        }
        .render()
    }

    fn json(&self, matrix: &Matrix, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("boots", &matrix.boots)
    }
}

/// One line for each boot, and one on what that means; none if there was one boot only.
fn lines(matrix: &Matrix) -> Vec<String> {
    if matrix.boots.len() < 2 {
        return Vec::new();
    }
    let boots = matrix.boots.iter().enumerate().map(|(number, boot)| boot.text(number));
    boots.chain([MEANING.to_owned()]).collect()
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% if !lines.is_empty() %}<section>
  <h2>{{ title }}</h2>
  <ul class="rules">{% for line in lines %}<li>{{ line }}</li>{% endfor %}</ul>
</section>{% endif %}"##
)]
struct Html {
    title: &'static str,
    lines: Vec<String>,
}
