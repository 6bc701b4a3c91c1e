"""Rules that turn several raters' answers into one label of each summary. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation import protocol
from annotation.mean_labels import mean_labels
from metaeval.snapshot.arrays import Decisions, HumanRatings, Labels, QuestionRatings, read_only
from metaeval.stats.arrays import Floats, Ints, order_of
from metaeval.stats.labels.dawid_skene import dawid_skene


@dataclass(frozen=True, eq=False)
class CountedAnswers:
    """The answers that count in labels: those that stand for a number."""

    scale: protocol.Scale
    numbers: Floats
    """(values,) the number that each answer stands for; nan for those that occur in none of the following."""
    summaries: Ints
    """(answers,) codes below `n_summaries`."""
    raters: Ints
    answers: Ints
    """(answers,) places among `numbers`, ascending."""
    n_summaries: int
    decided: Decisions
    who: str
    """The people whose answers count, to follow 'over'."""


@dataclass(frozen=True)
class LabelRule:
    """A rule for labels; `label` is for readers.

    `labels` returns the labels, (summaries,) with nan for none, and their definition after 'Human label:'.
    `of_others` says with what one rater is compared, after 'compared with'; empty if that is not offered.
    """

    name: str
    label: str
    labels: Callable[[CountedAnswers], tuple[Floats, str]]
    of_others: str


def labels_by(
    rule: str, human: HumanRatings, ratings: QuestionRatings, n_summaries: int, group: str = ""
) -> Labels:
    """Return the labels on one question by one of `LABEL_RULES`.

    `group` restricts them to its raters. Answers without a number, such as Unsure, are left out, and a
    summary without any other answer has no label. Raises KeyError for a rule that does not exist.
    """
    counted = np.flatnonzero(human.of_group(ratings, group) & ~np.isnan(ratings.numbers[ratings.answers]))
    # From the lowest answer to the highest, so that the order of rows cannot change a sum.
    counted = counted[order_of(ratings.answers[counted])]
    scale = ratings.question.scale
    values, definition = LABEL_RULES[rule].labels(
        CountedAnswers(
            scale=scale,
            numbers=ratings.numbers,
            summaries=ratings.summaries[counted],
            raters=ratings.raters[counted],
            answers=ratings.answers[counted],
            n_summaries=n_summaries,
            decided=human.decisions_on(ratings.question.key),
            who=human.raters_of(group),
        )
    )
    return Labels(
        key=ratings.question.key,
        dimension=ratings.question.dimension,
        title=ratings.question.title,
        scale=scale,
        values=read_only(values),
        definition=" ".join(
            part for part in (f"Human label: {definition}{_what_counts(scale)}.", human.guideline) if part
        ),
        rule=rule,
    )


def _mean(given: CountedAnswers) -> tuple[Floats, str]:
    """Return the mean of the answers' numbers."""
    means = mean_labels(given.summaries, given.numbers[given.answers], given.n_summaries)
    return means, f"the mean over {given.who}"


def _majority(given: CountedAnswers) -> tuple[Floats, str]:
    """Return the number of the most common answer; a tie makes no label."""
    keys, votes = np.unique(given.summaries * len(given.numbers) + given.answers, return_counts=True)
    summaries, answers = np.divmod(keys, max(len(given.numbers), 1))
    most = np.zeros(given.n_summaries, dtype=np.int64)
    np.maximum.at(most, summaries, votes)
    leads = votes == most[summaries]
    leaders = np.bincount(summaries[leads], minlength=given.n_summaries)
    wins = leads & (leaders[summaries] == 1)
    labels = np.full(given.n_summaries, np.nan)
    labels[summaries[wins]] = given.numbers[answers[wins]]
    tied = np.count_nonzero(leaders > 1)
    return labels, (
        f"the answer given most often, over {given.who}; a tie gives no label"
        f" ({tied:,} of {np.count_nonzero(leaders):,} rated summaries)"
    )


def _dawid_skene(given: CountedAnswers) -> tuple[Floats, str]:
    """Return the expected number of the true answer under Dawid and Skene's model."""
    if given.scale.kind == protocol.ScaleKind.INTERVAL:
        return np.full(given.n_summaries, np.nan), (
            "none, because the model of Dawid and Skene needs a scale with a few answers, and this one allows"
            " any number"
        )
    worth = np.flatnonzero(~np.isnan(given.numbers))
    fitted = dawid_skene(
        given.summaries,
        given.raters,
        np.searchsorted(worth, given.answers),
        n_units=given.n_summaries,
        n_answers=len(worth),
    )
    ended = "after" if fitted.has_converged else "not converged after"
    return fitted.posterior @ given.numbers[worth], (
        "the expected number of the true answer under the model of Dawid and Skene (1979), over"
        f" {given.who}, each with error rates of their own (expectation maximisation from the shares of"
        f" answers, {ended} {fitted.rounds:,} rounds)"
    )


def _decided_or(
    otherwise: Callable[[CountedAnswers], tuple[Floats, str]],
) -> Callable[[CountedAnswers], tuple[Floats, str]]:
    """Return the rule that takes the decision where there is one, and else follows `otherwise`.

    A decision for an answer without a number, such as Unsure, makes no label.
    """

    def labels(given: CountedAnswers) -> tuple[Floats, str]:
        values, definition = otherwise(given)
        values[given.decided.summaries] = given.decided.numbers
        return values, (
            f"the adjudicated or gold answer where there is one ({len(given.decided.summaries):,} summaries),"
            f" and else {definition}"
        )

    return labels


_MEAN_OF_OTHERS = "the mean of the summary's other ratings"
_MOST_OF_OTHERS = "the answer given most often among the summary's other ratings, unless these are tied"
_DECIDED_OR = "the adjudicated or gold answer where there is one, and else with "
LABEL_RULES: dict[str, LabelRule] = {
    rule.name: rule
    for rule in (
        LabelRule("mean", "mean of raters", _mean, _MEAN_OF_OTHERS),
        LabelRule("majority", "majority of raters", _majority, _MOST_OF_OTHERS),
        LabelRule("adjudicated", "adjudicated, else mean", _decided_or(_mean), _DECIDED_OR + _MEAN_OF_OTHERS),
        LabelRule(
            "adjudicated_majority",
            "adjudicated, else majority",
            _decided_or(_majority),
            _DECIDED_OR + _MOST_OF_OTHERS,
        ),
        LabelRule("dawid_skene", "Dawid and Skene", _dawid_skene, ""),
    )
}


def _what_counts(scale: protocol.Scale) -> str:
    """Describe the number of each answer of a nominal scale, and which are left out."""
    if scale.kind != protocol.ScaleKind.NOMINAL:
        return ""
    numbers = scale.numbers or {}
    counted = [f"{value} counts {numbers[value]:g}" for value in scale.values if value in numbers]
    left_out = [f"{value} is left out" for value in scale.values if value not in numbers]
    return f"; {', '.join(counted + left_out)}"
