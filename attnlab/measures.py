"""What is read off an answer's results before they are compared.

Measures run where results are judged, never where the learner's code runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from attnlab.example import BLANK, shares

Arrays = Mapping[str, np.ndarray]


def results(arrays: Arrays) -> Arrays:
    """Take the results as they are."""
    return arrays


def two_decimals(arrays: Arrays) -> Arrays:
    """Round results as far as paper can tell: weights to two decimals, all else to one.

    Who works with two decimals on each step is off by less than that.
    """
    return {
        name: np.round(array.astype(float), 2 if name == "weights" else 1)
        for name, array in arrays.items()
    }


def blank_row(arrays: Arrays) -> Arrays:
    """Read off how the blank of the worked example shares out its attention.

    Returns `he`, `work` (both together), and `other`: the largest share of any comma or
    other pronoun.
    """
    weights = shares(arrays["w_q"], arrays["w_k"])[BLANK]
    i, work, comma, you, work_again, comma_again, he, _ = weights
    other = max(i, comma, you, comma_again)
    return {"he": he, "work": work + work_again, "other": other}


def seeded(arrays: Arrays) -> Arrays:
    """Read off whether one seed gives one result and another seed another."""
    return {
        "one_seed_one_result": np.asarray(np.array_equal(arrays["first"], arrays["again"])),
        "another_seed_another_result": np.asarray(
            not np.array_equal(arrays["first"], arrays["other"])
        ),
    }


def drawn_layer(arrays: Arrays) -> Arrays:
    """Read off what a new layer's weights were drawn like.

    Returns shapes, the spread (standard deviation times √d_model, so about 1), whether all
    four matrices differ, whether one seed gives one layer and another seed another, and
    whether NumPy's global stream was left alone.
    """
    names = ("w_q", "w_k", "w_v", "w_o")
    matrices = [arrays[name] for name in names]
    flat = np.concatenate([matrix.ravel() for matrix in matrices])
    d_model = matrices[0].shape[0] if matrices[0].ndim else 1
    drawn = {f"{name}_shape": np.array(m.shape) for name, m in zip(names, matrices, strict=True)}
    drawn["spread"] = np.asarray(np.std(flat) * math.sqrt(d_model))
    drawn["all_differ"] = np.asarray(
        not any(np.array_equal(matrices[i], matrices[j]) for i in range(4) for j in range(i))
    )
    drawn["seed_repeats"] = np.asarray(np.array_equal(flat, arrays["again"]))
    drawn["seed_matters"] = np.asarray(not np.array_equal(flat, arrays["other"]))
    drawn["stream_left_alone"] = np.asarray(
        np.array_equal(arrays["stream"], arrays["quiet_stream"])
    )
    if "n_parameters" in arrays:
        drawn["n_parameters"] = arrays["n_parameters"]
    return drawn


# Properties that should be True, and what to say where one is not.
PROPERTIES = {
    "all_differ": "Its four matrices should all differ.",
    "seed_repeats": "One seed should give one layer: the same weights each time.",
    "seed_matters": "Another seed should give other weights.",
    "stream_left_alone": "It should leave NumPy's global stream alone and draw from a generator "
    "of its own.",
    "one_seed_one_result": "The same `rng` should give the same result.",
    "another_seed_another_result": "Another `rng` should give another result.",
}

MEASURES: dict[str, Callable[[Arrays], Arrays]] = {
    "results": results,
    "two_decimals": two_decimals,
    "blank_row": blank_row,
    "seeded": seeded,
    "drawn_layer": drawn_layer,
}
