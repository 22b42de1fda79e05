"""How an answer is tried: each probe calls it and returns the named arrays it gave.

Probes run where the learner's code runs and know no expected value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Answer = Callable[..., Any]
Raw = dict[str, Any]


class Unusable(Exception):
    """What an answer returned cannot be read as arrays; the text says why."""


def name_results(value: Any, results: Sequence[str]) -> Raw:
    """Give the returned values their names."""
    wanted = " and ".join(f"`{name}`" for name in results)
    if value is None:
        raise Unusable(f"It returns nothing. Is a `return` missing? Wanted: {wanted}.")
    if len(results) == 1:
        return {results[0]: value}
    if not isinstance(value, (tuple, list)):
        raise Unusable(f"It returns one thing. Wanted are {len(results)}: {wanted}.")
    if len(value) != len(results):
        raise Unusable(f"It returns {len(value)} things. Wanted are {len(results)}: {wanted}.")
    return dict(zip(results, value, strict=True))


def call(answer: Answer, results: Sequence[str], **inputs: Any) -> Raw:
    """Call a function with the inputs in order."""
    return name_results(answer(*inputs.values()), results)


def call_with_two_seeds(answer: Answer, results: Sequence[str], **inputs: Any) -> Raw:
    """Call a function that draws from rng three times: twice from one seed, once from another.

    Returns the results as `first`, `again` and `other`.
    """
    seed = int(inputs["rng"].integers(1 << 32))
    raw = {}
    for name, start in (("first", seed), ("again", seed), ("other", seed + 1)):
        value = answer(*(inputs | {"rng": np.random.default_rng(start)}).values())
        (raw[name],) = name_results(value, results).values()
    return raw


def call_with_layers(answer: Answer, results: Sequence[str], **inputs: Any) -> Raw:
    """Call a function of a layer with each layer of the case, the other inputs behind it.

    A result is named after its layer.
    """
    layers = {name: value for name, value in inputs.items() if hasattr(value, "forward")}
    rest = [value for name, value in inputs.items() if name not in layers]
    (result,) = results
    return {n: name_results(answer(layer, *rest), results)[result] for n, layer in layers.items()}


def _weights(layer: Any) -> list[Any]:
    missing = [name for name in ("w_q", "w_k", "w_v", "w_o") if not hasattr(layer, name)]
    if missing:
        raise Unusable(f"The layer has no attribute {' and no '.join(missing)}.")
    return [np.array(getattr(layer, name)) for name in ("w_q", "w_k", "w_v", "w_o")]


def draw_layer(answer: Answer, results: Sequence[str], *, seed: int, **sizes: Any) -> Raw:
    """Make a layer three times (twice from one seed) and read off its weights.

    Returns w_q, w_k, w_v, w_o, the same again flat as `again` and `other`, the layer's
    `n_parameters` where it has them (nothing at all for a method: it is not called), and two
    numbers from NumPy's global stream: `stream` beside making the layer, `quiet_stream` without.
    """
    np.random.seed(seed)
    quiet_stream = np.random.random()
    np.random.seed(seed)
    layer = answer(**sizes, seed=seed)
    stream = np.random.random()
    raw = dict(zip(("w_q", "w_k", "w_v", "w_o"), _weights(layer), strict=True))
    for name, other_seed in (("again", seed), ("other", seed + 1)):
        weights = _weights(answer(**sizes, seed=other_seed))
        raw[name] = np.concatenate([matrix.ravel() for matrix in weights])
    count = getattr(layer, "n_parameters", None)
    if count is not None:
        raw["n_parameters"] = [] if callable(count) else count
    return raw | {"stream": stream, "quiet_stream": quiet_stream}


def use_layer(answer: Answer, results: Sequence[str], *, x: Any, **inputs: Any) -> Raw:
    """Make a layer, put the case's weights into it, and send x through `forward`.

    Where the case has a mask, be it None, it is handed over with x.
    """
    masks = [inputs.pop("mask")] if "mask" in inputs else []
    weights = {name: inputs.pop(name) for name in ("w_q", "w_k", "w_v", "w_o")}
    layer = answer(**inputs, seed=0)
    _weights(layer)
    for name, value in weights.items():
        setattr(layer, name, value)
    return name_results(layer.forward(x, *masks), results)


PROBES: dict[str, Callable[..., Raw]] = {
    "call": call,
    "call_with_two_seeds": call_with_two_seeds,
    "call_with_layers": call_with_layers,
    "draw_layer": draw_layer,
    "use_layer": use_layer,
}
CLASS_PROBES = ("draw_layer", "use_layer")
