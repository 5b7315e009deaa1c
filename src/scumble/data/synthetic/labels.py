"""How often each label occurs, and in which rows: cardinality, MeanIR and SCUMBLE as asked for."""

import math
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import run_in_threads
from scumble._core.progress import progress_bar
from scumble.data.synthetic.kernels import assign_labels_to_block, round_counts

#: MeanIR may be off by this share.
TOLERANCE = 0.02
#: No further effort is made below this.
CLOSE = TOLERANCE / 20
#: How often to aim anew, and how often where integers leave little choice.
TRIES, MANY_TRIES, FEW_LABELS = 8, 40, 64
#: Up to this many labels the law is computed label by label, beyond it by groups of ranks.
EXACT_BELOW = 8192
#: The most frequent label avoids being in more than this share of the rows, if it can.
USUAL_SHARE = 0.75
#: Rows are filled in blocks of about this many: a block's data fit the processor's cache, and
#: blocks are independent of each other.
BLOCK_ROWS = 8192
#: SCUMBLE may be off by this much.
SCUMBLE_TOLERANCE = 0.01


def label_counts(
    n_assignments: int,
    n_labels: int,
    mean_ir: float,
    most: int,
    *,
    curvature: float = 1.0,
    allow_nearest: bool = False,
) -> Array:
    """Choose how many rows each label has, most frequent first.

    The counts follow a power law of the rank where one exists with the wanted sum and MeanIR:
    IRLbl = k^a for the k-th label. Else the law is bent, ln IRLbl ~ (ln k)^p: with p > 1 more
    labels are about as frequent as the first, whose own count then need not exceed ``most``. No
    count falls below 1.

    They descend and sum up to ``n_assignments``, none above ``most``, and the mean of (largest
    count / count) is ``mean_ir``. ``bend`` multiplies p: more of it gives more labels of middling
    frequency, and rarer rare ones. ``nearest`` takes the MeanIR that comes closest.
    """
    if not n_labels <= n_assignments <= n_labels * most:
        raise ParameterError(
            f"make_multilabel: {n_assignments} assignments do not fit {n_labels} labels with 1 to "
            f"{most} rows each. Expected 'cardinality' to be further from its limits."
        )
    low, high = reachable_mean_ir(n_assignments, n_labels, most)
    counts = _search(n_assignments, n_labels, float(np.clip(mean_ir, low, high)), most, curvature)
    if allow_nearest or _miss(counts, mean_ir) <= TOLERANCE:
        return counts
    raise ParameterError(
        f"make_multilabel: no {n_labels} label counts with sum {n_assignments} and none above "
        f"{most} have a MeanIR of {mean_ir:g}. Expected 'mean_ir' in [{low:.4g}, {high:.4g}] for "
        "this number of instances, labels and cardinality; the nearest value found is "
        f"{_mean_ir(counts):.4g}."
    )


def reachable_mean_ir(n_assignments: int, n_labels: int, most: int) -> tuple[float, float]:
    """Tell the smallest and the largest MeanIR that counts with a given sum can have."""
    share, rest = divmod(n_assignments, n_labels)
    even = np.full(n_labels, share)
    even[:rest] += 1
    spare = n_assignments - n_labels
    full = spare // max(most - 1, 1)
    steep = np.ones(n_labels, np.int64)
    steep[:full] = most
    if full < n_labels:
        steep[full] += spare - full * (most - 1)
    return _mean_ir(even), _mean_ir(steep)


def _mean_ir(counts: Array) -> float:
    return float(np.mean(counts.max() / counts))


def _search(n_assignments: int, n_labels: int, mean_ir: float, most: int, factor: float) -> Array:
    """Solve the smooth law, round it, and correct the aim by what rounding did."""
    if n_labels == 1:
        return np.array([n_assignments])
    aimed_sum, aimed_ir = float(n_assignments), mean_ir
    bend = factor * BentPowerLaw(n_labels, aimed_sum, aimed_ir).least_bend(most)
    best = np.array([])
    for attempt in range(MANY_TRIES if n_labels <= FEW_LABELS else TRIES):
        rounded = round_counts(BentPowerLaw(n_labels, aimed_sum, aimed_ir).values(bend), most)
        counts = _correct_sum(rounded, n_assignments, most)
        counts = _correct_mean_ir(counts, mean_ir, most)
        if attempt == 0 or _miss(counts, mean_ir) < _miss(best, mean_ir):
            best = counts
        if _miss(best, mean_ir) < (CLOSE if attempt < TRIES else TOLERANCE):
            break
        aimed_sum = max(aimed_sum + n_assignments - float(rounded.sum()), n_labels)
        aimed_ir = max(aimed_ir * mean_ir / _mean_ir(counts), 1.0)
        if attempt >= TRIES:  # few labels, stuck between integers: start from elsewhere
            aimed_ir = max(mean_ir * (1 + 0.02 * (attempt % 8 - 4)), 1.0)
            bend = 2.0 ** (attempt // 8)
    return best


def _miss(counts: Array, mean_ir: float) -> float:
    return abs(_mean_ir(counts) / mean_ir - 1)


def _correct_sum(counts: Array, total: int, most: int) -> Array:
    """Add or take what the sum lacks, in proportion, from the frequent labels but the first."""
    counts = np.sort(counts)[::-1].copy()
    while (missing := total - int(counts.sum())) != 0:
        others = counts[1:]
        room = counts[0] - others if missing > 0 else others - 1
        if room.sum() == 0:  # only the first label is left to give or take
            counts[0] = min(max(counts[0] + missing, 1), most)
            continue
        wanted = np.minimum(room, room * others * (abs(missing) / float((room * others).sum())))
        step = wanted.astype(np.int64)
        if step.sum() == 0:
            step[np.flatnonzero(room)[: abs(missing)]] = 1
        others += step if missing > 0 else -step
    return np.sort(counts)[::-1]


def _correct_mean_ir(counts: Array, mean_ir: float, most: int) -> Array:
    """Move single rows from label to label while that brings MeanIR closer."""
    # Rounding matters where labels have one or two rows, or where there are few labels.
    if len(counts) < 2 or len(counts) > EXACT_BELOW:
        return counts
    for _ in range(200):
        if _miss(counts, mean_ir) < CLOSE:
            break
        moved = _best_move(counts, mean_ir, most)
        if _miss(moved, mean_ir) >= _miss(counts, mean_ir):
            break
        counts = moved
    return counts


def _best_move(counts: Array, mean_ir: float, most: int) -> Array:
    """Take a row from one label and give it to another, the best of all pairs that matter."""
    # Labels with equal counts are alike, and only rare ones and the first make a difference.
    _, first = np.unique(counts, return_index=True)
    _, last = np.unique(counts[::-1], return_index=True)
    matter = np.unique([*first[:40], *(len(counts) - 1 - last[:40]), 0, 1])
    held = counts[matter].astype(np.float64)
    giver, taker = held[:, None], held[None, :]

    others_top = np.where(matter == 0, counts[1], counts[0])[:, None]
    top = np.maximum(np.maximum(others_top, giver - 1), taker + 1)
    with np.errstate(divide="ignore"):
        inverses = 1 / (giver - 1) - 1 / giver + 1 / (taker + 1) - 1 / taker
    misses = np.abs(top * (np.sum(1 / counts) + inverses) / len(counts) - mean_ir)
    impossible = (giver <= 1) | (taker + 1 > most)
    misses[impossible | np.eye(len(matter), dtype=bool)] = np.inf
    if not np.isfinite(misses).any():
        return counts

    loser, winner = np.unravel_index(int(misses.argmin()), misses.shape)
    moved = counts.copy()
    moved[matter[loser]] -= 1
    moved[matter[winner]] += 1
    return np.sort(moved)[::-1]


class BentPowerLaw:
    """Counts of labels by rank: max(1, M / IRLbl), with a law for IRLbl."""

    # For the k-th of n labels ln IRLbl = steepness (ln k / ln n)^bend. With a bend of 1 this is a
    # power law. A larger bend lets more labels be about as frequent as the first. For each bend
    # there is one steepness, and one M, with a wanted sum and MeanIR.

    def __init__(self, n_labels: int, total: float, mean_ir: float) -> None:
        self.n_labels, self.total, self.mean_ir = n_labels, total, mean_ir
        ranks, self._weights = _ranks(n_labels)
        self._log_depth = _log_depth(ranks[1:], n_labels)
        self._labels_up_to = np.cumsum(self._weights)

    def values(self, curvature: float) -> Array:
        """Compute the counts, not yet rounded."""
        log_steepness = self._solve(curvature)
        level, _ = self._level(curvature, log_steepness)
        depth = _log_depth(np.arange(2.0, self.n_labels + 1), self.n_labels)
        return np.maximum(level * _shares(curvature, log_steepness, depth), 1.0)

    def least_bend(self, most: int) -> float:
        """Choose a bend: 1, a true power law, or as much more as keeps the largest count down."""
        straight = self._largest(1.0)
        for share, limit in ((USUAL_SHARE, 4.0), (0.9, 8.0), (1.0, 256.0)):
            wanted, low, high = share * most, 1.0, limit
            if straight <= wanted:
                return 1.0
            if self._largest(limit) <= wanted:
                break
        for _ in range(16):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._largest(middle) > wanted else (low, middle)
        return high

    def _largest(self, curvature: float) -> float:
        return self._level(curvature, self._solve(curvature))[0]

    def _solve(self, curvature: float) -> float:
        """Find ln steepness by bisection: MeanIR grows with it."""
        low, high = -40.0, 40.0 - curvature * float(self._log_depth[0])
        for _ in range(60):
            middle = (low + high) / 2
            steeper = self._level(curvature, middle)[1] < self.mean_ir
            low, high = (middle, high) if steeper else (low, middle)
        return (low + high) / 2

    def _level(self, curvature: float, log_steepness: float) -> tuple[float, float]:
        """Return the M that gives the wanted sum, and the MeanIR that follows."""
        shares = _shares(curvature, log_steepness, self._log_depth)
        # With only the first j values above 1, M would be levels[j]; the last j that fits is right.
        n_floor = self._labels_up_to[-1] - self._labels_up_to
        levels = (self.total - n_floor) / np.cumsum(self._weights * shares)
        fits = np.flatnonzero(levels * shares >= 1.0)
        level = float(levels[fits[-1]]) if len(fits) else 1.0
        ratios = level / np.maximum(level * shares, 1.0)
        return level, float(np.dot(self._weights, ratios) / self._labels_up_to[-1])


def _shares(curvature: float, log_steepness: float, log_depth: Array) -> Array:
    """Compute 1 / IRLbl for the first label and those at the given depths."""
    falls = np.exp(np.minimum(log_steepness + curvature * log_depth, 700.0))
    return np.concatenate([[1.0], np.exp(-falls)])


def _log_depth(ranks: Array, n_labels: int) -> Array:
    return np.log(np.log(ranks) / math.log(n_labels))


def _ranks(n_labels: int) -> tuple[Array, Array]:
    """List the ranks, or one rank for each of many groups, with the number it stands for."""
    if n_labels <= EXACT_BELOW:
        return np.arange(1.0, n_labels + 1), np.ones(n_labels)
    exact = EXACT_BELOW // 2
    edges = np.unique(np.geomspace(exact + 1, n_labels + 1, exact).astype(np.int64))
    edges[-1] = n_labels + 1
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    ranks = np.concatenate([np.arange(1.0, exact + 1), middles])
    return ranks, np.concatenate([np.ones(exact), np.diff(edges)])


def max_rows_per_label(n_rows: int, n_unlabelled: int) -> int:
    """Tell how many rows a label can have at the most."""
    # With several blocks a label's share of a block is rounded up in some, which must not exceed
    # the block's labelled rows.
    n_blocks = _count_blocks(n_rows)
    return max((n_rows - n_unlabelled) // n_blocks * n_blocks, 1)


def assign_labels(
    candidates: Iterable[Array],
    n_rows: int,
    n_unlabelled: int,
    scumble: float | None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    *,
    allow_nearest: bool = False,
) -> sparse.csr_array:
    """Deal labels to rows at random, then exchange them between rows to reach a SCUMBLE."""
    # `nearest` takes the one that comes closest.
    seeds = rng.integers(0, 2**64, size=_count_blocks(n_rows), dtype=np.uint64)
    tried = []
    for counts in candidates:
        deal = LabelAssigner(counts, n_rows, n_unlabelled, seeds)
        if (
            scumble is None
            or abs(deal.first_block_scumble(scumble) - scumble) <= 0.9 * SCUMBLE_TOLERANCE
        ):
            Y, reached = deal.all(scumble, n_jobs)
            if scumble is None or abs(reached - scumble) <= SCUMBLE_TOLERANCE:
                return Y
        tried.append(deal)
    if allow_nearest and scumble is not None:
        closest = min(tried, key=lambda deal: abs(deal.first_block_scumble(scumble) - scumble))
        return closest.all(scumble, n_jobs)[0]
    low = min(deal.first_block_scumble(-1.0) for deal in tried)
    high = max(deal.first_block_scumble(2.0) for deal in tried)
    raise ParameterError(
        f"make_multilabel: a SCUMBLE of {scumble} cannot be reached with this number of labels, "
        f"cardinality and MeanIR. Expected 'scumble' in about [{low:.3f}, {high:.3f}], or None. "
        "A higher cardinality or 'mean_ir' widens the range."
    )


class LabelAssigner:
    """Labels to be dealt, cut into blocks by the shape of the data alone."""

    def __init__(self, counts: Array, n_rows: int, n_unlabelled: int, seeds: Array) -> None:
        self.n_rows, self.n_labelled = n_rows, n_rows - n_unlabelled
        self.seeds = seeds
        self.ends = np.cumsum(counts)
        self.ratios = counts[0] / counts
        self.logs = np.log(self.ratios)

    def first_block_scumble(self, scumble: float) -> float:
        """Fill the first block and tell the SCUMBLE it reached."""
        return self._fill(0, scumble, *self._room()) / self._before(self.n_rows, 1)

    def all(self, scumble: float | None, n_jobs: int | None) -> tuple[sparse.csr_array, float]:
        """Fill all blocks."""
        indptr, indices = self._room()
        target = np.nan if scumble is None else scumble
        with progress_bar("Dealing labels", len(self.seeds)) as advance:

            def fill(block: int) -> float:
                total = self._fill(block, target, indptr, indices)
                advance(1)
                return total

            total = sum(run_in_threads(fill, range(len(self.seeds)), n_jobs=n_jobs))
        present = np.ones(len(indices), bool)
        Y = sparse.csr_array((present, indices, indptr), shape=(self.n_rows, len(self.ends)))
        return Y, total / self.n_rows

    def _room(self) -> tuple[Array, Array]:
        """Make room for all rows and labels; it costs nothing until it is filled."""
        n_assignments = int(self.ends[-1])
        wide = max(n_assignments, self.n_rows) >= 2**31
        indptr = np.zeros(self.n_rows + 1, np.int64 if wide else np.int32)
        return indptr, np.empty(n_assignments, np.int32)

    def _before(self, n: int, block: int) -> int:
        """Share n among the blocks, the first ones getting one more; count up to ``block``."""
        share, rest = divmod(n, len(self.seeds))
        return block * share + min(block, rest)

    def block_labels(self, block: int) -> Array:
        """Take every n-th of all assignments, sorted by label: a small copy of the whole."""
        n_blocks = len(self.seeds)
        n_taken = np.diff((self.ends - block + n_blocks - 1) // n_blocks, prepend=0)
        return np.repeat(np.arange(len(n_taken), dtype=np.int32), n_taken)

    def _fill(self, block: int, target: float, indptr: Array, indices: Array) -> float:
        sizes = (self.n_rows, self.n_labelled, len(indices))
        first, n_before, start = (self._before(n, block) for n in sizes)
        last, n_until, stop = (self._before(n, block + 1) for n in sizes)
        row_ends = np.empty(last - first, np.int64)
        labels, room = (self.block_labels(block), self.ratios, self.logs), indices[start:stop]
        n_labelled = n_until - n_before
        total = assign_labels_to_block(
            *labels, self.seeds[block], n_labelled, target, row_ends, room
        )
        indptr[first + 1 : last + 1] = row_ends + start
        return total


def _count_blocks(n_rows: int) -> int:
    return max(1, n_rows // BLOCK_ROWS)
