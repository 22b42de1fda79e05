"""Try a module in a fresh process: its shapes, its masks, its count of parameters.

This file is also what runs there, by itself; it uses NumPy and nothing of attnlab then.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import numpy as np

T, D = 5, 8  # tokens, and features of each, of what is tried
normal = np.random.default_rng(0).standard_normal
X = normal((2, T, D))  # a batch of two sentences
ALL = np.full((T, T), True)
PAST = np.arange(T)[:, None] >= np.arange(T)  # (T, T)
REAL = (np.arange(T) < np.array([[T], [T - 2]]))[:, None]  # (B, 1, T)

Shape = tuple[int, ...]
# What each function is given, random numbers for a shape, and the shapes it must return.
FUNCTIONS: dict[str, tuple[list[Any], list[Shape]]] = {
    "embed": ([np.array([0, 2, 1]), (4, 6)], [(3, 6)]),
    "project": ([(3, 5), (5, 2), (5, 2), (5, 4)], [(3, 2), (3, 2), (3, 4)]),
    "scores": ([(3, 4), (2, 4)], [(3, 2)]),
    "blend": ([(3, 2), (2, 4)], [(3, 4)]),
    "softmax": ([(3, 4)], [(3, 4)]),
    "attention": ([(3, 4), (2, 4), (2, 6)], [(3, 6), (3, 2)]),
    "split_heads": ([(3, 6), 2], [(2, 3, 3)]),
    "merge_heads": ([(2, 3, 4)], [(3, 8)]),
    "multi_head_attention": ([(3, 6), *[(6, 6)] * 4, 2], [(3, 6), (2, 3, 3)]),
    "causal_mask": ([4], [(4, 4)]),
    "padding_mask": ([np.array([3, 2]), 4], [(2, 1, 4)]),
    "additive_mask": ([PAST], [(T, T)]),
    "masked_softmax": ([(2, T, T), PAST], [(2, T, T)]),
    "masked_attention": ([X, X, X, PAST], [(2, T, D), (2, T, T)]),
}
# Later parts of the course import these; the other exercises are experiments.
BUILDING_BLOCKS = (*FUNCTIONS, "MultiHeadAttention", "Attention")

Problem = tuple[str, str, int | None]  # what was tried, what happened, and the module's line


class Wrong(Exception):
    """What is not as later parts want it."""


def check_shapes(result: Any, wanted: list[Shape]) -> None:
    """Compare the shapes of what was returned with those that are wanted."""
    found = [np.shape(part) for part in ([result] if len(wanted) == 1 else result)]
    if found != wanted:
        raise Wrong(f"returns the shapes {found} where {wanted} are wanted")


def check_masks(layer: Any, own: np.ndarray, *heads: int) -> None:
    """Check that tokens hidden by masks get no weight and have no say in the output.

    Parameters
    ----------
    own : (T, T) mask that the layer has of itself
    heads : the axis of heads of the weights, if they have one
    """
    last_changed = X + (np.arange(T) == T - 1)[:, None]  # (B, T, D)
    for mask in (None, PAST, REAL, PAST & REAL):
        hidden = ~np.broadcast_to(own if mask is None else own & mask, (2, T, T))
        out, weights = layer.forward(X, mask=mask)
        check_shapes((out, weights), [(2, T, D), (2, *heads, T, T)])
        leak = np.max(np.abs(weights * hidden.reshape(2, *(1 for _ in heads), T, T)))
        if not leak < 1e-9:
            raise Wrong(f"does not obey its mask: a forbidden token gets the weight {leak:.2g}")
        changed, _ = layer.forward(last_changed, mask=mask)
        moved = np.max(np.abs(np.subtract(changed, out)), axis=-1)  # (B, T)
        if np.any((moved > 1e-6) & hidden[..., -1] & (np.arange(T) < T - 1)):
            raise Wrong("does not obey its mask: a forbidden token changes the output")


def check(name: str, answer: Any) -> None:
    """Try one building block."""
    if not callable(answer):
        raise Wrong(f"is no function but {type(answer).__name__}: was it overwritten?")
    if name in FUNCTIONS:
        given, wanted = FUNCTIONS[name]
        check_shapes(answer(*(normal(g) if isinstance(g, tuple) else g for g in given)), wanted)
    elif name == "Attention":
        check_masks(answer(D), ALL)
        check_masks(answer(d_model=D, d_k=3, d_v=4, causal=True, seed=0), PAST)
    else:
        check_masks(answer(D, 1), ALL, 1)
        check_masks(answer(d_model=D, n_heads=2, seed=0), ALL, 2)
        count = answer(d_model=64, n_heads=4).n_parameters
        if callable(count) or count != 16384:
            raise Wrong(f"has n_parameters = {count} at d_model = 64 where 16384 is wanted")


def main(folder: str) -> None:
    """Import and try a folder's attention.py, and write down there what went wrong."""
    found: list[Problem] = []
    np.seterr(all="ignore")  # a learner's warnings are the labs' subject
    sys.path[:0] = [folder, str(Path(__file__).resolve().parents[2])]  # and attnlab's own place
    for name in ("", *BUILDING_BLOCKS):
        try:
            module = importlib.import_module("attention")
            if name:
                check(name, getattr(module, name))
        except BaseException as error:  # SystemExit too
            said = str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"
            frames = traceback.extract_tb(error.__traceback__)
            lines = [f.lineno for f in frames if Path(f.filename).name == "attention.py"]
            found.append((name, " ".join(said.split())[:300], lines[-1] if lines else None))
            if not name:
                break
    Path(folder, "found.json").write_text(json.dumps(found), encoding="utf-8")


def problems_of(text: str, seconds: float = 60.0) -> list[Problem]:
    """Import and try a module's text in a fresh process, without notebook and IPython."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder, "attention.py").write_text(text, encoding="utf-8", newline="\n")
        command = [sys.executable, "-P", "-X", "utf8", __file__, folder]
        no = subprocess.DEVNULL
        try:
            code = subprocess.run(
                command, cwd=folder, stdin=no, stdout=no, stderr=no, timeout=seconds, check=False
            ).returncode
            said = f"ended Python, with code {code}. Does it call `exit` or `quit`?"
        except subprocess.TimeoutExpired:
            said = f"took more than {seconds:g} seconds. Is there a loop without an end?"
        found = Path(folder, "found.json")
        problems = json.loads(found.read_text("utf-8")) if found.exists() else [("", said, None)]
        return [(name, said, line) for name, said, line in problems]


if __name__ == "__main__":
    main(*sys.argv[1:])
