"""What a reader has chosen on the pages about one evaluator and one question."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.errors import DomainError
from metaeval.choices import Choices, Control
from metaeval.comparison import compare
from metaeval.judgements import ALL, Evaluator, Labels
from metaeval.label_rules import LABEL_RULES
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot
from metaeval.summaries.ranked_pairs import RankedPairs, ranked_pairs


@dataclass(frozen=True)
class PairChoices(Choices):
    evaluator: str = ""
    """Its key; the first one if empty."""
    question: str = ""
    """Its key; the first that the evaluator scores if empty."""
    language: str = ALL
    dataset: str = ALL
    systems: tuple[str, ...] = ()
    """Names of the systems whose summaries are listed; none for all."""
    group: str = ""
    labels: str = "mean"
    """The rule by which several raters' answers become one label."""


@dataclass(frozen=True, eq=False)
class Pair:
    evaluator: Evaluator
    question: Labels


def chosen_pair(snapshot: Snapshot, choices: PairChoices) -> Pair | None:
    """The evaluator and the question that were chosen; None if no evaluator scores any question.

    Raises DomainError for a choice that does not exist, also of a question that the evaluator does not score.
    """
    refuse_unknown("group", choices.group, ("", *snapshot.human.groups))
    refuse_unknown("labels", choices.labels, tuple(LABEL_RULES))
    evaluators = {each.key: each for each in snapshot.evaluators}
    refuse_unknown("evaluator", choices.evaluator, ("", *evaluators))
    labels = {each.key: each for each in snapshot.labels(choices.group, choices.labels)}
    refuse_unknown("question", choices.question, ("", *labels))
    wanted = [labels[choices.question]] if choices.question else list(labels.values())
    compared = [evaluators[choices.evaluator]] if choices.evaluator else list(evaluators.values())
    for evaluator in compared:
        for question in wanted:
            if evaluator.on(question.dimension) is not None:
                return Pair(evaluator, question)
    if compared and (choices.evaluator or choices.question):
        named = " or ".join(each.label for each in compared)
        raise DomainError(f"{named} says nothing on {', '.join(each.title for each in wanted)}.")
    return None


def pairs_of(
    snapshot: Snapshot, choices: PairChoices, pair: Pair, compared_with: Collection[str]
) -> tuple[RankedPairs, dict[str, int]]:
    """The summaries that were chosen, ranked, and the articles left out with the reason.

    Left out is what the evaluators `compared_with` (keys; none for all) have seen. Raises DomainError for a
    language, data set or system that does not exist.
    """
    comparison = compare(
        snapshot.summaries,
        snapshot.evaluators,
        language=choices.language,
        dataset=choices.dataset,
        systems=choices.systems,
        only=compared_with,
    )
    return ranked_pairs(comparison, pair.evaluator, pair.question), comparison.seen


def pair_controls(snapshot: Snapshot, choices: PairChoices, pair: Pair) -> list[Control]:
    """All of `choices` but the systems, as the page offers them."""
    human, summaries = snapshot.human, snapshot.summaries
    scored = [each for each in snapshot.labels() if pair.evaluator.on(each.dimension) is not None]
    return [
        Control(
            "evaluator",
            "Evaluator",
            [(each.key, each.label) for each in snapshot.evaluators],
            pair.evaluator.key,
        ),
        Control("question", "Question", [(each.key, each.title) for each in scored], pair.question.key),
        Control("language", "Language", _all_or(summaries.language_names), choices.language),
        Control("dataset", "Data set", _all_or(summaries.dataset_names), choices.dataset),
        Control("group", "Raters", [("", "all"), *((name, name) for name in human.groups)], choices.group),
        Control(
            "labels", "Labels", [(rule.name, rule.label) for rule in LABEL_RULES.values()], choices.labels
        ),
    ]


def _all_or(names: Sequence[str]) -> list[tuple[str, str]]:
    """All together or one of them, if there are several."""
    return [(ALL, "all"), *((name, name) for name in names)] if len(names) > 1 else [(ALL, "all")]
