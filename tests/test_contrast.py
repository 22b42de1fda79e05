"""Pictures can be read by everyone: contrast, and colours under simulated colour-blindness."""

from __future__ import annotations

from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest

from attnlab import head_view, style
from attnlab.plots import heatmap
from tests.colour_vision import VISIONS, distance, lab

mpl.use("agg")
EVERY_WEIGHT = np.linspace(0, 1, 256)

# A thin line shows little of its colour, so it must be far more than just noticed (2.3).
APART = 20

# Page and text of JupyterLab and of nbconvert's pages, in the light and in the dark theme
# (text in black at 87 %), and plain black on white, as a saved file has.
PAGES = [("white", (0.13, 0.13, 0.13)), ("#111111", "white"), ("#212121", "white")]
PAGES += [("white", "black")]


@pytest.mark.parametrize("vision", VISIONS)
def test_more_weight_is_darker_for_every_kind_of_vision(vision: str) -> None:
    lightness = np.array([lab(style.shade(weight), vision)[0] for weight in EVERY_WEIGHT])
    # Two neighbours of 256 may be the same colour in 8 bits, and no step may go back.
    assert (np.diff(lightness) < 0.05).all()
    assert all(a - b > 2.3 for a, b in pairwise(lightness[::16])), "a step of 1/16 is not seen"
    assert lightness[0] > 95, "no weight is as good as white"
    assert lightness[0] - lightness[-1] > 70


def test_black_and_white_are_known_contrasts() -> None:
    assert style.contrast("black", "white") == pytest.approx(21)
    assert style.contrast("white", "white") == pytest.approx(1)
    assert style.contrast("#777777", "white") == pytest.approx(4.48, abs=0.01)


def test_a_simulation_leaves_greys_alone_and_takes_hues_away() -> None:
    for vision in VISIONS:
        assert distance("#808080", "#808080", vision) == 0
        np.testing.assert_allclose(lab("#808080", vision), lab("#808080"), atol=0.1)
    assert distance("#c00000", "#5a5a00", "normal") > 2 * distance(
        "#c00000", "#5a5a00", "protanopia"
    )


def test_every_number_of_a_map_can_be_read_on_its_cell() -> None:
    ax = heatmap(EVERY_WEIGHT.reshape(16, 16), [str(t) for t in range(16)])
    assert len(ax.texts) == 256
    for weight, number in zip(EVERY_WEIGHT, ax.texts, strict=True):
        assert style.contrast(number.get_color(), style.shade(weight)) >= 4.5, weight


def test_numbers_on_maps_of_other_limits_and_with_gaps_can_be_read_too() -> None:
    values = np.array([[np.nan, 0.0, 2.0], [1.0, np.nan, 1.3]])
    ax = heatmap(values, ["a", "b"], ["x", "y", "z"], limits=(0, 2))
    seen = {number.get_text(): number.get_color() for number in ax.texts}
    assert list(seen) == ["0.00", "2.00", "1.00", "1.30"]
    for text, colour in seen.items():
        assert style.contrast(colour, style.shade(float(text) / 2)) >= 4.5


@pytest.mark.parametrize("colour", [*style.COLOURS, style.BAR])
def test_lines_and_bars_stand_out_from_white(colour: str) -> None:
    assert style.contrast(colour, "white") >= 3


@pytest.mark.parametrize("vision", VISIONS)
def test_lines_are_far_apart_in_colour_for_every_kind_of_vision(vision: str) -> None:
    for one, other in combinations(style.COLOURS, 2):
        assert distance(one, other, vision) >= APART, (one, other)
    # The mark at the most possible entropy lies on its bar.
    assert distance(style.BAR, style.COLOURS[1], vision) >= APART


def test_lines_are_told_apart_without_any_colour() -> None:
    looks = [style.line(number) for number in range(20)]
    assert len({(look["linestyle"], look["marker"]) for look in looks}) == 20


@pytest.mark.parametrize(("page", "text"), PAGES)
def test_a_lit_row_of_a_head_view_stands_out_on_light_and_dark_pages(
    page: style.Colour, text: style.Colour
) -> None:
    share = head_view.LINE_SHARE
    mixed = [
        share * line + (1 - share) * own
        for line, own in zip(*map(mpl.colors.to_rgb, (head_view.LINE, text)), strict=True)
    ]
    assert style.contrast(tuple(mixed), page) >= 3
    assert style.contrast(head_view.LINE, page) >= 3  # where `color-mix` is not known
