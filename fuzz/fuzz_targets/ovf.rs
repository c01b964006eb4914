//! Definitions of VMware's virtual machines, as .ovf files.
#![no_main]

#[path = "../audited.rs"]
mod audited;

use audit::parameters::Parameters;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    audited::judge(octets, "x.ovf", "vmware", |file| Parameters {
        vmx: vec![file.to_owned()],
        ..Parameters::default()
    });
});
