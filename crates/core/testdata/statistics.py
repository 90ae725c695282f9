"""Writes statistics.json, the reference values for crates/core/src/statistics.

Needs scipy and scikit-learn; the tests need neither, they only read the file:

    python statistics.py > statistics.json
"""

import itertools
import json
import math
import random
import sys

import numpy
import scipy
import sklearn
from scipy import stats
from sklearn import metrics

random.seed(7)


def interval(pair):
    return [float(pair[0]), float(pair[1])]


def wilson():
    for trials in [1, 2, 3, 5, 10, 20, 37, 100, 1000]:
        for successes in sorted({0, 1, trials // 3, trials // 2, trials - 1, trials}):
            ci = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
            yield {"successes": successes, "trials": trials, "interval": interval(ci)}


def samples():
    yield [0.5]
    yield [0.0, 1.0]
    yield [1.0, 1.0, 1.0]
    yield [0.3333, 0.6667, 1.0]
    yield [45.0, 32.0, 58.0, 41.5, 39.25]
    yield [3800, 3200, 4100, 4090]
    for size in [7, 15, 31, 120, 1000]:
        yield [round(random.gauss(0.4, 0.3), 4) for _ in range(size)]


def spread(values):
    result = {
        "values": values,
        "mean": float(numpy.mean(values)),
        "deviation": float(numpy.std(values, ddof=1)) if len(values) > 1 else 0.0,
        "interval": None,
    }
    if len(values) > 1:
        half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
        result["interval"] = interval((result["mean"] - half, result["mean"] + half))
    return result


def within():
    """Every deal of each case's runs, by enumeration."""
    cases = [
        [([1, 1, 1], [0, 0, 0])] * 3,
        [([1, 1, 0], [0, 0, 1]), ([1, 1, 1], [1, 0, 0]), ([0.5, 0.25, 1], [0, 0.25, 0.5])],
        [([1, 0], [0, 0]), ([1, 1, 1], [0, 1])],
        [([0.1, 0.7, 0.4, 0.9], [0.2, 0.3, 0.8])],
        [([0.6667, 1.0], [0.3333, 0.0]), ([0.7143, 0.5], [0.2, 0.9])],
        [([1], [0])] * 7,
        [([math.pi / 4, 0.3], [math.e / 10, 0.9])] * 2,
    ]
    for case in cases:
        differences = []
        for one, other in case:
            both = list(one) + list(other)
            of_case = []
            for chosen in itertools.combinations(range(len(both)), len(one)):
                rest = [both[k] for k in range(len(both)) if k not in chosen]
                of_case.append(numpy.mean([both[k] for k in chosen]) - numpy.mean(rest))
            differences.append(of_case)
        observed = sum(of_case[0] for of_case in differences)
        deals = [sum(deal) for deal in itertools.product(*differences)]
        yield {
            "cases": [[list(one), list(other)] for one, other in case],
            "difference": float(observed / len(case)),
            "two_sided": sum(abs(d) >= abs(observed) - 1e-9 for d in deals) / len(deals),
            "upper": sum(d >= observed - 1e-9 for d in deals) / len(deals),
        }


def student():
    for freedom in [1, 2, 3, 4, 5, 9, 19, 30, 99, 500, 10000]:
        for t in [-2.5, 0.0, 0.1, 1.0, 2.0, 3.5, 12.0]:
            yield {
                "freedom": freedom,
                "t": t,
                "cdf": float(stats.t.cdf(t, freedom)),
                "quantile_975": float(stats.t.ppf(0.975, freedom)),
            }


def sign_tests():
    for first, second in [(0, 0), (1, 0), (5, 0), (6, 0), (3, 3), (8, 2), (2, 8), (40, 20), (600, 500), (3000, 0)]:
        total = first + second
        p = float(stats.binomtest(first, total).pvalue) if total else 1.0
        yield {"first": first, "second": second, "p_value": p}


def differences():
    yield [0.0, 0.0, 0.0]
    yield [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    yield [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0]
    yield [0.3333, 0.6667, -0.3333, 0.0, 1.0, 0.6667, 0.3333]
    yield [0.1, -0.1, 0.1, -0.1]
    for size in [8, 10, 12]:
        yield [round(random.gauss(0.2, 0.4), 2) for _ in range(size)]
    yield [round(random.gauss(0.1, 0.4), 2) for _ in range(20)]
    yield [round(random.gauss(0.0, 0.4), 2) for _ in range(18)]


def permutation(values):
    def mean(sample, axis):
        return numpy.mean(sample, axis=axis)

    exact = stats.permutation_test(
        (numpy.array(values),), mean, permutation_type="samples", n_resamples=numpy.inf,
        alternative="two-sided", vectorized=True,
    ) if any(values) else None
    return {"differences": values, "p_value": min(1.0, float(exact.pvalue)) if exact else 1.0}


def attempts():
    for n, c in [(1, 0), (1, 1), (3, 0), (3, 1), (3, 2), (3, 3), (10, 4), (200, 13)]:
        for k in sorted({1, 2, n // 2, n} - {0}):
            if k <= n:
                yield {
                    "attempts": n,
                    "passed": c,
                    "k": k,
                    "any": 1.0 - math.comb(n - c, k) / math.comb(n, k),
                    "all": math.comb(c, k) / math.comb(n, k),
                }


def raters():
    for categories, size, noise in [(2, 30, 0.2), (2, 12, 0.5), (5, 60, 0.3), (3, 9, 1.0)]:
        first = [random.randrange(categories) for _ in range(size)]
        second = [random.randrange(categories) if random.random() < noise else rating for rating in first]
        yield {"first": first, "second": second, "kappa": float(metrics.cohen_kappa_score(first, second))}


def scores():
    for size, step in [(6, 0.25), (40, 0.01), (15, 0.5)]:
        positive = [round(random.gauss(0.6, 0.3) / step) * step for _ in range(size)]
        negative = [round(random.gauss(0.4, 0.3) / step) * step for _ in range(size + 3)]
        u = stats.mannwhitneyu(positive, negative).statistic
        yield {"positive": positive, "negative": negative, "area": float(u) / (len(positive) * len(negative))}


def classifications():
    for tp, fp, fn, tn in [(8, 2, 1, 9), (5, 0, 0, 5), (1, 7, 3, 0), (0, 2, 3, 4)]:
        truth = [1] * tp + [0] * fp + [1] * fn + [0] * tn
        given = [1] * tp + [1] * fp + [0] * fn + [0] * tn
        yield {
            "counts": [tp, fp, fn, tn],
            "precision": float(metrics.precision_score(truth, given)),
            "recall": float(metrics.recall_score(truth, given)),
            "f1": float(metrics.f1_score(truth, given)),
            "accuracy": float(metrics.accuracy_score(truth, given)),
        }


json.dump(
    {
        "made_with": {"scipy": scipy.__version__, "scikit-learn": sklearn.__version__},
        "wilson": list(wilson()),
        "spread": [spread(values) for values in samples()],
        "student": list(student()),
        "sign_tests": list(sign_tests()),
        "permutation": [permutation(values) for values in differences()],
        "attempts": list(attempts()),
        "kappa": list(raters()),
        "area_under_curve": list(scores()),
        "classification": list(classifications()),
        "within": list(within()),
    },
    sys.stdout,
    indent=1,
)
print()
