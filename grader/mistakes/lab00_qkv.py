"""Wrong answers of lab 00. Each stands alone: it uses only NumPy."""

import numpy as np

from grader.catalogue import wrong


@wrong("embed", "the table was transposed", "A token is a row of the table. `table[i]` is row i.")
def embed_table_transposed(ids, table):
    return table.T[ids]


@wrong(
    "embed",
    "the position was used as the id",
    "Which row to take is written in `ids`, not given by the place in the sentence.",
)
def embed_position_as_id(ids, table):
    return table[np.arange(ids.size).reshape(ids.shape)]


@wrong(
    "embed",
    "the rows were scaled by √d_model",
    "Some models scale embeddings by √d_model; this course's `embed` only looks the rows up.",
)
def embed_scaled(ids, table):
    return table[ids] * np.sqrt(table.shape[-1])


@wrong(
    "embed",
    "np.take without an axis",
    "Without an axis `np.take` counts through the whole table, number by number, and gives one "
    "number a token. Take rows: axis 0.",
)
def embed_take_flat(ids, table):
    return np.take(table, ids)


@wrong(
    "embed",
    "columns were taken instead of rows",
    "`table[:, i]` is one feature of every word. A word's features are a row: the first axis.",
)
def embed_columns(ids, table):
    return table[:, ids]


@wrong(
    "embed",
    "ids were counted from 1",
    "Ids begin at 0, as indices do: id 0 is the first row.",
)
def embed_from_one(ids, table):
    return table[ids - 1]


@wrong(
    "embed",
    "the ids were flattened",
    "Flattened, the sentences of a batch become one long one. Indexing takes `ids` of any shape.",
)
def embed_flattened(ids, table):
    return table[np.ravel(ids)]


@wrong(
    "project",
    "w @ x instead of x @ w",
    "Tokens are the rows of x, so x stands on the left: (T, d_model) @ (d_model, d_k).",
)
def project_w_first(x, w_q, w_k, w_v):
    return w_q @ x, w_k @ x, w_v @ x


@wrong(
    "project",
    "x @ w.T instead of x @ w",
    "These matrices are (d_model, d_k) already. The transpose belongs to layers that keep "
    "their weights the other way round.",
)
def project_w_transposed(x, w_q, w_k, w_v):
    return x @ w_q.T, x @ w_k.T, x @ w_v.T


@wrong(
    "project",
    "the key's matrix was used for the values",
    "Three roles, three matrices: what a token hands over (v) is not what it is found by (k).",
)
def project_values_from_keys(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x @ w_k


@wrong(
    "project",
    "the query's matrix was used for the keys",
    "With one matrix for both, the scores come out symmetric: each asks as it answers.",
)
def project_keys_from_queries(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_q, x @ w_v


@wrong(
    "project",
    "element-wise product instead of a matrix product",
    "`*` multiplies entry by entry. A projection sums over d_model: use `@`.",
)
def project_elementwise(x, w_q, w_k, w_v):
    return x * w_q, x * w_k, x * w_v


@wrong("project", "returned in another order", "The order is q, k, v, as in the name of the lab.")
def project_order_swapped(x, w_q, w_k, w_v):
    return x @ w_k, x @ w_q, x @ w_v


@wrong(
    "project",
    "returned as q, v, k",
    "The order is q, k, v: what is asked, what is offered, what is handed over.",
)
def project_values_second(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_v, x @ w_k


@wrong(
    "lookup",
    "the least matching key was taken",
    "The best match is the largest dot product, so `argmax`.",
)
def lookup_least(q, k, v):
    worst = np.argmin(q @ np.swapaxes(k, -1, -2), axis=-1)
    return np.take_along_axis(v, worst[..., None], axis=-2)


@wrong(
    "lookup",
    "queries were matched against values",
    "Queries are compared with keys; values are only handed over.",
)
def lookup_matches_values(q, k, v):
    best = np.argmax(q @ np.swapaxes(v, -1, -2), axis=-1)
    return np.take_along_axis(v, best[..., None], axis=-2)


@wrong("lookup", "the key was returned", "Found by its key, what is handed over is the value.")
def lookup_returns_keys(q, k, v):
    best = np.argmax(q @ np.swapaxes(k, -1, -2), axis=-1)
    return np.take_along_axis(k, best[..., None], axis=-2)


@wrong(
    "lookup",
    "the place of the key was returned",
    "`argmax` says where the best key is. Take the value that stands there.",
)
def lookup_returns_places(q, k, v):
    return np.argmax(q @ np.swapaxes(k, -1, -2), axis=-1)


@wrong(
    "lookup",
    "the best query was found for each key",
    "Each query chooses among the keys, so the largest is taken along the keys: the last axis.",
)
def lookup_over_queries(q, k, v):
    best = np.argmax(q @ np.swapaxes(k, -1, -2), axis=-2)
    return np.take_along_axis(v, best[..., None], axis=-2)


@wrong(
    "lookup",
    "cosine instead of the dot product",
    "Cosine takes the length of a key out, and here a long key does match more. Compare plain "
    "dot products.",
)
def lookup_cosine(q, k, v):
    k_unit = k / np.linalg.norm(k, axis=-1, keepdims=True)
    best = np.argmax(q @ np.swapaxes(k_unit, -1, -2), axis=-1)
    return np.take_along_axis(v, best[..., None], axis=-2)


@wrong(
    "lookup",
    "the nearest key instead of the largest dot product",
    "Distance asks how equal a query and a key are. Here the best match is the largest dot "
    "product.",
)
def lookup_nearest(q, k, v):
    gaps = q[..., :, None, :] - k[..., None, :, :]
    best = np.argmin(np.sum(gaps**2, axis=-1), axis=-1)
    return np.take_along_axis(v, best[..., None], axis=-2)


@wrong(
    "lookup",
    "the value was looked up along the first axis",
    "`v[best]` picks rows of a matrix, but in a batch the first axis counts sentences. Pick along "
    "axis -2, for each sentence on its own.",
)
def lookup_first_axis(q, k, v):
    return v[np.argmax(q @ np.swapaxes(k, -1, -2), axis=-1)]


@wrong(
    "lookup",
    "`.T` on a batch",
    "`.T` turns all axes round, the batch too. Only the last two should change places; then pick "
    "the values sentence by sentence, along axis -2.",
)
def lookup_dot_t(q, k, v):
    return v[np.argmax(q @ k.T, axis=-1)]


@wrong(
    "scores",
    "the keys were not transposed",
    "(T, d_k) @ (S, d_k) does not fit; the second factor must be (d_k, S).",
)
def scores_not_transposed(q, k):
    return q @ k


@wrong(
    "scores",
    "queries and keys changed places",
    "Rows belong to queries: q stands on the left, and the result is (T, S).",
)
def scores_roles_swapped(q, k):
    return k @ np.swapaxes(q, -1, -2)


@wrong(
    "scores",
    "`.T` on a batch",
    "`.T` turns all axes round, the batch too. Only the last two should change places.",
)
def scores_dot_t(q, k):
    return q @ k.T


@wrong(
    "scores",
    "np.dot on a batch",
    "`np.dot` pairs every sentence with every other one. `@` keeps each sentence to itself.",
)
def scores_np_dot(q, k):
    return np.dot(q, np.swapaxes(k, -1, -2))


@wrong(
    "scores",
    "element-wise product",
    "`*` keeps the features apart. A dot product sums over them: use `@`.",
)
def scores_elementwise(q, k):
    return q * k


@wrong(
    "scores",
    "already divided by √d_k",
    "You know what comes next. Here the plain dot products are asked for; lab01 asks why.",
)
def scores_scaled(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


@wrong(
    "scores",
    "queries were compared with queries",
    "Both factors came from q. Each query is compared with every key.",
)
def scores_queries_only(q, k):
    return q @ np.swapaxes(q, -1, -2)


@wrong(
    "scores",
    "cosine instead of the dot product",
    "Cosine divides by the lengths of query and key. Here lengths count: plain dot products.",
)
def scores_cosine(q, k):
    q_unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    k_unit = k / np.linalg.norm(k, axis=-1, keepdims=True)
    return q_unit @ np.swapaxes(k_unit, -1, -2)


@wrong(
    "blend",
    "np.dot on a batch",
    "`np.dot` pairs every sentence with every other one. `@` keeps each sentence to itself.",
)
def blend_np_dot(weights, v):
    return np.dot(weights, v)


@wrong(
    "blend",
    "the weights were transposed",
    "Row t of the weights belongs to query t: (T, S) @ (S, d_v), with nothing turned round.",
)
def blend_transposed(weights, v):
    return np.swapaxes(weights, -1, -2) @ v


@wrong(
    "blend",
    "the plain mean of the values",
    "Each value counts by its weight; the mean is what equal weights would give.",
)
def blend_mean(weights, v):
    means = v.mean(axis=-2, keepdims=True)
    return np.broadcast_to(means, weights.shape[:-1] + v.shape[-1:])


@wrong(
    "blend",
    "divided by the number of keys",
    "The weights sum to 1 already, so the sum is an average as it stands.",
)
def blend_divided(weights, v):
    return weights @ v / v.shape[-2]


@wrong(
    "blend",
    "element-wise product",
    "`*` does not add up over the keys. A weighted sum is a matrix product: use `@`.",
)
def blend_elementwise(weights, v):
    return weights * v


@wrong(
    "blend",
    "only the value with the largest weight",
    "That is the hard lookup again. Here every value counts, by its weight.",
)
def blend_hard(weights, v):
    best = np.argmax(weights, axis=-1)
    return np.take_along_axis(v, best[..., None], axis=-2)


@wrong(
    "steer",
    "the blank asks for nothing",
    "All its scores are equal, so every token gets 1/8. The blank asks through its row of w_q; "
    "`he` and `work` offer through theirs of w_k. Did the two change places?",
)
def steer_zero():
    return np.zeros((7, 3)), np.zeros((7, 3))


@wrong(
    "steer",
    "every token looks for itself",
    "With the identity twice, the blank asks for a blank. Let its row of w_q ask for features "
    "of `he` and `work`.",
)
def steer_identity():
    return np.eye(7) * 2, np.eye(7) * 2


@wrong(
    "steer",
    "the blank asks for `he` only",
    "Let it ask for a verb as well: a second column, one for each thing it looks for.",
)
def steer_he_only():
    w_q, w_k = np.zeros((7, 1)), np.zeros((7, 1))
    w_q[3] = 3
    w_k[6] = 1
    return w_q, w_k
