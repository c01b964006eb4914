//! The number that a frame carries.

use wire::ether::EthernetView;
use wire::sv;
use wire::test_frame::{self, TestFrame};

/// Sequence number of a test frame, or smpCnt of the first ASDU of an SV frame.
pub(super) fn of(frame: &[u8]) -> Option<u64> {
    let ethernet = EthernetView::parse(frame).ok()?;
    match ethernet.ether_type() {
        test_frame::ETHER_TYPE => TestFrame::parse(&ethernet).ok().map(|frame| frame.sequence),
        wire::ether::SV => {
            let frame = sv::Frame::parse(&ethernet).ok()?;
            let first = frame.asdus().next()?;
            Some(u64::from(first.smp_cnt()))
        }
        _ => None,
    }
}
