//! Finds the cells of a matrix that cannot be measured on this machine, and the reasons.

use bed::Network;
use host::CpuFacts;
use place::container::{Container, Containers, RuntimeName};
use place::guest::runtime_for_guest;
use place::{PlaceError, PlaceKind};
use plan::{Cell, Isolation};
use units::CpuList;

/// Reason why guests cannot use veth.
const VETH: &str =
    "a guest cannot hold the end of a veth pair: leave it out, or use tap, which has nothing between either";

/// Capabilities of this machine for cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    /// The reason if containers are not available.
    pub container: Result<(), String>,
    /// The reason if others use up at this moment what containers need: each cell looks again before it is measured.
    pub container_waits: Option<String>,
    /// The reason if guests are not available.
    pub guest: Result<(), String>,
    /// The reason if containers in guests are not available.
    pub runtime_for_guest: Result<(), String>,
    /// The reason if control groups cannot reserve CPUs.
    pub partition: Result<(), String>,
    /// CPUs that this kernel isolates since boot.
    pub isolated: CpuList,
    /// CPUs that are judged.
    pub measured: CpuList,
}

impl Here {
    /// Inspects this machine, on which these CPUs are judged; `guest` has the reason if guests are not available. Containers are those of `runtime`, or
    /// of the one that is usual here.
    pub fn look(facts: &CpuFacts, measured: &CpuList, guest: Result<(), String>, runtime: Option<RuntimeName>) -> Self {
        let containers = Containers {
            runtime,
            ..Containers::default()
        };
        let (container, container_waits) = match Container::up(&containers, None) {
            Ok(_) => (Ok(()), None),
            Err(PlaceError::Busy(why)) => (Ok(()), Some(why)),
            Err(error) => (Err(error.to_string()), None),
        };
        Self {
            container,
            container_waits,
            guest,
            runtime_for_guest: runtime_for_guest(runtime)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            partition: bed::partition::clean_up()
                .and_then(|()| bed::partition::possible())
                .map_err(String::from),
            isolated: facts.isolated.clone(),
            measured: measured.clone(),
        }
    }

    /// The reason why a cell cannot be measured here; `None` if it can.
    pub fn why_not(&self, cell: &Cell) -> Option<String> {
        let place = match cell.place {
            PlaceKind::Native => Ok(()),
            PlaceKind::Container => self.container.clone(),
            PlaceKind::Vm | PlaceKind::ContainerInVm if cell.network == Some(Network::Veth) => Err(VETH.to_owned()),
            PlaceKind::Vm => self.guest.clone(),
            PlaceKind::ContainerInVm => self.guest.clone().and_then(|()| self.runtime_for_guest.clone()),
            PlaceKind::Far => Err("a matrix is measured on one machine".to_owned()),
        };
        place.err().or_else(|| self.isolation(cell))
    }

    fn isolation(&self, cell: &Cell) -> Option<String> {
        // A guest boots with the isolation that the cell needs.
        let is_guest = cell.place.is_in_guest();
        let is_isolated = !self.measured.is_empty() && self.measured.without(&self.isolated).is_empty();
        match cell.isolation {
            Isolation::None if is_isolated && !is_guest => Some(format!(
                "this machine was booted with cpu {} isolated: boot it without, or leave isolation \"none\" out",
                self.measured
            )),
            Isolation::Isolcpus if !is_isolated && !is_guest => Some(format!(
                "this machine was not booted with isolcpus={}: only guests, which boot separately, are measured with it",
                self.measured
            )),
            Isolation::Cpuset if is_guest => Some("a guest's CPUs are isolated by its own kernel".to_owned()),
            Isolation::Cpuset if is_isolated => Some(format!(
                "this machine was booted with cpu {} isolated, so that a cpuset shows nothing of its own: boot it without",
                self.measured
            )),
            Isolation::Cpuset => self.partition.clone().err(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Here, Isolation, Network, PlaceKind};

    fn here(isolated: &str) -> Here {
        Here {
            container: Err("no runtime".to_owned()),
            container_waits: None,
            guest: Ok(()),
            runtime_for_guest: Err("install crun".to_owned()),
            partition: Err("no cpuset".to_owned()),
            isolated: isolated.parse().unwrap_or_default(),
            measured: "1".parse().expect("a list"),
        }
    }

    fn why_not(isolated: &str, place: PlaceKind, isolation: Isolation) -> Option<String> {
        here(isolated).why_not(&Cell {
            place,
            network: None,
            load: "none".to_owned(),
            management: None,
            isolation,
        })
    }

    #[test]
    fn what_cannot_be_says_why() {
        let says =
            |why: Option<String>, part: &str| assert!(why.as_deref().is_some_and(|why| why.contains(part)), "{why:?}");
        says(why_not("", PlaceKind::Container, Isolation::None), "no runtime");
        says(why_not("", PlaceKind::ContainerInVm, Isolation::None), "install crun");
        says(why_not("", PlaceKind::Native, Isolation::Cpuset), "no cpuset");
        says(
            why_not("", PlaceKind::Native, Isolation::Isolcpus),
            "not booted with isolcpus=1",
        );
        says(why_not("", PlaceKind::Vm, Isolation::Cpuset), "a guest");
        assert_eq!(why_not("", PlaceKind::Native, Isolation::None), None);
        assert_eq!(why_not("", PlaceKind::Vm, Isolation::Isolcpus), None);
    }

    #[test]
    fn a_guest_is_on_every_network_but_a_veth() {
        for network in Network::ALL {
            let cell = Cell {
                place: PlaceKind::Vm,
                network: Some(network),
                load: "none".to_owned(),
                management: None,
                isolation: Isolation::None,
            };
            let why = here("").why_not(&cell);
            assert_eq!(why.is_some(), network == Network::Veth, "{why:?}");
        }
    }

    #[test]
    fn a_machine_that_isolates_has_no_cell_without() {
        assert!(why_not("1-3", PlaceKind::Native, Isolation::None).is_some());
        let cpuset = why_not("1-3", PlaceKind::Native, Isolation::Cpuset);
        assert!(cpuset.is_some_and(|why| why.contains("boot it without")));
        assert_eq!(why_not("1-3", PlaceKind::Native, Isolation::Isolcpus), None);
        assert_eq!(
            why_not("1-3", PlaceKind::Vm, Isolation::None),
            None,
            "the guest's own kernel decides"
        );
        assert_eq!(
            why_not("2", PlaceKind::Native, Isolation::None),
            None,
            "others are isolated"
        );
    }
}
