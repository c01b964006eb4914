use super::{Function, Tracepoint, Types};

/// Writes descriptions of types, as the kernel's build does.
#[derive(Default)]
struct Writer {
    types: Vec<u8>,
    strings: Vec<u8>,
    /// Length of the strings that the description builds upon.
    strings_before: u32,
}

impl Writer {
    fn new() -> Self {
        Self {
            strings: vec![0],
            ..Self::default()
        }
    }

    fn behind(base: &Self) -> Self {
        Self {
            strings: vec![0],
            strings_before: u32::try_from(base.strings.len()).expect("short"),
            ..Self::default()
        }
    }

    fn string(&mut self, text: &str) -> u32 {
        let at = u32::try_from(self.strings.len()).expect("short");
        self.strings.extend_from_slice(text.as_bytes());
        self.strings.push(0);
        self.strings_before + at
    }

    fn add(&mut self, name: &str, kind: u32, about: u32, behind: &[u32], count: u32) {
        let name = if name.is_empty() { 0 } else { self.string(name) };
        let words = [name, kind << 24 | count, about];
        for word in words.iter().chain(behind) {
            self.types.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// A prototype with arguments of these types.
    fn prototype(&mut self, arguments: &[u32]) {
        let behind: Vec<u32> = arguments.iter().flat_map(|argument| [0, *argument]).collect();
        self.add("", 13, 0, &behind, u32::try_from(arguments.len()).expect("short"));
    }

    fn octets(&self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        let mut octets = 0xeb9f_u16.to_le_bytes().to_vec();
        octets.extend_from_slice(&[1, 0]);
        for word in [24, 0, types, types, strings] {
            octets.extend_from_slice(&word.to_le_bytes());
        }
        octets.extend_from_slice(&self.types);
        octets.extend_from_slice(&self.strings);
        octets
    }
}

const SKB: u32 = 2;
const VOID: u32 = 3;
const REASON: u32 = 5;
const WORD: u32 = 6;
const CONST_SKB: u32 = 8;

/// The kernel's own types: a tracepoint with all arguments, one with the frame later, one without it; functions.
fn kernel() -> Writer {
    let mut kernel = Writer::new();
    kernel.add("sk_buff", 4, 232, &[], 0); // 1
    kernel.add("", 2, 1, &[], 0); // 2: pointer to it
    kernel.add("", 2, 0, &[], 0); // 3: void *
    let names = ["SKB_NOT_DROPPED_YET", "SKB_CONSUMED", "SKB_DROP_REASON_NO_SOCKET"].map(|name| kernel.string(name));
    kernel.add("skb_drop_reason_", 6, 4, &[], 0); // 4: another one
    kernel.add("skb_drop_reason", 6, 4, &[names[0], 0, names[1], 1, names[2], 3], 3); // 5
    kernel.add("unsigned int", 1, 4, &[32], 0); // 6
    kernel.add("", 10, 1, &[], 0); // 7: const
    kernel.add("", 2, 7, &[], 0); // 8: pointer to const
    kernel.prototype(&[VOID, SKB, VOID, REASON]); // 9
    kernel.add("", 2, 9, &[], 0); // 10
    kernel.add("btf_trace_kfree_skb", 8, 10, &[], 0); // 11
    kernel.prototype(&[VOID, WORD, WORD, CONST_SKB]); // 12
    kernel.add("", 2, 12, &[], 0); // 13
    kernel.add("btf_trace_qdisc_enqueue", 8, 13, &[], 0); // 14
    kernel.prototype(&[VOID, WORD]); // 15
    kernel.add("", 2, 15, &[], 0); // 16
    kernel.add("btf_trace_sched_switch", 8, 16, &[], 0); // 17
    kernel.prototype(&[WORD, SKB]); // 18
    kernel.add("packet_rcv", 12, 18, &[], 0); // 19
    kernel.add("schedule", 12, 15, &[], 0); // 20
    kernel
}

fn function(name: &str, skb_at: usize) -> Function {
    Function {
        name: name.to_owned(),
        skb_at,
    }
}

#[test]
fn tracepoints_functions_and_reasons_are_found() {
    let types = Types::parse(&kernel().octets()).expect("whole");
    let expected = [
        Tracepoint {
            name: "kfree_skb".to_owned(),
            skb_at: 0,
            reason_at: Some(2),
            location_at: Some(1),
        },
        Tracepoint {
            name: "qdisc_enqueue".to_owned(),
            skb_at: 2,
            reason_at: None,
            location_at: None,
        },
    ];
    assert_eq!(types.tracepoints(1), expected);
    assert_eq!(types.functions(1), [function("packet_rcv", 1)]);
    let reasons = types.values("skb_drop_reason");
    assert_eq!(reasons.get(&3).map(String::as_str), Some("SKB_DROP_REASON_NO_SOCKET"));
    assert_eq!(reasons.len(), 3);
    assert!(types.values("nosuch").is_empty());
}

#[test]
fn a_tracepoint_without_any_argument_is_none_with_a_frame() {
    let mut kernel = kernel();
    kernel.prototype(&[]); // 21
    kernel.add("", 2, 21, &[], 0); // 22
    kernel.add("btf_trace_strange", 8, 22, &[], 0); // 23
    let types = Types::parse(&kernel.octets()).expect("whole");
    assert_eq!(types.tracepoints(1).len(), 2);
}

#[test]
fn a_module_stands_on_the_kernel_and_leaves_no_trace() {
    let kernel = kernel();
    let mut module = Writer::behind(&kernel);
    module.add("tun_net_xmit", 12, 18, &[], 0); // 21
    module.add("btf_trace_ovs_do_execute_action", 8, 13, &[], 0); // 22
    let mut types = Types::parse(&kernel.octets()).expect("whole");
    for _ in 0..2 {
        let found = types.with_module(&module.octets(), |types, first| {
            assert_eq!(first, 21);
            types.functions(first)
        });
        assert_eq!(found, Ok(vec![function("tun_net_xmit", 1)]));
        let found = types.with_module(&module.octets(), Types::tracepoints).expect("whole");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].skb_at), ("ovs_do_execute_action", 2));
        assert_eq!(types.functions(1), [function("packet_rcv", 1)]);
    }
}

#[test]
fn what_is_cut_short_or_strange_is_refused_and_harmless() {
    let octets = kernel().octets();
    for length in 0..octets.len() {
        assert!(Types::parse(&octets[..length]).is_err(), "{length} octets");
    }
    // Each byte is changed in turn: parsing fails or gives some result, but does not panic.
    for at in 0..octets.len() {
        let mut bent = octets.clone();
        bent[at] ^= 0xff;
        if let Ok(types) = Types::parse(&bent) {
            let _ = (
                types.tracepoints(1),
                types.functions(1),
                types.values("skb_drop_reason"),
            );
        }
    }
}

#[test]
fn this_kernels_own_types_are_read() {
    let Ok(octets) = std::fs::read("/sys/kernel/btf/vmlinux") else {
        return testing::skip("types of this kernel", "no /sys/kernel/btf/vmlinux");
    };
    let types = Types::parse(&octets).expect("whole");
    let tracepoints = types.tracepoints(1);
    for name in ["netif_receive_skb", "net_dev_queue", "consume_skb", "kfree_skb"] {
        let found = tracepoints.iter().find(|tracepoint| tracepoint.name == name);
        assert_eq!(found.expect(name).skb_at, 0);
    }
    assert!(types.functions(1).len() > 500);
}
