"""Right answers of lab 02 in other styles: loops, einsum, blocks, lists, objects, subclasses."""

import numpy as np

from grader.catalogue import right
from grader.reference.lab02_multi_head import (
    attention,
    merge_heads,
    multi_head_attention,
    softmax,
    split_heads,
)

# ---- split_heads -------------------------------------------------------------------------


@right("split_heads", "slices of columns, stacked")
def split_heads_slices(x, n_heads):
    d_head, left_over = divmod(x.shape[-1], n_heads)
    if left_over != 0:
        raise ValueError(f"cannot cut {x.shape[-1]} features into {n_heads} equal heads")
    return np.stack([x[..., h * d_head : (h + 1) * d_head] for h in range(n_heads)], axis=-3)


@right("split_heads", "np.split, then moveaxis")
def split_heads_np_split(x, n_heads):
    if x.shape[-1] / n_heads != x.shape[-1] // n_heads:
        raise ValueError("n_heads={}, d_model={}".format(n_heads, x.shape[-1]))
    return np.moveaxis(np.array(np.split(x, n_heads, axis=-1)), 0, -3)


@right("split_heads", "the list of its heads, one sentence at a time")
def split_heads_list(x, n_heads):
    d_model = len(x[0]) if np.ndim(x) == 2 else np.shape(x)[-1]
    if d_model % n_heads > 0:
        raise ValueError("d_model is %d, which %d does not divide" % (d_model, n_heads))
    if np.ndim(x) > 2:
        return [split_heads_list(sentence, n_heads) for sentence in x]
    d_head = d_model // n_heads
    return [[list(row[h * d_head : (h + 1) * d_head]) for row in x] for h in range(n_heads)]


@right("split_heads", "a transpose with the axes worked out, -1 for the width")
def split_heads_transpose(x, n_heads):
    if x.shape[-1] not in range(0, x.shape[-1] + 1, n_heads):
        raise ValueError(f"{x.shape[-1]=} {n_heads=}")
    cut = x.reshape(x.shape[:-1] + (n_heads, -1))
    n = cut.ndim
    return np.transpose(cut, list(range(n - 3)) + [n - 2, n - 3, n - 1])


@right("split_heads", "float32, through a matrix that picks columns")
def split_heads_picked(x, n_heads):
    d_model = x.shape[-1]
    if d_model % n_heads:
        raise ValueError(f"{d_model} features, {n_heads} heads")
    pick = np.eye(d_model, dtype=np.float32).reshape(d_model, n_heads, -1)
    return np.einsum("...td,dhi->...hti", np.asarray(x, dtype=np.float32), pick)


@right("split_heads", "an error class of its own that is a ValueError")
def split_heads_own_error(x, n_heads):
    class BadHeads(ValueError):
        pass

    if x.shape[-1] % n_heads:
        raise BadHeads(n_heads, x.shape[-1])
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, -1), -3, -2)


# ---- merge_heads -------------------------------------------------------------------------


@right("merge_heads", "heads joined along the last axis")
def merge_heads_concatenate(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-1)


@right("merge_heads", "an empty array, filled head by head")
def merge_heads_filled(x):
    *leading, n_heads, n_tokens, d_head = x.shape
    merged = np.empty((*leading, n_tokens, n_heads * d_head))
    for h in range(n_heads):
        merged[..., h * d_head : (h + 1) * d_head] = x[..., h, :, :]
    return merged


@right("merge_heads", "moveaxis, then -1 for the width")
def merge_heads_moveaxis(x):
    moved = np.moveaxis(x, -3, -2)
    return moved.reshape(moved.shape[:-2] + (-1,))


@right("merge_heads", "np.hstack, itself for a batch")
def merge_heads_hstack(x):
    return np.hstack(list(x)) if x.ndim == 3 else [merge_heads_hstack(part) for part in x]


@right("merge_heads", "each feature sent to its place, added up")
def merge_heads_placed(x):
    n_heads, _, d_head = x.shape[-3:]
    places = np.eye(n_heads * d_head).reshape(n_heads, d_head, -1)
    return (x @ places).sum(axis=-3)


# ---- multi_head_attention ----------------------------------------------------------------


@right("multi_head_attention", "split, attend, merge in one line")
def multi_head_attention_short(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*[split_heads(x @ w, n_heads) for w in [w_q, w_k, w_v]])
    return merge_heads(heads) @ w_o, weights


@right("multi_head_attention", "a loop over heads, each with its own columns")
def multi_head_attention_loop(x, w_q, w_k, w_v, w_o, n_heads):
    d_model = w_q.shape[0]
    if d_model % n_heads:
        raise ValueError(f"{n_heads} heads, {d_model} features")
    d_head = d_model // n_heads
    outs, all_weights = [], []
    for h in range(n_heads):
        c = slice(h * d_head, (h + 1) * d_head)
        out, weights = attention(x @ w_q[:, c], x @ w_k[:, c], x @ w_v[:, c])
        outs.append(out)
        all_weights.append(weights)
    return np.concatenate(outs, axis=-1) @ w_o, np.stack(all_weights, axis=-3)


@right("multi_head_attention", "the sum of the heads' parts through their rows of w_o")
def multi_head_attention_blocks(x, w_q, w_k, w_v, w_o, n_heads):
    d_model = len(w_o)
    if d_model % n_heads:
        raise ValueError(f"{n_heads=}, {d_model=}")
    d_head = d_model // n_heads
    total, all_weights = 0, []
    for h in range(n_heads):
        part = slice(h * d_head, (h + 1) * d_head)
        out, weights = attention(x @ w_q[:, part], x @ w_k[:, part], x @ w_v[:, part])
        total = total + out @ w_o[part]
        all_weights.append(weights)
    return total, np.moveaxis(np.array(all_weights), 0, -3)


@right("multi_head_attention", "einsum with the matrices split, not x")
def multi_head_attention_einsum(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (np.einsum("...td,hdi->...hti", x, split_heads(w, n_heads)) for w in (w_q, w_k, w_v))
    scores = np.einsum("...hti,...hsi->...hts", q, k) / q.shape[-1] ** 0.5
    weights = softmax(scores)
    rows = np.reshape(w_o, (n_heads, -1, np.shape(w_o)[-1]))
    return np.einsum("...hts,...hsi,hio->...to", weights, v, rows), weights


@right("multi_head_attention", "one wide projection, cut in three afterwards")
def multi_head_attention_wide(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = np.split(x @ np.hstack([w_q, w_k, w_v]), 3, axis=-1)
    heads, weights = attention(*(split_heads(part, n_heads) for part in (q, k, v)))
    return [merge_heads(heads) @ w_o, weights]


@right("multi_head_attention", "softmax of its own: q scaled first, an epsilon below")
def multi_head_attention_own_softmax(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    scores = (q * (1 / (x.shape[-1] // n_heads) ** 0.5)) @ k.swapaxes(-1, -2)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / (e.sum(-1, keepdims=True) + 1e-9)
    return merge_heads(weights @ v) @ w_o, weights


@right("multi_head_attention", "the fourth root off both, a constant added to the scores")
def multi_head_attention_fourth_roots(x, w_q, w_k, w_v, w_o, n_heads):
    root = (x.shape[-1] / n_heads) ** 0.25
    q, k = split_heads(x @ w_q / root, n_heads), split_heads(x @ w_k / root, n_heads)
    weights = softmax(q @ np.swapaxes(k, -2, -1) + 3)
    return merge_heads(weights @ split_heads(x @ w_v, n_heads)) @ w_o, weights


@right("multi_head_attention", "float32")
def multi_head_attention_float32(x, w_q, w_k, w_v, w_o, n_heads):
    x, w_q, w_k, w_v, w_o = (np.asarray(a, dtype=np.float32) for a in (x, w_q, w_k, w_v, w_o))
    q, k, v = (np.asarray(split_heads(x @ w, n_heads), dtype=np.float32) for w in (w_q, w_k, w_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(q.shape[-1]))
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    return np.asarray(merge_heads(weights @ v), dtype=np.float32) @ w_o, weights


@right("multi_head_attention", "keys sent straight to (..., H, d_head, T), tokens strung together")
def multi_head_attention_flat(x, w_q, w_k, w_v, w_o, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} n_heads={n_heads}")
    flat = x.reshape(-1, d_model)
    cut = (-1, n_tokens, n_heads, d_model // n_heads)
    q = (flat @ w_q).reshape(cut).transpose(0, 2, 1, 3)
    k = (flat @ w_k).reshape(cut).transpose(0, 2, 3, 1)
    v = (flat @ w_v).reshape(cut).transpose(0, 2, 1, 3)
    weights = softmax(q @ k / np.sqrt(d_model // n_heads))
    out = (weights @ v).transpose(0, 2, 1, 3).reshape(-1, d_model) @ w_o
    return out.reshape(x.shape), weights.reshape(*leading, n_heads, n_tokens, n_tokens)


@right("multi_head_attention", "attention on the transposed side: softmax after two swaps")
def multi_head_attention_other_way(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(np.matmul(x, w), n_heads) for w in (w_q, w_k, w_v))
    scores = (k @ q.swapaxes(-1, -2)).swapaxes(-1, -2)
    weights = softmax(scores / np.sqrt(q.shape[-1]))
    merged = merge_heads((v.swapaxes(-1, -2) @ weights.swapaxes(-1, -2)).swapaxes(-1, -2))
    return np.dot(merged, w_o), weights


# ---- MultiHeadAttention ------------------------------------------------------------------


@right("MultiHeadAttention", "drawn in one go, n_parameters a property")
class MultiHeadAttentionProperty:
    def __init__(self, d_model, n_heads, seed=0):
        self.d_model, self.n_heads = d_model, n_heads
        drawn = np.random.default_rng(seed).standard_normal((4, d_model, d_model))
        self.w_q, self.w_k, self.w_v, self.w_o = drawn / d_model**0.5

    @property
    def n_parameters(self):
        return sum(w.size for w in (self.w_q, self.w_k, self.w_v, self.w_o))

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)

    __call__ = forward


@right("MultiHeadAttention", "another order of draws, masks refused")
class MultiHeadAttentionBackwards:
    def __init__(self, d_model, n_heads, seed=0):
        self.d_model = d_model
        self.n_heads = n_heads
        rng = np.random.default_rng(seed)
        for name in ("w_o", "w_v", "w_k", "w_q"):
            setattr(self, name, rng.normal(0, d_model**-0.5, (d_model, d_model)))

        self.n_parameters = 4 * d_model * d_model

    def forward(self, x, mask=None):
        if mask is not None:
            raise NotImplementedError("masks come in lab 03")
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@right("MultiHeadAttention", "uniform draws of the right spread, seeds of their own")
class MultiHeadAttentionUniform:
    def __init__(self, d_model, n_heads, seed=0):
        edge = np.sqrt(3 / d_model)
        self.heads = n_heads
        for i, name in enumerate("qkvo"):
            rng = np.random.default_rng([seed, i])
            setattr(self, f"w_{name}", rng.uniform(-edge, edge, size=(d_model, d_model)))
        self.n_parameters = self.w_q.size * 4

    def forward(self, x, mask=None):
        parts = [split_heads(np.matmul(x, w), self.heads) for w in (self.w_q, self.w_k, self.w_v)]
        heads, weights = attention(*parts)
        return merge_heads(heads) @ self.w_o, weights


@right("MultiHeadAttention", "built on a class of its own, sizes refused at once")
class MultiHeadAttentionChild(
    type("Drawn", (), {"draw": lambda self, rng, d: rng.normal(size=(d, d)) / d**0.5})
):
    def __init__(self, d_model, n_heads, seed=0):
        if d_model % n_heads:
            raise ValueError(f"{d_model} features cannot be cut into {n_heads} heads")
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k = self.draw(rng, d_model), self.draw(rng, d_model)
        self.w_v, self.w_o = self.draw(rng, d_model), self.draw(rng, d_model)

    n_parameters = property(lambda self: 4 * len(self.w_q) ** 2)

    def forward(self, x, mask=None):
        d_head = len(self.w_q) // self.n_heads
        total, seen = 0, []
        for h in range(self.n_heads):
            c = slice(h * d_head, (h + 1) * d_head)
            out, weights = attention(x @ self.w_q[:, c], x @ self.w_k[:, c], x @ self.w_v[:, c])
            total = total + out @ self.w_o[c]
            seen.append(weights)
        return total, np.stack(seen, axis=-3)


@right("MultiHeadAttention", "float32 weights in one dictionary, read through attributes")
class MultiHeadAttentionDictionary:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        drawn = (rng.standard_normal((4, d_model, d_model)) / np.sqrt(d_model)).astype("f4")
        self.__dict__.update(zip(("w_q", "w_k", "w_v", "w_o"), drawn))
        self.call = lambda x, *weights: multi_head_attention(x, *weights, n_heads)
        self.n_parameters = np.int64(4 * d_model**2)

    def forward(self, x, mask=None):
        return self.call(x, self.w_q, self.w_k, self.w_v, self.w_o)


# ---- is_permutation_equivariant ----------------------------------------------------------


@right("is_permutation_equivariant", "a permutation matrix on both sides")
def is_permutation_equivariant_matrix(layer, x, permutation, atol=1e-9):
    p = np.eye(len(permutation))[np.asarray(permutation)]
    out, _ = layer.forward(x)
    moved, _ = layer.forward(p @ x)
    return np.max(np.abs(p @ out - moved)) < atol


@right("is_permutation_equivariant", "permute, run, undo")
def is_permutation_equivariant_undo(layer, x, permutation, atol=1e-9):
    undo = np.argsort(permutation)
    back = np.take(layer.forward(np.take(x, permutation, axis=-2))[0], undo, axis=-2)
    return np.allclose(back, layer.forward(x)[0], rtol=0, atol=atol)


@right("is_permutation_equivariant", "NumPy's own assertion, caught")
def is_permutation_equivariant_asserted(layer, x, permutation, atol=1e-9):
    try:
        np.testing.assert_allclose(
            layer.forward(x[..., permutation, :])[0],
            layer.forward(x)[0][..., permutation, :],
            rtol=0,
            atol=atol,
        )
    except AssertionError:
        return False
    return True


@right("is_permutation_equivariant", "row by row, itself for a batch")
def is_permutation_equivariant_rows(layer, x, permutation, atol=1e-9):
    if np.ndim(x) > 2:
        return all(is_permutation_equivariant_rows(layer, part, permutation, atol) for part in x)
    before = layer.forward(x)[0]
    after = layer.forward(np.array([x[t] for t in permutation]))[0]
    for place, token in enumerate(permutation):
        if max(abs(after[place] - before[token])) > atol:
            return False
    return True


@right("is_permutation_equivariant", "the weights compared as well, on both axes")
def is_permutation_equivariant_both(layer, x, permutation, atol=1e-9):
    out, weights = layer.forward(x)
    moved_out, moved_weights = layer.forward(x[..., permutation, :])
    same_out = np.abs(moved_out - out[..., permutation, :]).max() <= atol
    both_axes = weights[..., permutation, :][..., permutation]
    return bool(same_out and np.abs(moved_weights - both_axes).max() <= atol)


@right("is_permutation_equivariant", "np.isclose, all of them")
def is_permutation_equivariant_isclose(layer, x, permutation, atol=1e-9):
    from functools import partial

    close = partial(np.isclose, rtol=0.0, atol=atol)
    move = partial(np.take, indices=permutation, axis=-2)
    return close(layer.forward(move(x))[0], move(layer.forward(x)[0])).all()
