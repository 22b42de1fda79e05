"""The exported reference module on the test cases of ONNX's `Attention` operator.

Others wrote these inputs and outputs, in the package `onnx`, to try any engine that runs the
operator. What the operator is told by an attribute, our functions are told in their own terms:

- heads side by side (3-D inputs): `split_heads` before, `merge_heads` after;
- fewer heads of keys than of queries: each head of keys stands in for several;
- a cache: the keys of the past in front of those of the present;
- causal, windows: cut out of a larger `causal_mask`, since there T may differ from S;
- `nonpad_kv_seqlen`: `padding_mask`;
- a scale of its own: on the queries.

The operator can also add numbers to the scores, and cap them, which no lab does. The test does that
between our `scores` and our `masked_softmax`. In this way all cases apply; none is left out. The
copies of a cache that the operator hands back are the caller's business here and not compared.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx.backend.test.case.node as node_cases
import onnx.backend.test.case.node.attention  # importing it makes the cases, from a fixed seed
import onnx.helper
import pytest

from tests.reference_module import own as own

Array = np.ndarray

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
ATTRIBUTES = {
    "is_causal", "kv_num_heads", "left_window_size", "q_num_heads", "qk_matmul_output_mode",
    "right_window_size", "scale", "softcap",
    "softmax_precision",  # of no concern here: nothing is worked out in less than was given
}  # fmt: skip

# By the type of the expected numbers; for the last two it is one unit in the last place.
TOLERANCE = {"float32": 1e-5, "float16": 1e-3, "bfloat16": 8e-3}


@dataclass(frozen=True)
class Case:
    """A case as the package has it: arrays by the operator's names for them."""

    name: str
    given: dict[str, Array]
    expected: dict[str, Array]
    attributes: dict[str, Any]


def read_cases() -> Iterator[Case]:
    """Every case whose model is the operator itself.

    Beside each stands one named `…_expanded`: the same numbers for a model that spells the
    operator out in smaller ones, which makes no difference to us.
    """
    for case in node_cases._NodeTestCases:
        node = case.model.graph.node[0]
        if node.op_type != "Attention":
            continue
        inputs, outputs = case.data_sets[0]
        yield Case(
            case.name.removeprefix("test_attention_"),
            dict(zip(named(INPUTS, node.input), inputs, strict=True)),
            dict(zip(named(OUTPUTS, node.output), outputs, strict=True)),
            {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
        )


def named(names: tuple[str, ...], used: list[str]) -> list[str]:
    """The operator's names of the places that are used; an unused one has an empty name."""
    assert len(used) <= len(names), f"the operator has more places now: {list(used)}"
    return [name for name, use in zip(names, used, strict=False) if use]


CASES = list(read_cases())


@dataclass(frozen=True)
class Task:
    """A case in our terms.

    Parameters
    ----------
    q, k, v : (B, H, T, d_k), (B, H, S, d_k), (B, H, S, d_v) arrays
    scale : factor on every score; 1/√d_k when None
    softcap : the largest score, reached smoothly; 0 for none
    bias : what is added to the scores, finite, or None
    mask : array of booleans that stretches to (B, H, T, S), or None
    """

    q: Array
    k: Array
    v: Array
    scale: float | None
    softcap: float
    bias: Array | None
    mask: Array | None


def in_our_terms(own: ModuleType, case: Case, dtype: type) -> Task:
    unknown = set(case.attributes) - ATTRIBUTES
    assert not unknown, f"attributes that this test does not know: {unknown}"
    given = {name: a if a.dtype.kind in "bi" else a.astype(dtype) for name, a in case.given.items()}
    attributes = case.attributes
    q, k, v = given["Q"], given["K"], given["V"]
    if q.ndim == 3:
        q = own.split_heads(q, attributes["q_num_heads"])
        k = own.split_heads(k, attributes["kv_num_heads"])
        v = own.split_heads(v, attributes["kv_num_heads"])
    if "past_key" in given:
        k = np.concatenate([given["past_key"], k], axis=-2)
        v = np.concatenate([given["past_value"], v], axis=-2)
    bias, seen = bias_and_mask(given.get("attn_mask"), k.shape[-2])
    masks = list(masks_of_places(own, case, q.shape[-2], k.shape[-2]))
    if seen is not None:
        masks.append(seen)
    group = q.shape[1] // k.shape[1]
    return Task(
        q,
        np.repeat(k, group, axis=1),
        np.repeat(v, group, axis=1),
        attributes.get("scale"),
        attributes.get("softcap", 0.0),
        bias,
        functools.reduce(np.logical_and, masks) if masks else None,
    )


def bias_and_mask(attn_mask: Array | None, S: int) -> tuple[Array | None, Array | None]:
    """Take the operator's mask apart; of keys that it does not reach, it allows none."""
    if attn_mask is None:
        return None, None
    missing = [(0, 0)] * (attn_mask.ndim - 1) + [(0, S - attn_mask.shape[-1])]
    if attn_mask.dtype == bool:
        return None, np.pad(attn_mask, missing, constant_values=False)  # True: may attend, as here
    attn_mask = np.pad(attn_mask, missing, constant_values=-np.inf)
    allowed = ~np.isneginf(attn_mask)
    return np.where(allowed, attn_mask, 0), allowed


def masks_of_places(own: ModuleType, case: Case, T: int, S: int) -> Iterator[Array]:
    """The masks that say who may see whom by place alone: causal, windows, padding."""
    lengths = case.given.get("nonpad_kv_seqlen")
    if lengths is None:
        past = case.given.get("past_key")
        first = [0 if past is None else past.shape[-2]]  # the place of the first query
    else:
        first = [int(length) - T for length in lengths]  # the last query stands at the last key
        yield own.padding_mask(lengths, S)[:, None]  # (B, 1, 1, S)

    def up_to(ahead: int) -> Array:
        return np.stack([[see_up_to(own, T, S, place + ahead)] for place in first])

    if case.attributes.get("is_causal"):
        yield up_to(0)  # (B or 1, 1, T, S)
    if (left := case.attributes.get("left_window_size", -1)) >= 0:
        yield ~up_to(-left - 1)
    if (right := case.attributes.get("right_window_size", -1)) >= 0:
        yield up_to(right)


def see_up_to(own: ModuleType, T: int, S: int, ahead: int) -> Array:
    """The (T, S) mask in which query t sees the keys up to t + ahead, also when that is none."""
    spare = max(0, -ahead)  # places in front of key 0, so that no query stands before the first
    whole = own.causal_mask(spare + max(T + ahead, S))
    return whole[spare + ahead : spare + ahead + T, spare : spare + S]


# A way to work a task out: the output, and what stands where the operator can show its scores,
# by its `qk_matmul_output_mode`.
Worked = tuple[Array, dict[int, Array]]


def step_by_step(own: ModuleType, task: Task) -> Worked:
    scale = 1 / math.sqrt(task.q.shape[-1]) if task.scale is None else task.scale
    scaled = own.scores(task.q * scale, task.k)
    capped = task.softcap * np.tanh(scaled / task.softcap) if task.softcap else scaled
    biased = capped if task.bias is None else capped + task.bias
    if task.mask is None:
        shown, weights = biased, own.softmax(biased)
    else:
        shown = biased + own.additive_mask(task.mask)
        weights = own.masked_softmax(biased, task.mask)
    return own.blend(weights, task.v), {0: scaled, 1: capped, 2: shown, 3: weights}


def added_mask(own: ModuleType, task: Task) -> Worked:
    _, shown = step_by_step(own, task)
    weights = own.softmax(shown[2])
    return own.blend(weights, task.v), {3: weights}


def whole(call: Callable[..., tuple[Array, Array]], task: Task, *mask: Array | None) -> Worked:
    factor = 1 if task.scale is None else task.scale * math.sqrt(task.q.shape[-1])
    out, weights = call(task.q * factor, task.k, task.v, *mask)
    return out, {3: weights}


def ways(own: ModuleType, task: Task) -> Iterator[tuple[str, Worked]]:
    """Every way in which our functions can work the task out."""
    yield "scores, masked_softmax, blend", step_by_step(own, task)
    if task.mask is not None and task.mask.any(axis=-1).all():
        yield "scores, additive_mask, softmax, blend", added_mask(own, task)
    if task.bias is None and not task.softcap:
        yield "masked_attention", whole(own.masked_attention, task, task.mask)
        if task.mask is None:
            yield "attention", whole(own.attention, task)


def test_these_are_all_cases_of_the_package() -> None:
    """The number is that of the pinned version: of a new one, read the new cases first."""
    assert len({case.name for case in CASES}) == len(CASES) == 93
    folder = Path(node_cases.__file__).parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert [name for name, text in sources.items() if '"Attention"' in text] == ["attention.py"]


def forbids(case: Case) -> bool:
    mask = case.given.get("attn_mask")
    return mask is not None and mask.dtype == bool and not mask.all()


def adds(case: Case) -> bool:
    mask = case.given.get("attn_mask")
    return mask is not None and mask.dtype != bool and np.any(np.isfinite(mask) & (mask != 0))


COVERED: dict[str, Callable[[Case], Any]] = {
    "4-D": lambda case: case.given["Q"].ndim == 4,
    "3-D": lambda case: case.given["Q"].ndim == 3,
    "another number of keys": lambda case: case.given["Q"].shape[-2] != case.given["K"].shape[-2],
    "values of another width": lambda case: case.given["K"].shape[-1] != case.given["V"].shape[-1],
    "a boolean mask that forbids": forbids,
    "a mask of numbers to add": adds,
    "causal": lambda case: case.attributes.get("is_causal"),
    "a row that may see nothing": lambda case: np.any(np.all(case.expected["Y"] == 0, axis=-1)),
}


@pytest.mark.parametrize("what", COVERED)
def test_the_cases_cover(what: str) -> None:
    assert sum(bool(COVERED[what](case)) for case in CASES) >= 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_our_functions_give_what_the_operator_must_give(
    own: ModuleType, case: Case, dtype: type
) -> None:
    task = in_our_terms(own, case, dtype)
    mode = case.attributes.get("qk_matmul_output_mode", 0)
    for way, (out, shown) in ways(own, task):
        merged = own.merge_heads(out) if case.given["Q"].ndim == 3 else out
        agrees(merged, case.expected["Y"], f"Y by {way}")
        if "qk_matmul_output" in case.expected and mode in shown:
            agrees(shown[mode], case.expected["qk_matmul_output"], f"scores by {way}")


def agrees(ours: Array, theirs: Array, what: str) -> None:
    tolerance = TOLERANCE[theirs.dtype.name]
    np.testing.assert_allclose(
        ours, theirs.astype(float), rtol=0, atol=tolerance, equal_nan=False, err_msg=what
    )
