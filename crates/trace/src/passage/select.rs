//! Selects the tracepoints and functions to attach to.

use super::btf::{Function, Tracepoint};
use super::layout::{ARGUMENTS, POSITIONS, SLOTS};
use std::collections::BTreeSet;

/// Value for a slot without an argument of this kind.
pub(super) const NO_ARGUMENT: u8 = super::layout::NO_ARGUMENT as u8;

/// Tracepoints after which the `sk_buff` is free.
const FREEING: [&str; 2] = ["consume_skb", "kfree_skb"];

/// Tracepoints that each frame passes once at an interface: when it is received, or when its driver gets it.
const ONCE: [&str; 2] = ["netif_receive_skb", "net_dev_start_xmit"];

/// Tracepoints at which the `sk_buff` may already be free, and its memory belong to another frame.
const TOO_LATE: [&str; 1] = ["net_dev_xmit"];

/// Prefixes of the functions that the compiler makes from tracepoints, which are already covered.
const OF_TRACEPOINTS: [&str; 5] = [
    "__traceiter_",
    "__bpf_trace_",
    "__probestub_",
    "trace_event_raw_event_",
    "perf_trace_",
];

/// Functions that are worth a program if only some can have one: in and out of network devices, bridge, Open vSwitch, macvlan, tap,
/// veth, packet sockets, and the end of frames.
pub(super) const SENSIBLE: [&str; 44] = [
    "napi_gro_receive",
    "netif_rx",
    "netif_rx_internal",
    "enqueue_to_backlog",
    "netif_receive_skb",
    "netif_receive_skb_internal",
    "__netif_receive_skb",
    "__netif_receive_skb_one_core",
    "skb_defer_rx_timestamp",
    "vlan_do_receive",
    "vlan_skb_recv",
    "br_handle_frame",
    "br_handle_frame_finish",
    "br_flood",
    "br_multicast_flood",
    "br_forward",
    "__br_forward",
    "br_forward_finish",
    "br_dev_queue_push_xmit",
    "br_pass_frame_up",
    "netdev_frame_hook",
    "ovs_vport_receive",
    "ovs_dp_process_packet",
    "ovs_execute_actions",
    "ovs_vport_send",
    "macvlan_handle_frame",
    "macvlan_broadcast_enqueue",
    "macvlan_start_xmit",
    "macvtap_handle_frame",
    "tap_handle_frame",
    "__dev_queue_xmit",
    "__dev_direct_xmit",
    "dev_hard_start_xmit",
    "sch_direct_xmit",
    "validate_xmit_skb",
    "veth_xmit",
    "__dev_forward_skb",
    "tun_net_xmit",
    "tun_put_user",
    "packet_rcv",
    "tpacket_rcv",
    "skb_clone",
    "skb_copy_datagram_iter",
    "kfree_skbmem",
];

/// A function to attach a program to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenFunction {
    pub(super) name: String,
    /// Its module; `None`: the kernel itself.
    pub(super) module: Option<String>,
    /// Position of its `sk_buff` among the arguments.
    pub(super) position: usize,
}

/// Chooses the functions that are in the kernel's list, of a module or of the kernel itself.
pub(super) fn functions(found: Vec<Function>, available: &str, module: Option<&str>) -> Vec<ChosenFunction> {
    let listed: BTreeSet<&str> = available.lines().filter_map(|line| of_module(line, module)).collect();
    let mut taken = BTreeSet::new();
    let chosen = found.into_iter().filter(|function| {
        function.skb_at < POSITIONS
            && listed.contains(function.name.as_str())
            && !OF_TRACEPOINTS.iter().any(|prefix| function.name.starts_with(prefix))
            && taken.insert(function.name.clone())
    });
    let chosen = chosen.map(|function| ChosenFunction {
        name: function.name,
        module: module.map(str::to_owned),
        position: function.skb_at,
    });
    chosen.collect()
}

/// The function in a line of the list, if it belongs to this module: `NAME`, or `NAME [MODULE]`.
fn of_module<'a>(line: &'a str, module: Option<&str>) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let of = words.find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    (of == module).then_some(name)
}

/// True if the `sk_buff` is free after this tracepoint.
pub(super) fn frees(tracepoint: &str) -> bool {
    FREEING.contains(&tracepoint)
}

/// True if a frame passes this tracepoint once at an interface.
pub(super) fn comes_once(tracepoint: &str) -> bool {
    ONCE.contains(&tracepoint)
}

/// Tracepoints that can be used, and the others with the reason.
pub(super) fn tracepoints(found: Vec<Tracepoint>) -> (Vec<Tracepoint>, Vec<(String, String)>) {
    let (mut served, mut left_out) = (Vec::new(), Vec::new());
    for tracepoint in found {
        let why = if TOO_LATE.contains(&tracepoint.name.as_str()) {
            "its sk_buff may be free already".to_owned()
        } else if tracepoint.skb_at >= ARGUMENTS {
            format!("its sk_buff is argument {}", tracepoint.skb_at + 1)
        } else if served.len() == SLOTS {
            format!("there is room for {SLOTS}")
        } else {
            served.push(tracepoint);
            continue;
        };
        left_out.push((tracepoint.name, why));
    }
    (served, left_out)
}

/// The same for a module: all are left out, because the loader attaches only to tracepoints of the kernel itself.
pub(super) fn of_modules(found: Vec<Tracepoint>, module: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let why = format!("it belongs to the module {module}");
    found.into_iter().map(move |tracepoint| (tracepoint.name, why.clone()))
}

#[cfg(test)]
mod tests {
    use super::{NO_ARGUMENT, SLOTS, functions, of_modules, tracepoints};
    use crate::passage::btf::{Function, Tracepoint};

    fn tracepoint(name: &str, skb_at: usize) -> Tracepoint {
        Tracepoint {
            name: name.to_owned(),
            skb_at,
            reason_at: None,
            location_at: None,
        }
    }

    #[test]
    fn tracepoints_without_a_slot_are_named_with_why() {
        let mut found = vec![tracepoint("late", 6), tracepoint("net_dev_xmit", 0)];
        found.extend((0..SLOTS + 1).map(|number| tracepoint(&format!("t{number}"), 0)));
        let (served, left_out) = tracepoints(found);
        assert_eq!(served.len(), SLOTS);
        let expected = [
            ("late", "its sk_buff is argument 7"),
            ("net_dev_xmit", "its sk_buff may be free already"),
            ("t64", "there is room for 64"),
        ];
        assert_eq!(left_out, expected.map(|(name, why)| (name.to_owned(), why.to_owned())));
        assert!(SLOTS < usize::from(NO_ARGUMENT));
    }

    #[test]
    fn tracepoints_of_modules_are_named_with_why() {
        let found = vec![tracepoint("ovs_do_execute_action", 1)];
        let left_out: Vec<(String, String)> = of_modules(found, "openvswitch").collect();
        let expected = ("ovs_do_execute_action", "it belongs to the module openvswitch");
        assert_eq!(left_out, [(expected.0.to_owned(), expected.1.to_owned())]);
    }

    #[test]
    fn functions_are_those_that_both_lists_have() {
        let available = "packet_rcv\nbr_handle_frame [bridge]\n__traceiter_kfree_skb\ntwice\nsixth\nshared [tun]\n";
        let found = |names: &[(&str, usize)]| -> Vec<Function> {
            let function = |(name, skb_at): &(&str, usize)| Function {
                name: (*name).to_owned(),
                skb_at: *skb_at,
            };
            names.iter().map(function).collect()
        };
        let of_kernel = found(&[
            ("packet_rcv", 0),
            ("not_listed", 0),
            ("br_handle_frame", 0),
            ("__traceiter_kfree_skb", 1),
            ("twice", 1),
            ("twice", 2),
            ("sixth", 5),
        ]);
        let chosen = functions(of_kernel, available, None);
        let names: Vec<(&str, usize)> = chosen
            .iter()
            .map(|function| (function.name.as_str(), function.position))
            .collect();
        assert_eq!(names, [("packet_rcv", 0), ("twice", 1)]);
        let of_module = functions(
            found(&[("br_handle_frame", 0), ("shared", 0)]),
            available,
            Some("bridge"),
        );
        assert_eq!(of_module.len(), 1);
        assert_eq!(of_module[0].module.as_deref(), Some("bridge"));
    }
}
