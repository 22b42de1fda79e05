"""Leave the course's own figures undrawn: they take longer than all the rest of a hand-in.

The course's cells run with everything they compute and print; only the pictures are missing.
Cells of the learner's own draw as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML

from attnlab import plots
from attnlab.words import plain


class Blank:
    """An Axes on which drawing does nothing."""

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> Blank:
        """Draw nothing."""
        return self

    def __getitem__(self, _: Any) -> Blank:
        return self


class Drawing:
    """Whether the course's figures are drawn: a switch."""

    def __init__(self) -> None:
        self.on = True
        self._replace(plt, "subplots", _blank_subplots)
        self._replace(plots, "heatmap", lambda *_, ax=None, **__: ax or Blank())
        self._replace(plots, "head_maps", lambda weights, *_, **__: _blanks(len(weights)))
        self._replace(plots, "curves", lambda *_, ax=None, **__: ax or Blank())
        self._replace(plots, "entropy_bars", lambda *_, ax=None, **__: ax or Blank())
        self._replace(plots, "figure", _only_words)
        self._replace(plots, "save", lambda _, stem: (Path(f"{stem}.png"), Path(f"{stem}.svg")))
        plt.show = lambda *_, **__: None  # without a screen it would warn

    def _replace(self, module: Any, name: str, blank: Callable[..., Any]) -> None:
        drawn = getattr(module, name)

        def either(*args: Any, **kwargs: Any) -> Any:
            return (drawn if self.on else blank)(*args, **kwargs)

        either.__doc__ = drawn.__doc__
        setattr(module, name, either)


def _blanks(*shape: int) -> np.ndarray:
    axes = np.empty(shape, dtype=object)
    axes[...] = Blank()
    return axes


def _blank_subplots(rows: int = 1, columns: int = 1, *, squeeze: bool = True, **_: Any) -> Any:
    axes = _blanks(rows, columns)
    if not squeeze:
        return Blank(), axes
    return Blank(), axes.item() if rows * columns == 1 else axes.squeeze()


def _only_words(axes: Any, alt: str, caption: str = "") -> HTML:
    words = escape(plain(caption or alt))
    return HTML(f"<figure><figcaption>{words}</figcaption></figure>")
