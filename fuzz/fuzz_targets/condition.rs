//! Conditions of rules: no text makes the reader panic; if no fact is known, no comparison is true.
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
    // A condition with a fact is unknown, unless it has words that decide an unknown side.
    assert!(
        !(asks && decided) || settles.iter().any(|word| text.contains(word)),
        "{text}"
    );
});
