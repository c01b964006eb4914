//! Relays that are set wrongly, each with the scenarios that show it.

use crate::played::Set;
use crate::relays::{BARE, CABLE, FAR, FEEDER, UNDERVOLTAGE, ZONE, differential, zone};

/// The relays.
pub(crate) const FALSE: &[Set] = &[
    BARE.plays(&[zone!("11", "0.66667")], &["zone1-boundary-outside"]),
    BARE.plays(&[zone!("8.8", "0.66667")], &["zone1-boundary-inside"]),
    BARE.plays(&[zone!("7.9", "0.66667")], &["zone1-mutual-inside"]),
    BARE.plays(&[zone!("9.8955", "0")], &["zone1-ag", "zone1-bg", "zone1-cg"]),
    BARE.plays(&[zone!("40", "0.66667")], &[
        "zone1-outside",
        "zone1-resistance-outside",
        "zone1-sir30-outside",
        "zone1-mutual-outside",
        "zone1-evolving-from-outside",
        "ct-saturation-outside",
        "swing-stable",
        "swing-unstable",
    ]),
    BARE.plays(&[zone!("9.8955", "0.66667", "mode = 'reverse'")], &[
        "zone1-reverse",
        "zone1-reverse-ag",
        "zone1-ab",
        "zone1-bc",
        "zone1-ca",
        "zone1-abg",
        "zone1-bcg",
        "zone1-cag",
        "zone1-abc",
        "zone1-sir30-inside",
        "zone1-evolving",
    ]),
    BARE.plays(&[zone!("2", "0.66667")], &["zone1-resistance", "zone1-cross-country", "swing-fault"]),
    // A relay that looks at its own side alone, and one that cannot be restrained.
    BARE.stream(FAR).plays(&[("I>>", "pioc = { pickup = 4 }\nstream = \"bay1\"")], &["differential-outside"]),
    BARE.stream(FAR).plays(&[differential!("saturation = false, second-harmonic = 0, characteristic = { slope2 = 0.1, slope3 = 0.1 }")], &["differential-outside-saturation"]),
    BARE.stream(FAR).plays(
        &[(
            "87L",
            "pdif = { rated-current-a = [50000, 50000], characteristic = { low = 0.5 } }\nsides = [\"bay1\", \"far\"]",
        )],
        &["differential-inside", "differential-inside-ag"],
    ),
    BARE.plays(&[UNDERVOLTAGE], &["fuse-failure", "fuse-failure-two", "fuse-failure-unbalanced"]),
    BARE.plays(&[ZONE], &["switch-on-to-fault"]),
    BARE.plays(&[("I>>", "pioc = { pickup = 40 }")], &["ct-saturation-inside"]),
    BARE.plays(&[("I>", "ptoc = { pickup = 0.5, delay-ms = 100 }")], &["heavy-load", "switch-on-to-line"]),
    FEEDER.plays(&[("I>>", "pioc = { pickup = 1.1 }")], &["load", "overcurrent-below"]),
    FEEDER.plays(&[("I>>", "pioc = { pickup = 3 }")], &["inrush", "overcurrent-definite"]),
    FEEDER.plays(&[("I>>", "pioc = { pickup = 11 }")], &["overcurrent"]),
    FEEDER.plays(&[(
        "I>>dir",
        "ptoc = { pickup = 5, delay-ms = 0, direction.phase = { mode = 'reverse' } }",
    )], &["directional-forward"]),
    FEEDER.plays(&[("I>", "ptoc = { pickup = 5, delay-ms = 0 }")], &["directional-reverse"]),
    FEEDER.plays(&[(
        "I>",
        "ptoc = { pickup = 2, curve = 'iec-very-inverse', time-multiplier = 0.2 }",
    )], &[
        "overcurrent-normal-inverse",
        "overcurrent-very-inverse",
        "overcurrent-extremely-inverse",
    ]),
    FEEDER.plays(&[(
        "I2>",
        "ptoc = { quantity = 'negative-sequence', pickup = 0.03, delay-ms = 300 }",
    )], &["negative-sequence", "negative-sequence-load"]),
    // Without a direction, with the pickups of the stages that have one.
    CABLE.plays(&[("I0>", "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300 }")], &["earth-fault-isolated-outside"]),
    CABLE.plays(&[("I0>", "ptoc = { quantity = 'residual', pickup = 0.03, delay-ms = 300 }")], &["earth-fault-compensated-outside"]),
    CABLE.plays(&[("I0>", "ptoc = { quantity = 'residual', pickup = 0.2, delay-ms = 300 }")], &["earth-fault-resistance-outside"]),
    CABLE.plays(&[(
        "I0>sin",
        "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300, direction.earth = { earthing = 'isolated' } }",
    )], &["earth-fault-compensated"]),
    CABLE.plays(&[(
        "I0>cos",
        "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300, direction.earth = { earthing = 'compensated' } }",
    )], &["earth-fault-isolated"]),
    CABLE.plays(&[("I0>", "ptoc = { quantity = 'residual', pickup = 8, delay-ms = 300 }")], &["earth-fault-resistance"]),
    FEEDER.plays(&[("I>>", "pioc = { pickup = 40 }")], &["cross-country"]),
    FEEDER.plays(&[("f<", "frequency = { limit.under = 49.5, delay-ms = 200 }")], &["underfrequency", "frequency-dip"]),
    FEEDER.plays(&[("f>", "frequency = { limit.over = 51.5, delay-ms = 600 }")], &["overfrequency"]),
    BARE.breaker("retrip-ms = 0, backtrip-ms = 300").plays(&[ZONE], &["breaker-failure"]),
    BARE.breaker("retrip-ms = 0, backtrip-ms = 150, criterion = 'contact'").plays(&[ZONE], &["breaker-opens"]),
];
