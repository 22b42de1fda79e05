"""Right answers of lab 01 in other styles: loops, einsum, lists, objects, other orders."""

import math

import numpy as np

from grader.catalogue import right
from grader.reference.lab01_scaled_dot_product import attention, softmax


@right("by_hand", "fractions and logarithms in nested lists")
def by_hand_fractions():
    from fractions import Fraction

    third = Fraction(1, 3)
    scores = [[0, 2 * math.log(3)], [0, math.log(4)]]
    scaled = [[0, math.log(3)], [0, math.log(2)]]
    weights = [[Fraction(1, 4), Fraction(3, 4)], [third, 2 * third]]
    return scores, scaled, weights, [[3, 9, 24], [4, 8, 24]]


@right("by_hand", "two decimals")
def by_hand_decimals():
    scores = np.array([[0, 2.2], [0, 1.39]])
    scaled = [[0, 1.1], [0, 0.693]]
    weights = [[0.25, 0.75], [0.333, 0.67]]
    return [scores, scaled, weights, [[3, 9, 24], [4, 8, 24]]]


@right("by_hand", "each step from the two decimals of the one before")
def by_hand_decimals_carried_on():
    scores = [[0, 2 * 1.10], [0, 2 * 0.69]]
    scaled = [[0, 1.10], [0, 0.69]]
    weights = [[0.25, 0.75], [0.33, 0.67]]
    return scores, scaled, weights, [[3, 9, 24], [3.96, 8.04, 24]]


@right("by_hand", "two decimals from 1.39 on")
def by_hand_decimals_halved():
    weights = np.array([[0.25, 0.75], [0.33, 0.67]])
    out = weights @ [[12, 0, 24], [0, 12, 24]]
    return [[0, 2.2], [0, 1.39]], [[0, 1.1], [0, 0.695]], weights, out


@right("by_hand", "computed by NumPy from q, k and v")
def by_hand_computed():
    q = np.array([[2.0, 0, 0, 0], [0, 2, 0, 0]])
    k = np.array([[0, 0, 5, 1], [np.log(3), np.log(2), -1, 2]])
    v = np.array([[12, 0, 24], [0, 12, 24]])
    scores = q @ k.T
    weights = np.exp(scores / 2) / np.exp(scores / 2).sum(1, keepdims=True)
    return scores, scores / 2, weights, weights @ v


@right("softmax", "a new axis in the place of keepdims")
def softmax_new_axis(x):
    e = np.exp(x - x.max(-1)[..., None])
    return e / np.expand_dims(e.sum(-1), -1)


@right("softmax", "the constant e to a power, written twice")
def softmax_twice_written(x):
    x = np.asarray(x, dtype=float)
    return np.e ** (x - x.max(-1, keepdims=True)) / (np.e ** (x - x.max(-1, keepdims=True))).sum(
        -1, keepdims=True
    )


@right("softmax", "a vector softmax along each row")
def softmax_along_axis(x):
    def one(row):
        e = np.exp(row - max(row))
        return e / sum(e)

    return np.apply_along_axis(one, -1, np.asarray(x, dtype=float))


@right("softmax", "loops, itself for every leading axis, lists returned")
def softmax_loops(x):
    if np.ndim(x) > 1:
        return [softmax_loops(part) for part in x]
    largest = max(x)
    sizes = [math.exp(score - largest) for score in x]
    return [size / sum(sizes) for size in sizes]


@right("softmax", "an epsilon of 1e-5 below the line")
def softmax_epsilon(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / (np.sum(e, axis=-1, keepdims=True) + 1e-5)


@right("softmax", "float32")
def softmax_float32(x):
    x = np.array(x, dtype=np.float32)
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


@right("softmax", "e to the score minus the log of the sum")
def softmax_log_sum(x):
    top = np.max(x, axis=-1, keepdims=True)
    return np.exp(x - top - np.log(np.sum(np.exp(x - top), axis=-1, keepdims=True)))


@right("softmax", "one over the sum of e to all differences")
def softmax_differences(x):
    with np.errstate(over="ignore"):
        gaps = np.asarray(x)[..., None, :] - np.asarray(x)[..., :, None]
        return 1 / np.exp(gaps).sum(-1)


@right("softmax", "a branch for vectors beside one for the last axis")
def softmax_branches(x):
    if x.ndim == 1:
        e = np.exp(x - np.max(x))
        return e / e.sum()
    e = np.exp(x - np.amax(x, axis=x.ndim - 1, keepdims=True))
    return e / e.sum(axis=x.ndim - 1, keepdims=True)


@right("softmax", "an axis to choose, -1 unless said")
def softmax_axis(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@right("softmax", "the last axis moved to the front and back")
def softmax_moved(x):
    x = np.moveaxis(x, -1, 0)
    e = np.exp(x - x.max(0))
    return np.moveaxis(e / e.sum(0), 0, -1)


@right("attention", "q scaled first, softmax by its own name for the axis")
def attention_q_first(q, k, v):
    weights = softmax(q / math.sqrt(q.shape[-1]) @ k.swapaxes(-2, -1), axis=-1)
    return weights @ v, weights


@right("attention", "k scaled first, returned as a list")
def attention_k_first(q, k, v):
    k = k * k.shape[-1] ** -0.5
    weights = softmax(np.matmul(q, np.moveaxis(k, -1, -2)))
    return [np.matmul(weights, v), weights]


@right("attention", "fourth roots on both")
def attention_fourth_roots(q, k, v):
    root = q.shape[-1] ** 0.25
    weights = softmax((q / root) @ np.swapaxes(k / root, -1, -2))
    return weights @ v, weights


@right("attention", "einsum")
def attention_einsum(q, k, v):
    scores = np.einsum("...td,...sd->...ts", q, k) / np.sqrt(k.shape[-1])
    weights = softmax(scores)
    return np.einsum("...ts,...sd->...td", weights, v), weights


@right("attention", "the keys' scores turned round")
def attention_turned(q, k, v):
    scores = np.swapaxes(k @ np.swapaxes(q, -1, -2), -1, -2)
    weights = softmax(scores / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@right("attention", "one query at a time, itself for every leading axis")
def attention_loops(q, k, v):
    if q.ndim > 2:
        parts = [attention_loops(*part) for part in zip(q, k, v)]
        return np.stack([out for out, _ in parts]), np.stack([w for _, w in parts])
    weights = np.zeros((len(q), len(k)))
    out = np.zeros((len(q), v.shape[1]))
    for t in range(len(q)):
        scores = [np.dot(q[t], key) / np.sqrt(len(key)) for key in k]
        weights[t] = softmax(np.array(scores))
        for s in range(len(k)):
            out[t] += weights[t, s] * v[s]
    return out, weights


@right("attention", "a softmax of its own, a constant added to every score of a row")
def attention_shifted(q, k, v):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    scores -= scores.max(-1, keepdims=True) - 3.0
    scores = np.exp(scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores @ v, scores


@right("attention", "float32")
def attention_float32(q, k, v):
    q, k, v = (np.asarray(a, dtype=np.float32) for a in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) / np.float32(np.sqrt(q.shape[-1]))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@right("score_variance", "one pair at a time")
def variance_loop(d_k, n, rng, scale=1.0):
    scores = []
    for _ in range(n):
        q, k = rng.normal(size=d_k), rng.normal(size=d_k)
        scores.append(scale * np.dot(q, k))
    return np.var(scores)


@right("score_variance", "divided by n - 1, scaled on one side")
def variance_unbiased(d_k, n, rng, scale=1.0):
    k, q = rng.normal(0, 1, (n, d_k)), scale * rng.normal(0, 1, (n, d_k))
    return float(np.einsum("nd,nd->n", q, k).var(ddof=1))


@right("score_variance", "the mean square, since the mean is 0 in theory")
def variance_mean_square(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((2, n, d_k))
    return ((scale * (q * k).sum(1)) ** 2).mean()


@right("score_variance", "the diagonal of all scores, features first")
def variance_diagonal(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((d_k, n)), rng.standard_normal((d_k, n))
    return np.var(scale * np.diag(q.T @ k))


@right("sharpness", "new keys for every query, one at a time")
def sharpness_loop(d_k, divisor, n_keys, n_queries, rng):
    largest = []
    for _ in range(n_queries):
        q, k = rng.standard_normal(d_k), rng.standard_normal((n_keys, d_k))
        largest.append(softmax(k @ q / divisor).max())
    return sum(largest) / n_queries


@right("sharpness", "new keys for every query, all at once")
def sharpness_batch(d_k, divisor, n_keys, n_queries, rng):
    k = rng.normal(size=(n_queries, n_keys, d_k))
    q = rng.normal(size=(n_queries, 1, d_k))
    return np.mean(np.max(softmax(np.sum(q * k, axis=-1) / divisor), axis=-1))


@right("sharpness", "by attention, with its own root undone")
def sharpness_by_attention(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    _, weights = attention(q * np.sqrt(d_k) / divisor, k, k)
    return weights.max(-1).mean()


@right("softmax_jacobian", "np.diag and np.outer, row by row")
def jacobian_rows(weights):
    if np.ndim(weights) > 1:
        return np.stack([jacobian_rows(row) for row in weights])
    return np.diag(weights) - np.outer(weights, weights)


@right("softmax_jacobian", "einsum")
def jacobian_einsum(weights):
    eye = np.eye(weights.shape[-1])
    return np.einsum("...i,ij->...ij", weights, eye) - np.einsum(
        "...i,...j->...ij", weights, weights
    )


@right("softmax_jacobian", "p_i (same - p_j)")
def jacobian_bracket(weights):
    return weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])


@right("softmax_jacobian", "the diagonal added afterwards, a column times a row")
def jacobian_in_steps(weights):
    p = weights[..., None]
    jacobian = -(p @ p.swapaxes(-1, -2))
    for s in range(weights.shape[-1]):
        jacobian[..., s, s] += weights[..., s]
    return jacobian
