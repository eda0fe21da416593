"""Strings, which are NumPy arrays of str: they run eagerly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op
from graphwright.onnx.importing.values import of_objects


@op("StringConcat")
def string_concat(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Strings joined, element by element."""
    return np.asarray(np.add(x, y), dtype=object)


@op("RegexFullMatch")
def regex_full_match(x: np.ndarray, *, pattern: str = "") -> Tensor:
    """Whether each string matches a pattern as a whole."""
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"RegexFullMatch: the pattern {pattern!r}: {error}") from error
    found = [expression.fullmatch(text) is not None for text in x.reshape(-1)]
    return gw.tensor(found, dtype=gw.bool).reshape(list(x.shape))


@op("StringSplit")
def string_split(
    x: np.ndarray, *, delimiter: str | None = None, maxsplit: int | None = None
) -> tuple[Any, Tensor]:
    """The parts of each string, in a new last dim filled with ""; their numbers."""
    limit = -1 if maxsplit is None else maxsplit
    parts = [text.split(delimiter or None, limit) for text in x.reshape(-1)]
    longest = max((len(row) for row in parts), default=0)
    texts = [text for row in parts for text in (*row, *[""] * (longest - len(row)))]
    counts = gw.tensor([len(row) for row in parts], dtype=gw.int64)
    return of_objects(texts, (*x.shape, longest)), counts.reshape(list(x.shape))


@op("StringNormalizer")
def string_normalizer(
    x: np.ndarray, *, case_change_action: str = "NONE", is_case_sensitive: int = 0,
    locale: str | None = None, stopwords: list[str] | None = None,
) -> np.ndarray:  # fmt: skip
    """Strings without stop words, in lower or upper case; one empty string where none is left."""
    compared: Callable[[str], str] = str if is_case_sensitive else str.lower
    changed = {"LOWER": str.lower, "UPPER": str.upper}.get(case_change_action, str)
    stops = {compared(stop) for stop in stopwords or ()}
    words = [changed(word) for word in x.reshape(-1) if compared(word) not in stops] or [""]
    return of_objects(words, (len(words),) if x.ndim == 1 else (1, len(words)))


@op("TfIdfVectorizer")
def tf_idf_vectorizer(
    x: Tensor | np.ndarray, *, max_gram_length: int, max_skip_count: int, min_gram_length: int,
    mode: str, ngram_counts: list[int], ngram_indexes: list[int],
    pool_int64s: list[int] | None = None, pool_strings: list[str] | None = None,
    weights: list[float] | None = None,
) -> Tensor:  # fmt: skip
    """How often each n-gram of a pool is in each row, perhaps weighted, or whether it is."""
    pool: list[Any] = list(pool_strings if pool_strings is not None else pool_int64s or [])
    grams = _pool_by_gram(pool, ngram_counts)
    rows = x if isinstance(x, np.ndarray) else x.numpy()
    flat = rows.reshape(1, -1) if rows.ndim < 2 else rows
    result = np.zeros((len(flat), max(ngram_indexes, default=-1) + 1), dtype=np.float32)
    for row, items in enumerate(flat.tolist()):
        found = _counted(items, grams, min_gram_length, max_gram_length, max_skip_count)
        for position, count in found.items():
            weight = 1.0 if weights is None else weights[position]
            value = {"TF": count, "IDF": weight, "TFIDF": count * weight}[mode]
            result[row, ngram_indexes[position]] += value
    return gw.from_numpy(result[0] if rows.ndim < 2 else result)


def _pool_by_gram(pool: list[Any], starts: list[int]) -> dict[tuple[Any, ...], int]:
    """n-gram -> its position among all, in the order of the pool."""
    grams: dict[tuple[Any, ...], int] = {}
    ends = [*starts[1:], len(pool)]
    if any(not 0 <= start <= end for start, end in zip(starts, ends, strict=True)):
        raise ValueError(f"TfIdfVectorizer: ngram_counts {starts} of a pool of {len(pool)}")
    for length, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        for place in range(start, end - length + 1, length):
            grams[tuple(pool[place : place + length])] = len(grams)
    return grams


def _counted(
    items: list[Any], grams: dict[tuple[Any, ...], int], shortest: int, longest: int, skips: int
) -> Counter[int]:
    """Position of an n-gram -> how often the items have it, up to `skips` left out between."""
    found: Counter[int] = Counter()
    n = len(items)
    for length in range(max(shortest, 1), min(longest, n) + 1):
        for step in range(1, (min(skips, n) if length > 1 else 0) + 2):
            for start in range(n - (length - 1) * step):
                gram = tuple(items[start : start + (length - 1) * step + 1 : step])
                if gram in grams:
                    found[grams[gram]] += 1
    return found
