"""Wrong answers of lab 02. They use NumPy, what the lab gives, and its other exercises."""

import numpy as np

from grader.catalogue import wrong
from grader.reference.lab02_multi_head import (
    attention,
    merge_heads,
    multi_head_attention,
    softmax,
    split_heads,
)

# ---- split_heads -------------------------------------------------------------------------


@wrong(
    "split_heads",
    "reshaped straight to (H, T, d_head)",
    "A reshape never moves a number, it only cuts the row of numbers elsewhere: head 0 got all "
    "the features of the first tokens. Cut d_model first, then let two axes change places.",
)
def split_heads_reshaped(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(*leading, n_heads, n_tokens, d_model // n_heads)


@wrong(
    "split_heads",
    "the heads took every H-th feature",
    "Head 0 should get the first d_head features, side by side. Here neighbours went to "
    "different heads: which of the two new axes is cut first, H or d_head?",
)
def split_heads_interleaved(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return np.moveaxis(x.reshape(*leading, n_tokens, d_model // n_heads, n_heads), -1, -3)


@wrong(
    "split_heads",
    "the head axis stayed behind the tokens: (T, H, d_head)",
    "The features are cut up right. One step is missing: heads come before tokens, so that `@` "
    "treats every head as a sentence of its own.",
)
def split_heads_not_swapped(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads)


@wrong(
    "split_heads",
    "features before tokens: (H, d_head, T)",
    "Within a head a token is a row again: (T, d_head). The keys' transpose comes later, where "
    "the scores are made.",
)
def split_heads_features_first(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    parts = x.reshape(*leading, n_tokens, n_heads, d_model // n_heads)
    return np.moveaxis(parts, -3, -1)


@wrong(
    "split_heads",
    "all axes reversed with `.T`",
    "`.T` reverses every axis, d_head and the batch too. Only H and T should change places.",
)
def split_heads_dot_t(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads).T


@wrong(
    "split_heads",
    "n_heads was taken for the width of a head",
    "n_heads says how many heads there are; each is d_model / n_heads wide.",
)
def split_heads_as_width(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(*leading, n_tokens, d_model // n_heads, n_heads).swapaxes(-2, -3)


@wrong(
    "split_heads",
    "the tokens were dealt out to the heads",
    "Every head sees every token; what is shared out are the features, the last axis.",
)
def split_heads_of_tokens(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"d_model = {x.shape[-1]} is not divisible by n_heads = {n_heads}")
    return np.stack(np.split(x, n_heads, axis=-2), axis=-3)


@wrong(
    "split_heads",
    "every head got all the features",
    "This copies x for each head. A head gets its own d_model / n_heads of the features.",
)
def split_heads_copies(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"d_model = {x.shape[-1]} is not divisible by n_heads = {n_heads}")
    return np.stack([x] * n_heads, axis=-3)


@wrong(
    "split_heads",
    "axes counted from the front",
    "Axes 0 and 1 are heads and tokens only when nothing stands before them. Counted from the "
    "end, T is axis -3 and H is axis -2 for one sentence and for any batch.",
)
def split_heads_from_the_front(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads).swapaxes(0, 1)


@wrong(
    "split_heads",
    "the heads were stacked in front of the batch",
    "Stacked along axis 0, the heads come before the sentences. They belong right in front of the "
    "tokens: T is axis -2 of the result, so H is axis -3.",
)
def split_heads_stacked_in_front(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"d_model = {x.shape[-1]} is not divisible by n_heads = {n_heads}")
    return np.stack(np.split(x, n_heads, axis=-1), axis=0)


@wrong(
    "split_heads",
    "one sentence only: the shape was unpacked into T and d_model",
    "`T, d_model = x.shape` allows for no axis in front. Read the two from the end, and hand "
    "whatever stands before them on to the reshape.",
)
def split_heads_one_sentence(x, n_heads):
    n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(n_tokens, n_heads, d_model // n_heads).transpose(1, 0, 2)


@wrong(
    "split_heads",
    "a batch only: the shape was unpacked into B, T and d_model",
    "This asks for exactly one axis in front of the tokens, as many listings do. The contract "
    "has `...` there: none, one or more.",
)
def split_heads_batch_only(x, n_heads):
    batch, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(batch, n_tokens, n_heads, d_model // n_heads).transpose(0, 2, 1, 3)


@wrong(
    "split_heads",
    "the sentences of a batch were strung together",
    "A -1 for the number of tokens swallows the batch as well. Name the leading axes in the "
    "reshape: they should come out as they went in.",
)
def split_heads_strung_together(x, n_heads):
    d_model = x.shape[-1]
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(-1, n_heads, d_model // n_heads).swapaxes(0, 1)


@wrong(
    "split_heads",
    "no check of its own: NumPy's reshape complained instead",
    "NumPy's message speaks of reshaping and does not name d_model. Check first, and raise a "
    "ValueError that names both numbers.",
)
def split_heads_unchecked(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads).swapaxes(-2, -3)


@wrong(
    "split_heads",
    "an assert in place of a ValueError",
    "`assert` is for what cannot happen, and `python -O` removes it. A caller's wrong number is "
    "a ValueError, with both numbers in its text.",
)
def split_heads_assert(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    assert d_model % n_heads == 0
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads).swapaxes(-2, -3)


@wrong(
    "split_heads",
    "a ValueError that does not name both numbers",
    "The right kind of error. Put d_model and n_heads into its text, so that the reader sees "
    "what does not fit.",
)
def split_heads_wordless(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("d_model must be divisible by n_heads")
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads).swapaxes(-2, -3)


@wrong(
    "split_heads",
    "left-over features were dropped",
    "When H does not divide d_model, this throws the last features away without a word. Better "
    "to refuse: a ValueError that names both numbers.",
)
def split_heads_truncated(x, n_heads):
    d_head = x.shape[-1] // n_heads
    return np.stack([x[..., h * d_head : (h + 1) * d_head] for h in range(n_heads)], axis=-3)


@wrong(
    "split_heads",
    "the division was checked the wrong way round",
    "`n_heads % d_model` is never 0 for fewer heads than features, so everything is refused. "
    "Which of the two is to be divided?",
)
def split_heads_refuses_all(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    if n_heads % d_model:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return x.reshape(*leading, n_tokens, n_heads, d_model // n_heads).swapaxes(-2, -3)


@wrong(
    "split_heads",
    "`/` where a whole number is needed",
    "`d_model / n_heads` is a float even when nothing is left over, and no axis can be 4.0 long. "
    "`//` gives a whole number.",
)
def split_heads_float(x, n_heads):
    *leading, n_tokens, d_model = x.shape
    return x.reshape(*leading, n_tokens, n_heads, d_model / n_heads).swapaxes(-2, -3)


# ---- merge_heads -------------------------------------------------------------------------


@wrong(
    "merge_heads",
    "reshaped without swapping the axes back",
    "The numbers still lie head by head in memory, so a row now holds one head of several "
    "tokens. First let H and T change places, then reshape.",
)
def merge_heads_reshaped(x):
    *leading, n_heads, n_tokens, d_head = x.shape
    return x.reshape(*leading, n_tokens, n_heads * d_head)


@wrong(
    "merge_heads",
    "features before heads",
    "Here a row reads: feature 0 of every head, then feature 1 of every head. Heads come first: "
    "(T, H, d_head), then the last two are joined.",
)
def merge_heads_interleaved(x):
    *leading, n_heads, n_tokens, d_head = x.shape
    return np.moveaxis(x, -3, -1).reshape(*leading, n_tokens, n_heads * d_head)


@wrong(
    "merge_heads",
    "the heads were averaged",
    "A mean mixes what the heads found, and nobody can tell them apart again. Lay them side by "
    "side: H · d_head features.",
)
def merge_heads_mean(x):
    return x.mean(axis=-3)


@wrong(
    "merge_heads",
    "the heads were added up",
    "Side by side, not on top of each other: the result has H · d_head features.",
)
def merge_heads_sum(x):
    return x.sum(axis=-3)


@wrong(
    "merge_heads",
    "the largest over the heads",
    "A maximum keeps one head's number and drops the others. Lay the heads side by side.",
)
def merge_heads_max(x):
    return x.max(axis=-3)


@wrong(
    "merge_heads",
    "the heads were put below each other",
    "This makes H · T tokens of d_head features. It is the features that grow: T tokens of "
    "H · d_head.",
)
def merge_heads_stacked(x):
    *leading, n_heads, n_tokens, d_head = x.shape
    return x.reshape(*leading, n_heads * n_tokens, d_head)


@wrong(
    "merge_heads",
    "swapped, but not joined",
    "Right so far: (T, H, d_head). Now join the last two axes into one of H · d_head.",
)
def merge_heads_not_joined(x):
    return x.swapaxes(-2, -3)


@wrong(
    "merge_heads",
    "only the first head",
    "All heads belong in the result, head 0's features first.",
)
def merge_heads_first(x):
    return x[..., 0, :, :]


@wrong(
    "merge_heads",
    "the first axis was taken for the heads",
    "A loop over x goes along its first axis, which in a batch are the sentences. The heads are "
    "axis -3.",
)
def merge_heads_first_axis(x):
    return np.concatenate(list(x), axis=-1)


@wrong(
    "merge_heads",
    "all axes reversed with `.T`",
    "`.T` reverses every axis. Only H and T should change places before the reshape.",
)
def merge_heads_dot_t(x):
    *leading, n_heads, n_tokens, d_head = x.shape
    return x.T.reshape(*leading, n_tokens, n_heads * d_head)


@wrong(
    "merge_heads",
    "axes 0 and 1 were swapped, counted from the front",
    "In a batch these are the sentences and the heads. Heads and tokens are axes -3 and -2, "
    "whatever stands before them, and only the last two axes are joined.",
)
def merge_heads_from_the_front(x):
    tokens_first = x.swapaxes(0, 1)
    return tokens_first.reshape(len(tokens_first), -1)


@wrong(
    "merge_heads",
    "one sentence only: the shape was unpacked into H, T and d_head",
    "`n_heads, T, d_head = x.shape` allows for no axis in front. Read the three from the end, "
    "and hand whatever stands before them on to the reshape.",
)
def merge_heads_one_sentence(x):
    n_heads, n_tokens, d_head = x.shape
    return x.transpose(1, 0, 2).reshape(n_tokens, n_heads * d_head)


@wrong(
    "merge_heads",
    "a batch only: the shape was unpacked into B, H, T and d_head",
    "This asks for exactly one axis in front of the heads, as many listings do. The contract "
    "has `...` there: none, one or more.",
)
def merge_heads_batch_only(x):
    batch, n_heads, n_tokens, d_head = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, n_tokens, n_heads * d_head)


@wrong(
    "merge_heads",
    "the batch was mixed into the features",
    "A -1 for the features swallows the batch as well. Name the leading axes in the reshape.",
)
def merge_heads_batch_mixed(x):
    return x.swapaxes(-2, -3).reshape(x.shape[-2], -1)


# ---- multi_head_attention ----------------------------------------------------------------


@wrong(
    "multi_head_attention",
    "divided by √d_model",
    "The dot products of a head run over d_head features, so √d_head is their spread. √d_model "
    "is too large by √H, and every head's shares come out too even.",
)
def multi_head_attention_by_model(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(x.shape[-1]))
    return merge_heads(weights @ v) @ w_o, weights


@wrong(
    "multi_head_attention",
    "divided by √H",
    "The number of heads does not widen the scores. The number of features in each dot product "
    "does: divide by √d_head.",
)
def multi_head_attention_by_heads(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(n_heads))
    return merge_heads(weights @ v) @ w_o, weights


@wrong(
    "multi_head_attention",
    "the scores were not scaled",
    "Every head divides its scores by √d_head, as in lab01. The given `attention` does it for you.",
)
def multi_head_attention_unscaled(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(q @ k.swapaxes(-1, -2))
    return merge_heads(weights @ v) @ w_o, weights


@wrong(
    "multi_head_attention",
    "scaled twice",
    "The given `attention` divides by √d_head already. Hand it q as it is.",
)
def multi_head_attention_scaled_twice(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    heads, weights = attention(q / np.sqrt(q.shape[-1]), k, v)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "no W_O",
    "The heads lie side by side but have not met. Multiplying by w_o is what lets one feature of "
    "the output draw on several heads.",
)
def multi_head_attention_no_w_o(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return merge_heads(heads), weights


@wrong(
    "multi_head_attention",
    "W_O transposed",
    "w_o stands as it is: rows are what the heads hand over, columns what comes out.",
)
def multi_head_attention_w_o_transposed(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return merge_heads(heads) @ w_o.T, weights


@wrong(
    "multi_head_attention",
    "the heads were averaged",
    "A mean over heads blurs what they found apart. Merge them side by side; W_O does the mixing.",
)
def multi_head_attention_averaged(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return heads.mean(axis=-3), weights


@wrong(
    "multi_head_attention",
    "the heads were added up",
    "Merge the heads side by side first. Adding up happens in W_O, where each head has rows of "
    "its own.",
)
def multi_head_attention_summed(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return heads.sum(axis=-3), weights


@wrong(
    "multi_head_attention",
    "the heads' parts were averaged after W_O",
    "Head by head through its rows of w_o is a fine way. The parts then add up; dividing by H "
    "makes every output H times too small.",
)
def multi_head_attention_mean_of_parts(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    rows = w_o.reshape(n_heads, heads.shape[-1], -1)
    return (heads @ rows).mean(axis=-3), weights


@wrong(
    "multi_head_attention",
    "x was split before it was projected",
    "So a head sees d_head of the features only. Project first, with the whole of x: then every "
    "head can draw on every feature.",
)
def multi_head_attention_split_first(x, w_q, w_k, w_v, w_o, n_heads):
    parts = split_heads(x, n_heads)  # (..., H, T, d_head)
    d_head = parts.shape[-1]
    blocks = [slice(h * d_head, (h + 1) * d_head) for h in range(n_heads)]
    q, k, v = (parts @ np.stack([w[b, b] for b in blocks]) for w in (w_q, w_k, w_v))
    heads, weights = attention(q, k, v)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "heads attended to heads, not tokens to tokens",
    "The head axis stood where the tokens belong, so each token only mixed its own heads: the "
    "weights are H × H. With (..., H, T, d_head) they are T × T.",
)
def multi_head_attention_across_heads(x, w_q, w_k, w_v, w_o, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    shape = (*leading, n_tokens, n_heads, d_model // n_heads)
    heads, weights = attention(*((x @ w).reshape(shape) for w in (w_q, w_k, w_v)))
    return heads.reshape(x.shape) @ w_o, weights


@wrong(
    "multi_head_attention",
    "split and merged by plain reshapes",
    "The two undo each other, so the shapes fit and a round trip looks right. In between, a head "
    "held all features of some tokens. The exercises above swap two axes for that reason.",
)
def multi_head_attention_reshapes(x, w_q, w_k, w_v, w_o, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    shape = (*leading, n_heads, n_tokens, d_model // n_heads)
    heads, weights = attention(*((x @ w).reshape(shape) for w in (w_q, w_k, w_v)))
    return heads.reshape(x.shape) @ w_o, weights


@wrong(
    "multi_head_attention",
    "merged by a plain reshape",
    "The heads are right, but joining them needs H and T to change places first: `merge_heads` "
    "does that.",
)
def multi_head_attention_merge_reshaped(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return heads.reshape(x.shape) @ w_o, weights


@wrong(
    "multi_head_attention",
    "split by a plain reshape",
    "The merge is right, but the heads are not: cutting (T, d_model) straight into "
    "(H, T, d_head) hands out tokens, not features. `split_heads` does it.",
)
def multi_head_attention_split_reshaped(x, w_q, w_k, w_v, w_o, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    shape = (*leading, n_heads, n_tokens, d_model // n_heads)
    heads, weights = attention(*((x @ w).reshape(shape) for w in (w_q, w_k, w_v)))
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "merged with features before heads",
    "The heads are right. In the merged row head 0's features come first, side by side, then "
    "head 1's: rows of w_o count on that order.",
)
def multi_head_attention_merge_interleaved(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = attention(q, k, v)[1]
    return np.einsum("...hts,...hsd->...tdh", weights, v).reshape(x.shape) @ w_o, weights


@wrong(
    "multi_head_attention",
    "the heads took every H-th feature",
    "Head 0 owns the first d_head columns of w_q, w_k and w_v, side by side. Cut d_model into "
    "(H, d_head), in that order.",
)
def multi_head_attention_interleaved(x, w_q, w_k, w_v, w_o, n_heads):
    *leading, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    shape = (*leading, n_tokens, d_model // n_heads, n_heads)
    q, k, v = (np.moveaxis((x @ w).reshape(shape), -1, -3) for w in (w_q, w_k, w_v))
    heads, weights = attention(q, k, v)
    return np.moveaxis(heads, -3, -1).reshape(x.shape) @ w_o, weights


@wrong(
    "multi_head_attention",
    "the weights were averaged over the heads",
    "The output is right. Return the weights of every head, (..., H, T, T): their mean hides "
    "that the heads differ.",
)
def multi_head_attention_mean_weights(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return merge_heads(heads) @ w_o, weights.mean(axis=-3)


@wrong(
    "multi_head_attention",
    "weights returned first",
    "The order is out, weights, as `attention` returns them.",
)
def multi_head_attention_weights_first(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return weights, merge_heads(heads) @ w_o


@wrong(
    "multi_head_attention",
    "x was overwritten by its own projection",
    "After the first line x is no longer the input, so keys were made from queries. Give q, k "
    "and v names of their own, all three from the same x.",
)
def multi_head_attention_overwritten(x, w_q, w_k, w_v, w_o, n_heads):
    x = x @ w_q
    q = split_heads(x, n_heads)
    x = x @ w_k
    k = split_heads(x, n_heads)
    x = x @ w_v
    v = split_heads(x, n_heads)
    heads, weights = attention(q, k, v)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "each head was fed what the head before it gave",
    "Heads work side by side: all of them read the same q, k and v. In this loop the first "
    "head's result was stored under the name that the next head reads.",
)
def multi_head_attention_chained(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    query, outs, all_weights = q[..., 0, :, :], [], []
    for h in range(n_heads):
        query, weights = attention(query, k[..., h, :, :], v[..., h, :, :])
        outs.append(query)
        all_weights.append(weights)
    return np.concatenate(outs, axis=-1) @ w_o, np.stack(all_weights, axis=-3)


@wrong(
    "multi_head_attention",
    "the first head's weights were used for every head",
    "Then all heads look at the same tokens, and H of them see no more than one. Each head blends "
    "its values with weights of its own.",
)
def multi_head_attention_first_weights(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = attention(q, k, v)[1][..., :1, :, :]
    return merge_heads(weights @ v) @ w_o, np.repeat(weights, n_heads, axis=-3)


@wrong(
    "multi_head_attention",
    "n_heads was not used: one wide head",
    "This is attention as in lab01, with all features in one head. Split q, k and v first.",
)
def multi_head_attention_one_wide(x, w_q, w_k, w_v, w_o, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"d_model = {x.shape[-1]} is not divisible by n_heads = {n_heads}")
    out, weights = attention(x @ w_q, x @ w_k, x @ w_v)
    return out @ w_o, weights


@wrong(
    "multi_head_attention",
    "queries and keys changed places",
    "Rows belong to queries: q comes first. A head's weights came out as if keys were looking.",
)
def multi_head_attention_roles_swapped(x, w_q, w_k, w_v, w_o, n_heads):
    k, q, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    heads, weights = attention(q, k, v)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "the keys were blended instead of the values",
    "The weights are right. What is handed over are the values, made with w_v.",
)
def multi_head_attention_blends_keys(x, w_q, w_k, w_v, w_o, n_heads):
    q, k = (split_heads(x @ w, n_heads) for w in (w_q, w_k))
    heads, weights = attention(q, k, k)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "the query's matrix was used for the keys",
    "With one matrix for both, every head's scores come out symmetric. Keys are made with w_k.",
)
def multi_head_attention_keys_from_queries(x, w_q, w_k, w_v, w_o, n_heads):
    q, v = (split_heads(x @ w, n_heads) for w in (w_q, w_v))
    heads, weights = attention(q, q, v)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "every matrix was transposed",
    "These matrices are (d_model in, d_model out), so x @ w. The transpose belongs to libraries "
    "that keep their weights the other way round.",
)
def multi_head_attention_torch_layout(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w.T, n_heads) for w in (w_q, w_k, w_v)))
    return merge_heads(heads) @ w_o.T, weights


@wrong(
    "multi_head_attention",
    "x was added to the output",
    "That is the residual connection of a whole Transformer block, a later step. Here only what "
    "attention gives is returned.",
)
def multi_head_attention_residual(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return x + merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "a ReLU after W_O",
    "Nothing bends the output here: `@ w_o` is the last step, and negative numbers stay.",
)
def multi_head_attention_relu(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return np.maximum(merge_heads(heads) @ w_o, 0), weights


@wrong(
    "multi_head_attention",
    "the heads' parts were laid side by side after W_O",
    "Each head through its own rows of w_o gives d_model features. These parts are added up, "
    "not joined.",
)
def multi_head_attention_parts_joined(x, w_q, w_k, w_v, w_o, n_heads):
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    rows = w_o.reshape(n_heads, heads.shape[-1], -1)
    return merge_heads(heads @ rows), weights


@wrong(
    "multi_head_attention",
    "the sentences of a batch looked at each other",
    "The batch was strung together into one long sentence, so the weights are (B·T) × (B·T). "
    "With leading axes left alone, every sentence keeps to itself.",
)
def multi_head_attention_strung_together(x, w_q, w_k, w_v, w_o, n_heads):
    tokens = x.reshape(-1, x.shape[-1])
    heads, weights = attention(*(split_heads(tokens @ w, n_heads) for w in (w_q, w_k, w_v)))
    return (merge_heads(heads) @ w_o).reshape(x.shape), weights


@wrong(
    "multi_head_attention",
    "np.dot between heads",
    "`np.dot` pairs every head with every other one, and the scores get an axis too many. `@` "
    "keeps each head to itself.",
)
def multi_head_attention_np_dot(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v))
    weights = softmax(np.dot(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1]))
    return merge_heads(weights @ v) @ w_o, weights


@wrong(
    "multi_head_attention",
    "one sentence only: the shape was unpacked into T and d_model",
    "`T, d_model = x.shape` allows for no axis in front. Read the two from the end, or let "
    "`split_heads` and `merge_heads` do the reshaping.",
)
def multi_head_attention_one_sentence(x, w_q, w_k, w_v, w_o, n_heads):
    n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    shape = (n_tokens, n_heads, d_model // n_heads)
    q, k, v = ((x @ w).reshape(shape).transpose(1, 0, 2) for w in (w_q, w_k, w_v))
    heads, weights = attention(q, k, v)
    return heads.transpose(1, 0, 2).reshape(n_tokens, d_model) @ w_o, weights


@wrong(
    "multi_head_attention",
    "a batch only: the shape was unpacked into B, T and d_model",
    "This asks for exactly one axis in front of the tokens. The contract has `...` there: none, "
    "one or more. `split_heads` and `merge_heads` take them all.",
)
def multi_head_attention_batch_only(x, w_q, w_k, w_v, w_o, n_heads):
    batch, n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    shape = (batch, n_tokens, n_heads, d_model // n_heads)
    q, k, v = ((x @ w).reshape(shape).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    heads, weights = attention(q, k, v)
    return heads.transpose(0, 2, 1, 3).reshape(x.shape) @ w_o, weights


@wrong(
    "multi_head_attention",
    "no check of its own: NumPy's reshape complained instead",
    "NumPy's message does not name d_model. `split_heads` has the check already; without it, "
    "raise a ValueError that names both numbers.",
)
def multi_head_attention_unchecked(x, w_q, w_k, w_v, w_o, n_heads):
    *leading, n_tokens, d_model = x.shape
    shape = (*leading, n_tokens, n_heads, d_model // n_heads)
    q, k, v = ((x @ w).reshape(shape).swapaxes(-2, -3) for w in (w_q, w_k, w_v))
    heads, weights = attention(q, k, v)
    return merge_heads(heads) @ w_o, weights


@wrong(
    "multi_head_attention",
    "an assert in place of a ValueError",
    "A caller's wrong number is a ValueError with both numbers in its text. `split_heads` "
    "raises it for you.",
)
def multi_head_attention_assert(x, w_q, w_k, w_v, w_o, n_heads):
    assert x.shape[-1] % n_heads == 0
    heads, weights = attention(*(split_heads(x @ w, n_heads) for w in (w_q, w_k, w_v)))
    return merge_heads(heads) @ w_o, weights


# ---- MultiHeadAttention ------------------------------------------------------------------


@wrong(
    "MultiHeadAttention",
    "biases",
    "This layer has four matrices and nothing else, so 4·d_model² parameters.",
)
class MultiHeadAttentionBiases:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        for name in "qkvo":
            setattr(self, "w_" + name, rng.normal(size=(d_model, d_model)) / np.sqrt(d_model))
            setattr(self, "b_" + name, np.zeros(d_model))
        self.n_parameters = 4 * (d_model**2 + d_model)

    def forward(self, x, mask=None):
        q, k, v = (
            split_heads(x @ w + b, self.n_heads)
            for w, b in ((self.w_q, self.b_q), (self.w_k, self.b_k), (self.w_v, self.b_v))
        )
        heads, weights = attention(q, k, v)
        return merge_heads(heads) @ self.w_o + self.b_o, weights


@wrong(
    "MultiHeadAttention",
    "divided by d_model instead of √d_model",
    "A sum of d_model products has a spread of √d_model times one of them. Dividing by d_model "
    "makes what comes out too small.",
)
class MultiHeadAttentionByModel:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = rng.normal(size=(4, d_model, d_model)) / d_model
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "the draws were not scaled",
    "With entries of spread 1, x @ w is √d_model times as wide as x. Divide the draws by √d_model.",
)
class MultiHeadAttentionUnscaled:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = rng.normal(size=(4, d_model, d_model))
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "divided by √d_head instead of √d_model",
    "Each column sums over all d_model features of x, however the columns are shared out to "
    "heads afterwards.",
)
class MultiHeadAttentionByHead:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        d_head = d_model // n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_head) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "scaled by √(2 / d_model)",
    "The 2 makes up for a ReLU, which throws half away. There is none here: 1/√d_model.",
)
class MultiHeadAttentionHe:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(0, np.sqrt(2 / d_model), (d_model, d_model)) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "a fixed spread of 0.02",
    "Some large models do so, for one width. Here the spread follows the width: 1/√d_model.",
)
class MultiHeadAttentionFixed:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = rng.normal(0, 0.02, (4, d_model, d_model))
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "drawn evenly between -1/√d_model and 1/√d_model",
    "Even draws between -a and a have a spread of a/√3, not of a. Draw from a normal "
    "distribution, then scale.",
)
class MultiHeadAttentionUniform:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        edge = 1 / np.sqrt(d_model)
        self.w_q, self.w_k, self.w_v, self.w_o = rng.uniform(-edge, edge, (4, d_model, d_model))
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "drawn between 0 and 1, never below 0",
    "`rng.random` has no negative numbers and a small spread. `rng.normal` draws around 0.",
)
class MultiHeadAttentionPositive:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = rng.random((4, d_model, d_model)) / np.sqrt(
            d_model
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "the same matrix four times",
    "A generator made anew from the same seed starts over, so q, k and v come out the same. Make "
    "one generator and draw from it four times.",
)
class MultiHeadAttentionFourTimes:
    def __init__(self, d_model, n_heads, seed=0):
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            np.random.default_rng(seed).normal(size=(d_model, d_model)) / np.sqrt(d_model)
            for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "NumPy's global seed was set",
    "`np.random.seed` restarts the stream that everybody else draws from too. A generator of the "
    "layer's own, `np.random.default_rng(seed)`, disturbs nobody.",
)
class MultiHeadAttentionGlobal:
    def __init__(self, d_model, n_heads, seed=0):
        np.random.seed(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            np.random.randn(d_model, d_model) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "drawn from NumPy's global stream, and the seed was not used",
    "`np.random.randn` and the like draw from a stream that everybody shares, so the layer depends "
    "on what was drawn before. Draw from a generator of the layer's own, made from the seed.",
)
class MultiHeadAttentionGlobalUnseeded:
    def __init__(self, d_model, n_heads, seed=0):
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            np.random.randn(d_model, d_model) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "the seed was not used",
    "`default_rng()` without a seed draws something new every time, so nobody can repeat your "
    "run. Hand the seed on.",
)
class MultiHeadAttentionUnseeded:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "one seed for every layer",
    "The seed is written into the code, so two layers with different seeds come out the same. "
    "Use the argument.",
)
class MultiHeadAttentionOneSeed:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(0)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "W_O was not counted",
    "Four matrices are learned: w_q, w_k, w_v and w_o.",
)
class MultiHeadAttentionThree:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 3 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "the parameters were counted once for each head",
    "The heads share one d_model between them. More heads are narrower heads: the number of "
    "parameters stays 4·d_model².",
)
class MultiHeadAttentionPerHead:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * n_heads * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "n_parameters is a method, not an attribute",
    "It is read without brackets: `layer.n_parameters` is a number. Set it in `__init__`, or put "
    "`@property` above the method.",
)
class MultiHeadAttentionMethod:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.d_model, self.n_heads = d_model, n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )

    def n_parameters(self):
        return 4 * self.d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "the matrices are as wide as one head",
    "One matrix serves all heads: d_model columns, d_head of them for each head.",
)
class MultiHeadAttentionNarrow:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v = (
            rng.normal(size=(d_model, d_model // n_heads)) / np.sqrt(d_model) for _ in range(3)
        )
        self.w_o = rng.normal(size=(d_model, d_model)) / np.sqrt(d_model)
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "forward reads copies made when the layer was new",
    "Weights that are put into w_q, w_k, w_v and w_o later never arrive. Read the four "
    "attributes each time `forward` is called.",
)
class MultiHeadAttentionCopies:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.weights = (self.w_q, self.w_k, self.w_v, self.w_o)
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, *self.weights, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "W_O was left out of forward",
    "The layer has a w_o, but `forward` stops at the merged heads.",
)
class MultiHeadAttentionNoOutput:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        q, k, v = (split_heads(x @ w, self.n_heads) for w in (self.w_q, self.w_k, self.w_v))
        heads, weights = attention(q, k, v)
        return merge_heads(heads), weights


@wrong(
    "MultiHeadAttention",
    "w_k and w_v changed places in forward",
    "`multi_head_attention` takes w_q, w_k, w_v, w_o, in this order. Here the keys were made with "
    "w_v and the values with w_k.",
)
class MultiHeadAttentionAnotherOrder:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_v, self.w_k, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "w_q and w_k changed places in forward",
    "`multi_head_attention` takes w_q, w_k, w_v, w_o, in this order. Here the queries were made "
    "with w_k and the keys with w_q.",
)
class MultiHeadAttentionRolesSwapped:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_k, self.w_q, self.w_v, self.w_o, self.n_heads)


@wrong(
    "MultiHeadAttention",
    "forward returns the weights first",
    "The order is out, weights, in every layer of this course.",
)
class MultiHeadAttentionWeightsFirst:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        out, weights = multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)
        return weights, out


@wrong(
    "MultiHeadAttention",
    "forward uses one head",
    "The number of heads given when the layer was made is not handed on to the function.",
)
class MultiHeadAttentionOneHead:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(size=(d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x, mask=None):
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, 1)


# ---- is_permutation_equivariant ----------------------------------------------------------


@wrong(
    "is_permutation_equivariant",
    "only the input was permuted",
    "This asks whether the output stays the same, which is invariance. Equivariant means that "
    "the output moves along: permute the plain output too, then compare.",
)
def is_permutation_equivariant_input_only(layer, x, permutation, atol=1e-9):
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.all(np.abs(after - layer.forward(x)[0]) <= atol))


@wrong(
    "is_permutation_equivariant",
    "only the output was permuted",
    "Both sides use the same x, so this only asks whether all rows of the output are equal. One "
    "side must be the layer's answer to the permuted tokens.",
)
def is_permutation_equivariant_output_only(layer, x, permutation, atol=1e-9):
    out = layer.forward(x)[0]
    return bool(np.all(np.abs(out[..., permutation, :] - out) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the outputs were compared as sets",
    "Sorting both sides forgets which token got which row, so a layer that sorts its tokens "
    "passes. Row t must belong to the token that moved to place t.",
)
def is_permutation_equivariant_sets(layer, x, permutation, atol=1e-9):
    before = np.sort(layer.forward(x)[0], axis=-2)
    after = np.sort(layer.forward(x[..., permutation, :])[0], axis=-2)
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "always True",
    "Try it on a layer that looks backwards only: it should say False.",
)
def is_permutation_equivariant_always(layer, x, permutation, atol=1e-9):
    return layer.forward(x[..., permutation, :])[0].shape == layer.forward(x)[0].shape


@wrong(
    "is_permutation_equivariant",
    "always False",
    "Try it on a layer that weighs tokens by their content alone: it should say True.",
)
def is_permutation_equivariant_never(layer, x, permutation, atol=1e-9):
    return False


@wrong(
    "is_permutation_equivariant",
    "one side went by the permutation, the other by its inverse",
    "Token p[t] moves to place t on both sides. A permutation and its inverse agree only when "
    "tokens change places in pairs.",
)
def is_permutation_equivariant_inverse(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., np.argsort(permutation), :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the features were permuted, not the tokens",
    "Tokens are rows: the permutation belongs to axis -2.",
)
def is_permutation_equivariant_features(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation]
    after = layer.forward(x[..., permutation])[0]
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the weights were compared, with their rows permuted only",
    "Permuted tokens permute the queries and the keys, so both axes of the weights move. And the "
    "question is about the output: `forward` returns it first.",
)
def is_permutation_equivariant_weight_rows(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[1][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[1]
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the weights were compared, not permuted at all",
    "A layer that looks backwards has the same weights whatever the tokens are. Compare the "
    "outputs, one side permuted.",
)
def is_permutation_equivariant_weights(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[1]
    after = layer.forward(x[..., permutation, :])[1]
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "atol was not used",
    "The caller says what is near enough. Compare with atol, and not for exact equality either: "
    "sums taken in another order differ in their last digits.",
)
def is_permutation_equivariant_fixed(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.all(np.abs(after - before) <= 1e-9))


@wrong(
    "is_permutation_equivariant",
    "np.allclose was left to its own tolerances",
    "By default np.allclose forgives 1e-8 plus a hundred-thousandth of the value. Here the "
    "caller says what is near enough: atol, and nothing relative (rtol=0).",
)
def is_permutation_equivariant_default(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return np.allclose(after, before)


@wrong(
    "is_permutation_equivariant",
    "np.allclose also forgave a relative difference",
    "Beside atol, np.allclose has rtol=1e-5, which hides a trace of position. Set rtol=0.",
)
def is_permutation_equivariant_relative(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return np.allclose(after, before, atol=atol)


@wrong(
    "is_permutation_equivariant",
    "a permutation of its own",
    "The question is about the permutation that was handed in. A layer may pass for one that "
    "leaves the first token where it is and fail for another.",
)
def is_permutation_equivariant_own(layer, x, permutation, atol=1e-9):
    permutation = np.roll(np.arange(x.shape[-2]), 1)
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the caller's x was permuted in place",
    "The verdict may be right, but the caller's tokens now stand in another order. Index x into "
    "a new array.",
)
def is_permutation_equivariant_in_place(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    x[...] = x[..., permutation, :]
    return bool(np.all(np.abs(layer.forward(x)[0] - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the pair (out, weights) was used as if it were the output",
    "`forward` returns two things. Take the first: `out, weights = layer.forward(x)`.",
)
def is_permutation_equivariant_pair(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[permutation]
    after = layer.forward(x[..., permutation, :])
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "the first axis was permuted",
    "For one sentence that is the tokens; in a batch it is the sentences. Tokens are axis -2: "
    "x[..., permutation, :].",
)
def is_permutation_equivariant_first_axis(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][permutation]
    after = layer.forward(x[permutation])[0]
    return bool(np.all(np.abs(after - before) <= atol))


@wrong(
    "is_permutation_equivariant",
    "only the first row was compared",
    "A layer may treat one token right and the others not. Compare every row, and keep in mind "
    "that `forward` returns two things.",
)
def is_permutation_equivariant_first_row(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.all(np.abs(after - before)[..., 0, :] <= atol))


@wrong(
    "is_permutation_equivariant",
    "differences were added up with their signs",
    "Positive and negative differences cancel. Take their absolute values first.",
)
def is_permutation_equivariant_signed(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.sum(after - before) <= atol)


@wrong(
    "is_permutation_equivariant",
    "the sums of the two outputs were compared",
    "Sums forget which number stood where: a layer that sorts its tokens passes. Compare number by "
    "number.",
)
def is_permutation_equivariant_sums(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(abs(after.sum() - before.sum()) <= atol)


@wrong(
    "is_permutation_equivariant",
    "the mean of the differences was compared with atol",
    "One number that is far off hides among many that agree. The largest difference decides.",
)
def is_permutation_equivariant_mean(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.abs(after - before).mean() <= atol)


@wrong(
    "is_permutation_equivariant",
    "all differences were added up, then compared with atol",
    "A sum grows with how many numbers there are, and so does a length such as `np.linalg.norm`. "
    "atol is for each number by itself: the largest difference decides.",
)
def is_permutation_equivariant_norm(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.linalg.norm(after - before) <= atol)


@wrong(
    "is_permutation_equivariant",
    "no absolute value: after minus before",
    "A difference below 0 passes here, however large. The size of a difference is its absolute "
    "value.",
)
def is_permutation_equivariant_unsigned_after(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.max(after - before) <= atol)


@wrong(
    "is_permutation_equivariant",
    "no absolute value: before minus after",
    "A difference below 0 passes here, however large. The size of a difference is its absolute "
    "value.",
)
def is_permutation_equivariant_unsigned_before(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.max(before - after) <= atol)


@wrong(
    "is_permutation_equivariant",
    "one number that agrees was enough",
    "`any` asks whether some number agrees. Equal outputs agree in all of them.",
)
def is_permutation_equivariant_any(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool((np.abs(after - before) <= atol).any())


@wrong(
    "is_permutation_equivariant",
    "compared for exact equality",
    "Sums taken in another order differ in their last digits, so a right layer fails. The caller "
    "says what is near enough: atol.",
)
def is_permutation_equivariant_exact(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return np.array_equal(after, before)


@wrong(
    "is_permutation_equivariant",
    "the verdict was turned round",
    "This says True where the two sides differ. Equivariant means that they agree: is there "
    "a `not` too many, or a `>` for a `<=`?",
)
def is_permutation_equivariant_inverted(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return not np.allclose(after, before, rtol=0, atol=atol)


@wrong(
    "is_permutation_equivariant",
    "the weights were compared, with both axes permuted",
    "So the weights move, but the question is about the output: a layer may add something to the "
    "tokens that its weights do not show. `forward` returns the output first.",
)
def is_permutation_equivariant_weights_both_axes(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[1][..., permutation, :][..., permutation]
    after = layer.forward(x[..., permutation, :])[1]
    return np.allclose(after, before, rtol=0, atol=atol)


@wrong(
    "is_permutation_equivariant",
    "`layer(x)` in place of `layer.forward(x)`",
    "A layer is an object, not a function. What it promises is a method: `layer.forward(x)`.",
)
def is_permutation_equivariant_called(layer, x, permutation, atol=1e-9):
    before = layer(x)[0][..., permutation, :]
    after = layer(x[..., permutation, :])[0]
    return np.allclose(after, before, rtol=0, atol=atol)


@wrong(
    "is_permutation_equivariant",
    "the pair (out, weights) was indexed as if it were the output",
    "`forward` returns two things, and `[..., permutation, :]` is for an array. Take the first: "
    "`out, weights = layer.forward(x)`.",
)
def is_permutation_equivariant_pair_indexed(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[..., permutation, :]
    after = layer.forward(x[..., permutation, :])
    return np.allclose(after, before, rtol=0, atol=atol)


@wrong(
    "is_permutation_equivariant",
    "the squares of the differences were compared with atol",
    "The square of a small number is far smaller still, so a trace of position passes. Compare the "
    "differences themselves.",
)
def is_permutation_equivariant_squares(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return bool(np.mean((after - before) ** 2) <= atol)


@wrong(
    "is_permutation_equivariant",
    "the verdict was turned round, and np.allclose was left to its own tolerances",
    "Equivariant means that the two sides agree, so no `not`. And the caller says what is near "
    "enough: atol, and nothing relative (rtol=0).",
)
def is_permutation_equivariant_inverted_default(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return not np.allclose(after, before)


@wrong(
    "is_permutation_equivariant",
    "the verdict was turned round, and np.allclose also forgave a relative difference",
    "Equivariant means that the two sides agree, so no `not`. Beside atol, np.allclose has "
    "rtol=1e-5, which hides a trace of position: set rtol=0.",
)
def is_permutation_equivariant_inverted_relative(layer, x, permutation, atol=1e-9):
    before = layer.forward(x)[0][..., permutation, :]
    after = layer.forward(x[..., permutation, :])[0]
    return not np.allclose(after, before, atol=atol)
