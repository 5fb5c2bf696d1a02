"""Texts that the classifier looks at in the same way: k-means of a representation, and what each cluster is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.accumulate import wilson
from theodolite.errors import InputError
from theodolite.salience.maps import UNLABELLED, Ints

# A scipy.sparse.csr_array or a dense array, a row a text.
Matrix: TypeAlias = Any
Mask = NDArray[np.bool_]

# In sparse rows most starts of k-means++ end badly and without a cluster that a few texts in a hundred make: of 400
# starts on 1,284 reviews a few, the best, had that of the ratings. As many as so many rows altogether, within bounds.
STARTED_ROWS = 200_000
FEWEST_STARTS, MOST_STARTS = 4, 100
ROUNDS = 100
DIGITS = 5


class TooAlike(InputError):
    """Fewer different texts than clusters."""

    def __init__(self, clusters: int, different: int) -> None:
        super().__init__(
            f"{clusters} clusters asked for, but only {different} texts are different; ask for fewer clusters"
        )
        self.different = different


@dataclass(frozen=True)
class Cluster:
    """One cluster; clusters are numbered by size, the largest first.

    terms: (item, mean value), highest first; examples: the rows nearest to the centre, nearest first; accuracy: over
    the members with a true label, with its 95% interval (Wilson), None where none has one; predicted, true: members of
    each class.
    """

    id: int
    size: int
    share: float
    terms: list[tuple[int, float]]
    examples: list[int]
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    predicted: dict[int, int]
    true: dict[int, int]


def starts(rows: int) -> int:
    """How often k-means begins anew on so many rows.

    >>> starts(1_284), starts(10_000), starts(100_000)
    (100, 20, 4)
    """
    return min(MOST_STARTS, max(FEWEST_STARTS, STARTED_ROWS // max(1, rows)))


def cluster(matrix: Matrix, k: int, seed: int) -> Ints:
    """(n,) the cluster of each row by k-means, 0 the largest; of equally large ones that with the first row.

    The best of many starts. One thread: with more, sums are added up in no fixed order, and so not the same each time.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    different = _different_rows(matrix, k)
    if different < k:
        raise TooAlike(k, different)
    if k == 1:
        return np.zeros(matrix.shape[0], np.int64)
    with threadpool_limits(1):
        best = KMeans(k, n_init=starts(matrix.shape[0]), max_iter=ROUNDS, random_state=seed)
        found = by_size(best.fit_predict(matrix))
    if found.max() < k - 1:
        raise TooAlike(k, int(found.max()) + 1)
    return found


def by_size(labels: NDArray[Any]) -> Ints:
    """(n,) the same clusters, numbered by size.

    >>> by_size(np.array([7, 2, 2, 5, 7, 2])).tolist()
    [1, 0, 0, 2, 1, 0]
    """
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    return np.asarray(np.argsort(order)[inverse], np.int64)


def describe(
    matrix: Matrix,
    labels: Ints,
    vocab: scipy.sparse.csr_array,
    keep: Mask,
    predicted: Ints,
    true: Ints,
    *,
    examples: int = 5,
) -> list[Cluster]:
    """Every cluster of the rows of a representation, by number.

    vocab: (n, items) whose columns are the terms, ``matrix`` itself where it is sparse; keep: (items,) the items that
    may be terms; predicted, true: (n,) classes, −1 where there is no true one.
    """
    found = []
    for number in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == number)
        known = members[true[members] != UNLABELLED]
        right = int((true[known] == predicted[known]).sum())
        low, high = wilson(right, len(known)) if len(known) else (None, None)
        found.append(
            Cluster(
                number,
                len(members),
                len(members) / len(labels),
                top_terms(vocab, members, keep),
                nearest_to_centre(matrix, members, examples),
                right / len(known) if len(known) else None,
                low,
                high,
                dict(sorted(Counter(predicted[members].tolist()).items())),
                dict(sorted(Counter(true[known].tolist()).items())),
            )
        )
    return found


def top_terms(vocab: scipy.sparse.csr_array, members: Ints, keep: Mask, count: int = 10) -> list[tuple[int, float]]:
    """The items with the highest mean value over some rows, and that value; of equal ones the lower item first.

    Values of 0 and below are no terms.
    """
    means = np.where(keep, column_means(vocab[members]), 0)
    best = np.argsort(-means, kind="stable")[:count]
    return [(int(item), float(means[item])) for item in best if means[item] > 0]


def nearest_to_centre(matrix: Matrix, members: Ints, count: int) -> list[int]:
    """The members nearest to their mean, nearest first; of equally near ones the lower row."""
    rows = matrix[members]
    centre = column_means(rows)
    lengths = (rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows).sum(axis=1)
    distances = lengths - 2 * (rows @ centre)
    # Equal rows have equal distances but for the last digits, which depend on where in the matrix they are.
    order = np.argsort(np.round(distances, 6), kind="stable")
    return [int(row) for row in members[order[:count]]]


def column_means(rows: Matrix) -> NDArray[np.float64]:
    """(columns,) means of a sparse or dense matrix, in float64."""
    if not scipy.sparse.issparse(rows):
        return np.asarray(rows.mean(axis=0, dtype=np.float64))
    sums = np.bincount(rows.indices, rows.data.astype(np.float64), minlength=rows.shape[1])
    return np.asarray(sums / max(rows.shape[0], 1))


def _different_rows(matrix: Matrix, enough: int) -> int:
    """How many rows are different from one another, counted up to ``enough``.

    To five digits: the same text in another batch has other last ones.
    """
    seen: set[bytes] = set()
    sparse = scipy.sparse.issparse(matrix)
    if sparse:
        matrix.sum_duplicates()
    for row in range(matrix.shape[0]):
        if sparse:
            at = slice(matrix.indptr[row], matrix.indptr[row + 1])
            seen.add(matrix.indices[at].tobytes() + matrix.data[at].round(DIGITS).tobytes())
        else:
            # Plus nothing, so that there is one zero.
            seen.add((matrix[row].round(DIGITS) + 0).tobytes())
        if len(seen) >= enough:
            break
    return len(seen)
