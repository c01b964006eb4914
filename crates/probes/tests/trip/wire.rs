//! Traffic on the network, as seen by a third station.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use sys::packet::{PacketPort, PortOptions, RxStamp};
use units::Realtime;
use wire::ether::{self, EthernetView};
use wire::{goose, sv};

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// svID, or name of the control block.
    pub(crate) name: String,
    pub(crate) smp_cnt: u16,
    /// The kernel's stamp.
    pub(crate) at: Realtime,
}

/// Records the frames until it is asked for them.
pub(crate) struct Wire {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Seen>>,
}

impl Wire {
    /// Starts on a port that was opened with [`options`].
    pub(crate) fn watch(mut port: PacketPort) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Vec::new();
            while !told.load(Ordering::Relaxed) {
                let _ = port.wait(1_000_000);
                while let Some(frame) = port.next() {
                    if let RxStamp::Software(at) | RxStamp::Socket(at) = frame.stamp() {
                        seen.extend(parsed(frame.data(), at));
                    }
                }
            }
            seen
        });
        Self { stop, thread }
    }

    /// All frames so far.
    pub(crate) fn seen(self) -> Vec<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic")
    }
}

pub(crate) fn options() -> PortOptions {
    PortOptions {
        ethertypes: vec![ether::SV, ether::GOOSE],
        ring_frames: 8_192,
        promiscuous: true,
        ..PortOptions::default()
    }
}

fn parsed(octets: &[u8], at: Realtime) -> Option<Seen> {
    let view = EthernetView::parse(octets).ok()?;
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    if let Ok(frame) = goose::Frame::parse(&view) {
        let name = text(frame.gocb_ref());
        return Some(Seen { name, smp_cnt: 0, at });
    }
    let frame = sv::Frame::parse(&view).ok()?;
    let asdu = frame.asdus().next()?;
    Some(Seen {
        name: text(asdu.sv_id()),
        smp_cnt: asdu.smp_cnt(),
        at,
    })
}
