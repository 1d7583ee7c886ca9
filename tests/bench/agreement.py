"""How far predictions agree with measurements: ranks, quantiles, rows to count."""

import itertools
import math


def kendall_pairs(rows):
    """Pairs of plans ranked rightly and wrongly by prediction, of those whose
    measured times differ by more than the noise of both."""
    agree = disagree = 0
    for a, b in itertools.combinations(rows, 2):
        measured = a["measured_seconds"] - b["measured_seconds"]
        noise = a["measured_mad_seconds"] + b["measured_mad_seconds"]
        if abs(measured) <= noise:
            continue
        predicted = a["predicted_seconds"] - b["predicted_seconds"]
        if measured * predicted > 0:
            agree += 1
        else:
            disagree += 1
    return agree, disagree


def kendall_tau(rows):
    """Kendall's tau over these pairs, None without any; and how many."""
    agree, disagree = kendall_pairs(rows)
    pairs = agree + disagree
    return ((agree - disagree) / pairs if pairs else None), pairs


def distinct(rows):
    """Random plans can be the chosen one or a baseline again."""
    seen, kept = set(), []
    for row in rows:
        key = (row["predicted_seconds"], row["measured_seconds"])
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return kept


def quantile(values, share):
    """The smallest value that `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]
