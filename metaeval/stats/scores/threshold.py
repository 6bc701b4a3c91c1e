"""The score from which an evaluator says yes, judged on other articles."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.levels import NO_ARTICLE
from metaeval.stats.correlation.paired import NO_LABEL, NO_SCORE
from metaeval.stats.result import Interval
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.scores.complete_rows import complete_rows
from metaeval.stats.scores.confusion import Confusion
from metaeval.stats.uncertainty.article_draws import article_draws, interval_over_articles

FOLDS = 5
ON_THE_CUT = "summaries whose label lies exactly on the cut"


@dataclass(frozen=True)
class Threshold:
    """A threshold and its performance out of fold. With a `reason`, nothing is defined."""

    value: float
    """Chosen on all summaries, for use on new ones; nan if undefined."""
    of_folds: tuple[float, ...]
    """The thresholds chosen without each fold; their spread shows how stable the choice is."""
    confusion: Confusion | None
    """Decisions on each fold by the threshold chosen without it."""
    kappa_interval: Interval | None
    n: int
    yeses: int
    """Summaries that people say yes to."""
    articles: int
    definition: str
    left_out: dict[str, int]
    reason: str = ""

    @property
    def majority_share(self) -> float:
        """The accuracy of giving all summaries the answer that people give more often."""
        return max(self.yeses, self.n - self.yeses) / self.n if self.n else np.nan


def cut_labels(labels: npt.ArrayLike, cut: float) -> Floats:
    """Return 1 where a label is above `cut`, 0 below, nan on it or without a label, (n,).

    >>> cut_labels([1.0, 3.0, 4.5, np.nan], 3.0)
    array([ 0., nan,  1., nan])
    """
    label = np.asarray(labels, dtype=np.float64)
    answers = np.where(label > cut, 1.0, 0.0)
    answers[np.isnan(label) | (label == cut)] = np.nan
    return answers


def threshold(
    rows: Rows,
    *,
    cut: float = 0.5,
    higher_is_better: bool = True,
    resampling: Resampling = THOUSAND_RESAMPLES,
) -> Threshold:
    """Return the threshold on scores that maximises Cohen's kappa with people, judged out of fold.

    People say yes where the label is above `cut` and no where it is below. The evaluator says yes at scores
    of the threshold or more (or less, unless `higher_is_better`). Candidates are the scores that occur; of
    several with the highest kappa the one that says yes most often is taken.

    Articles are split into 5 folds at random, with all their summaries. The threshold is chosen on
    all folds but one and applied to that one; the four counts of all folds are added up.

    Summaries without label, score or article are left out and counted, as are labels on the cut.

    Undefined with fewer articles than folds, and where people only say yes or only no, in all or in the
    part that a fold's threshold is to be chosen on.
    """
    answers = cut_labels(rows.labels, cut)
    kept, left_out = complete_rows(
        {
            NO_LABEL: np.isnan(rows.labels),
            ON_THE_CUT: np.isnan(answers),
            NO_SCORE: np.isnan(rows.scores),
            NO_ARTICLE: rows.articles < 0,
        }
    )
    is_yes, signed = answers[kept] == 1, rows.scores[kept] if higher_is_better else -rows.scores[kept]
    pool, of_article = np.unique(rows.articles[kept], return_inverse=True)
    result = Threshold(
        value=np.nan,
        of_folds=(),
        confusion=None,
        kappa_interval=None,
        n=len(is_yes),
        yeses=int(is_yes.sum()),
        articles=len(pool),
        definition=_definition(cut, higher_is_better, resampling.seed),
        left_out=left_out,
    )
    if len(pool) < FOLDS:
        return replace(result, reason=f"fewer than {FOLDS} articles, too few to split into folds")
    if is_yes.all() or not is_yes.any():
        return replace(result, reason="people only say yes or only no")
    fold = np.random.default_rng(resampling.seed).permutation(len(pool))[of_article] % FOLDS
    says_yes = np.zeros(len(is_yes), dtype=bool)
    of_folds = []
    for held_out in range(FOLDS):
        train = fold != held_out
        if is_yes[train].all() or not is_yes[train].any():
            return replace(result, reason="without one of the folds people only say yes or only no")
        at = _best(is_yes[train], signed[train])
        of_folds.append(at if higher_is_better else -at)
        says_yes[~train] = signed[~train] >= at
    best = _best(is_yes, signed)
    return replace(
        result,
        value=best if higher_is_better else -best,
        of_folds=tuple(of_folds),
        confusion=_confusion(is_yes, says_yes),
        kappa_interval=_kappa_interval(is_yes, says_yes, of_article, resampling),
    )


def _best(is_yes: Bools, scores: Floats) -> float:
    """Return the lowest score that says yes for the highest kappa."""
    values, places = np.unique(scores, return_inverse=True)
    yeses = np.bincount(places, weights=is_yes)
    noes = np.bincount(places, weights=~is_yes)
    tp = yeses[::-1].cumsum()[::-1]  # at or above each value
    fp = noes[::-1].cumsum()[::-1]
    fn, tn = yeses.sum() - tp, noes.sum() - fp
    kappas = 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
    return float(values[kappas.argmax()])


def _confusion(is_yes: Bools, says_yes: Bools) -> Confusion:
    return Confusion(
        true_yes=int((is_yes & says_yes).sum()),
        false_yes=int((~is_yes & says_yes).sum()),
        false_no=int((is_yes & ~says_yes).sum()),
        true_no=int((~is_yes & ~says_yes).sum()),
    )


def _kappa_interval(is_yes: Bools, says_yes: Bools, articles: Ints, resampling: Resampling) -> Interval:
    cells = 2 * is_yes.astype(np.int64) + says_yes
    replicates = np.full(resampling.resamples, np.nan)
    for at, times in enumerate(article_draws(articles, resampling)):
        tn, fp, fn, tp = (int(count) for count in np.bincount(cells, weights=times, minlength=4))
        replicates[at] = Confusion(tp, fp, fn, tn).kappa.value
    return interval_over_articles(
        replicates, articles, resampling, "The decisions out of fold are drawn, not chosen again."
    )


def _definition(cut: float, higher_is_better: bool, seed: int) -> str:
    onwards = "or more" if higher_is_better else "or less"
    return (
        f"People say yes where the label is above {cut:g}, no where it is below; a label of exactly {cut:g}"
        f" is left out. The evaluator says yes at a score of the threshold {onwards}. The threshold maximises"
        " Cohen's κ; candidates are the scores that occur, and of several equally good the one that says yes"
        f" most often is taken. It is judged out of fold: articles are split into {FOLDS} folds at random"
        f" (seed {seed}), each fold is decided by the threshold chosen on the others, and the counts of all"
        " folds are added up. The threshold to be used from now on is chosen on all."
    )
