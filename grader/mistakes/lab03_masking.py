"""Wrong answers of lab 03. Each stands alone: NumPy, `softmax` of lab 01, other exercises."""

import numpy as np

from grader.catalogue import wrong
from grader.reference.lab01_scaled_dot_product import softmax
from grader.reference.lab03_masking import causal_mask, masked_attention, masked_softmax

# ---- causal_mask ------------------------------------------------------------------------


@wrong(
    "causal_mask",
    "the upper triangle",
    "That lets each token see itself and the future. Row t is the query: it may see columns 0 "
    "to t.",
)
def causal_upper(T):
    return np.triu(np.ones((T, T), dtype=bool))


@wrong(
    "causal_mask",
    "inverted: True where it is forbidden",
    "The pattern is right, but here True means `may attend`. Some libraries mean the opposite: "
    "turn every entry round.",
)
def causal_inverted(T):
    return np.triu(np.ones((T, T), dtype=bool), k=1)


@wrong(
    "causal_mask",
    "the diagonal is off",
    "A token may see itself. Without the diagonal the first token may attend to nothing at all.",
)
def causal_diagonal_off(T):
    return np.tril(np.ones((T, T), dtype=bool), k=-1)


@wrong(
    "causal_mask",
    "one step ahead is visible",
    "Each token sees its successor, the very word it should predict. Look at the first row: only "
    "one entry is True there.",
)
def causal_one_ahead(T):
    return np.tril(np.ones((T, T), dtype=bool), k=1)


@wrong(
    "causal_mask",
    "numbers 0 and 1 instead of True and False",
    "The pattern is right. Ask for booleans, or compare, so that `~` and `&` mean what they say.",
)
def causal_numbers(T):
    return np.tril(np.ones((T, T)))


@wrong(
    "causal_mask",
    "the additive form, 0 and −inf",
    "That is what `additive_mask` will make of it. Here each entry is True or False.",
)
def causal_additive(T):
    return np.where(np.tril(np.ones((T, T), dtype=bool)), 0.0, -np.inf)


@wrong(
    "causal_mask",
    "0 times −inf",
    "0 · (−inf) is nan, so half of the mask is no number. And the answer should be True and False, "
    "not 0 and −inf.",
)
def causal_zero_times_infinity(T):
    with np.errstate(invalid="ignore"):
        return np.triu(np.ones((T, T)), k=1) * -np.inf


@wrong(
    "causal_mask",
    "fixed to four tokens",
    "The mask must grow with the sentence: its shape is (T, T) for whatever T is handed in.",
)
def causal_fixed(T):
    return np.tril(np.ones((4, 4), dtype=bool))


@wrong(
    "causal_mask",
    "each token sees only itself",
    "The identity forbids the past too. A token may see itself and all tokens before it.",
)
def causal_identity(T):
    return np.eye(T, dtype=bool)


@wrong(
    "causal_mask",
    "each token sees itself and one before",
    "That is a window of two. A causal mask lets it see all tokens before it.",
)
def causal_window(T):
    return np.eye(T, dtype=bool) | np.eye(T, k=-1, dtype=bool)


@wrong(
    "causal_mask",
    "everything is allowed",
    "Nothing is forbidden yet: the future is every column s > t of row t.",
)
def causal_all(T):
    return np.ones((T, T), dtype=bool)


@wrong(
    "causal_mask",
    "with a batch axis in front",
    "One (T, T) mask serves every sentence: NumPy lines shapes up from the end.",
)
def causal_batch_axis(T):
    return np.tril(np.ones((1, T, T), dtype=bool))


# ---- padding_mask -----------------------------------------------------------------------


@wrong(
    "padding_mask",
    "on the queries instead of the keys",
    "(B, S, 1) blocks whole rows: padded queries see nothing, and real tokens still see the "
    "padding. It is the keys that must not be seen.",
)
def padding_on_queries(lengths, S):
    return (np.arange(S) < lengths[:, None])[:, :, None]


@wrong(
    "padding_mask",
    "(B, S) without an axis for the queries",
    "The values are right. Beside scores (B, T, S) a mask (B, S) is read as (T, S): an error, or, "
    "where B = T, silently the wrong sentence. Which axis is missing in the middle?",
)
def padding_two_axes(lengths, S):
    return np.arange(S) < lengths[:, None]


@wrong(
    "padding_mask",
    "one token too many",
    "With length 3 the real tokens are at 0, 1 and 2. Is the comparison `<` or `<=`?",
)
def padding_one_more(lengths, S):
    return np.arange(S) <= lengths[:, None, None]


@wrong(
    "padding_mask",
    "one token too few",
    "With length 3 the real tokens are at 0, 1 and 2: the last of them counts.",
)
def padding_one_less(lengths, S):
    return np.arange(S) < lengths[:, None, None] - 1


@wrong(
    "padding_mask",
    "both queries and keys are masked",
    "Only keys: a padded query may look wherever it likes, since its output is thrown away. Masked "
    "in both, its row allows nothing.",
)
def padding_both_axes(lengths, S):
    real = np.arange(S) < lengths[:, None]
    return real[:, :, None] & real[:, None, :]


@wrong(
    "padding_mask",
    "inverted: True for padding",
    "The pattern is right, but here True means `may attend`. Turn every entry round.",
)
def padding_inverted(lengths, S):
    return np.arange(S) >= lengths[:, None, None]


@wrong(
    "padding_mask",
    "padding in front instead of behind",
    "In this course the real tokens come first and the padding behind them.",
)
def padding_in_front(lengths, S):
    return np.arange(S) >= S - lengths[:, None, None]


@wrong(
    "padding_mask",
    "numbers 0 and 1 instead of True and False",
    "The pattern is right. Ask for booleans, or compare, so that `~` and `&` mean what they say.",
)
def padding_numbers(lengths, S):
    return (np.arange(S) < lengths[:, None, None]).astype(float)


@wrong(
    "padding_mask",
    "the additive form, 0 and −inf",
    "That is what `additive_mask` will make of it. Here each entry is True or False.",
)
def padding_additive(lengths, S):
    return np.where(np.arange(S) < lengths[:, None, None], 0.0, -np.inf)


@wrong(
    "padding_mask",
    "as wide as the longest sentence instead of S",
    "There may be room beyond the longest sentence of a batch. S is handed in: use it.",
)
def padding_longest(lengths, S):
    return np.arange(max(lengths)) < lengths[:, None, None]


@wrong(
    "padding_mask",
    "an array of lengths as the end of a slice",
    "A slice wants one number, and `lengths` holds one for each sentence. Compare each place with "
    "each length, or go sentence by sentence.",
)
def padding_slice(lengths, S):
    mask = np.zeros((len(lengths), 1, S), dtype=bool)
    mask[:, :, :lengths] = True
    return mask


@wrong(
    "padding_mask",
    "the first length for all sentences",
    "Each sentence has its own length: row b of the mask belongs to `lengths[b]`.",
)
def padding_first_length(lengths, S):
    mask = np.zeros((len(lengths), 1, S), dtype=bool)
    mask[:, :, : lengths[0]] = True
    return mask


@wrong(
    "padding_mask",
    "only the last real token",
    "`==` picks one place. All places before the length are real.",
)
def padding_last_only(lengths, S):
    return np.arange(S) == lengths[:, None, None] - 1


@wrong(
    "padding_mask",
    "an axis for the heads as well",
    "(B, 1, 1, S) fits scores of several heads. Here (B, 1, S) is asked for, beside (B, T, S).",
)
def padding_head_axis(lengths, S):
    return np.arange(S) < lengths[:, None, None, None]


# ---- additive_mask ----------------------------------------------------------------------


@wrong(
    "additive_mask",
    "0 times −inf",
    "0 · (−inf) is nan, not 0. Choose between two values instead of multiplying.",
)
def additive_zero_times_infinity(mask):
    with np.errstate(invalid="ignore"):
        return (1 - mask) * -np.inf


@wrong(
    "additive_mask",
    "inverted: −inf where it is allowed",
    "True means may attend, and adding 0 changes nothing: 0 belongs where the mask is True.",
)
def additive_inverted(mask):
    return np.where(mask, -np.inf, 0.0)


@wrong(
    "additive_mask",
    "a factor 0 or 1 instead of a term",
    "A factor of 0 makes a score 0, and e to the 0 is 1: the key keeps a share. The mask asked for "
    "is added to the scores.",
)
def additive_factor(mask):
    return np.where(mask, 1.0, 0.0)


@wrong(
    "additive_mask",
    "1 where allowed instead of 0",
    "The −inf is right. What may be added to an allowed score without changing it?",
)
def additive_one(mask):
    return np.where(mask, 1.0, -np.inf)


@wrong(
    "additive_mask",
    "a large finite number instead of −inf",
    "−1e9 works in most places, and many programs use it. But it can be overrun, and in a row "
    "where all is masked it cancels. Here −inf is asked for.",
)
def additive_billion(mask):
    return np.where(mask, 0.0, -1e9)


@wrong(
    "additive_mask",
    "the lowest float instead of −inf",
    "It is the lowest float, but finite: plus an ordinary score it rounds to itself, so in a row "
    "where all is masked all scores are equal, and share evenly. Here −inf is asked for.",
)
def additive_lowest(mask):
    return np.where(mask, 0.0, np.finfo(float).min)


@wrong(
    "additive_mask",
    "too weak a fill: −10,000",
    "A forbidden score 10,000 above the others is let through. Only −inf cannot be overrun.",
)
def additive_ten_thousand(mask):
    return np.where(mask, 0.0, -1e4)


@wrong(
    "additive_mask",
    "too weak a fill: −10",
    "e to the −10 is small but not 0: each forbidden key keeps a share. Only −inf leaves none.",
)
def additive_ten(mask):
    return np.where(mask, 0.0, -10.0)


@wrong(
    "additive_mask",
    "nothing is added anywhere",
    "All entries are (almost) 0, so the mask has no effect. −1e−9, for instance, is a tiny number; "
    "−1e9 is a large one.",
)
def additive_tiny(mask):
    return np.where(mask, 0.0, -1e-9)


@wrong(
    "additive_mask",
    "+inf instead of −inf",
    "The sign is wrong: e to the +inf is infinite, so a forbidden key would take everything.",
)
def additive_plus(mask):
    return np.where(mask, 0.0, np.inf)


@wrong(
    "additive_mask",
    "−inf everywhere",
    "A number minus infinity is −inf, whichever number: 1 − inf as well as 0 − inf. So allowed "
    "keys are lost too. Choose between two values.",
)
def additive_everywhere(mask):
    return mask - np.inf


@wrong(
    "additive_mask",
    "−inf written into an array of booleans",
    "`zeros_like(mask)` is as boolean as the mask, and a boolean made of −inf is True. Start from "
    "an array of floats.",
)
def additive_in_booleans(mask):
    bias = np.zeros_like(mask)
    bias[~mask] = -np.inf
    return bias


# ---- masked_softmax ---------------------------------------------------------------------


@wrong(
    "masked_softmax",
    "masked after the softmax, not renormalised",
    "The forbidden keys have taken their share before they were struck out, so the rows sum to "
    "less than 1. Mask the scores, or divide by the new sums.",
)
def softmax_masked_after(scores, mask):
    return softmax(scores) * mask


@wrong(
    "masked_softmax",
    "forbidden scores set to 0",
    "e to the 0 is 1, so a score of 0 is an ordinary score. What must a score be so that its e to "
    "the score is 0?",
)
def softmax_times_mask(scores, mask):
    return softmax(scores * mask)


@wrong(
    "masked_softmax",
    "the mask of zeros and ones was added",
    "True counts as 1 in a sum: allowed scores go up by 1, and forbidden ones stay. Turn the mask "
    "into 0 and −inf first.",
)
def softmax_plus_mask(scores, mask):
    return softmax(scores + mask)


@wrong(
    "masked_softmax",
    "inverted: only forbidden keys get a share",
    "True means may attend. It is the others that lose their scores.",
)
def softmax_inverted(scores, mask):
    kept = np.where(mask, -np.inf, scores)
    highest = np.max(kept, axis=-1, keepdims=True)
    exps = np.where(mask, 0, np.exp(scores - np.where(np.isfinite(highest), highest, 0)))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "a row without any allowed key gives nan",
    "There every score is −inf, and −inf − (−inf) is nan. Such a row should get zeros: look after "
    "the maximum and the sum of that row.",
)
def softmax_row_nan(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "a row without any allowed key shares evenly",
    "All its scores became the same large negative number, and equal scores get equal shares. "
    "Nothing allowed means nothing shared: zeros.",
)
def softmax_row_even(scores, mask):
    kept = np.where(mask, scores, -1e9)
    exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "a row without any allowed key comes out as if unmasked",
    "The same large number was taken off every score of that row, and the softmax does not notice. "
    "Nothing allowed means nothing shared: zeros.",
)
def softmax_row_unmasked(scores, mask):
    kept = scores + np.where(mask, 0, -1e9)
    exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "the caller's scores were changed",
    "`scores[...] = -inf` writes into the array that was handed in. `np.where` makes a new one.",
)
def softmax_in_place(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    scores[~mask] = -np.inf
    highest = np.max(scores, axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "too weak a fill: −10",
    "e to the −10 is small but not 0: each forbidden key keeps a share. Only −inf leaves none.",
)
def softmax_fill_ten(scores, mask):
    return softmax(np.where(mask, scores, scores - 10))


@wrong(
    "masked_softmax",
    "a fill that large scores overrun",
    "A forbidden score far above the others stays above them after a few thousand are taken off. "
    "−inf cannot be overrun.",
)
def softmax_fill_overrun(scores, mask):
    kept = scores + np.where(mask, 0, -1e4)
    exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) * mask.any(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "the mask had no effect",
    "These are the weights without a mask. `np.where` returns a new array: is its result used?",
)
def softmax_no_effect(scores, mask):
    np.where(mask, scores, -np.inf)
    return softmax(scores)


@wrong(
    "masked_softmax",
    "−inf put into the weights instead of the scores",
    "Mask before the softmax: −inf belongs where e to the −inf, which is 0, is still to be taken.",
)
def softmax_fill_after(scores, mask):
    return np.where(mask, softmax(scores), -np.inf)


@wrong(
    "masked_softmax",
    "shares over the queries instead of the keys",
    "Each query shares out 1 among the keys: sums run along the last axis.",
)
def softmax_over_queries(scores, mask):
    exps = np.where(mask, np.exp(scores - np.max(scores, axis=-2, keepdims=True)), 0)
    total = exps.sum(axis=-2, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "one sum over the whole array",
    "Every row sums to 1 by itself: take the sum along the last axis and keep that axis.",
)
def softmax_over_all(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    exps = np.exp(kept - np.max(kept))
    return exps / exps.sum()


@wrong(
    "masked_softmax",
    "no maximum taken off",
    "e to the 1000 is infinite and e to the −20,000 is 0. Take the largest allowed score of a row "
    "off all its scores first: the shares stay the same.",
)
def softmax_no_maximum(scores, mask):
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(np.where(mask, scores, -np.inf))
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "masked after e to the score, without a maximum",
    "e to the 1000 is infinite, and so is a sum that holds it; where nothing is left, 0/0 is nan. "
    "Take the largest allowed score of a row off first, and look after a sum of 0.",
)
def softmax_after_exp(scores, mask):
    with np.errstate(all="ignore"):
        exps = np.exp(scores) * mask
        return exps / exps.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "masked after the softmax, then divided by the new sums",
    "The softmax takes its maximum over forbidden keys too: next to one far above, every allowed "
    "key comes out as 0, and 0/0 is nan. So it is where nothing is allowed. Mask the scores first, "
    "and look after a sum of 0.",
)
def softmax_new_sums(scores, mask):
    weights = softmax(scores) * mask
    with np.errstate(invalid="ignore"):
        return weights / weights.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "the mask as an index, not stretched",
    "`scores[~mask] = ...` wants a mask of the very shape of the scores, and (B, 1, S) is not. "
    "`np.where` stretches a mask by itself; `np.broadcast_to` does it for you.",
)
def softmax_mask_as_index(scores, mask):
    kept = np.array(scores, dtype=float)
    kept[~mask] = -np.inf
    highest = np.max(kept, axis=-1, keepdims=True)
    exps = np.exp(kept - np.where(np.isfinite(highest), highest, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "−inf written into a copy, with the mask as an index",
    "An index is not stretched: (B, 1, S) does not fit the scores, and a copy of whole numbers "
    "cannot hold −inf. `np.where` makes a new array of floats and stretches the mask.",
)
def softmax_written_into_copy(scores, mask):
    kept = scores.copy()
    kept[~mask] = -np.inf
    highest = np.max(kept, axis=-1, keepdims=True)
    exps = np.exp(kept - np.where(np.isfinite(highest), highest, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "forbidden keys were left out of the rows",
    "Rows that kept different numbers of keys do not make one array. Leave the forbidden keys in "
    "their places, with a share of 0.",
)
def softmax_left_out(scores, mask):
    allowed = np.broadcast_to(mask, scores.shape).reshape(-1, scores.shape[-1])
    rows = scores.reshape(-1, scores.shape[-1])
    kept = [[s for s, ok in zip(row, oks) if ok] for row, oks in zip(rows, allowed)]
    exps = [[np.exp(s - max(row)) for s in row] for row in kept]
    return np.array([[e / sum(row) for e in row] for row in exps])


@wrong(
    "masked_softmax",
    "one maximum for all rows",
    "Rows far below the largest score of the array all come out as 0. Each row needs its own.",
)
def softmax_one_maximum(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    exps = np.exp(kept - np.max(kept))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "the maximum was taken over forbidden keys too",
    "Where a forbidden score is far above the allowed ones, their e to the score all come out as "
    "0. Take the maximum over allowed keys only.",
)
def softmax_maximum_of_all(scores, mask):
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True)) * mask
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "divided by the number of allowed keys",
    "The shares of the allowed keys should sum to 1: divide by their sum, not by their number.",
)
def softmax_by_count(scores, mask):
    count = mask.sum(axis=-1, keepdims=True)
    return softmax(scores) * mask / np.where(count > 0, count, 1)


@wrong(
    "masked_softmax",
    "0 times −inf",
    "0 · (−inf) is nan, and one nan spoils its whole row. Choose between two values instead of "
    "multiplying.",
)
def softmax_zero_times_infinity(scores, mask):
    with np.errstate(invalid="ignore"):
        kept = scores + (1 - mask) * -np.inf
        exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "`~` on a mask of whole numbers",
    "`~1` is −2 and `~0` is −1: both count as true, so all is masked. `~` means `not` for "
    "booleans only.",
)
def softmax_not_of_numbers(scores, mask):
    blocked = ~mask.astype(int)
    exps = np.where(blocked, 0, np.exp(scores - np.max(scores, axis=-1, keepdims=True)))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total > 0, total, 1)


@wrong(
    "masked_softmax",
    "the fill has the wrong sign",
    "A forbidden score should fall without end. This one rises, and takes everything.",
)
def softmax_plus_fill(scores, mask):
    kept = np.where(mask, scores, 1e9)
    exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "plain shares, without e to the score",
    "Scores may be negative, and shares may not. Take e to the score before you divide by the sum.",
)
def softmax_no_exp(scores, mask):
    kept = np.where(mask, scores, 0)
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total != 0, total, 1)


@wrong(
    "masked_softmax",
    "the first row of the mask for every query",
    "Row t of the mask belongs to query t.",
)
def softmax_first_row(scores, mask):
    mask = mask[..., :1, :]
    exps = np.exp(scores - np.max(np.where(mask, scores, -1e9), axis=-1, keepdims=True))
    return exps * mask / (exps * mask).sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "the mask was transposed",
    "Rows of the mask are queries, columns are keys, as in the scores. Nothing is turned round.",
)
def softmax_mask_transposed(scores, mask):
    kept = np.where(np.swapaxes(mask, -1, -2), scores, -np.inf)
    exps = np.exp(kept - np.max(kept, axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


# ---- masked_attention -------------------------------------------------------------------


@wrong(
    "masked_attention",
    "values masked instead of scores",
    "A forbidden key hands over nothing, but it has kept its share of the weights. Mask the "
    "scores.",
)
def attention_values_masked(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    if mask is None:
        return weights @ v, weights
    return (weights * mask) @ v, weights


@wrong(
    "masked_attention",
    "the mask is ignored for a batch",
    "Right for one sentence. With an axis in front the same mask counts: NumPy lines it up.",
)
def attention_ignored_for_batch(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is None or q.ndim > 2:
        weights = softmax(scores)
    else:
        weights = masked_softmax(scores, mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "the first sentence's mask for all of them",
    "Each sentence has its own padding: hand the whole mask on, not `mask[0]`.",
)
def attention_first_mask(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores)
    else:
        weights = masked_softmax(scores, mask[0] if mask.ndim > 2 else mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "the mask is always given a batch axis",
    "For one sentence the results then have an axis too many. NumPy adds missing axes in front by "
    "itself.",
)
def attention_batch_axis(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores)
    else:
        weights = masked_softmax(scores, mask[None] if mask.ndim == 2 else mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "the mask is not used",
    "These are the results without a mask. Where does `mask` meet the scores?",
)
def attention_no_mask(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@wrong(
    "masked_attention",
    "no mask taken for nothing allowed",
    "When `mask` is None everything is allowed. To `np.where`, None is the same as False.",
)
def attention_none_blocks(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    allowed = np.broadcast_to(np.array(mask, dtype=bool), scores.shape)
    weights = masked_softmax(scores, allowed)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "always causal",
    "The mask says who may see whom, and it need not be causal. Without a mask all is allowed.",
)
def attention_always_causal(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = masked_softmax(scores, np.tri(q.shape[-2], k.shape[-2], dtype=bool))
    return weights @ v, weights


@wrong(
    "masked_attention",
    "masked after the softmax, not renormalised",
    "The forbidden keys have taken their share before they were struck out, so the rows sum to "
    "less than 1. Mask the scores.",
)
def attention_masked_after(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


@wrong(
    "masked_attention",
    "forbidden scores set to 0",
    "e to the 0 is 1, so a score of 0 is an ordinary score. Hand the mask to `masked_softmax`.",
)
def attention_times_mask(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores * mask
    weights = softmax(scores)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "the mask of zeros and ones was added",
    "True counts as 1 in a sum: allowed scores go up by 1, and forbidden ones stay. Turn the mask "
    "into 0 and −inf first.",
)
def attention_plus_mask(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    weights = softmax(scores)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "inverted: only forbidden keys get a share",
    "True means may attend. Hand the mask on as it is.",
)
def attention_inverted(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, ~mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "the mask was transposed",
    "Rows of the mask are queries, columns are keys, as in the scores. Nothing is turned round.",
)
def attention_mask_transposed(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores)
    else:
        weights = masked_softmax(scores, np.swapaxes(mask, -1, -2))
    return weights @ v, weights


@wrong(
    "masked_attention",
    "a row without any allowed key gives nan",
    "There every score is −inf, and −inf − (−inf) is nan. Your `masked_softmax` knows what to do "
    "with such a row: use it.",
)
def attention_row_nan(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
        return weights @ v, weights


@wrong(
    "masked_attention",
    "a row without any allowed key shares evenly",
    "All its scores became the same large negative number, and equal scores get equal shares. Your "
    "`masked_softmax` knows what to do with such a row: use it.",
)
def attention_row_even(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e9))
    return weights @ v, weights


@wrong(
    "masked_attention",
    "a row without any allowed key comes out as if unmasked",
    "The same large number was taken off every score of that row, and the softmax does not notice. "
    "Your `masked_softmax` knows what to do with such a row: use it.",
)
def attention_row_unmasked(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores if mask is None else scores + np.where(mask, 0, -1e9))
    return weights @ v, weights


@wrong(
    "masked_attention",
    "only the returned weights are masked",
    "The output was still made with the weights of all keys. Mask first, blend afterwards.",
)
def attention_output_unmasked(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    out = softmax(scores) @ v
    return out, softmax(scores) if mask is None else masked_softmax(scores, mask)


@wrong(
    "masked_attention",
    "not scaled",
    "The scores of lab 01 are divided by √d_k, masked or not.",
)
def attention_not_scaled(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "divided by d_k instead of its root",
    "The spread of a dot product grows with √d_k, so that is what it is divided by.",
)
def attention_by_d_k(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1]
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "divided by √d_v",
    "It is the length of queries and keys that makes scores large: √d_k.",
)
def attention_by_root_d_v(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(v.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@wrong(
    "masked_attention",
    "weights returned first",
    "The order is out, weights: first what the tokens receive, then how it was mixed.",
)
def attention_weights_first(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights, weights @ v


@wrong(
    "masked_attention",
    "the keys were blended instead of the values",
    "Keys are for being found. What is handed over are the values.",
)
def attention_blends_keys(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ k, weights


@wrong(
    "masked_attention",
    "the keys were not transposed",
    "(T, d_k) @ (S, d_k) does not fit; the second factor must be (d_k, S).",
)
def attention_not_transposed(q, k, v, mask=None):
    scores = q @ k / np.sqrt(q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


# ---- influence --------------------------------------------------------------------------


@wrong(
    "influence",
    "only the last token was changed",
    "A leak from another token stays hidden. Change every token in turn, one at a time.",
)
def influence_last_only(layer, x):
    before, _ = layer.forward(x)
    changed = x + 0.0
    changed[-1] += 1
    after, _ = layer.forward(changed)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    moved[:, -1] = np.abs(after - before).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "only the diagonal was looked at",
    "You asked whether token s changes its own output. Look at every output t after changing s.",
)
def influence_diagonal(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[s, s] = np.abs(after[s] - before[s]).max() > 1e-9
    return moved


@wrong(
    "influence",
    "rows and columns changed places",
    "Entry [t, s]: the row is the output t that moves, the column the token s that was changed.",
)
def influence_transposed(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[s] = np.abs(after - before).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "the answer of a causal layer, whatever the layer",
    "That triangle is what a causal layer should show. Try the layer out instead of assuming it.",
)
def influence_triangle(layer, x):
    return np.tril(np.ones((len(x), len(x)), dtype=bool))


@wrong(
    "influence",
    "everything comes out True",
    "Some outputs do not move when one token changes. Was more than one token changed at once? Or "
    "was it marked with nan, which spoils every sum, since even 0 · nan is nan?",
)
def influence_all(layer, x):
    return np.ones((len(x), len(x)), dtype=bool)


@wrong(
    "influence",
    "the tokens were not put back",
    "Token 0 is still changed when token 1 is tried. Start from a fresh copy for each s.",
)
def influence_not_put_back(layer, x):
    before, _ = layer.forward(x)
    changed = x + 0.0
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = np.abs(after - before).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "the weights were read instead of the outputs",
    "A weight of 0 does not prove that a token is not seen: it may have taken part in the sum "
    "below. Compare outputs.",
)
def influence_weights_read(layer, x):
    _, weights = layer.forward(x)
    return weights != 0


@wrong(
    "influence",
    "the changed weights were compared",
    "A token moves an output through its value even where all weights stay. Compare outputs.",
)
def influence_weights_compared(layer, x):
    _, before = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        _, after = layer.forward(changed)
        moved[:, s] = np.abs(after - before).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "inputs were compared instead of outputs",
    "Of course only token s differs in the input. Which rows of `out` differ?",
)
def influence_inputs(layer, x):
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        moved[:, s] = np.abs(changed - x).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "the pair (out, weights) was compared as one",
    "`layer.forward(x)` returns two arrays. Take the first: `out, _ = layer.forward(x)`.",
)
def influence_pair(layer, x):
    before = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        moved[:, s] = np.abs(layer.forward(changed) - before).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "one array was compared with a pair",
    "`layer.forward(x)` returns two arrays. Give both a name each time it is called: "
    "`after, _ = layer.forward(changed)`.",
)
def influence_half_a_pair(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        moved[:, s] = (layer.forward(changed) != before).any(axis=-1)
    return moved


@wrong(
    "influence",
    "more than one number where one True or False is needed",
    "`layer.forward(x)` returns two arrays, and `==` or `!=` between two pairs asks each array for "
    "one True or False: give out and weights a name. An `if` about a row wants `.any()`.",
)
def influence_pairs_unequal(layer, x):
    before = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        moved[:, s] = layer.forward(changed) != before
    return moved


@wrong(
    "influence",
    "one answer for all outputs together",
    "`np.any` without an axis asks whether anything moved at all. Ask each output by itself: one "
    "True or False a row.",
)
def influence_any_at_all(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = np.any(np.abs(after - before) > 1e-9)
    return moved


@wrong(
    "influence",
    "every feature of an output had to move",
    "An output has moved as soon as one of its features has: ask for any, not for all.",
)
def influence_all_features(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = np.all(np.abs(after - before) > 1e-9, axis=-1)
    return moved


@wrong(
    "influence",
    "only one feature of the token was changed",
    "What is handed on may be another of its features. Change the whole row.",
)
def influence_one_feature_changed(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s, 0] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = np.any(np.abs(after - before) > 1e-9, axis=-1)
    return moved


@wrong(
    "influence",
    "only one feature of the outputs was compared",
    "The change may arrive in another feature. Compare whole rows of `out`.",
)
def influence_one_feature_compared(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = np.abs(after[:, 0] - before[:, 0]) > 1e-9
    return moved


@wrong(
    "influence",
    "a token of zeros was not changed",
    "Twice nothing is nothing, and so is a zero set to 0. Add something to the token instead.",
)
def influence_doubled_token(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] *= 2
        after, _ = layer.forward(changed)
        moved[:, s] = np.any(np.abs(after - before) > 1e-9, axis=-1)
    return moved


@wrong(
    "influence",
    "outputs that fell were passed over",
    "An output may go down as well as up, and one feature up while another goes down. Ask, feature "
    "by feature, whether it is another number.",
)
def influence_grown(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = after.sum(axis=-1) > before.sum(axis=-1) + 1e-9
    return moved


@wrong(
    "influence",
    "True where nothing changes",
    "Turn it round: True means that the output did change.",
)
def influence_inverted(layer, x):
    before, _ = layer.forward(x)
    same = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        same[:, s] = np.isclose(after, before).all(axis=-1)
    return same


@wrong(
    "influence",
    "before and after come out equal",
    "Does `before` belong to the unchanged tokens? `y = x` is no copy: changing y changes x. Or is "
    "the change too small? `np.allclose` forgives about 1e−5 of the values.",
)
def influence_too_small(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1e-8
        after, _ = layer.forward(changed)
        for t in range(len(x)):
            moved[t, s] = not np.allclose(after[t], before[t])
    return moved


@wrong(
    "influence",
    "features were marked instead of tokens",
    "The answer is (T, T): one column for each token that was changed. Here columns are features.",
)
def influence_features(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros(x.shape, dtype=bool)
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved |= np.abs(after - before) > 1e-9
    return moved


@wrong(
    "influence",
    "the size of the change instead of True and False",
    "Right idea. Then ask whether it is more than a rounding error.",
)
def influence_sizes(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)))
    for s in range(len(x)):
        changed = x + 0.0
        changed[s] += 1
        after, _ = layer.forward(changed)
        moved[:, s] = np.abs(after - before).max(axis=-1)
    return moved


@wrong(
    "influence",
    "fractions written into whole numbers",
    "An array of whole numbers cuts 0.1 off without a word, so nothing was changed. Copy x as "
    "floats.",
)
def influence_whole_numbers(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = x.copy()
        changed[s] = x[s] + np.where(x[s] < 0, -0.1, 0.1)
        after, _ = layer.forward(changed)
        moved[:, s] = np.abs(after - before).max(axis=-1) > 1e-9
    return moved


@wrong(
    "influence",
    "the caller's tokens were changed",
    "Without a copy the change stays in the caller's array. Work on `x.copy()`.",
)
def influence_in_place(layer, x):
    before, _ = layer.forward(x)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        x[s] += 1
        after, _ = layer.forward(x)
        moved[:, s] = np.abs(after - before).max(axis=-1) > 1e-9
        before = after
    return moved


# ---- Attention --------------------------------------------------------------------------


@wrong(
    "Attention",
    "the extra mask is dropped when the layer is causal",
    "The causal mask took the place of the extra one. Both must allow a key: join them with and.",
)
class AttentionCausalOnly:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            mask = causal_mask(x.shape[-2])
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the causal mask is dropped when there is an extra one",
    "A causal layer stays causal: padding comes on top. Both must allow a key: join them with and.",
)
class AttentionExtraOnly:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if mask is None and self.causal:
            mask = causal_mask(x.shape[-2])
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the masks are joined with or",
    "Then a key is seen when one of them allows it. Both must: with booleans that is `&`.",
)
class AttentionOr:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past | mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "`causal` has no effect",
    "`causal=True` asks for the causal mask in `forward`. Is it kept in `self`, and used?",
)
class AttentionNeverCausal:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the extra mask is not used",
    "`forward(x, mask)` hands a mask in. Where does it go on from there?",
)
class AttentionNoExtra:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        mask = causal_mask(x.shape[-2]) if self.causal else None
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "always causal",
    "Without `causal=True` every token may see every other.",
)
class AttentionAlwaysCausal:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        past = causal_mask(x.shape[-2])
        mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "d_v taken for d_k",
    "w_q and w_k have d_k columns, w_v has d_v. They need not be the same number.",
)
class AttentionDvForDk:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "d_k taken for d_v",
    "w_v has d_v columns, and w_o takes these d_v features back to d_model.",
)
class AttentionDkForDv:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_k, d_model)) / np.sqrt(d_model)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "w_o is not applied",
    "What comes out of the blend has d_v features. w_o takes it back to d_model.",
)
class AttentionNoOutput:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        return masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)


@wrong(
    "Attention",
    "w_o has its axes the other way round",
    "Tokens are rows: out (T, d_v) @ w_o (d_v, d_model). Other libraries keep the transpose.",
)
class AttentionOutputTransposed:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o.T, weights


@wrong(
    "Attention",
    "NumPy's global random stream was seeded",
    "`np.random.seed` changes the random numbers of everybody else. Make a generator of your own "
    "with `np.random.default_rng(seed)`.",
)
class AttentionGlobalSeed:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        np.random.seed(seed)
        self.w_q = np.random.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = np.random.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = np.random.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = np.random.normal(size=(d_v, d_model)) / np.sqrt(d_model)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the seed is not used",
    "One seed should give the same layer every time: hand it to `np.random.default_rng`.",
)
class AttentionSeedIgnored:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng()
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "equal matrices for queries and keys",
    "A new generator from the same seed starts over and draws the same numbers. Make one generator "
    "and draw all four from it.",
)
class AttentionSameMatrix:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        self.w_q = np.random.default_rng(seed).normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = np.random.default_rng(seed).normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = np.random.default_rng(seed).normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = np.random.default_rng(seed).normal(size=(d_v, d_model)) / np.sqrt(d_model)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "weights returned first",
    "The order is out, weights: first what the tokens receive, then how it was mixed.",
)
class AttentionOrder:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return weights, out @ self.w_o


@wrong(
    "Attention",
    "d_v left out becomes d_k",
    "A length that is left out is d_model, each by itself. Whatever d_k is, d_v need not be the "
    "same.",
)
class AttentionDvFromDk:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_k if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "d_k and d_v have no default",
    "A caller may leave them out: then they are None, by the signature, and d_model takes their "
    "place.",
)
class AttentionNoDefaults:
    def __init__(self, d_model, d_k, d_v, causal=False, seed=0):
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the draws are not scaled",
    "With entries of spread 1, x @ w is √d_model times as wide as x. Divide the draws by √d_model.",
)
class AttentionNotScaled:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k))
        self.w_k = rng.normal(size=(d_model, d_k))
        self.w_v = rng.normal(size=(d_model, d_v))
        self.w_o = rng.normal(size=(d_v, d_model))
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the draws were divided by √d_k",
    "x @ w sums over the d_model features of a token, so √d_model is what its spread grows by. "
    "√d_k belongs to the scores.",
)
class AttentionByRootDk:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_k)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_k)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_k)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_k)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the draws were divided by d_model instead of its root",
    "A sum of d_model products has a spread of √d_model times one of them. Dividing by d_model "
    "makes it small.",
)
class AttentionByDModel:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / d_model
        self.w_k = rng.normal(size=(d_model, d_k)) / d_model
        self.w_v = rng.normal(size=(d_model, d_v)) / d_model
        self.w_o = rng.normal(size=(d_v, d_model)) / d_model
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(x.shape[-2])
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights


@wrong(
    "Attention",
    "the length of the batch taken for that of the sentence",
    "`len(x)` is the first axis, and in a batch that counts sentences. The tokens are counted by "
    "`x.shape[-2]`.",
)
class AttentionLength:
    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal

    def forward(self, x, mask=None):
        if self.causal:
            past = causal_mask(len(x))
            mask = past if mask is None else past & mask
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights
