//! The fast path against the parser: the first half of the input is learned, the second half offered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ether::EthernetView;
use wire::sv;

fuzz_target!(|octets: &[u8]| {
    let (first, second) = octets.split_at(octets.len() / 2);
    let mut fast = sv::FastPath::new();
    let Ok(learned) = EthernetView::parse(first).and_then(|ethernet| sv::Frame::parse(&ethernet)) else {
        return;
    };
    fast.learn(&learned);
    assert!(fast.accept(first).is_some(), "a frame equals itself");
    let Some(asdus) = fast.accept(second) else { return };
    let ethernet = EthernetView::parse(second).expect("accepted");
    let parsed = sv::Frame::parse(&ethernet).expect("accepted");
    assert_eq!(asdus.len(), parsed.asdu_count());
    for (fast, slow) in asdus.zip(parsed.asdus()) {
        assert_eq!(
            (fast.smp_cnt, fast.smp_synch, fast.seq_data),
            (slow.smp_cnt(), slow.smp_synch(), slow.seq_data())
        );
    }
});
