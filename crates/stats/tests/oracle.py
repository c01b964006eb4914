"""Answers of SciPy to the questions in the file given, one JSON object per line; see scipy.rs."""

import json
import sys

import numpy as np
from scipy import stats


def answer(question):
    kind = question["kind"]
    if kind == "gev":
        # SciPy's shape has the opposite sign.
        shape, location, scale = -question["shape"], question["location"], question["scale"]
        at = np.array(question["at"])
        # The level that is exceeded once in so many blocks, with -ln F = 1 / blocks.
        shares = np.exp(-1 / np.array(question["blocks"]))
        return {"log-likelihood": stats.genextreme.logpdf(at, shape, location, scale).sum(),
                "levels": stats.genextreme.ppf(shares, shape, location, scale).tolist()}
    if kind == "gev-fit":
        values = np.array(question["values"])
        ours = -question["shape"], question["location"], question["scale"]
        likelihoods = [stats.genextreme.logpdf(values, *parameters).sum() for parameters in
                       (ours, stats.genextreme.fit(values, -0.1), stats.genextreme.fit(values))]
        # A search of SciPy's that ends outside the support says nothing.
        found = [likelihood for likelihood in likelihoods if np.isfinite(likelihood)]
        return {"ours": float(likelihoods[0]), "best": float(max(found))}
    if kind == "clopper-pearson":
        over, n, confidence = question["over"], question["n"], question["confidence"]
        return {"upper": float(stats.beta.ppf(confidence, over + 1, n - over)),
                "rate": float(stats.chi2.ppf(confidence, 2 * (over + 1)) / 2)}
    if kind == "trend":
        values = np.array(question["values"])
        slope = stats.theilslopes(values, np.arange(len(values))).slope
        return {"slope": float(slope)}
    raise ValueError(kind)


for line in open(sys.argv[1]):
    print(json.dumps(answer(json.loads(line))))
