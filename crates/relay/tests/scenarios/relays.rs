//! Relays with settings for the scenarios of the test set.

use crate::played::Set;

/// Zone 1 with this reach in ohm, zero-sequence factor, and further settings.
macro_rules! zone {
    ($reach:literal, $k0:literal $(, $more:literal)?) => {
        (
            "zone1",
            concat!(
                "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = ", $reach, ", k0 = ", $k0, $(", ", $more,)? " }"
            ),
        )
    };
}
pub(crate) use zone;

/// Zone 1 over 80 % of the line of the scenarios.
pub(crate) const ZONE: (&str, &str) = zone!("9.8955", "0.66667");

/// Undervoltage without a supervision of fuses.
pub(crate) const UNDERVOLTAGE: (&str, &str) = ("U<", "ptuv = { delay-ms = 60 }");

/// A relay without functions.
pub(crate) const BARE: Set = Set {
    rated: [400, 110_000],
    stream: "",
    functions: &[],
    breaker: "",
    scenarios: &[],
};

/// Of a feeder of 20 kV.
pub(crate) const FEEDER: Set = Set {
    rated: [400, 20_000],
    ..BARE
};

/// Of a cable of 20 kV, with the rated current of its sensitive transformer.
pub(crate) const CABLE: Set = Set {
    rated: [100, 20_000],
    ..BARE
};

/// The far side of a line.
pub(crate) const FAR: &str = "[[stream]]\nname = \"far\"\nsv = { svID = \"MU02\", profile = \"F4800S1I4U4\" }\n";

/// A differential function of a line with these further settings.
macro_rules! differential {
    ($($settings:literal)?) => {
        ("87L", concat!("pdif = { rated-current-a = [400, 400]", $(", ", $settings,)? " }\nsides = [\"bay1\", \"far\"]"))
    };
}
pub(crate) use differential;

pub(crate) const OF_LINES: &[Set] = &[
    BARE.stream(FAR).plays(&[differential!()], &[
        "differential-inside",
        "differential-inside-ag",
        "differential-outside",
        "differential-outside-saturation",
    ]),
    BARE.plays(&[ZONE], &[
        "zone1-ag",
        "zone1-bg",
        "zone1-cg",
        "zone1-ab",
        "zone1-bc",
        "zone1-ca",
        "zone1-abg",
        "zone1-bcg",
        "zone1-cag",
        "zone1-abc",
        "zone1-resistance",
        "zone1-resistance-outside",
        "zone1-boundary-inside",
        "zone1-boundary-outside",
        "zone1-outside",
        "zone1-reverse",
        "zone1-reverse-ag",
        "zone1-sir30-inside",
        "zone1-sir30-outside",
        "zone1-evolving",
        "zone1-evolving-from-outside",
        "zone1-cross-country",
        "zone1-mutual-inside",
        "zone1-mutual-outside",
        "ct-saturation-inside",
        "ct-saturation-outside",
    ]),
    BARE.stream("swing = {}").plays(&[ZONE], &["swing-stable", "swing-unstable", "swing-fault"]),
    BARE.plays(&[(
        "Z3",
        "pdis = { zone = 3, reach-ohm = 60, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, phase-delay-ms = 600, earth-delay-ms = 600, \
         load = { resistance-ohm = 35, angle-deg = 35 } }",
    )], &["heavy-load"]),
    BARE.stream("fuse = {}").plays(&[("SOTF", "psof = {}"), ZONE], &["switch-on-to-fault", "switch-on-to-line"]),
    BARE.stream("fuse = {}").plays(&[ZONE, UNDERVOLTAGE], &["fuse-failure", "fuse-failure-two", "fuse-failure-unbalanced"]),
    BARE.breaker("retrip-ms = 0, backtrip-ms = 150").plays(&[ZONE], &["breaker-failure", "breaker-opens"]),
];

pub(crate) const OF_FEEDERS: &[Set] = &[
    FEEDER.plays(&[("I>>", "pioc = { pickup = 5 }")], &["overcurrent", "load"]),
    FEEDER.plays(&[("I>>", "pioc = { pickup = 10 }")], &["inrush"]),
    FEEDER.plays(&[("I>", "ptoc = { pickup = 2, delay-ms = 500 }")], &["overcurrent-definite", "overcurrent-below"]),
    FEEDER.plays(&[(
        "I>",
        "ptoc = { pickup = 2, curve = 'iec-normal-inverse', time-multiplier = 0.1 }",
    )], &["overcurrent-normal-inverse"]),
    FEEDER.plays(&[(
        "I>",
        "ptoc = { pickup = 2, curve = 'iec-very-inverse', time-multiplier = 0.1 }",
    )], &["overcurrent-very-inverse"]),
    FEEDER.plays(&[(
        "I>",
        "ptoc = { pickup = 2, curve = 'iec-extremely-inverse', time-multiplier = 0.05 }",
    )], &["overcurrent-extremely-inverse"]),
    FEEDER.plays(&[(
        "I2>",
        "ptoc = { quantity = 'negative-sequence', pickup = 0.2, delay-ms = 500 }",
    )], &["negative-sequence", "negative-sequence-load"]),
    FEEDER.plays(&[("I>>dir", "ptoc = { pickup = 5, delay-ms = 0, direction.phase = {} }")], &["directional-forward", "directional-reverse"]),
    CABLE.plays(&[("I>>", "pioc = { pickup = 12 }")], &["cross-country"]),
    CABLE.plays(&[(
        "I0>sin",
        "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300, direction.earth = { earthing = 'isolated' } }",
    )], &["earth-fault-isolated", "earth-fault-isolated-outside"]),
    CABLE.plays(&[(
        "I0>cos",
        "ptoc = { quantity = 'residual', pickup = 0.03, delay-ms = 300, direction.earth = { earthing = 'compensated' } }",
    )], &["earth-fault-compensated", "earth-fault-compensated-outside"]),
    CABLE.plays(&[(
        "I0>dir",
        "ptoc = { quantity = 'residual', pickup = 0.2, delay-ms = 300, direction.earth = { earthing = 'earthed', characteristic-deg = 0 } }",
    )], &["earth-fault-resistance", "earth-fault-resistance-outside"]),
    FEEDER.plays(&[("f<", "frequency = { limit.under = 49.0, delay-ms = 200 }")], &["underfrequency", "frequency-dip"]),
    FEEDER.plays(&[("f>", "frequency = { limit.over = 51.5, delay-ms = 200 }")], &["overfrequency"]),
];
