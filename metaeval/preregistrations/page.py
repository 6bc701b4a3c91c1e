"""The page of preregistered comparisons: what each was to show, and what it shows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from annotation.errors import DomainError
from annotation.models import Project
from annotation.templatetags.figures import noun
from metaeval.comparison.comparison import GUARD
from metaeval.comparison.report import comparison_table
from metaeval.comparison.uncertainty import SIGNIFICANT
from metaeval.live.background import LONG, SOON, Key, queue_of
from metaeval.live.choices import Choices, ComparisonChoices
from metaeval.live.results_page import ResultsPage
from metaeval.models import Preregistration
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.published import public_name
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import NONE, Method
from metaeval.stats.result import each_once, or_none
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.corrections import holm
from metaeval.templatetags.results import figure

FAMILY = (
    "Preregistered comparisons are a family of their own: their p-values are corrected together by Holm's"
    " method, and a withdrawn one still counts among them, as a p-value of 1, unless it was withdrawn before"
    " the first rating. All other comparisons are exploratory."
)
NOTHING_YET = "no scores yet"
DELETED = "the evaluator was deleted"
NO_QUESTION = "the questionnaire no longer has this question"


@dataclass(frozen=True)
class Outcome:
    """The result of a preregistered comparison."""

    difference: float = math.nan
    """The first coefficient minus the second, if higher is better; nan if undefined."""
    p_value: float = math.nan
    """p-value of the claim's contrary, not corrected; nan if there is none."""
    n: int = 0
    """Summaries that count for both."""
    units: int = 0
    reason: str = ""
    """The reason why there is no p-value; else empty."""
    definition: str = ""


def statement_of(registered: Preregistration, first: str, second: str, question: str) -> str:
    """Return the claim about two named evaluators and a question's title, without a full stop."""
    within = f" within {figure(registered.margin)}" if registered.margin else ""
    details = [
        COEFFICIENTS[registered.coefficient].label,
        LEVELS[registered.level].label,
        *([registered.language] if registered.language != ALL else []),
        *([f"raters of {registered.group}"] if registered.group else []),
    ]
    claim = registered.get_claim_display()
    return f"{first} {claim} {second}{within} on {question} ({', '.join(details)})"


@dataclass(frozen=True)
class PreregisteredRow:
    """A preregistration with its result."""

    registered: Preregistration
    first: str
    second: str
    question: str
    """Title."""
    outcome: Outcome | None
    """The result; none while it is being computed, and for a withdrawn one."""
    p_value: float
    """Corrected; nan if there is none."""
    is_live: bool

    @property
    def statement(self) -> str:
        """Return the claim, as a sentence without its full stop."""
        return statement_of(self.registered, self.first, self.second, self.question)

    @property
    def unit(self) -> str:
        return LEVELS[self.registered.level].units

    @property
    def is_shown(self) -> bool:
        """Return whether the claim is shown to hold."""
        return self.p_value < SIGNIFICANT and not self.is_refuted

    @property
    def is_refuted(self) -> bool:
        """Return whether the first evaluator is worse although it was to be better."""
        is_of_better = self.registered.claim == Preregistration.Claim.BETTER
        difference = self.outcome.difference if self.outcome else math.nan
        return is_of_better and difference < 0 and self.p_value < SIGNIFICANT

    @property
    def verdict(self) -> str:
        if self.registered.withdrawn_at:
            return "withdrawn"
        if self.outcome is None:
            return "being computed"
        if self.outcome.reason:
            return f"no result: {self.outcome.reason}"
        if self.is_refuted:
            return "the opposite is shown"
        if self.is_shown:
            return "shown"
        return "not shown so far" if self.is_live else "not shown"

    @property
    def stated(self) -> str:
        """Return whether the statement was made before the ratings."""
        if not self.registered.ratings_before:
            return "before the first rating"
        return f"after {noun(self.registered.ratings_before, 'rating,ratings')}"

    def as_json(self) -> dict[str, object]:
        """Return the row of a file or API result."""
        registered, outcome = self.registered, self.outcome or Outcome()
        return {
            "id": registered.pk,
            "statement": self.statement,
            "claim": registered.claim,
            "first": self.first,
            "second": self.second,
            "question": registered.question_key,
            "level": registered.level,
            "coefficient": registered.coefficient,
            "margin": registered.margin or None,
            "language": registered.language,
            "group": registered.group,
            "note": registered.note,
            "registered_at": registered.registered_at.isoformat(),
            "ratings_before": registered.ratings_before,
            "withdrawn_at": registered.withdrawn_at.isoformat() if registered.withdrawn_at else None,
            "withdrawn_because": registered.withdrawn_because,
            "difference": or_none(outcome.difference),
            "p_value": or_none(self.p_value),
            "verdict": self.verdict,
            "n": outcome.n,
            "units": outcome.units,
            "unit": self.unit,
            "reason": outcome.reason,
            "definition": f"{outcome.definition} {FAMILY}".lstrip(),
        }


@dataclass(frozen=True)
class NoChoices(Choices):
    """The page has no choices: they are part of what was registered."""


@dataclass(frozen=True, kw_only=True)
class PreregistrationsPage(ResultsPage):
    rows: Sequence[PreregisteredRow]
    is_computed: bool

    @property
    def waits(self) -> int:
        return not self.is_computed

    @property
    def paragraphs(self) -> Sequence[str]:
        told = [f"- {row.statement}: stated {row.stated}; {row.verdict}." for row in self.rows]
        return ["\n".join(["Preregistered:", *told]), "\n".join(self.definitions)] if told else []


def preregistrations_page(
    project: Project, choices: NoChoices, wait_s: float | None = SOON
) -> PreregistrationsPage:
    """Return the page, without results if these take longer than `wait_s` seconds (None: no limit)."""
    snapshot = snapshot_of(project)
    registered = list(Preregistration.objects.filter(project=project))
    titles = dict(project.questionnaire.questions.values_list("key", "title"))
    key = outcomes_key(project, snapshot.revision)
    outcomes = queue_of(key, LONG).result(key, partial(_outcomes, snapshot, registered, titles), wait_s)
    rows = _rows(snapshot, registered, titles, outcomes)
    found = [each.definition for each in outcomes or () if each]
    return PreregistrationsPage(
        snapshot=snapshot,
        choices=choices,
        controls=(),
        rows=rows,
        is_computed=outcomes is not None,
        definitions=each_once([*found, FAMILY]) if rows else (),
    )


def outcomes_key(project: Project, revision: int) -> Key:
    """Return the key of the results."""
    return Key.of(project, revision, "preregistrations")


def _rows(
    snapshot: Snapshot,
    registered: Sequence[Preregistration],
    titles: dict[str, str],
    outcomes: Sequence[Outcome | None] | None,
) -> list[PreregisteredRow]:
    found = outcomes or [None] * len(registered)
    corrected = _corrected(registered, found)
    named = {each.key: each.label for each in snapshot.evaluators}

    def name(setup: int | None, stored: str) -> str:
        return named.get(str(setup), public_name(stored) if snapshot.is_published else stored)

    return [
        PreregisteredRow(
            each,
            name(each.first_id, each.first_name),
            name(each.second_id, each.second_name),
            titles.get(each.question_key, each.question_key),
            outcome,
            p_value,
            snapshot.is_live,
        )
        for each, outcome, p_value in zip(registered, found, corrected, strict=True)
    ]


def _corrected(registered: Sequence[Preregistration], outcomes: Sequence[Outcome | None]) -> list[float]:
    """Return the p-values corrected together; what has none counts as 1, so that it makes none smaller."""
    p_values = np.array([each.p_value if each else math.nan for each in outcomes])
    in_family = np.array([not each.was_unseen for each in registered], dtype=bool)
    corrected = np.full(len(p_values), np.nan)
    corrected[in_family] = holm(np.nan_to_num(p_values[in_family], nan=1.0))
    return np.where(np.isnan(p_values), np.nan, corrected).tolist()


def _outcomes(
    snapshot: Snapshot, registered: Sequence[Preregistration], titles: dict[str, str]
) -> list[Outcome | None]:
    return [None if each.withdrawn_at else _outcome(snapshot, each, titles) for each in registered]


def _outcome(snapshot: Snapshot, registered: Preregistration, titles: dict[str, str]) -> Outcome:
    if registered.first_id is None or registered.second_id is None:
        return Outcome(reason=DELETED)
    if registered.question_key not in titles:
        return Outcome(reason=NO_QUESTION)
    keys = str(registered.first_id), str(registered.second_id)
    known = {each.key: each for each in snapshot.evaluators}
    if not known.keys() >= set(keys):
        return Outcome(reason=NOTHING_YET)
    choices = ComparisonChoices(
        language=registered.language,
        group=registered.group,
        only=keys,
        questions=(registered.question_key,),
    )
    method = Method(
        registered.level,
        registered.coefficient,
        interval=NONE,
        correction=NONE,
        margin=registered.margin,
        is_live=snapshot.is_live,
    )
    try:
        [column] = comparison_table(snapshot, choices, method).columns
    except DomainError as gone:  # a language or a group of raters that was there
        return Outcome(reason=str(gone))
    if set(keys) - {each.key for each in column.evaluators}:
        return Outcome(reason="an evaluator does not score this question")
    first, second = ([each.key for each in column.evaluators].index(key) for key in keys)
    tests = compare_pairs(
        method.test,
        method.level,
        method.coefficient,
        column.rows,
        method.resampling,
        orientation=[1 if each.higher_is_better else -1 for each in column.evaluators],
        constant=method.constant,
        margin=method.margin,
    )
    p_values, reasons, definition = tests.p_values, tests.reasons, tests.definition
    if within := tests.within_margin:
        is_one_sided = registered.claim == Preregistration.Claim.AS_GOOD
        p_values = within.not_worse if is_one_sided else within.equivalent
        reasons, definition = {**reasons, **within.reasons}, f"{definition} {within.definition}"
    p_value = float(p_values[first, second])
    return Outcome(
        difference=float(tests.differences[first, second]),
        p_value=p_value,
        n=int(tests.n[first, second]),
        units=int(tests.units[first, second]),
        reason=reasons.get((first, second), "") if math.isnan(p_value) else "",
        definition=f"{definition} {column.labels.definition} {GUARD}",
    )
