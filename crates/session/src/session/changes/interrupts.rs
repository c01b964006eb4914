//! CPUs that serve interrupts.

use super::Part;
use super::known::{Item, Listing, Tells};
use host::Host;
use host::reader::Reader;
use host::roles::numbers;
use model::Subject;
use std::collections::BTreeMap;
use units::CpuList;

/// Folder with a folder for each interrupt.
const FOLDER: &str = "/proc/irq";

/// The interrupts of the last look: their names are read again only when their CPUs change.
#[derive(Default)]
pub(super) struct Interrupts {
    known: BTreeMap<u32, (Affinity, Option<Item>)>,
}

/// CPUs of an interrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Affinity {
    /// CPUs to which it may go.
    allowed: CpuList,
    /// CPUs to which it goes; `None` where the kernel does not say. Empty for one that is shut down.
    effective: Option<CpuList>,
}

impl Affinity {
    /// The CPUs that serve it: those to which it goes, or those to which it will go. After a change of the allowed CPUs, the kernel moves it when it next
    /// occurs.
    fn serving(&self) -> CpuList {
        match &self.effective {
            Some(effective) if effective.without(&self.allowed).is_empty() => effective.clone(),
            _ => self.allowed.clone(),
        }
    }

    /// Such as `CPU 3`, `CPU 3 of 2-5`.
    fn text(&self) -> String {
        let serving = self.serving();
        match serving == self.allowed {
            true if serving.len() > 1 => format!("any of CPU {serving}"),
            true => format!("CPU {serving}"),
            false => format!("CPU {serving} of {}", self.allowed),
        }
    }

    fn is_shut_down(&self) -> bool {
        self.effective.as_ref().is_some_and(CpuList::is_empty)
    }
}

impl Part for Interrupts {
    fn name(&self) -> &'static str {
        Subject::Interrupt.word()
    }

    fn look(&mut self, host: &Host) -> Result<Option<Listing>, String> {
        let reader = host.reader();
        let there = numbers(reader, FOLDER).map_err(|error| error.to_string())?;
        self.known.retain(|number, _| there.binary_search(number).is_ok());
        let found = there.iter().filter_map(|number| self.one(reader, *number));
        Ok(Some(found.collect()))
    }
}

impl Interrupts {
    /// One interrupt. Those without a handler, and those that are shut down, are left out: nothing runs for them.
    fn one(&mut self, reader: &Reader, number: u32) -> Option<super::known::Found> {
        let key = (Subject::Interrupt, number.to_string());
        let affinity = match affinity(reader, number) {
            Ok(affinity) => affinity,
            Err(why) => return why.map(|why| (key, Err(why))),
        };
        if affinity.is_shut_down() {
            return None;
        }
        let known = self.known.get(&number).filter(|(known, _)| *known == affinity);
        // One without a handler may have got one since.
        let known = known.and_then(|(_, item)| item.clone());
        let item = known.or_else(|| item(reader, number, &affinity));
        self.known.insert(number, (affinity, item.clone()));
        item.map(|item| (key, Ok(item)))
    }
}

fn item(reader: &Reader, number: u32, affinity: &Affinity) -> Option<Item> {
    let actions = actions(reader, number)?;
    Some(Item {
        name: format!("{number} ({actions})"),
        value: affinity.text(),
        cpus: Some(affinity.serving()),
        who: None,
        tells: Tells::NoEnd,
    })
}

/// Names of its handlers; `None` without one.
fn actions(reader: &Reader, number: u32) -> Option<String> {
    let path = format!("/sys/kernel/irq/{number}/actions");
    match reader.line_or_blank(&path) {
        Ok(line) => (!line.is_empty()).then_some(line),
        // Before Linux 4.9, the folders of its handlers have their names.
        Err(_) => {
            let is_handler = |name: &str| !name.contains("affinity") && name != "node" && name != "spurious";
            let names = reader.names(&format!("{FOLDER}/{number}"), is_handler).ok()?;
            (!names.is_empty()).then(|| names.join(","))
        }
    }
}

/// Its CPUs.
///
/// # Errors
/// The reason why they cannot be read; `None` if it is gone.
fn affinity(reader: &Reader, number: u32) -> Result<Affinity, Option<String>> {
    let read = |file: &str| reader.cpus(&format!("{FOLDER}/{number}/{file}"));
    let allowed = read("smp_affinity_list").map_err(|error| (!error.is_absent()).then(|| error.to_string()))?;
    Ok(Affinity {
        allowed,
        effective: read("effective_affinity_list").ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::Interrupts;
    use host::Host;
    use std::fs;
    use std::path::Path;

    fn plant(root: &Path, number: u32, allowed: &str, effective: &str, action: &str) {
        for (path, text) in [
            (format!("proc/irq/{number}/smp_affinity_list"), allowed),
            (format!("proc/irq/{number}/effective_affinity_list"), effective),
            (format!("sys/kernel/irq/{number}/actions"), action),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, format!("{text}\n")).expect("written");
        }
    }

    fn look(interrupts: &mut Interrupts, root: &Path) -> Vec<(String, String)> {
        let host = Host::at(root).expect("a tree");
        let found = interrupts.look(&host).expect("interrupts").expect("looked").into_iter();
        found
            .map(|(_, item)| {
                let item = item.expect("read");
                (item.name, item.value)
            })
            .collect()
    }

    #[test]
    fn an_interrupt_has_its_handlers_and_the_cpus_that_serve_it() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path();
        let mut interrupts = Interrupts::default();
        plant(root, 24, "0-3", "2", "eth1-rx-0");
        plant(root, 25, "0-3", "", "managed");
        plant(root, 26, "0-3", "0", "");
        let of = |value: &str| vec![("24 (eth1-rx-0)".to_owned(), value.to_owned())];
        assert_eq!(look(&mut interrupts, root), of("CPU 2 of 0-3"));
        // The kernel moves it at its next occurrence.
        plant(root, 24, "3", "2", "eth1-rx-0");
        assert_eq!(look(&mut interrupts, root), of("CPU 3"));
        plant(root, 24, "3", "3", "eth1-rx-0");
        assert_eq!(look(&mut interrupts, root), of("CPU 3"));
        plant(root, 24, "0-1", "3", "eth1-rx-0");
        assert_eq!(look(&mut interrupts, root), of("any of CPU 0-1"));
        // A handler comes, and the CPUs stay.
        plant(root, 26, "0-3", "0", "nvme0q1");
        assert_eq!(look(&mut interrupts, root).len(), 2);
    }
}
