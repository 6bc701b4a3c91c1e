"""The figures of the answers page. Pure.

They are the tables in which SEAHORSE (Clark et al. 2023) describes its ratings: how many there are, the
labels of each system in each language, and how the questions correlate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.snapshot.arrays import ALL, HumanRatings, Labels, QuestionRatings, Summaries
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.complete_articles import in_complete_articles
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.labels.label_mean import CUT, MeanEstimate, label_mean, within_ends
from metaeval.stats.result import Result, or_none, reasons, value_and_ends

COUNTED = {
    "articles": "Articles",
    "summaries": "Summaries",
    "rated": "Rated summaries",
    "rated_twice": "Rated twice or more",
    "ratings": "Ratings",
}
"""Kinds of counts -> their titles."""
EVERY, COMPLETE, SUMMARISED = "every", "complete", "summarised"
ARTICLES = {
    EVERY: "every article",
    COMPLETE: "articles with labels of all systems",
    SUMMARISED: "articles with summaries by all systems",
}
"""Choices of the articles in the systems' means -> labels."""
LEFT_OUT = {
    COMPLETE: "articles without a labelled summary by each system",
    SUMMARISED: "articles without a summary by each system of their language",
}
"""Choices of the articles -> those that are left out."""


def place_of(language: str, dataset: str) -> str:
    """Return a language and a dataset as one text."""
    return " ".join(dict.fromkeys(each for each in (language, dataset) if each))


@dataclass(frozen=True)
class Collected:
    """The counts of one language and dataset."""

    language: str
    dataset: str
    """Name of the dataset; empty if the articles name none."""
    counts: Mapping[str, int]
    """Counts by the keys of COUNTED."""

    @property
    def place(self) -> str:
        return place_of(self.language, self.dataset)

    def as_json(self) -> list[dict[str, object]]:
        """Return a row for each count."""
        return [
            {
                "place": self.place,
                "language": self.language,
                "dataset": self.dataset,
                "what": what,
                "value": count,
                "left_out": {},
                "definition": "A rating counts if it is finished and its rater is in good standing.",
            }
            for what, count in self.counts.items()
        ]


@dataclass(frozen=True)
class MeanLabel:
    """The mean label of one system in one language or dataset."""

    system: str
    group: str
    """A language, a dataset or both; ALL for all together."""
    question: str
    estimate: MeanEstimate
    left_out: Mapping[str, int]
    """One of LEFT_OUT -> articles."""
    definition: str
    warning: str
    """Full sentence on groups of raters that are mixed although they differ, also in the definition."""

    def as_json(self) -> dict[str, object]:
        """Return the row of a file, with `reason` if there is no value."""
        return {
            "system": self.system,
            "group": self.group,
            "question": self.question,
            **value_and_ends(self.estimate.value, self.estimate.interval),
            "labelled": self.estimate.labelled,
            "left_out": dict(self.left_out),
            "definition": self.definition,
            **({"warning": self.warning} if self.warning else {}),
            **reasons(self.estimate.reason, self.estimate.interval),
        }


OF_LABELS, OF_ANSWERS = "labels", "answers"
CORRELATED = {OF_LABELS: "labels of summaries", OF_ANSWERS: "answers of single ratings"}
"""Choices of what is correlated between questions -> labels."""


@dataclass(frozen=True)
class QuestionCorrelation:
    """The correlation of two questions' labels on the same summaries, or of answers in the same ratings."""

    question: str
    other: str
    result: Result
    n: int
    """Summaries with both labels, or ratings with both answers."""
    warning: str
    """Full sentences on groups of raters that are mixed although they differ."""

    def as_json(self) -> dict[str, object]:
        """Return the row of a file, with `reason` if there is no value."""
        return {
            "question": self.question,
            "other_question": self.other,
            "value": or_none(self.result.value),
            "n": self.n,
            "left_out": dict(self.result.left_out),
            "definition": self.result.definition,
            **({"warning": self.warning} if self.warning else {}),
            **reasons(self.result.reason, None),
        }


def collected(summaries: Summaries, human: HumanRatings, group: str = "") -> list[Collected]:
    """Return what there is of each language and dataset, then of all; ratings are by raters of `group`."""
    ratings = _ratings_of_summaries(summaries, human, group)
    found = []
    for language in summaries.language_names:
        of_language = summaries.in_language(language)
        for code, dataset in ((-1, ""), *enumerate(summaries.dataset_names)):
            own = of_language & (summaries.datasets == code)
            if own.any():
                found.append(Collected(language, dataset, _counts(summaries, ratings, own)))
    everything = np.ones(len(summaries), dtype=bool)
    return [*found, Collected(ALL, ALL, _counts(summaries, ratings, everything))]


def system_means(
    summaries: Summaries,
    labels: Labels,
    groups: Mapping[str, Bools],
    *,
    articles: str = EVERY,
    at_every_look: bool = False,
) -> Iterator[MeanLabel]:
    """Yield the mean label of each system among the summaries (summaries,) of each of the `groups`.

    A system without a labelled summary in a group has no mean there. `articles` are those of `counted_in`.
    """
    labelled = ~np.isnan(labels.values)
    for group, members in groups.items():
        counted, left_out = counted_in(summaries, members & labelled, articles)
        for code in np.unique(summaries.systems[members & labelled]).tolist():
            if code >= 0:
                own = counted & (summaries.systems == code)
                mean = mean_label(summaries, labels, own, at_every_look=at_every_look)
                yield replace(mean, system=summaries.system_names[code], group=group, left_out=left_out)


def mean_label(summaries: Summaries, labels: Labels, own: Bools, *, at_every_look: bool) -> MeanLabel:
    """Return the mean label of the summaries `own` (summaries,), as one of all systems and groups."""
    mean = label_mean(labels.values[own], summaries.articles[own], at_every_look=at_every_look)
    estimate = within_ends(mean, labels.scale.ends)
    definition = f"{estimate.definition} {CUT} {labels.definition}"
    return MeanLabel(ALL, ALL, labels.key, estimate, {}, definition, labels.warning)


def counted_in(summaries: Summaries, labelled: Bools, articles: str) -> tuple[Bools, dict[str, int]]:
    """Return the `labelled` (summaries,) of the articles that count, and how many others are left out.

    `articles` is one of ARTICLES. COMPLETE are those with a `labelled` summary by each system that has one,
    so that all means are over the same articles; SUMMARISED those with a summary, labelled or not, by each
    system of their language.
    """
    if articles == EVERY:
        return labelled, {}
    if articles == COMPLETE:
        own, systems = summaries.articles[labelled], summaries.systems[labelled]
        counted = labelled.copy()
        counted[labelled] = in_complete_articles(own, systems, np.zeros_like(own))
    else:
        counted = labelled & summaries.is_of_complete_article
    left_out = len(np.unique(summaries.articles[labelled])) - len(np.unique(summaries.articles[counted]))
    return counted, {LEFT_OUT[articles]: left_out} if left_out else {}


def question_correlations(
    questions: Sequence[Labels], coefficient: str, chosen: Bools
) -> list[QuestionCorrelation]:
    """Return the coefficient of each two questions over the `chosen` (summaries,) with both labels."""
    return [
        _correlation(first, second, coefficient, chosen)
        for place, first in enumerate(questions)
        for second in questions[place + 1 :]
    ]


def answer_correlations(
    human: HumanRatings, questions: Sequence[Labels], coefficient: str, chosen: Bools, group: str = ""
) -> list[QuestionCorrelation]:
    """Return the coefficient of each two questions over the ratings with both answers.

    They are ratings of the `chosen` (summaries,) by raters of `group`. Each rating counts once, also if a
    summary has several: Figure 3 of SEAHORSE (Clark et al. 2023) has "the Pearson correlation between
    responses". Answers without a number, such as Unsure, are left out. The warnings are those of `questions`.
    """
    numbers = {each.key: _numbers_of_ratings(human, human.on(each.key), chosen, group) for each in questions}
    found = []
    for place, first in enumerate(questions):
        for second in questions[place + 1 :]:
            (ratings, one), (others, other) = numbers[first.key], numbers[second.key]
            _, left, right = np.intersect1d(ratings, others, assume_unique=True, return_indices=True)
            found.append(_correlated(first, second, coefficient, one[left], other[right], OF_ANSWERS))
    return found


def _numbers_of_ratings(
    human: HumanRatings, ratings: QuestionRatings, chosen: Bools, group: str
) -> tuple[Ints, Floats]:
    """Return a code of each counted rating, the same for every question, and the number of its answer."""
    numbers = ratings.numbers[ratings.answers]
    own = np.flatnonzero(human.of_group(ratings, group) & chosen[ratings.summaries] & ~np.isnan(numbers))
    return ratings.summaries[own] * len(human.rater_groups) + ratings.raters[own], numbers[own]


def _correlation(first: Labels, second: Labels, coefficient: str, chosen: Bools) -> QuestionCorrelation:
    both = chosen & ~np.isnan(first.values) & ~np.isnan(second.values)
    return _correlated(first, second, coefficient, first.values[both], second.values[both], OF_LABELS)


def _correlated(
    first: Labels, second: Labels, coefficient: str, one: Floats, other: Floats, of: str
) -> QuestionCorrelation:
    """Return the coefficient of two questions' numbers, each (n,); `of` says what they are of."""
    used, units = COEFFICIENTS[coefficient], "summaries" if of == OF_LABELS else "ratings"
    value, _ = used.of(one, other)
    reason = ""
    if np.isnan(value) and len(one) < 2:
        reason = f"fewer than two {units} with both {of}"
    elif np.isnan(value):
        constant = first if np.ptp(one) == 0 else second
        reason = f"all {of} of {constant.title} are equal"
    result = Result(
        value=value,
        definition=f"{used.label} between the {of} of two questions, over all {units} with both {of}.",
        reason=reason,
    )
    warnings = [f"{each.title}: {each.warning}" for each in (first, second) if each.warning]
    return QuestionCorrelation(first.key, second.key, result, len(one), " ".join(warnings))


def _ratings_of_summaries(summaries: Summaries, human: HumanRatings, group: str) -> Ints:
    """Return how many raters of `group` answered a question on each summary, (summaries,)."""
    pairs = [
        np.stack([each.summaries[own], each.raters[own]])
        for each in human.questions
        for own in [human.of_group(each, group)]
    ]
    distinct = np.unique(np.concatenate(pairs, axis=1), axis=1) if pairs else np.zeros((2, 0), np.int64)
    return np.bincount(distinct[0], minlength=len(summaries))


def _counts(summaries: Summaries, ratings: Ints, own: Bools) -> dict[str, int]:
    return {
        "articles": len(np.unique(summaries.articles[own])),
        "summaries": int(own.sum()),
        "rated": int((ratings[own] > 0).sum()),
        "rated_twice": int((ratings[own] > 1).sum()),
        "ratings": int(ratings[own].sum()),
    }
