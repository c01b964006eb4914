//! The protocols on the wire of a substation: Ethernet II with 802.1Q tags, sampled values (IEC 61850-9-2, 9-2LE, IEC 61869-9),
//! GOOSE (IEC 61850-8-1), both over UDP (R-GOOSE, R-SV), PRP and HSR (IEC 62439-3), AVTP streams (IEEE 1722), PTP management messages (IEEE 1588), ICMP echo (RFC 792), the layer-2
//! test frame of the `reflect`, `talk` and `listen` probes, and the frame of DPDK's l2reflect.
//!
//! Every protocol has a **checked view** that borrows the frame (`sv::Frame`, `goose::Frame`) and an **owned form** with an
//! encoder (`sv::Message`, `goose::Message`). Parsing checks every rule once; after that no accessor and no iterator can
//! fail. No function of this crate panics on any input, and no decoder allocates.
//!
//! Two shortcuts make the hot paths fast: [`sv::Template`] and [`goose::Template`] are encoded once and patched in
//! place, and
//! [`sv::FastPath`] recognises the next frame of a stream by comparing it with the last accepted one.
//!
//! Offsets in errors count octets from the first octet of the frame as it was captured, starting at 0.
#![forbid(unsafe_code)]

pub mod avtp;
pub mod ber;
mod bytes;
pub mod echo;
pub mod ether;
pub mod frame_error;
pub mod goose;
mod hash;
pub mod header;
pub mod l2reflect;
mod limits;
pub mod order;
pub mod ptp;
pub mod quality;
pub mod redundancy;
pub mod routed;
pub mod sequence;
pub mod sv;
mod tag;
pub mod test_frame;
pub mod time;

pub use frame_error::{Field, FrameError, Rule};
