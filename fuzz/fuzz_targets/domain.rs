//! Definitions of libvirt domains.
#![no_main]

#[path = "../audited.rs"]
mod audited;

use audit::parameters::Parameters;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    audited::judge(octets, "x.xml", "domain", |file| Parameters {
        domains: vec![file.display().to_string()],
        ..Parameters::default()
    });
});
