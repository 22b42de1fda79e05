"""Wrong answers of lab 01. They use NumPy and the other exercises of the lab, as learners do."""

import numpy as np

from grader.catalogue import wrong
from grader.reference.lab01_scaled_dot_product import softmax

# ---- by_hand ----------------------------------------------------------------------------


@wrong(
    "by_hand",
    "the roles of queries and keys changed places",
    "Row t of the scores belongs to query t: its dot product with the first key, then with the "
    "second. The first wrong step is the scores.",
)
def by_hand_roles_swapped():
    scores = np.array([[0, 0], [2 * np.log(3), 2 * np.log(2)]])
    weights = np.array([[1 / 2, 1 / 2], [3 / 5, 2 / 5]])
    return scores, scores / 2, weights, weights @ [[12, 0, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "the scores were divided at once",
    "The first matrix holds the plain dot products, before anything is divided. The queries "
    "are 2 at the place they ask about, so a factor 2 is still in there.",
)
def by_hand_scores_divided():
    scaled = np.log([[1, 3], [1, 2]])
    weights = np.array([[1 / 4, 3 / 4], [1 / 3, 2 / 3]])
    return scaled, scaled, weights, weights @ [[12, 0, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "not scaled",
    "The first wrong step is the second: √d_k has not been divided out. Count the features of "
    "a query, those that are zero too.",
)
def by_hand_not_scaled():
    scores = 2 * np.log([[1, 3], [1, 2]])
    weights = np.array([[1 / 10, 9 / 10], [1 / 5, 4 / 5]])
    return scores, scores, weights, weights @ [[12, 0, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "divided by d_k instead of √d_k",
    "The first wrong step is the second. Queries and keys have d_k = 4 features, and it is the "
    "root that scores are divided by.",
)
def by_hand_divided_by_d_k():
    scores = 2 * np.log([[1, 3], [1, 2]])
    sizes = np.sqrt([[1, 3], [1, 2]])
    weights = sizes / sizes.sum(-1, keepdims=True)
    return scores, scores / 4, weights, weights @ [[12, 0, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "the scaled scores were divided by the sum of their row, without e to the power",
    "The first wrong step is the third: take e to the power of each scaled score first. "
    "e to the ln 3 is 3.",
)
def by_hand_no_exponential():
    scaled = np.log([[1, 3], [1, 2]])
    weights = [[0, 1], [0, 1]]
    return 2 * scaled, scaled, weights, [[0, 12, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "the columns of the weights sum to 1",
    "The first wrong step is the third: each query shares out one whole, so each row sums to 1.",
)
def by_hand_over_queries():
    scaled = np.log([[1, 3], [1, 2]])
    weights = np.array([[1 / 2, 3 / 5], [1 / 2, 2 / 5]])
    return 2 * scaled, scaled, weights, weights @ [[12, 0, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "the weights were not divided by the sum of their row",
    "The first wrong step is the third: e to the scaled scores is 1, 3 and 1, 2. What are the "
    "shares of these in their rows?",
)
def by_hand_not_divided():
    scaled = np.log([[1, 3], [1, 2]])
    weights = np.array([[1, 3], [1, 2]])
    return 2 * scaled, scaled, weights, weights @ [[12, 0, 24], [0, 12, 24]]


@wrong(
    "by_hand",
    "the values were mixed by the columns of the weights",
    "The first wrong step is the last: the output of query t mixes the values by row t.",
)
def by_hand_weights_transposed():
    scaled = np.log([[1, 3], [1, 2]])
    weights = np.array([[1 / 4, 3 / 4], [1 / 3, 2 / 3]])
    return 2 * scaled, scaled, weights, weights.T @ [[12, 0, 24], [0, 12, 24]]


# ---- softmax ----------------------------------------------------------------------------


@wrong(
    "softmax",
    "over the queries: axis -2",
    "Each row shares out one whole among its keys, and the keys are the last axis.",
)
def softmax_over_queries(x):
    e = np.exp(x - np.max(x, axis=-2, keepdims=True))
    return e / np.sum(e, axis=-2, keepdims=True)


@wrong(
    "softmax",
    "over the first axis: axis 0",
    "The keys are the last axis, however many stand before it: axis -1.",
)
def softmax_over_first_axis(x):
    e = np.exp(x - np.max(x, axis=0))
    return e / np.sum(e, axis=0)


@wrong(
    "softmax",
    "always over axis 1",
    "Axis 1 is the last one only when there are two. Count from the end: axis -1.",
)
def softmax_over_axis_one(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@wrong(
    "softmax",
    "one rule for a vector, axis 1 for everything else",
    "With the axis counted from the end, -1, vectors, matrices and batches need one rule only.",
)
def softmax_by_number_of_axes(x):
    if x.ndim == 1:
        e = np.exp(x - np.max(x))
        return e / np.sum(e)
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@wrong(
    "softmax",
    "turned round with `.T` to divide by the row sums",
    "`.T` turns all axes round, so it divides the right numbers only in a matrix. "
    "`keepdims=True` keeps the sums in place for any number of axes.",
)
def softmax_double_transpose(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return (e.T / np.sum(e, axis=-1)).T


@wrong(
    "softmax",
    "over everything",
    "Now all weights together sum to 1. Each row has a whole of its own: sum along the last axis.",
)
def softmax_over_everything(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@wrong(
    "softmax",
    "the sums without keepdims",
    "Sums of shape (T,) are laid along the keys, so entry (t, s) is divided by the sum of row s. "
    "`keepdims=True` keeps the shape (T, 1).",
)
def softmax_sum_without_keepdims(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1)


@wrong(
    "softmax",
    "the maxima without keepdims",
    "Maxima of shape (T,) are laid along the keys, so entry (t, s) loses the largest of row s. "
    "`keepdims=True` keeps the shape (T, 1).",
)
def softmax_max_without_keepdims(x):
    e = np.exp(x - np.max(x, axis=-1))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "maxima and sums without keepdims",
    "Both must keep the shape (T, 1) to be laid along their own row: `keepdims=True`.",
)
def softmax_nothing_kept(x):
    e = np.exp(x - np.max(x, axis=-1))
    return e / np.sum(e, axis=-1)


@wrong(
    "softmax",
    "no maximum taken off",
    "e to the 1000 is more than a float can hold, and infinity over infinity is nan. The shares "
    "of a row do not change when one number is taken off all its scores.",
)
def softmax_no_max(x):
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "nan replaced by 0",
    "That hides the overflow and loses the weights: large scores deserve shares as well. Take "
    "each row's largest score off first.",
)
def softmax_nan_hidden(x):
    e = np.exp(x)
    return np.nan_to_num(e / np.sum(e, axis=-1, keepdims=True))


@wrong(
    "softmax",
    "large scores cut off",
    "Cut off at one height, different scores become equal. Take each row's largest off instead: "
    "that changes no share.",
)
def softmax_clipped(x):
    e = np.exp(np.clip(x, -500, 500))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "one maximum for all rows",
    "A row far below the largest score of all becomes 0 everywhere, and 0 over 0 is nan. Each "
    "row needs its own largest score.",
)
def softmax_global_max(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "the mean of each row taken off, not its largest",
    "That helps until one score stands far above the others: above the mean e to it can still be "
    "too large. What makes sure that no power is above 1?",
)
def softmax_mean_off(x):
    e = np.exp(x - np.mean(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "the minimum of each row taken off, not its largest",
    "Then the largest score can still be too large for e to the power. Which score has to become 0 "
    "so that all others are below?",
)
def softmax_min_off(x):
    e = np.exp(x - np.min(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "divided by the maximum instead of taking it off",
    "A difference of scores decides about their shares, and division changes the differences. "
    "Subtraction does not.",
)
def softmax_divided_by_max(x):
    e = np.exp(x / np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "the largest absolute value taken off",
    "In a row of scores around -1000 that makes every power 0, and 0 over 0 is nan. Take the "
    "largest score itself, with its sign.",
)
def softmax_absolute_max(x):
    e = np.exp(x - np.max(np.abs(x), axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "1000 taken off every score",
    "A fixed number fits scores of one height only. Each row needs a number of its own: its "
    "largest.",
)
def softmax_minus_thousand(x):
    e = np.exp(x - 1000)
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "the maximum of each column taken off",
    "Only a number that is the same all along a row leaves its shares alone: take the maximum "
    "along the last axis.",
)
def softmax_column_max(x):
    e = np.exp(x - np.max(x, axis=0, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "the maximum taken off above the line only",
    "Above and below the line must stand the same exponentials, or the row does not sum to 1. "
    "Compute them once and use them twice.",
)
def softmax_max_in_numerator_only(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(np.exp(x), axis=-1, keepdims=True)


@wrong(
    "softmax",
    "Python's own max on a matrix",
    "`max(x)` compares whole rows with each other. `np.max` with an axis takes one number a row.",
)
def softmax_builtin_max(x):
    e = np.exp(x - max(x))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "divided by the sum without e to the power",
    "Scores can be negative or sum to 0; shares cannot. e to the power makes each score positive "
    "before its share is taken.",
)
def softmax_plain_division(x):
    return x / np.sum(x, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "base 2 instead of e",
    "The order of the weights is right, their sizes are not: the base of softmax is e, `np.exp`.",
)
def softmax_base_two(x):
    powers = 2.0 ** (x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "the sign of the scores turned round",
    "The largest score got the smallest weight. Look at the order in which the maximum is "
    "taken off: score minus maximum.",
)
def softmax_sign(x):
    e = np.exp(np.min(x, axis=-1, keepdims=True) - x)
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "not divided by the sum",
    "These are the right proportions, but the rows do not sum to 1 yet.",
)
def softmax_not_divided(x):
    return np.exp(x - np.max(x, axis=-1, keepdims=True))


@wrong(
    "softmax",
    "divided by the mean instead of the sum",
    "Each row now sums to the number of keys. The whole that is shared out is 1.",
)
def softmax_mean(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.mean(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "a sigmoid of each score",
    "1 / (1 + e to the -x) looks at one score alone. In softmax the scores of a row compete.",
)
def softmax_sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -500, 500)))


@wrong(
    "softmax",
    "the logarithm of the weights",
    "That is log-softmax, which losses use. Here the weights themselves are wanted.",
)
def softmax_logarithm(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


@wrong(
    "softmax",
    "divided by √d already",
    "softmax knows nothing of d_k: whoever calls it scales the scores first.",
)
def softmax_scaled(x):
    e = np.exp((x - np.max(x, axis=-1, keepdims=True)) / np.sqrt(x.shape[-1]))
    return e / np.sum(e, axis=-1, keepdims=True)


@wrong(
    "softmax",
    "`return` inside the loop",
    "The loop ends at its first `return`, so only the first row comes back.",
)
def softmax_first_row_only(x):
    for row in x:
        e = np.exp(row - np.max(row))
        return e / np.sum(e)


@wrong(
    "softmax",
    "the maximum taken off in the caller's own array",
    "`-=` changes the array that was passed in. `x - ...` makes a new one.",
)
def softmax_in_place(x):
    x -= np.max(x, axis=-1, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)


@wrong(
    "softmax",
    "all of it done in the caller's own array",
    "Write the result into a new array of floats: whole numbers cannot hold it, and the caller "
    "keeps the scores.",
)
def softmax_all_in_place(x):
    x -= np.max(x, axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= np.sum(x, axis=-1, keepdims=True)
    return x


@wrong(
    "softmax",
    "written into an array of whole numbers",
    "`np.zeros_like(x)` holds whole numbers when x does, and cuts every weight to 0. Give it "
    "`dtype=float`.",
)
def softmax_into_whole_numbers(x):
    weights = np.zeros_like(x)
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    weights[...] = e / np.sum(e, axis=-1, keepdims=True)
    return weights


@wrong(
    "softmax",
    "rounded",
    "Rounded weights no longer sum to 1. Round when you print, not when you compute.",
)
def softmax_rounded(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.round(e / np.sum(e, axis=-1, keepdims=True), 2)


@wrong(
    "softmax",
    "np.softmax is called",
    "NumPy has no softmax; that is why you write one. `np.exp`, `np.max` and `np.sum` are enough.",
)
def softmax_from_numpy(x):
    return np.softmax(x)


# ---- attention --------------------------------------------------------------------------


@wrong(
    "attention",
    "the scores were not scaled",
    "Divide the scores by √d_k before softmax. Without it the weights are too sharp, the more "
    "so the larger d_k.",
)
def attention_not_scaled(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2))
    return weights @ v, weights


@wrong(
    "attention",
    "divided by d_k instead of √d_k",
    "It is the root of the number of features that scores are divided by. Divided by d_k itself "
    "the weights are too flat.",
)
def attention_by_d_k(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1])
    return weights @ v, weights


@wrong(
    "attention",
    "divided by d_k / 2",
    "`d ** 1 / 2` is d to the 1, halved. Write `d ** 0.5` or `np.sqrt(d)`.",
)
def attention_by_half_of_d_k(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / (q.shape[-1] ** 1 / 2))
    return weights @ v, weights


@wrong(
    "attention",
    "the root was taken twice",
    "A variable that holds √d_k already is not rooted again: its name should say what it holds.",
)
def attention_root_twice(q, k, v):
    d_k = np.sqrt(q.shape[-1])
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(d_k))
    return weights @ v, weights


@wrong(
    "attention",
    "multiplied by √d_k",
    "The scores grow where they should shrink. A factor 1/√d_k is multiplied by, a divisor √d_k "
    "divided by.",
)
def attention_times_root(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) * np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "divided by √d_v",
    "A score sums over the d_k features of query and key. The values have no part in it.",
)
def attention_by_root_of_d_v(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(v.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "divided by √T, the root of the number of queries",
    "A score sums over features, not over tokens: d_k is the last axis of q.",
)
def attention_by_root_of_queries(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-2]))
    return weights @ v, weights


@wrong(
    "attention",
    "divided by √S, the root of the number of keys",
    "A score sums over features, not over tokens: d_k is the last axis of k.",
)
def attention_by_root_of_keys(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-2]))
    return weights @ v, weights


@wrong(
    "attention",
    "divided by a fixed number from the text",
    "√4 = 2 belongs to the example on paper. Read d_k off the arrays you are given.",
)
def attention_by_two(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / 2)
    return weights @ v, weights


@wrong(
    "attention",
    "d_k read off axis 1",
    "In a batch, axis 1 counts tokens. d_k is the last axis, -1, with or without a batch.",
)
def attention_d_k_from_axis_one(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[1]))
    return weights @ v, weights


@wrong(
    "attention",
    "scaled after softmax",
    "Then each row sums to 1/√d_k. Scale the scores; softmax comes after.",
)
def attention_scaled_after(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    return weights @ v, weights


@wrong(
    "attention",
    "the keys were not transposed",
    "Each query meets each key: (T, d_k) @ (d_k, S). The keys come as (S, d_k).",
)
def attention_not_transposed(q, k, v):
    weights = softmax(q @ k / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "`.T` on a batch",
    "`.T` turns all axes round, the batch too. Only the last two change places: "
    "`swapaxes(-1, -2)`.",
)
def attention_dot_t(q, k, v):
    weights = softmax(q @ k.T / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "np.dot on a batch",
    "`np.dot` pairs every sentence with every other one. `@` keeps each sentence to itself.",
)
def attention_np_dot(q, k, v):
    weights = softmax(np.dot(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1]))
    return np.dot(weights, v), weights


@wrong(
    "attention",
    "einsum with letters for one sentence only",
    "Two letters name two axes. Begin with `...` to let any leading axes through.",
)
def attention_einsum_two_axes(q, k, v):
    weights = softmax(np.einsum("td,sd->ts", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("ts,sd->td", weights, v), weights


@wrong(
    "attention",
    "the shape unpacked into two names",
    "A batch has three axes or more, so `T, d_k = q.shape` fails. `q.shape[-1]` is d_k for any.",
)
def attention_unpacks_shape(q, k, v):
    T, d_k = q.shape
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(d_k))
    return weights @ v, weights


@wrong(
    "attention",
    "torch's transpose(-2, -1) on a NumPy array",
    "In NumPy, `transpose(-2, -1)` puts the axes in that order, which for a matrix changes "
    "nothing. To swap two axes use `swapaxes`.",
)
def attention_torch_transpose(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "transpose(0, 2, 1), which fits a batch only",
    "It names three axes, so one sentence has too few and two leading axes are too many. "
    "`swapaxes(-1, -2)` fits them all.",
)
def attention_three_axes(q, k, v):
    weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "the keys were reshaped, not transposed",
    "The shape fits, but `reshape` keeps the numbers in their old order and so mixes the keys. "
    "`swapaxes` turns rows into columns.",
)
def attention_reshaped(q, k, v):
    turned = np.reshape(k, k.shape[:-2] + (k.shape[-1], k.shape[-2]))
    weights = softmax(q @ turned / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "element-wise product of queries and keys",
    "`*` keeps the features apart. A score sums over them: use `@`.",
)
def attention_elementwise(q, k, v):
    weights = softmax(q * k / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "queries and keys changed places",
    "Rows of the weights belong to queries: q stands on the left, and the weights are (T, S).",
)
def attention_roles_swapped(q, k, v):
    weights = softmax(k @ np.swapaxes(q, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "queries were compared with queries",
    "Both factors of the scores came from q. Each query is compared with every key.",
)
def attention_queries_only(q, k, v):
    weights = softmax(q @ np.swapaxes(q, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "attention",
    "softmax over the queries",
    "Each query shares out one whole among the keys, so the rows sum to 1, not the columns.",
)
def attention_over_queries(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    e = np.exp(scores - np.max(scores, axis=-2, keepdims=True))
    weights = e / np.sum(e, axis=-2, keepdims=True)
    return weights @ v, weights


@wrong(
    "attention",
    "softmax over all scores together",
    "Then all weights together sum to 1. Each query has a whole of its own to share out.",
)
def attention_over_everything(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    e = np.exp(scores - np.max(scores))
    weights = e / np.sum(e)
    return weights @ v, weights


@wrong(
    "attention",
    "a softmax of its own without taking the maximum off",
    "Right for small scores, nan for large ones. Call your `softmax`: it knows how.",
)
def attention_no_max(q, k, v):
    e = np.exp(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    weights = e / np.sum(e, axis=-1, keepdims=True)
    return weights @ v, weights


@wrong(
    "attention",
    "a softmax of its own with one maximum for all queries",
    "A query far below the largest score of all gets 0 everywhere, and 0 over 0 is nan. Each row "
    "needs its own largest score; your `softmax` knows how.",
)
def attention_global_max(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    e = np.exp(scores - np.max(scores))
    weights = e / np.sum(e, axis=-1, keepdims=True)
    return weights @ v, weights


@wrong(
    "attention",
    "no softmax",
    "Scores can be negative and sum to anything. softmax turns each row into shares of one whole.",
)
def attention_no_softmax(q, k, v):
    weights = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return weights @ v, weights


@wrong(
    "attention",
    "softmax twice",
    "Shares lie between 0 and 1, so a second softmax makes them nearly equal. Once is enough.",
)
def attention_softmax_twice(q, k, v):
    weights = softmax(softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])))
    return weights @ v, weights


@wrong(
    "attention",
    "the keys were blended, not the values",
    "A key is what a token is found by. What it hands over is its value.",
)
def attention_blends_keys(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ k, weights


@wrong(
    "attention",
    "the weights were transposed before blending",
    "Row t of the weights says how query t mixes the values: weights @ v, nothing turned round.",
)
def attention_weights_transposed(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return np.swapaxes(weights, -1, -2) @ v, weights


@wrong(
    "attention",
    "the weights returned first",
    "All is right but the order: first out, then weights.",
)
def attention_weights_first(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return weights, weights @ v


@wrong(
    "attention",
    "the scores returned in the place of the weights",
    "What comes second are the weights: the scores after softmax.",
)
def attention_returns_scores(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(scores) @ v, scores


@wrong(
    "attention",
    "q was divided in the caller's own array",
    "`q /= ...` changes the caller's queries, and fails for whole numbers. `q / ...` makes a new "
    "array.",
)
def attention_in_place(q, k, v):
    q /= np.sqrt(q.shape[-1])
    weights = softmax(q @ np.swapaxes(k, -1, -2))
    return weights @ v, weights


# ---- score_variance ---------------------------------------------------------------------


@wrong(
    "score_variance",
    "the standard deviation",
    "The variance is its square.",
)
def variance_is_deviation(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.std(scale * np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "the mean of the scores",
    "The mean is close to 0 whatever d_k is. How far the scores lie from it is their variance.",
)
def variance_is_mean(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.mean(scale * np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "each query met itself",
    "q·q is a sum of squares, which varies in another way. Draw the keys on their own.",
)
def variance_of_squares(d_k, n, rng, scale=1.0):
    q = rng.standard_normal((n, d_k))
    return np.var(scale * np.sum(q * q, axis=-1))


@wrong(
    "score_variance",
    "one query for all keys",
    "Then all scores share the length of that query. Draw a new pair each time.",
)
def variance_one_query(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal(d_k), rng.standard_normal((n, d_k))
    return np.var(scale * k @ q)


@wrong(
    "score_variance",
    "drawn evenly between 0 and 1",
    "`rng.random` has mean 1/2 and variance 1/12. Standard normal numbers come from "
    "`rng.standard_normal` or `rng.normal`.",
)
def variance_uniform(d_k, n, rng, scale=1.0):
    q, k = rng.random((n, d_k)), rng.random((n, d_k))
    return np.var(scale * np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "drawn evenly between -1 and 1",
    "These have variance 1/3. Standard normal numbers, with variance 1, come from "
    "`rng.standard_normal` or `rng.normal`.",
)
def variance_uniform_around_zero(d_k, n, rng, scale=1.0):
    q, k = rng.uniform(-1, 1, (n, d_k)), rng.uniform(-1, 1, (n, d_k))
    return np.var(scale * np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "scale was multiplied in after the variance",
    "Scores twice as large lie twice as far from their mean: what does that do to a variance?",
)
def variance_scale_not_squared(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return scale * np.var(np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "scale was left out",
    "Every score is multiplied by scale before the variance is taken.",
)
def variance_without_scale(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "divided by scale",
    "scale is a factor: 1/√d_k, not √d_k.",
)
def variance_divided_by_scale(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(np.sum(q * k, axis=-1) / scale)


@wrong(
    "score_variance",
    "q and k were both multiplied by scale",
    "Then every score is multiplied by scale twice.",
)
def variance_scaled_twice(d_k, n, rng, scale=1.0):
    q, k = scale * rng.standard_normal((n, d_k)), scale * rng.standard_normal((n, d_k))
    return np.var(np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "summed over the pairs instead of the features",
    "One score sums over the d_k features of one pair, and there are n of them.",
)
def variance_wrong_axis(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(scale * np.sum(q * k, axis=0))


@wrong(
    "score_variance",
    "the products were not summed",
    "q times k, entry by entry, has variance 1 for any d_k. A score is the sum over the features.",
)
def variance_not_summed(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(scale * q * k)


@wrong(
    "score_variance",
    "the mean over the features instead of their sum",
    "A dot product adds the products up. Their mean is d_k times smaller.",
)
def variance_of_means(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(scale * np.mean(q * k, axis=-1))


@wrong(
    "score_variance",
    "divided by √d_k as well",
    "Only `scale` belongs here: whoever calls the function says whether and how to divide.",
)
def variance_divided_by_root(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(scale * np.sum(q * k, axis=-1) / np.sqrt(d_k))


@wrong(
    "score_variance",
    "rounded to a whole number",
    "A measurement keeps its decimals: return it as it is, and round when you print.",
)
def variance_rounded(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return round(float(np.var(scale * np.sum(q * k, axis=-1))))


@wrong(
    "score_variance",
    "a sum of squares, not divided by n",
    "A variance is a mean: divide by the number of pairs.",
)
def variance_not_divided(d_k, n, rng, scale=1.0):
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    scores = scale * np.sum(q * k, axis=-1)
    return np.sum((scores - np.mean(scores)) ** 2)


@wrong(
    "score_variance",
    "rng was not used",
    "This is an experiment: draw from the `rng` that is passed in, not from a generator of your "
    "own with a fixed seed, and do not return what theory says.",
)
def variance_own_generator(d_k, n, rng, scale=1.0):
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))
    return np.var(scale * np.sum(q * k, axis=-1))


@wrong(
    "score_variance",
    "drawn from np.random instead of rng",
    "With NumPy's global stream nobody can repeat your experiment. Draw from the `rng` that is "
    "passed in.",
)
def variance_global_stream(d_k, n, rng, scale=1.0):
    q, k = np.random.randn(n, d_k), np.random.randn(n, d_k)
    return np.var(scale * np.sum(q * k, axis=-1))


# ---- sharpness --------------------------------------------------------------------------


@wrong(
    "sharpness",
    "the largest over the queries",
    "Each query has a largest weight among its keys: look along the last axis.",
)
def sharpness_over_queries(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).max(axis=0).mean()


@wrong(
    "sharpness",
    "the largest of all weights",
    "First the largest weight of each query, then the mean over the queries.",
)
def sharpness_largest_of_all(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).max()


@wrong(
    "sharpness",
    "scores instead of weights",
    "A weight is a share between 0 and 1: softmax comes between the scores and the largest.",
)
def sharpness_of_scores(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return (q @ k.T / divisor).max(axis=-1).mean()


@wrong(
    "sharpness",
    "the place of the largest weight",
    "`argmax` says where it is, `max` how large it is.",
)
def sharpness_place(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).argmax(axis=-1).mean()


@wrong(
    "sharpness",
    "the mean weight",
    "The mean of a row that sums to 1 is always 1/n_keys. Take the largest of each row first.",
)
def sharpness_mean_weight(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).mean(axis=-1).mean()


@wrong(
    "sharpness",
    "multiplied by the divisor",
    "The scores are divided by it.",
)
def sharpness_multiplied(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T * divisor).max(axis=-1).mean()


@wrong(
    "sharpness",
    "the divisor was left out",
    "Divide the scores by it before softmax.",
)
def sharpness_undivided(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T).max(axis=-1).mean()


@wrong(
    "sharpness",
    "always divided by √d_k",
    "The experiment compares divisors, so the one that is passed in counts.",
)
def sharpness_always_root(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / np.sqrt(d_k)).max(axis=-1).mean()


@wrong(
    "sharpness",
    "divided by the root of the divisor",
    "The divisor is used as it is; whoever calls the function has taken the root already.",
)
def sharpness_root_of_divisor(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / np.sqrt(divisor)).max(axis=-1).mean()


@wrong(
    "sharpness",
    "divided by √d_k as well",
    "Scores are divided by the divisor and nothing else; where √d_k is wanted, it is passed in.",
)
def sharpness_root_as_well(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / np.sqrt(d_k) / divisor).max(axis=-1).mean()


@wrong(
    "sharpness",
    "the weights were divided, not the scores",
    "Divide before softmax: the weights of a query must still sum to 1.",
)
def sharpness_divided_after(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return (softmax(q @ k.T) / divisor).max(axis=-1).mean()


@wrong(
    "sharpness",
    "the smallest weight of each query",
    "Sharp means that one key has most of it: take the largest weight of each query.",
)
def sharpness_smallest(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).min(axis=-1).mean()


@wrong(
    "sharpness",
    "one query only",
    "One query may be sharp or flat by chance. Draw `n_queries` of them and take the mean.",
)
def sharpness_one_query(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal(d_k), rng.standard_normal((n_keys, d_k))
    return softmax(k @ q / divisor).max()


@wrong(
    "sharpness",
    "the median instead of the mean",
    "The median is the query in the middle, however sharp the others are. Take the mean.",
)
def sharpness_median(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return np.median(softmax(q @ k.T / divisor).max(axis=-1))


@wrong(
    "sharpness",
    "softmax over the queries",
    "Each query shares out one whole among the keys: softmax along the last axis.",
)
def sharpness_softmax_over_queries(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(k @ q.T / divisor).max(axis=0).mean()


@wrong(
    "sharpness",
    "the sum over the queries instead of the mean",
    "A mean does not grow with the number of queries: divide by it.",
)
def sharpness_sum(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).max(axis=-1).sum()


@wrong(
    "sharpness",
    "drawn evenly between 0 and 1",
    "Queries and keys are standard normal here: `rng.standard_normal` or `rng.normal`.",
)
def sharpness_uniform(d_k, divisor, n_keys, n_queries, rng):
    q, k = rng.random((n_queries, d_k)), rng.random((n_keys, d_k))
    return softmax(q @ k.T / divisor).max(axis=-1).mean()


@wrong(
    "sharpness",
    "rng was not used",
    "Draw from the `rng` that is passed in, not from a generator of your own with a fixed seed.",
)
def sharpness_own_generator(d_k, divisor, n_keys, n_queries, rng):
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    return softmax(q @ k.T / divisor).max(axis=-1).mean()


@wrong(
    "sharpness",
    "drawn from np.random instead of rng",
    "With NumPy's global stream nobody can repeat your experiment. Draw from the `rng` that is "
    "passed in.",
)
def sharpness_global_stream(d_k, divisor, n_keys, n_queries, rng):
    q, k = np.random.randn(n_queries, d_k), np.random.randn(n_keys, d_k)
    return softmax(q @ k.T / divisor).max(axis=-1).mean()


# ---- softmax_jacobian -------------------------------------------------------------------


@wrong(
    "softmax_jacobian",
    "the sign turned round",
    "A weight grows with its own score, so the diagonal is positive and everything else negative.",
)
def jacobian_sign(weights):
    p = weights[..., None]
    return p * np.swapaxes(p, -1, -2) - p * np.eye(weights.shape[-1])


@wrong(
    "softmax_jacobian",
    "added instead of taken off",
    "When one score rises, the other weights fall: off the diagonal every entry is negative.",
)
def jacobian_added(weights):
    p = weights[..., None]
    return p * np.eye(weights.shape[-1]) + p * np.swapaxes(p, -1, -2)


@wrong(
    "softmax_jacobian",
    "without the diagonal matrix",
    "-p pᵀ is only how the others fall. A weight's own score lifts it: diag(p) is missing.",
)
def jacobian_no_diagonal(weights):
    p = weights[..., None]
    return -p * np.swapaxes(p, -1, -2)


@wrong(
    "softmax_jacobian",
    "only the diagonal",
    "Every weight feels every score, since they share one whole. What stands beside the diagonal?",
)
def jacobian_diagonal_only(weights):
    return (weights * (1 - weights))[..., None] * np.eye(weights.shape[-1])


@wrong(
    "softmax_jacobian",
    "the identity in the place of diag(p)",
    "The diagonal matrix carries the weights: p_i in row i, not 1.",
)
def jacobian_identity(weights):
    p = weights[..., None]
    return np.eye(weights.shape[-1]) - p * np.swapaxes(p, -1, -2)


@wrong(
    "softmax_jacobian",
    "p instead of the pairs p_i p_j",
    "p times p, entry by entry, pairs each weight with itself. p pᵀ pairs each with every other "
    "one: a column times a row.",
)
def jacobian_no_pairs(weights):
    row = (weights * weights)[..., None, :]
    return weights[..., None] * np.eye(weights.shape[-1]) - row


@wrong(
    "softmax_jacobian",
    "p on the diagonal",
    "The diagonal has both parts, p_i - p_i²: the weight lifts itself and pays its own share.",
)
def jacobian_plain_diagonal(weights):
    p = weights[..., None]
    eye = np.eye(weights.shape[-1])
    return p * eye - p * np.swapaxes(p, -1, -2) * (1 - eye)


@wrong(
    "softmax_jacobian",
    "p_i (1 - p_j) everywhere",
    "The 1 stands for 'the same key', so it is there on the diagonal only.",
)
def jacobian_one_everywhere(weights):
    p = weights[..., None]
    return p * (1 - np.swapaxes(p, -1, -2))


@wrong(
    "softmax_jacobian",
    "softmax taken once more",
    "The weights have been through softmax already; the Jacobian is written in them.",
)
def jacobian_softmax_again(weights):
    p = softmax(weights)[..., None]
    return p * np.eye(weights.shape[-1]) - p * np.swapaxes(p, -1, -2)


@wrong(
    "softmax_jacobian",
    "p @ p.T of a vector, which is one number",
    "Turning a vector round changes nothing, so `@` gives a plain dot product. A new axis makes a "
    "column of it: a column times a row gives all pairs.",
)
def jacobian_dot(weights):
    return np.diag(weights) - weights @ weights.T


@wrong(
    "softmax_jacobian",
    "np.diag and np.outer, which fit one row only",
    "`np.outer` pairs all rows with all others, and `np.diag` of a matrix reads its diagonal. "
    "With a new axis, `weights[..., None]`, each row keeps to itself.",
)
def jacobian_one_row(weights):
    return np.diag(weights) - np.outer(weights, weights)
