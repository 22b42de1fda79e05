"""The worked example of the course: "I work, you work, he ___", as numbers one can read.

Every token is a row of features that a person can check: which pronoun or what kind of
word it is. Nothing here is learned.
"""

from __future__ import annotations

import math

import numpy as np

TOKENS = ("I", "work", ",", "you", "work", ",", "he", "___")
BLANK = 7  # the position whose word is asked for

FEATURES = ("pronoun", "verb", "comma", "blank", "first", "second", "third")
TABLE = np.array(
    # pronoun, verb, comma, blank, first, second, third person
    [
        [1, 0, 0, 0, 1, 0, 0],  # I
        [0, 1, 0, 0, 0, 0, 0],  # work
        [0, 0, 1, 0, 0, 0, 0],  # ,
        [1, 0, 0, 0, 0, 1, 0],  # you
        [1, 0, 0, 0, 0, 0, 1],  # he
        [0, 0, 0, 1, 0, 0, 0],  # ___
    ],
    dtype=float,
)
IDS = np.array([0, 1, 2, 3, 1, 2, 4, 5])  # the row of TABLE for each token
X = TABLE[IDS]  # (T, d_model) = (8, 7)
TABLE.flags.writeable = IDS.flags.writeable = X.flags.writeable = False


def shares(w_q: np.ndarray, w_k: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Say how each token of the worked example shares its attention out over all eight.

    Each score is what the token asks for times what the other offers; each share is
    proportional to e to the score over the temperature. This draws the pictures of lab00,
    one number at a time; lab01 is where you build it for any array and for any size of
    score.

    Parameters
    ----------
    w_q, w_k : (7, d_k) arrays
    temperature : above 0; small is close to a hard choice, large to a plain mean

    Returns
    -------
    (8, 8) array, one row a token, nan where the scores are too large for this plain way
    """
    asks = [[_dot(x, column) for column in np.transpose(w_q)] for x in X]
    offers = [[_dot(x, column) for column in np.transpose(w_k)] for x in X]
    rows = []
    for ask in asks:
        try:
            sizes = [math.exp(_dot(ask, offer) / temperature) for offer in offers]
            rows.append([size / sum(sizes) for size in sizes])
        except (OverflowError, ZeroDivisionError):
            rows.append([math.nan] * len(offers))
    return np.array(rows)


def _dot(a: object, b: object) -> float:
    return float(sum(x * y for x, y in zip(a, b, strict=True)))  # type: ignore[call-overload]
