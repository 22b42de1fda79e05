"""Import a module and try the interface that later parts of the course rely on.

`attnlab export` runs this file by itself in a fresh process: it uses NumPy and nothing of attnlab.
It is told the module's path and where to write what it found, as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

T, D = 5, 8  # tokens, and features of each, of what is tried
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, T, D))  # a batch of two sentences
PAST = np.arange(T)[:, None] >= np.arange(T)  # (T, T)
REAL = (np.arange(T) < np.array([[T], [T - 2]]))[:, None]  # (B, 1, T)
ZERO = 1e-9  # a weight below it is none


class Wrong(Exception):
    """What is not as the interface wants it."""


def shaped(value: Any, *shape: int) -> np.ndarray:
    """Return a value as an array of a certain shape.

    Raises
    ------
    Wrong : when it is none, with both shapes
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise Wrong("returns rows of unequal length") from error
    if array.shape != shape:
        raise Wrong(f"returns the shape {array.shape} where {shape} is wanted")
    return array


def parts(value: Any, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Return several results as arrays of certain shapes.

    Raises
    ------
    Wrong : when there are not as many, or one has another shape
    """
    if not isinstance(value, (tuple, list)) or len(value) != len(shapes):
        raise Wrong(f"does not return {len(shapes)} things")
    return [shaped(part, *shape) for part, shape in zip(value, shapes, strict=True)]


def obeys(forward: Callable[..., Any], mask: np.ndarray | None, allowed: np.ndarray) -> None:
    """Check that tokens which no mask allows get no weight and have no say in the output.

    Parameters
    ----------
    forward : takes X and the mask
    allowed : True where mask and layer together let a query attend to a key

    Raises
    ------
    Wrong : when something forbidden gets through
    """
    out, weights = (np.asarray(part) for part in forward(X, mask=mask))
    shaped(out, 2, T, D)
    if weights.ndim == 4:  # heads
        allowed = allowed[..., None, :, :] if allowed.ndim == 3 else allowed
    leak = np.max(np.abs(np.where(np.broadcast_to(allowed, weights.shape), 0.0, weights)))
    if not leak < ZERO:
        raise Wrong(f"does not obey its mask: a forbidden token gets the weight {leak:.2g}")
    for s in range(T):  # change one token after the other
        changed = X.copy()
        changed[:, s] += 1.0
        moved = np.max(np.abs(np.asarray(forward(changed, mask=mask)[0]) - out), axis=-1)  # (B, T)
        hidden = ~np.broadcast_to(allowed.reshape(-1, *allowed.shape[-2:]), (2, T, T))[:, :, s]
        hidden[:, s] = False  # its own query has changed
        if np.any(moved[hidden] > 1e-6):
            raise Wrong("does not obey its mask: a forbidden token changes the output")


def try_multi_head_attention(layer_class: Any) -> None:
    """Check lab 02's layer, with the masks of lab 03."""
    for heads in (1, 2):
        layer = layer_class(d_model=D, n_heads=heads, seed=0)
        parts(layer.forward(X, mask=None), (2, T, D), (2, heads, T, T))
        parts(layer.forward(X[0]), (T, D), (heads, T, T))
        obeys(layer.forward, PAST, PAST)
        obeys(layer.forward, REAL, REAL)
        obeys(layer.forward, PAST & REAL, PAST & REAL)
    count = layer_class(d_model=64, n_heads=4, seed=0).n_parameters
    if callable(count) or count != 16384:
        raise Wrong(f"has n_parameters = {count} at d_model = 64 where 16384 is wanted")


def try_attention_layer(layer_class: Any) -> None:
    """Check lab 03's layer."""
    layer = layer_class(d_model=D, d_k=3, d_v=4, causal=True, seed=0)
    parts(layer.forward(X, mask=None), (2, T, D), (2, T, T))
    obeys(layer.forward, None, PAST)
    obeys(layer.forward, REAL, PAST & REAL)
    obeys(layer_class(D).forward, REAL, REAL)


def normal(*shape: int) -> np.ndarray:
    """Draw numbers; what is tried does not depend on them."""
    return RNG.normal(size=shape)


TRIALS: dict[str, Callable[[Any], object]] = {
    "embed": lambda f: shaped(f(np.array([0, 2, 1]), normal(4, 6)), 3, 6),
    "project": lambda f: parts(
        f(normal(3, 5), normal(5, 2), normal(5, 2), normal(5, 4)), (3, 2), (3, 2), (3, 4)
    ),
    "scores": lambda f: shaped(f(normal(3, 4), normal(2, 4)), 3, 2),
    "blend": lambda f: shaped(f(np.full((3, 2), 0.5), normal(2, 4)), 3, 4),
    "softmax": lambda f: shaped(f(normal(3, 4)), 3, 4),
    "attention": lambda f: parts(f(normal(3, 4), normal(2, 4), normal(2, 6)), (3, 6), (3, 2)),
    "split_heads": lambda f: shaped(f(normal(3, 6), 2), 2, 3, 3),
    "merge_heads": lambda f: shaped(f(normal(2, 3, 4)), 3, 8),
    "multi_head_attention": lambda f: parts(
        f(normal(3, 6), *normal(4, 6, 6), 2), (3, 6), (2, 3, 3)
    ),
    "MultiHeadAttention": try_multi_head_attention,
    "causal_mask": lambda f: shaped(f(4), 4, 4),
    "padding_mask": lambda f: shaped(f(np.array([3, 2]), 4), 2, 1, 4),
    "additive_mask": lambda f: shaped(f(PAST), T, T),
    "masked_softmax": lambda f: shaped(f(normal(2, T, T), PAST), 2, T, T),
    "masked_attention": lambda f: parts(f(X, X, X, PAST), (2, T, D), (2, T, T)),
    "Attention": try_attention_layer,
}


def line_in(error: BaseException, path: str) -> int | None:
    """Find the last line of a file that an error came through."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return frames[-1].lineno if frames else None


def report(name: str, error: BaseException, path: str) -> dict[str, Any]:
    """Describe an error: what was tried, what happened, and in which line of the module."""
    said = str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"
    return {"name": name, "said": " ".join(said.split())[:300], "line": line_in(error, path)}


def main(path: str, found: str) -> None:
    """Import the module, try what it should have, and write down what went wrong."""
    problems = []
    np.seterr(all="ignore")  # a learner's warnings are the labs' subject
    spec = importlib.util.spec_from_file_location("attention", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["attention"] = module  # dataclasses and pickle look for it there
    try:
        spec.loader.exec_module(module)
        for name, trial in TRIALS.items():
            try:
                answer = getattr(module, name)
                if not callable(answer):
                    raise Wrong(f"is no function but {type(answer).__name__}: was it overwritten?")
                trial(answer)
            except BaseException as error:  # SystemExit too
                problems.append(report(name, error, path))
    except BaseException as error:
        problems.append(report("", error, path))
    Path(found).write_text(json.dumps(problems), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
