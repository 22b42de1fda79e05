"""The exported reference module against PyTorch: `make peers`.

Not among the tests, because PyTorch is large. What differs between the two is said here too: which
way round a mask is, what the weights of a row are that may see nothing, and on which side of a
matrix the features stand.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference_module import own as own

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: `make peers` does it, or pip install -e '.[peers]'"
)
linear = torch.nn.functional.linear
scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention

Array = np.ndarray

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}

# The first call of a function of PyTorch can take seconds.
settings.register_profile("peers", deadline=None, max_examples=60)
settings.load_profile("peers")

both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def agrees(ours: Array, theirs: Any, dtype: type) -> None:
    tolerance = TOLERANCE[np.dtype(dtype).name]
    assert theirs.numpy().dtype == dtype
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=0, atol=tolerance, equal_nan=False)


def tensors(*arrays: Array) -> list[Any]:
    return [torch.from_numpy(np.array(array)) for array in arrays]


@dataclass(frozen=True)
class Sizes:
    """Sizes of queries, keys and values, and a seed for the numbers in them."""

    leading: tuple[int, ...]
    T: int
    S: int
    d_k: int
    d_v: int
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def draw(self, dtype: type) -> list[Array]:
        """q (..., T, d_k), k (..., S, d_k), v (..., S, d_v)."""
        shapes = (self.T, self.d_k), (self.S, self.d_k), (self.S, self.d_v)
        rng = self.rng
        return [rng.normal(scale=2, size=(*self.leading, *shape)).astype(dtype) for shape in shapes]

    def draw_mask(self) -> Array:
        """Booleans for each row of its own, for each sentence, or the same for all."""
        shapes = (*self.leading, self.T, self.S), (*self.leading, 1, self.S), (self.T, self.S)
        return self.rng.random(shapes[self.seed % 3]) < self.rng.random()


some = st.integers(1, 7)
sizes = st.builds(
    Sizes,
    leading=st.lists(st.integers(1, 3), max_size=2).map(tuple),  # none, a batch, a batch of heads
    T=some,
    S=some,
    d_k=some,
    d_v=some,
    seed=st.integers(0, 2**32 - 1),
)


def theirs_with_weights(q: Array, k: Array, v: Array, **options: Any) -> tuple[Any, Any]:
    """Their output, and their weights, which are what values of one feature per key come out as."""
    each = np.broadcast_to(np.eye(k.shape[-2], dtype=k.dtype), (*k.shape[:-1], k.shape[-2]))
    q_, k_, v_, each_ = tensors(q, k, v, each)
    return (
        scaled_dot_product_attention(q_, k_, v_, **options),
        scaled_dot_product_attention(q_, k_, each_, **options),
    )


@both_precisions
@given(sizes=sizes)
def test_attention(own: ModuleType, dtype: type, sizes: Sizes) -> None:
    q, k, v = sizes.draw(dtype)
    theirs = theirs_with_weights(q, k, v)
    for ours in own.attention(q, k, v), own.masked_attention(q, k, v):
        for mine, other in zip(ours, theirs, strict=True):
            agrees(mine, other, dtype)


@both_precisions
@given(sizes=sizes)
def test_a_boolean_mask_and_rows_that_may_see_nothing(
    own: ModuleType, dtype: type, sizes: Sizes
) -> None:
    """True means may attend there too, and where nothing is allowed both give zeros."""
    q, k, v = sizes.draw(dtype)
    mask = sizes.draw_mask()
    theirs = theirs_with_weights(q, k, v, attn_mask=torch.from_numpy(mask))
    for mine, other in zip(own.masked_attention(q, k, v, mask), theirs, strict=True):
        agrees(mine, other, dtype)


@both_precisions
@given(sizes=sizes)
def test_our_additive_mask_does_the_same_there(own: ModuleType, dtype: type, sizes: Sizes) -> None:
    q, k, v = sizes.draw(dtype)
    mask = sizes.draw_mask()
    added = torch.from_numpy(own.additive_mask(mask).astype(dtype))
    theirs = theirs_with_weights(q, k, v, attn_mask=added)
    for mine, other in zip(own.masked_attention(q, k, v, mask), theirs, strict=True):
        agrees(mine, other, dtype)


@both_precisions
@given(sizes=sizes)
def test_causal(own: ModuleType, dtype: type, sizes: Sizes) -> None:
    """With T ≠ S, theirs is the upper left corner of the larger square: both begin at place 0."""
    q, k, v = sizes.draw(dtype)
    corner = own.causal_mask(max(sizes.T, sizes.S))[: sizes.T, : sizes.S]
    theirs = theirs_with_weights(q, k, v, is_causal=True)
    for mine, other in zip(own.masked_attention(q, k, v, corner), theirs, strict=True):
        agrees(mine, other, dtype)


@both_precisions
@given(sizes=sizes, spread=st.sampled_from([0.1, 1.0, 30.0, 1000.0]))
def test_softmax(own: ModuleType, dtype: type, sizes: Sizes, spread: float) -> None:
    scores = (spread * sizes.draw(dtype)[0]).astype(dtype)
    agrees(own.softmax(scores), torch.softmax(torch.from_numpy(scores), dim=-1), dtype)


@both_precisions
@given(sizes=sizes)
def test_masked_softmax(own: ModuleType, dtype: type, sizes: Sizes) -> None:
    """Their softmax of a row of −inf is nan; ours is zeros."""
    scores = sizes.rng.normal(size=(*sizes.leading, sizes.T, sizes.S)).astype(dtype)
    mask = np.array(np.broadcast_to(sizes.draw_mask(), scores.shape))
    filled = torch.from_numpy(scores).masked_fill(torch.from_numpy(~mask), -torch.inf)
    theirs = torch.softmax(filled, dim=-1)
    empty = ~mask.any(axis=-1)
    assert theirs[torch.from_numpy(empty)].isnan().all()
    agrees(own.masked_softmax(scores, mask), torch.nan_to_num(theirs, nan=0.0), dtype)


@both_precisions
@given(sizes=sizes)
def test_softmax_jacobian_is_what_autograd_finds(
    own: ModuleType, dtype: type, sizes: Sizes
) -> None:
    scores = sizes.draw(dtype)[0]  # (..., T, d_k)
    ours = own.softmax_jacobian(own.softmax(scores))
    assert ours.shape == (*scores.shape, scores.shape[-1])
    for at in np.ndindex(scores.shape[:-1]):
        row = torch.from_numpy(scores[at])
        theirs = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), row)
        agrees(ours[at], theirs, dtype)


@both_precisions
@given(sizes=sizes, causal=st.booleans(), masked=st.booleans())
def test_the_layer_with_one_head(
    own: ModuleType, dtype: type, sizes: Sizes, causal: bool, masked: bool
) -> None:
    d_model = sizes.S
    layer = own.Attention(d_model, sizes.d_k, sizes.d_v, causal=causal, seed=sizes.seed)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        setattr(layer, name, getattr(layer, name).astype(dtype))
    x = sizes.rng.normal(size=(*sizes.leading, sizes.T, d_model)).astype(dtype)
    mask = sizes.rng.random((sizes.T, sizes.T)) < 0.7 if masked else None
    allowed = np.ones((sizes.T, sizes.T), dtype=bool) if mask is None else mask
    if causal:
        allowed = np.tril(allowed)

    x_, allowed_, w_q, w_k, w_v, w_o = tensors(
        x, allowed, layer.w_q, layer.w_k, layer.w_v, layer.w_o
    )
    q, k, v = (linear(x_, w.T) for w in (w_q, w_k, w_v))  # theirs multiply by the transpose
    out, weights = theirs_with_weights(q.numpy(), k.numpy(), v.numpy(), attn_mask=allowed_)
    ours = layer.forward(x) if mask is None else layer.forward(x, mask)
    agrees(ours[0], linear(out, w_o.T), dtype)
    agrees(ours[1], weights, dtype)


@dataclass(frozen=True)
class Pair:
    """A layer of ours and one of theirs with the same matrices, and what to put in."""

    ours: Any
    theirs: Any
    x: Array  # (B, T, d_model)
    rng: np.random.Generator

    def ask_theirs(self, **masks: Array | None) -> tuple[Any, Any]:
        """Out (B, T, d_model) and weights (B, H, T, T); True in their masks: may NOT attend."""
        given = {name: None if m is None else torch.from_numpy(m) for name, m in masks.items()}
        x = torch.from_numpy(self.x)
        with torch.no_grad():
            return self.theirs(x, x, x, average_attn_weights=False, **given)


def pair(own: ModuleType, dtype: type, B: int, T: int, H: int, d_head: int, seed: int) -> Pair:
    ours = own.MultiHeadAttention(H * d_head, H, seed=seed)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        setattr(ours, name, getattr(ours, name).astype(dtype))
    theirs = torch.nn.MultiheadAttention(
        H * d_head, H, bias=False, batch_first=True, dtype=torch.from_numpy(ours.w_q).dtype
    )
    w_q, w_k, w_v, w_o = tensors(ours.w_q, ours.w_k, ours.w_v, ours.w_o)
    theirs.load_state_dict(
        {"in_proj_weight": torch.cat([w_q.T, w_k.T, w_v.T]), "out_proj.weight": w_o.T}
    )
    rng = np.random.default_rng(seed)
    return Pair(ours, theirs, rng.normal(size=(B, T, H * d_head)).astype(dtype), rng)


layers = {
    "B": st.integers(1, 3),
    "T": some,
    "H": st.integers(1, 4),
    "d_head": st.integers(1, 6),
    "seed": st.integers(0, 2**32 - 1),
}


@both_precisions
@given(**layers)
def test_many_heads(own: ModuleType, dtype: type, **size: int) -> None:
    two = pair(own, dtype, **size)
    ours, theirs = two.ours, two.ask_theirs()
    matrices = ours.w_q, ours.w_k, ours.w_v, ours.w_o
    for out, weights in (
        ours.forward(two.x),
        own.multi_head_attention(two.x, *matrices, size["H"]),
    ):
        agrees(out, theirs[0], dtype)
        agrees(weights, theirs[1], dtype)
    assert ours.n_parameters == sum(p.numel() for p in two.theirs.parameters())


@both_precisions
@given(**layers, causal=st.booleans(), padded=st.booleans())
def test_many_heads_causal_and_padded(
    own: ModuleType, dtype: type, causal: bool, padded: bool, **size: int
) -> None:
    two = pair(own, dtype, **size)
    T = size["T"]
    lengths = two.rng.integers(1, T, endpoint=True, size=size["B"])  # token 0 is always seen
    masks, theirs = [], {}
    if causal:
        masks.append(own.causal_mask(T))
        theirs["attn_mask"] = np.triu(np.ones((T, T), dtype=bool), 1)
    if padded:
        masks.append(own.padding_mask(lengths, T))
        theirs["key_padding_mask"] = np.arange(T) >= lengths[:, None]  # (B, S)
    mask = functools.reduce(np.logical_and, masks) if masks else None
    out, weights = two.ours.forward(two.x, mask)
    their_out, their_weights = two.ask_theirs(**theirs)
    agrees(out, their_out, dtype)
    agrees(weights, their_weights, dtype)


@both_precisions
@given(**layers)
def test_many_heads_with_a_mask_for_each_sentence(
    own: ModuleType, dtype: type, **size: int
) -> None:
    """Theirs wants it once for each head of each sentence: (B * H, T, S)."""
    two = pair(own, dtype, **size)
    T = size["T"]
    mask = (two.rng.random((size["B"], T, T)) < 0.5) | np.eye(T, dtype=bool)
    out, weights = two.ours.forward(two.x, mask)
    their_out, their_weights = two.ask_theirs(attn_mask=np.repeat(~mask, size["H"], axis=0))
    agrees(out, their_out, dtype)
    agrees(weights, their_weights, dtype)


@both_precisions
def test_a_sentence_of_padding_alone(own: ModuleType, dtype: type) -> None:
    """Ours gives zeros. Theirs gives zeros too, but nan as soon as the weights are asked for."""
    two = pair(own, dtype, B=2, T=4, H=2, d_head=3, seed=0)
    real = own.padding_mask(np.array([3, 0]), 4)
    out, weights = two.ours.forward(two.x, real)
    padding = np.array([[False, False, False, True], [True, True, True, True]])
    their_out, their_weights = two.ask_theirs(key_padding_mask=padding)
    agrees(out[0], their_out[0], dtype)
    agrees(weights[0], their_weights[0], dtype)
    assert their_out[1].isnan().all()
    assert their_weights[1].isnan().all()
    assert not weights[1].any()

    x = torch.from_numpy(two.x)
    with torch.no_grad():
        alone, _ = two.theirs(
            x, x, x, key_padding_mask=torch.from_numpy(padding), need_weights=False
        )
    agrees(out, alone, dtype)
