"""NumPy's and Python's errors in a learner's words."""

from __future__ import annotations

import re

# What the message says, the kind it is, and the same in plain words.
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        r"mismatch in its core dimension|shapes .* not aligned",
        "inner sizes",
        "In a matrix product the inner sizes must agree: (..., a, b) @ (..., b, c). "
        "Write the shapes of both factors beside the line",
    ),
    (
        r"axes don't match|repeated axis|axis .* is out of bounds",
        "axes",
        "The axes named in the code do not fit this number of axes. Count from the end: "
        "the last two axes are -2 and -1 whatever stands before them",
    ),
    (
        r"could not be broadcast|cannot be broadcast|non-broadcastable",
        "broadcast",
        "Two shapes do not fit together element by element. NumPy lines them up from the last "
        "axis; `keepdims=True` or a new axis often helps",
    ),
    (
        r"cannot reshape array",
        "reshape",
        "The new shape does not hold as many numbers as the old one",
    ),
    (
        r"Cannot cast ufunc|cannot convert float|output array .* casting",
        "casting",
        "Whole numbers cannot hold the result in place. Work on a new array of floats",
    ),
    (
        r"truth value of an array",
        "truth value",
        "An `if`, `max(...)` or `and` met a whole array where it needs one True or False. "
        "NumPy's own functions (`np.max`, `np.where`) work on arrays",
    ),
    (
        r"module 'numpy' has no attribute",
        "no such function",
        "NumPy has no function of that name",
    ),
    (
        r"read-only",
        "read-only",
        "The argument may not be changed. Work on a new array",
    ),
    (
        r"values to unpack",
        "unpacking",
        "The shape has more or fewer axes than there are names for. `x.shape[-2]` and "
        "`x.shape[-1]` are right whatever stands before them",
    ),
    (
        r"in einstein sum|einstein sum subscripts",
        "einsum letters",
        "The letters of `einsum` name more or fewer axes than there are. `...` in front of them "
        "stands for any leading axes",
    ),
    (
        r"'float' object cannot be interpreted as an integer",
        "float as a size",
        "A size must be a whole number. `/` gives a float even where nothing is left over; "
        "`//` gives a whole number",
    ),
    (
        r"operand type.* 'tuple'|tuple indices must be",
        "pair",
        "Is a pair such as (out, weights) used as if it were one array? Give both a name: "
        "`out, weights = ...`",
    ),
    (
        r"inhomogeneous shape|setting an array element with a sequence",
        "ragged",
        "Parts of different lengths or shapes do not make one array. Are they rows that lost "
        "entries, or two things side by side, such as (out, weights)",
    ),
    (
        r"boolean index did not match",
        "mask as index",
        "An index of booleans must have the very shape of the array: indexing does not stretch it, "
        "and `np.where` does",
    ),
    (
        r"object is not callable",
        "not callable",
        "Round brackets stand behind something that cannot be called: a method's name or a `*` may "
        "be missing",
    ),
    (
        r"boolean subtract|boolean negative",
        "boolean minus",
        "Booleans cannot be subtracted or negated with `-`. Use `~mask` for 'not'",
    ),
    (
        r"only integer scalar arrays|only 0-dimensional arrays|only length-1 arrays|"
        r"slice indices must be integers",
        "one number wanted",
        "A whole array stands where Python wants one number",
    ),
)


def kind_of(message: str) -> str:
    """Name the kind of an error message, so that two wordings of one slip compare equal."""
    for pattern, kind, _ in _KNOWN:
        if re.search(pattern, message):
            return kind
    return "other"


def in_plain_words(type_name: str, message: str) -> str:
    """Say in one sentence what an error means for the learner."""
    if type_name == "NotImplementedError":
        return "Not written yet."
    if type_name == "MemoryError":
        return "It asked for more memory than an exercise may use."
    if type_name == "RecursionError":
        return "It calls itself without end."
    for pattern, _, words in _KNOWN:
        if re.search(pattern, message):
            return f"{words}."
    return ""
