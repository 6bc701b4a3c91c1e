"""The mean label of many summaries, from few labels and scores of all."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats
from metaeval.stats.labels.draw_chances import chance_vector
from metaeval.stats.labels.label_mean import (
    AT_RANDOM,
    BY_CHANCES,
    EVERY_LOOK,
    FEWER_THAN_TWO,
    NO_SPREAD,
    ONE_LOOK,
    ROUNDING,
    MeanEstimate,
    clustered_interval,
    clusters,
    label_mean,
    undefined_mean,
)
from metaeval.stats.result import Interval
from metaeval.stats.rows import Rows
from metaeval.stats.scores.complete_rows import NO_PAIR

WITHOUT_POWER = "The scores do not help here (λ = 0), so this is the mean of the labels alone."
TOO_FEW_TO_TUNE = "fewer than three articles have a summary with a label and a score"


def prediction_powered(
    rows: Rows, *, power: float | None = None, at_every_look: bool = False
) -> MeanEstimate:
    """Return the mean label, estimated from labels and from scores of unlabelled summaries.

    The scores' error on the labelled summaries corrects their mean on the others.

    With n summaries that have a label y and a score f, and N that have a score alone:
    m = power * mean of f over the N + mean of (y - power * f) over the n. The power that gives the least
    variance is cov(y, f) over the n / ((1 + n / N) * var(f) over all), the default.
    It is not clipped to 0 to 1, since scores need not be in the labels' unit: useless scores get a power
    near 0, and scores that fall as labels rise a negative one.

    The variance is that of a sum of one term for each article: the terms of a summary are
    (y - power * f - their mean) / n and power * (f - its mean) / N; those of the labelled summaries are
    multiplied by the root of G / (G - k), with G articles among the n and k = 2 fitted numbers (mean and
    power; 1 if the power was given). The interval is m +- t(G - k, 0.975) * its root. ppi_py, with z instead
    of t and k = 0, gives narrower intervals; with few labels these cover too rarely.

    Parameters
    ----------
    rows : a summary with a label and no score is left out; one whose article is not known makes an article of
        its own.
    power : lambda; with 0 the result is that of the labels alone, with 1 and scores in the labels' unit that
        of the first paper.
    at_every_look : whether the interval holds at every look while articles come in.

    Undefined without any summary with both numbers, and with `power` not given, of fewer than three articles.
    The interval is undefined with labels of fewer than two articles (three if the power is tuned), and where
    all labels are equal. Where nothing but labels is there, or all scores are equal, the power is 0.

    Source: A. N. Angelopoulos et al., "Prediction-powered inference", Science 382, 2023 (arXiv 2301.09633),
    and for the power A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: efficient prediction-powered
    inference", 2023 (arXiv 2311.01453), section 6.

    >>> labels, scores = [1.0, 2.0, 3.0, 2.0, None, None], [0.1, 0.2, 0.3, 0.3, 0.1, 0.1]
    >>> estimate = prediction_powered(Rows(labels, scores, articles=range(6), systems=[0] * 6))
    >>> round(estimate.value, 3), estimate.labelled, estimate.scored_only
    (1.784, 4, 2)
    """
    label, score, article = rows.labels, rows.scores, rows.articles
    scored = ~np.isnan(score)
    labelled, scored_only = scored & ~np.isnan(label), scored & np.isnan(label)
    y, f, f_only = label[labelled], score[labelled], score[scored_only]
    if not len(y):
        return undefined_mean(0, len(f_only), _definition(np.nan, at_every_look), NO_PAIR)
    is_tuned = power is None and len(f_only) > 0 and np.ptp(score[scored]) > 0
    n_articles = int(clusters(article[labelled]).max(initial=-1)) + 1
    if is_tuned and n_articles < 3:
        return undefined_mean(len(y), len(f_only), _definition(np.nan, at_every_look), TOO_FEW_TO_TUNE)
    used = _tuned_power(y, f, f_only) if is_tuned else (power or 0.0) if len(f_only) else 0.0
    if used == 0:
        alone = label_mean(np.where(labelled, label, np.nan), article, at_every_look=at_every_look)
        return replace(alone, definition=f"{WITHOUT_POWER} {alone.definition}")

    residual = y - used * f
    value = float(used * f_only.mean() + residual.mean())
    fitted = 2 if is_tuned else 1
    definition = _definition(used, at_every_look)
    reason = FEWER_THAN_TWO if n_articles <= fitted else NO_SPREAD if np.ptp(y) == 0 else ""
    terms = np.zeros(len(label))
    terms[labelled] = (residual - residual.mean()) / len(y)
    terms[labelled] *= np.sqrt(n_articles / max(n_articles - fitted, 1))
    terms[scored_only] = used * (f_only - f_only.mean()) / len(f_only)
    sums = np.bincount(clusters(article), weights=terms).astype(np.float64)
    return MeanEstimate(
        value=value,
        labelled=len(y),
        scored_only=len(f_only),
        interval=Interval(np.nan, np.nan, definition, reason)
        if reason
        else clustered_interval(value, sums, n_articles - fitted, definition, at_every_look=at_every_look),
        definition=definition,
    )


def _tuned_power(y: Floats, f: Floats, f_only: Floats) -> float:
    covariance = float(np.mean((y - y.mean()) * (f - f.mean())))
    return covariance / ((1 + len(f) / len(f_only)) * float(np.concatenate([f, f_only]).var(ddof=1)))


def _definition(power: float, at_every_look: bool) -> str:
    tuned = "" if np.isnan(power) else f" = {power:.3g}"
    return (
        "Prediction-powered estimate (Angelopoulos et al. 2023; PPI++): λ times the mean score of the"
        " summaries that have no label, plus the mean of label − λ · score over those that have both, with"
        f" the λ that gives the least variance{tuned}. Interval: {EVERY_LOOK if at_every_look else ONE_LOOK};"
        f" {AT_RANDOM}."
    )


def drawn_prediction_powered(
    rows: Rows, chances: npt.ArrayLike, *, at_every_look: bool = False
) -> MeanEstimate:
    """Return the mean label, estimated from labels that came with unequal `chances` and from all scores.

    The weighted mean of (label - power * score), with weights w_i of one over the chance that add up to 1,
    corrects power times the mean score of all N:
    m = power * mean of f over the N + sum of w_i (y_i - power * f_i) over the n. Its variance is that of a
    sum of one term for each article: of its w_i (y_i - their mean), less power times its
    w_i (f_i - their mean), plus power times its (f - mean of all) / N. The power gives the least sum of
    squares of the terms. Those of labels are multiplied by the root of G / (G - 2), with G articles among the
    n, and the interval is m +- t(G - 2, 0.975) * root of the sum of their squares.

    Parameters
    ----------
    rows : as for `prediction_powered`.
    chances : (n,) as for `label_mean`.

    Undefined without any summary with a label, a score and a chance, or of fewer than three articles. The
    interval is undefined where all labels are equal. Where scores tell nothing (all are equal, or every
    summary has a label), the power is 0.

    Source: T. Zrnic and E. J. Candes, "Active statistical inference", ICML 2024 (arXiv 2403.03208), with
    the weighted mean in place of the sum of weights over N, and their power tuning.

    >>> labels, scores = [1.0, 2.0, 3.0, 2.0, None, None], [0.1, 0.2, 0.3, 0.3, 0.1, 0.1]
    >>> rows = Rows(labels, scores, articles=range(6), systems=[0] * 6)
    >>> round(drawn_prediction_powered(rows, [0.5, 0.5, 0.9, 0.9, None, None]).value, 3)
    1.738
    """
    label, score = rows.labels, rows.scores
    chance, article = chance_vector(chances, len(label)), clusters(rows.articles)
    scored = ~np.isnan(score)
    labelled = scored & ~np.isnan(label) & ~np.isnan(chance)
    y, n_scored_only = label[labelled], int((scored & np.isnan(label)).sum())
    if not len(y):
        return undefined_mean(0, n_scored_only, _drawn_definition(np.nan, at_every_look), NO_PAIR)
    n_articles = len(np.unique(article[labelled]))
    if n_articles < 3:
        definition = _drawn_definition(np.nan, at_every_look)
        return undefined_mean(len(y), n_scored_only, definition, TOO_FEW_TO_TUNE)
    weight = 1 / chance[labelled] / np.sum(1 / chance[labelled])
    mean_label, mean_score = float(weight @ y), float(weight @ score[labelled])
    of_all = np.where(scored, score - score[scored].mean(), 0) / scored.sum()
    of_labels, of_scores = np.zeros(len(label)), np.zeros(len(label))
    of_labels[labelled] = weight * (y - mean_label)
    of_scores[labelled] = weight * (score[labelled] - mean_score)
    label_terms, score_terms, all_terms = (
        np.bincount(article, weights=each) for each in (of_labels, of_scores, of_all)
    )
    difference = score_terms - all_terms
    size = float(difference @ difference)
    power = (
        float(difference @ label_terms) / size if size > ROUNDING * float(score_terms @ score_terms) else 0.0
    )
    value = mean_label - power * (mean_score - float(score[scored].mean()))
    sums = (label_terms - power * score_terms) * np.sqrt(n_articles / (n_articles - 2)) + power * all_terms
    definition = _drawn_definition(power, at_every_look)
    return MeanEstimate(
        value=value,
        labelled=len(y),
        scored_only=n_scored_only,
        interval=Interval(np.nan, np.nan, definition, NO_SPREAD)
        if np.ptp(y) == 0
        else clustered_interval(value, sums, n_articles - 2, definition, at_every_look=at_every_look),
        definition=definition,
    )


def _drawn_definition(power: float, at_every_look: bool) -> str:
    tuned = "" if np.isnan(power) else f" = {power:.3g}"
    return (
        "Active inference (Zrnic & Candès 2024): λ times the mean score of all summaries, plus the weighted"
        f" mean of label − λ · score, with the λ that gives the least variance{tuned}. Interval:"
        f" {EVERY_LOOK if at_every_look else ONE_LOOK}; {BY_CHANCES}."
    )
