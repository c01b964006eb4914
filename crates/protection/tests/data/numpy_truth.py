"""Phasors, RMS and DC removal by NumPy, for tests/measurement.rs: python3 numpy_truth.py > numpy_truth.json

Each case is a signal by its parameters, so that both sides make the same samples:
x[n] = sum sqrt2 * rms * cos(2 pi f order n / rate + phase) + offset * exp(-n / (tau rate)).
"""

import json

import numpy as np

ORDERS = [1, 2, 3, 5, 7, 9]


def signal(case, count):
    n = np.arange(count)
    turns = 2 * np.pi * case["f"] * n / case["rate"]
    x = sum(
        np.sqrt(2) * rms * np.cos(order * turns + np.radians(degrees))
        for order, rms, degrees in case["parts"]
    )
    if case["tau"]:
        x = x + case["offset"] * np.exp(-n / (case["tau"] * case["rate"]))
    return x


def phasors(x, last, window):
    """Full-cycle DFT with the angle of the absolute sample number: NumPy's FFT begins at the window's first sample."""
    first = last - window + 1
    spectrum = np.fft.fft(x[first : last + 1])
    return [
        np.sqrt(2) / window * spectrum[order] * np.exp(-2j * np.pi * order * first / window)
        for order in ORDERS
    ]


def mimic(x, tau_samples, window):
    """The filter on samples, divided by its gain at each order: what our filter on phasors must equal."""
    filtered = (1 + tau_samples) * x - tau_samples * np.concatenate(([0.0], x[:-1]))
    gains = [1 + tau_samples - tau_samples * np.exp(-2j * np.pi * order / window) for order in ORDERS]
    return filtered, gains


CASES = [
    dict(name="fundamental", rate=4000, f0=50, f=50.0, parts=[[1, 100.0, 30.0]], offset=0.0, tau=0.0),
    dict(name="off nominal", rate=4800, f0=60, f=58.7, parts=[[1, 100.0, -75.0]], offset=0.0, tau=0.0),
    dict(
        name="harmonics",
        rate=4800,
        f0=50,
        f=50.0,
        parts=[[1, 80.0, 10.0], [2, 12.0, 100.0], [3, 20.0, -50.0], [5, 9.0, 5.0], [7, 4.0, 77.0], [9, 2.0, -130.0]],
        offset=0.0,
        tau=0.0,
    ),
    dict(
        name="decaying DC",
        rate=4000,
        f0=50,
        f=50.0,
        parts=[[1, 1000.0, -60.0], [5, 30.0, 0.0]],
        offset=1414.0,
        tau=0.06,
    ),
    dict(name="fault off nominal", rate=14400, f0=60, f=60.4, parts=[[1, 5.0, 160.0]], offset=7.0, tau=0.02),
]

for case in CASES:
    window = case["rate"] // case["f0"]
    x = signal(case, 5 * window)
    tau_samples = 0.045 * case["rate"]
    filtered, gains = mimic(x, tau_samples, window)
    case["answers"] = []
    for last in (window + 3, 2 * window + 17, 5 * window - 1):
        plain = phasors(x, last, window)
        clean = [value / gain for value, gain in zip(phasors(filtered, last, window), gains)]
        case["answers"].append(
            dict(
                last=last,
                plain=[[value.real, value.imag] for value in plain],
                clean=[[value.real, value.imag] for value in clean],
                rms=float(np.sqrt(np.mean(x[last - window + 1 : last + 1] ** 2))),
            )
        )

print(json.dumps(dict(numpy=np.__version__, orders=ORDERS, cases=CASES), indent=1))
