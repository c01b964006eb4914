//! Conditions of rules: no text makes the reader panic; over facts of which none is known, no comparison is true.
#![no_main]

use audit::condition::{Condition, evaluate};
use audit::facts::Facts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(condition) = Condition::parse(text) else {
        return;
    };
    let asks = !condition.facts().is_empty();
    let decided = evaluate(&condition, &Facts::default(), None).is_ok();
    let settles = ["or", "and", "known", "either", "exists"];
    // Without words that settle an unknown side, a condition that asks for a fact is unknown.
    assert!(
        !(asks && decided) || settles.iter().any(|word| text.contains(word)),
        "{text}"
    );
});
