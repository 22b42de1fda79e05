"""Right answers of lab 03 in other styles: loops, index arrays, other fills, other orders."""

import numpy as np

from grader.catalogue import right
from grader.reference.lab01_scaled_dot_product import attention, softmax
from grader.reference.lab03_masking import (
    additive_mask,
    causal_mask,
    masked_attention,
    masked_softmax,
)


@right("causal_mask", "np.tri")
def causal_tri(T):
    return np.tri(T, dtype=bool)


@right("causal_mask", "columns compared with rows")
def causal_compared(T):
    t = np.arange(T)
    return t[None, :] <= t[:, None]


@right("causal_mask", "one minus the upper triangle, as bool")
def causal_one_minus(T):
    return (1 - np.triu(np.ones((T, T)), k=1)).astype(bool)


@right("causal_mask", "the upper triangle is zero")
def causal_upper_is_zero(T):
    return np.triu(np.ones((T, T)), k=1) == 0


@right("causal_mask", "a list of lists")
def causal_lists(T):
    return [[s <= t for s in range(T)] for t in range(T)]


@right("causal_mask", "filled row by row")
def causal_rows(T):
    mask = np.empty((T, T), bool)
    for t in range(T):
        mask[t, : t + 1] = True
        mask[t, t + 1 :] = False
    return mask


@right("causal_mask", "index pairs of the future set to False")
def causal_pairs(T):
    mask = np.full((T, T), True)
    mask[np.triu_indices(T, 1)] = False
    return mask


@right("padding_mask", "a loop with slices")
def padding_loop(lengths, S):
    mask = np.zeros((len(lengths), 1, S), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, 0, :length] = True
    return mask


@right("padding_mask", "lists")
def padding_lists(lengths, S):
    return [[[True] * n + [False] * (S - n)] for n in lengths]


@right("padding_mask", "rows of the lower triangle, looked up by length")
def padding_looked_up(lengths, S):
    return np.tri(S + 1, S, -1, dtype=bool)[lengths][:, np.newaxis]


@right("padding_mask", "broadcast and expanded")
def padding_expanded(lengths, S):
    return np.expand_dims(np.less.outer(np.arange(S), lengths).T, axis=1)


@right("additive_mask", "filled where it is not allowed")
def additive_filled(mask):
    bias = np.zeros(mask.shape)
    bias[~mask] = -np.inf
    return bias


@right("additive_mask", "the logarithm of the mask")
def additive_log(mask):
    with np.errstate(divide="ignore"):
        return np.log(mask.astype(float))


@right("additive_mask", "negative zeros, in float32")
def additive_negative_zero(mask):
    return np.where(mask, np.float32(-0.0), np.float32("-inf"))


@right("additive_mask", "a recursion over lists")
def additive_recursion(mask):
    if np.ndim(mask) == 0:
        return 0 if mask else -np.inf
    return [additive_recursion(part) for part in mask]


@right("masked_softmax", "masked after the exponential, divided by the new sum")
def softmax_renormalised(scores, mask):
    top = np.max(1.0 * scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exps = np.exp(np.minimum(scores - top, 0)) * mask
    total = exps.sum(-1, keepdims=True)
    return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)


@right("masked_softmax", "−1e9, and rows with nothing allowed set to zero")
def softmax_billion(scores, mask):
    exps = np.where(mask, scores, -1e9)
    exps = np.exp(exps - exps.max(-1, keepdims=True))
    weights = exps / exps.sum(-1, keepdims=True)
    return weights * np.any(mask, axis=-1, keepdims=True)


@right("masked_softmax", "additive, −1e9, masked once more at the end")
def softmax_additive(scores, mask):
    weights = softmax(scores + (1 - mask) * -1e9)
    return np.where(mask, weights, 0)


@right("masked_softmax", "additive_mask, and nan turned into zero")
def softmax_nan_to_num(scores, mask):
    biased = scores + additive_mask(mask)
    with np.errstate(invalid="ignore"):
        exps = np.exp(biased - biased.max(axis=-1, keepdims=True))
        return np.nan_to_num(exps / exps.sum(axis=-1, keepdims=True))


@right("masked_softmax", "a loop over rows")
def softmax_loop(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        keep = mask[place]
        if keep.any():
            exps = np.exp(scores[place][keep] - max(scores[place][keep]))
            weights[place][keep] = exps / exps.sum()
    return weights


@right("masked_softmax", "float32")
def softmax_float32(scores, mask):
    kept = np.where(mask, scores, -np.inf).astype(np.float32)
    top = kept.max(-1, keepdims=True)
    exps = np.exp(kept - np.where(np.isinf(top), np.float32(0), top))
    return exps / np.maximum(exps.sum(-1, keepdims=True), np.float32(1e-9))


@right("masked_softmax", "an epsilon of 1e-5 in the denominator")
def softmax_epsilon(scores, mask):
    top = np.where(mask, scores, -np.inf).max(-1)[..., None]
    top[np.isinf(top)] = 0
    exps = np.exp(np.where(mask, scores - top, -np.inf))
    return exps / (exps.sum(-1)[..., None] + 1e-5)


@right("masked_softmax", "through the logarithm of the sum")
def softmax_log_sum(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    log_sum = np.logaddexp.reduce(kept, axis=-1, keepdims=True)
    return np.exp(kept - np.where(np.isneginf(log_sum), 0, log_sum))


@right("masked_softmax", "masked arrays")
def softmax_masked_arrays(scores, mask):
    kept = np.ma.masked_array(scores, ~np.broadcast_to(mask, scores.shape))
    exps = np.ma.exp(kept - kept.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)).filled(0)


@right("masked_softmax", "a constant added to all allowed scores of a row")
def softmax_constant(scores, mask):
    kept = np.where(mask, scores + 7, -np.inf)
    top = np.maximum(kept.max(-1, keepdims=True), np.finfo(float).min)
    exps = np.exp(kept - top)
    return exps / np.where(exps.sum(-1, keepdims=True), exps.sum(-1, keepdims=True), np.inf)


@right("masked_attention", "q scaled first, None handled by a mask of ones")
def attention_q_first(q, k, v, mask=None):
    scores = (q / np.sqrt(q.shape[-1])) @ np.swapaxes(k, -1, -2)
    weights = masked_softmax(scores, np.ones_like(scores, dtype=bool) if mask is None else mask)
    return weights @ v, weights


@right("masked_attention", "fourth roots on both, einsum")
def attention_fourth_roots(q, k, v, mask=None):
    root = q.shape[-1] ** 0.25
    scores = np.einsum("...td,...sd->...ts", q / root, k / root)
    weights = masked_softmax(scores, True if mask is None else mask)
    return np.einsum("...ts,...sd->...td", weights, v), weights


@right("masked_attention", "masked before scaling, a list returned")
def attention_scaled_late(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    scores = scores / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, ~np.isinf(scores))
    return [weights @ v, weights]


@right("masked_attention", "plain attention where there is no mask")
def attention_two_branches(q, k, v, mask=None):
    if mask is None:
        return attention(q, k, v)
    weights = masked_softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1]), mask)
    return weights @ v, weights


@right("masked_attention", "its own softmax, −1e9 added, rows struck out at the end")
def attention_own_softmax(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]))
    mask = np.ones(scores.shape) if mask is None else np.broadcast_to(mask, scores.shape)
    scores = scores + (1 - mask) * -1e9
    exps = np.exp(scores - np.max(scores, -1, keepdims=True))
    weights = exps / np.sum(exps, -1, keepdims=True) * mask
    return weights @ v, weights


@right("masked_attention", "sentence by sentence, float32")
def attention_sentences(q, k, v, mask=None):
    if q.ndim > 2:
        if mask is not None:
            mask = np.broadcast_to(mask, (*q.shape[:-1], k.shape[-2]))
        parts = [
            attention_sentences(q[b], k[b], v[b], None if mask is None else mask[b])
            for b in range(len(q))
        ]
        return np.stack([out for out, _ in parts]), np.stack([w for _, w in parts])
    q, k, v = q.astype(np.float32), k.astype(np.float32), v.astype(np.float32)
    scores = q @ k.T / np.float32(np.sqrt(q.shape[-1]))
    weights = masked_softmax(scores, np.True_ if mask is None else mask)
    return weights @ v, weights


@right("masked_attention", "the mask as a sum of logarithms, handed on by name")
def attention_by_name(q, k, v, mask=None):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    weights = masked_softmax(scores=scores, mask=mask)
    return np.matmul(weights, v), weights


@right("influence", "doubled and one more, compared exactly")
def influence_doubled(layer, x):
    before = layer.forward(x)[0]
    columns = []
    for s in range(len(x)):
        changed = x.copy()
        changed[s] = 2 * x[s] + 7
        columns.append((layer.forward(changed)[0] != before).any(axis=1))
    return np.stack(columns, axis=1)


@right("influence", "changed by noise, np.allclose row by row")
def influence_noise(layer, x):
    rng = np.random.default_rng(0)
    base = layer.forward(x)[0]
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = np.array(x, dtype=float)
        changed[s] += rng.uniform(1, 2, x.shape[1])
        out = layer.forward(changed)[0]
        for t in range(len(x)):
            moved[t, s] = not np.allclose(out[t], base[t])
    return moved


@right("influence", "each token replaced by a far one, lists")
def influence_far(layer, x):
    out, _ = layer.forward(x)
    answer = [[False] * len(x) for _ in x]
    for s in range(len(x)):
        there, _ = layer.forward(np.vstack([x[:s], 100 + x[s : s + 1], x[s + 1 :]]))
        for t in range(len(x)):
            answer[t][s] = bool(np.abs(there[t] - out[t]).sum() > 1e-6)
    return answer


@right("influence", "all changes in one array, norms of the differences")
def influence_norms(layer, x):
    T = x.shape[0]
    more = np.eye(T)
    outs = np.array([layer.forward(x - 5 * more[s][:, None])[0] for s in range(T)])
    return np.linalg.norm(outs - layer.forward(x)[0], axis=-1).T > 0


@right("influence", "all copies at once, as a batch")
def influence_batch(layer, x):
    copies = np.repeat(np.asarray(x, float)[None], len(x), axis=0)  # (T, T, d_model)
    copies[np.arange(len(x)), np.arange(len(x))] += 0.5
    return (~np.isclose(layer.forward(copies)[0], layer.forward(x)[0])).any(-1).T


@right("influence", "a small step, as one would estimate a slope")
def influence_slope(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        step = np.zeros(x.shape)
        step[s] = 1e-3
        after, _ = layer.forward(x + step)
        moved[:, s] = np.any(np.abs((after - before) / 1e-3) > 1e-6, axis=1)
    return moved


@right("influence", "each token's features in reverse and moved")
def influence_reversed(layer, x):
    before, _ = layer.forward(x)
    moved = []
    for s in range(len(x)):
        changed = x.copy()
        changed[s] = x[s][::-1] + 3
        moved.append(np.max(np.abs(layer.forward(changed)[0] - before), axis=1) > 1e-8)
    return np.array(moved).T


@right("Attention", "`or` for the defaults, masks multiplied")
class AttentionMultiplied:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_k or d_model
        d_v = d_v or d_model
        rng = np.random.default_rng(seed)
        self.w_q = rng.standard_normal((d_model, d_k)) * d_model**-0.5
        self.w_k = rng.standard_normal((d_model, d_k)) * d_model**-0.5
        self.w_v = rng.standard_normal((d_model, d_v)) * d_model**-0.5
        self.w_o = rng.standard_normal((d_v, d_model)) * d_model**-0.5  # by d_model here as well
        self.causal = causal

    def forward(self, x, mask=None):
        T = x.shape[-2]
        allowed = np.ones((T, T), dtype=bool) if mask is None else mask
        if self.causal:
            allowed = allowed * causal_mask(T)
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, allowed)
        return out @ self.w_o, weights


@right("Attention", "uniform draws, biases added up, no other exercise used")
class AttentionAlone:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        sizes = [d_model if size is None else size for size in (d_k, d_k, d_v)]
        draw = np.random.default_rng(seed).uniform
        a, b = (3 / d_model) ** 0.5, (3 / sizes[2]) ** 0.5
        self.w_q, self.w_k, self.w_v = (draw(-a, a, (d_model, size)) for size in sizes)
        self.w_o = draw(-b, b, (sizes[2], d_model))
        self.causal = causal

    def forward(self, x, mask=None):
        q, k, v = x @ self.w_q, x @ self.w_k, x @ self.w_v
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(self.w_k.shape[1])
        if self.causal:
            scores = scores + np.triu(np.full(scores.shape[-2:], -1e9), k=1)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        weights = exps / exps.sum(-1, keepdims=True)
        return weights @ v @ self.w_o, weights


@right("Attention", "np.logical_and, w_o applied to the values first")
class AttentionValuesFirst:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        rng = np.random.RandomState(seed)
        self.d_k = d_model if d_k is None else d_k
        self.d_v = d_model if d_v is None else d_v
        self.causal = causal
        for name in ("w_q", "w_k", "w_v"):
            size = self.d_v if name == "w_v" else self.d_k
            setattr(self, name, rng.randn(d_model, size) / np.sqrt(d_model))
        self.w_o = rng.randn(self.d_v, d_model) / np.sqrt(self.d_v)

    def forward(self, x, mask=None):
        masks = [causal_mask(x.shape[-2])] if self.causal else []
        masks += [] if mask is None else [mask]
        both = None
        for one in masks:
            both = one if both is None else np.logical_and(both, one)
        handed_over = x @ self.w_v @ self.w_o  # (..., T, d_model)
        return masked_attention(x @ self.w_q, x @ self.w_k, handed_over, both)
