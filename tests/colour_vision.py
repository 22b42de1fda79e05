"""Colours as people with and without colour vision see them.

Simulation: Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of
color vision deficiency", 2009, at severity 1, on linear RGB. Distance: CIE 1976 L*a*b*.
"""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgb

from attnlab.style import Colour

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
_TO_XYZ = np.array(  # linear sRGB under D65
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(colour: Colour, vision: str = "normal") -> np.ndarray:
    """Give L*, a* and b* of a colour as that vision sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISIONS[vision] @ linear, 0, 1)
    xyz = _TO_XYZ @ seen / _TO_XYZ.sum(axis=1)  # white is (1, 1, 1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: Colour, other: Colour, vision: str) -> float:
    """Measure how far two colours are apart (CIE76); about 2.3 is just noticed."""
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))
