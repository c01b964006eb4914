//! Definitions of containers: the first byte selects the format.
#![no_main]

#[path = "../audited.rs"]
mod audited;

use audit::parameters::Parameters;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] = ["config.json", "inspect.json", "compose.yaml", "pod.yaml", "x.container"];

fuzz_target!(|octets: &[u8]| {
    let Some((form, text)) = octets.split_first() else {
        return;
    };
    let name = NAMES[usize::from(*form) % NAMES.len()];
    audited::judge(text, name, "container", |file| Parameters {
        containers: vec![file.display().to_string()],
        ..Parameters::default()
    });
});
