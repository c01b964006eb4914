//! Memory in huge pages that the libvirt domains want, and the machine's huge pages.

use std::collections::{BTreeMap, BTreeSet};

use units::CpuList;

use super::super::domain;
use super::super::shared::{is_number, unclear};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::reader::Reader;

const HUGE: &str = "/sys/kernel/mm/hugepages";
const NODES: &str = "/sys/devices/system/node";
const GIB_KIB: u64 = 1 << 20;
const GIB_MIB: f64 = 1024.0;
/// First version whose `hugepages=` accepts NODE:COUNT (Linux 5.16: admin-guide/kernel-parameters.txt; commit b5389086ad7b).
const NODES_SINCE: f64 = 5016.0;

/// True if a domain stored or running here has a virtio device behind an emulated IOMMU.
pub(super) fn virtio_behind_iommu(reader: &Reader) -> Result<bool, Unknown> {
    for name in domain::names(reader)? {
        for folder in [domain::STORED, domain::RUNNING] {
            let text = match reader.text(&format!("{folder}/{name}.xml")) {
                Err(error) if error.is_absent() => continue,
                text => text.map_err(unclear)?,
            };
            if text.contains("iommu='on'") || text.contains("iommu=\"on\"") {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// One domain's need for this machine's huge pages.
struct PagesNeed {
    name: String,
    mib: f64,
    /// Page size in KiB that the definition names; `None`: the host's default.
    page_kib: Option<u64>,
    /// Nodes that must provide its memory; empty: any.
    nodes: CpuList,
    /// True if it runs: then it has its pages.
    runs: bool,
}

impl PagesNeed {
    /// Memory in MiB, in whole pages: QEMU rounds up (system/physmem.c of 9.2, file_ram_alloc).
    fn whole(&self, page_mib: f64) -> f64 {
        (self.mib / page_mib).ceil() * page_mib
    }

    fn gibibytes(&self) -> f64 {
        (self.mib / GIB_MIB).ceil()
    }

    /// Node that provides all of its memory.
    fn node(&self) -> Result<u32, Unknown> {
        match (self.nodes.first(), self.nodes.len()) {
            (Some(node), 1) => Ok(node),
            (None, _) => Err(Unknown::unclear(format!(
                "the domain {} is bound to no memory node: bind it first (<numatune>), then its pages can be reserved there",
                self.name
            ))),
            _ => Err(Unknown::unclear(format!(
                "decide by hand how much memory of the domain {} is on each of the nodes {}: hugepages=NODE:COUNT",
                self.name, self.nodes
            ))),
        }
    }
}

/// Needs of the domains of this machine: of the named ones, and of those stored or running here that ask for huge pages.
pub(super) struct Needs(Vec<PagesNeed>);

impl Needs {
    /// # Errors
    /// Absent if there is none. Otherwise a definition is unreadable, or was written for another machine.
    pub(super) fn read(reader: &Reader, parameters: &Parameters) -> Result<Self, Unknown> {
        let named = domain::named(reader, parameters);
        let mut needs = Vec::new();
        for one in &named {
            one.here(reader)?;
            needs.push(need(one)?);
        }
        for one in domain::beside(reader, &named)? {
            if one.judged()?.memory.huge_pages_kib.is_some() {
                needs.push(need(&one)?);
            }
        }
        match needs.is_empty() {
            false => Ok(Self(needs)),
            true => Err(Unknown::absent(
                "no domain was named, and no domain defined on this host requests huge pages",
            )),
        }
    }

    pub(super) fn mib(&self) -> f64 {
        self.0.iter().map(|need| need.mib).sum()
    }

    /// A line for each place with too few pages of 1 GiB.
    pub(super) fn short_of_1g(&self, reader: &Reader) -> Result<Vec<String>, Unknown> {
        let of_other_size = |need: &&PagesNeed| need.page_kib.is_some_and(|kib| kib != GIB_KIB);
        let others = self.0.iter().filter(of_other_size);
        let lines = others.map(|need| format!("{} requests pages of another size", need.name));
        let short = self.short(reader, |_| true, |kib| kib == GIB_KIB, GIB_MIB)?;
        Ok(lines.chain(short).collect())
    }

    /// Pages of 1 GiB in the form of the kernel's argument: their number, or on a machine with several nodes that of each, as in `0:4,1:2`.
    pub(super) fn pages(&self, reader: &Reader, kernel: Option<f64>) -> Result<String, Unknown> {
        let is_node = |name: &str| name.strip_prefix("node").is_some_and(is_number);
        if reader.names(NODES, is_node).map_or(0, |nodes| nodes.len()) < 2 {
            let pages: f64 = self.0.iter().map(PagesNeed::gibibytes).sum();
            return Ok(pages.to_string());
        }
        let mut nodes: BTreeMap<u32, f64> = BTreeMap::new();
        for need in &self.0 {
            *nodes.entry(need.node()?).or_default() += need.gibibytes();
        }
        let parts: Vec<String> = nodes.iter().map(|(node, pages)| format!("{node}:{pages}")).collect();
        match kernel {
            Some(kernel) if kernel >= NODES_SINCE => Ok(parts.join(",")),
            Some(_) => Err(Unknown::unclear(format!(
                "hugepages=NODE:COUNT exists since Linux 5.16: at boot, write the count to \
                 {NODES}/nodeNODE/hugepages/hugepages-1048576kB/nr_hugepages ({})",
                parts.join(",")
            ))),
            None => Err(Unknown::unclear("the release of the kernel is not known")),
        }
    }

    /// The same check with pages of all sizes, and of each size that a definition names.
    pub(super) fn short_of_any(&self, reader: &Reader) -> Result<Vec<String>, Unknown> {
        let mut lines = self.short(reader, |_| true, |_| true, 1.0)?;
        let sizes: BTreeSet<u64> = self.0.iter().filter_map(|need| need.page_kib).collect();
        for size in sizes {
            let page_mib = size as f64 / 1024.0;
            lines.extend(self.short(reader, |need| need.page_kib == Some(size), |kib| kib == size, page_mib)?);
        }
        Ok(lines)
    }

    /// Compares the need of the domains `of`, in whole pages of `page_mib`, with the pages of the sizes `size`: on the machine, and on each
    /// set of nodes to which a domain is bound.
    fn short(
        &self,
        reader: &Reader,
        of: impl Fn(&PagesNeed) -> bool,
        size: impl Fn(u64) -> bool,
        page_mib: f64,
    ) -> Result<Vec<String>, Unknown> {
        let needs: Vec<&PagesNeed> = self.0.iter().filter(|need| of(need)).collect();
        let mut places: Vec<&CpuList> = Vec::new();
        for need in needs.iter().filter(|need| !need.nodes.is_empty()) {
            if !places.contains(&&need.nodes) {
                places.push(&need.nodes);
            }
        }
        let mut lines = line("the machine", &needs, page_mib, Pages::of_machine(reader, &size)?)
            .into_iter()
            .collect::<Vec<_>>();
        for place in places {
            let bound = |need: &&&PagesNeed| !need.nodes.is_empty() && need.nodes.without(place).is_empty();
            let inside: Vec<&PagesNeed> = needs.iter().filter(bound).copied().collect();
            lines.extend(line(
                &format!("node {place}"),
                &inside,
                page_mib,
                Pages::of_nodes(reader, place, &size)?,
            ));
        }
        Ok(lines)
    }
}

/// Running domains have their pages; the others need free ones.
fn line(place: &str, needs: &[&PagesNeed], page_mib: f64, pages: Pages) -> Option<String> {
    let whole = |need: &&PagesNeed| need.whole(page_mib);
    let mib: f64 = needs.iter().map(whole).sum();
    let to_come: f64 = needs.iter().filter(|need| !need.runs).map(whole).sum();
    (mib > pages.mib || to_come > pages.free_mib).then(|| {
        format!(
            "{place}: {mib} MiB wanted, {to_come} of them by domains that do not run; {} reserved, {} free",
            pages.mib, pages.free_mib
        )
    })
}

fn need(named: &domain::Named) -> Result<PagesNeed, Unknown> {
    let definition = named.judged()?;
    let kib = definition.memory_kib;
    let kib = kib.ok_or_else(|| Unknown::unclear("a domain's definition has no readable <memory>"))?;
    let is_strict = definition
        .numa
        .modes
        .iter()
        .all(|mode| mode == "strict" || mode == "restrictive");
    let sizes = definition.memory.huge_pages_kib.iter().flatten();
    Ok(PagesNeed {
        name: named.name.clone(),
        mib: kib / 1024.0,
        page_kib: sizes.min().copied(),
        nodes: match is_strict {
            true => definition.numa.sets()?,
            false => CpuList::default(),
        },
        runs: named.running.is_some(),
    })
}

/// Memory in huge pages.
#[derive(Default, Clone, Copy)]
struct Pages {
    mib: f64,
    free_mib: f64,
}

impl Pages {
    fn of_machine(reader: &Reader, wanted: impl Fn(u64) -> bool) -> Result<Self, Unknown> {
        let mut pages = Self::default();
        pages.add(reader, HUGE, wanted)?;
        Ok(pages)
    }

    fn of_nodes(reader: &Reader, nodes: &CpuList, wanted: impl Fn(u64) -> bool) -> Result<Self, Unknown> {
        let mut pages = Self::default();
        for node in nodes.iter() {
            let folder = format!("/sys/devices/system/node/node{node}/hugepages");
            pages.add(reader, &folder, &wanted)?;
        }
        Ok(pages)
    }

    fn add(&mut self, reader: &Reader, folder: &str, wanted: impl Fn(u64) -> bool) -> Result<(), Unknown> {
        for name in reader
            .names(folder, |name| name.starts_with("hugepages-"))
            .map_err(unclear)?
        {
            let kib = name.trim_start_matches("hugepages-").trim_end_matches("kB").parse();
            let kib: u64 = kib.map_err(|_| Unknown::unclear(format!("{folder}/{name}: no size")))?;
            if !wanted(kib) {
                continue;
            }
            let mib = |file: &str| -> Result<f64, Unknown> {
                let pages: u64 = reader
                    .parsed(&format!("{folder}/{name}/{file}"), "a number of pages")
                    .map_err(unclear)?;
                Ok(pages as f64 * kib as f64 / 1024.0)
            };
            self.mib += mib("nr_hugepages")?;
            self.free_mib += mib("free_hugepages")?;
        }
        Ok(())
    }
}

/// Memory in huge pages of the sizes `wanted` (in KiB), free or in use.
pub(super) fn reserved_mib(reader: &Reader, wanted: fn(u64) -> bool) -> Result<f64, Unknown> {
    Pages::of_machine(reader, wanted).map(|pages| pages.mib)
}
