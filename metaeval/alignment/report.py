"""What a judge's versions reach: each on the tuning part, those that were opened on the sealed part, too."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

from django.db.models import Count

from annotation.actions.rerating import RatedAgain, reratings_of
from annotation.models import Project
from metaeval.alignment.baselines import LENGTH, MAJORITY, baselines
from metaeval.alignment.figures import Figures, figures
from metaeval.ceiling import ceiling, decision_ceiling
from metaeval.choices import Choices
from metaeval.comparison import compare
from metaeval.judgements import Evaluator, Labels
from metaeval.models import DisagreementTag
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.result import Estimate
from scoring.models import Judge, JudgeVersion, Run, SealedOpening, Trial

Verdict = DisagreementTag.Verdict
KEPT_REPORTS = 8


@dataclass(frozen=True)
class AlignmentChoices(Choices):
    question: str = ""
    """Its key; the first that a version scores if empty."""
    measure: str = "spearman"
    """One of MEASURES."""


@dataclass(frozen=True)
class Tags:
    """What people said of a version's disagreements on the question."""

    verdicts: Sequence[tuple[str, int]]
    asked: int
    """Summaries tagged as wrongly labelled that were sent to be rated once more and wait for it."""
    rated_again: int


@dataclass(frozen=True, eq=False)
class VersionRow:
    version: JudgeVersion
    trial: Trial | None
    """The latest."""
    tuning: Estimate | None
    """None where it was not tried, or does not score the question."""
    unscored: dict[str, int]
    """Reason -> labelled summaries of the tuning part without a score."""
    labelled: int
    is_best: bool
    sealed: Estimate | None
    openings: Sequence[SealedOpening]
    tags: Tags | None

    @property
    def run(self) -> Run | None:
        return self.trial.run if self.trial else None

    @property
    def opening_run(self) -> Run | None:
        """That of the latest opening, as long as it is not done: what it shows is not all yet."""
        run = self.openings[-1].run if self.openings else None
        return run if run and run.status != Run.Status.DONE else None

    @property
    def setup_key(self) -> str:
        return str(self.trial.setup_id) if self.trial and self.trial.setup_id else ""


@dataclass(frozen=True, eq=False)
class Measured:
    """On one question: all that takes computing."""

    tuning: Figures
    sealed: dict[str, Estimate]
    """By the evaluator's key."""
    ceiling: Estimate | None
    """What one rater reaches against the others on the tuning part; None where that is not known."""


@dataclass(frozen=True, eq=False)
class JudgeReport:
    judge: Judge
    choices: AlignmentChoices
    questions: Sequence[Labels]
    """Those that a tried version scores."""
    question: Labels | None
    rows: Sequence[VersionRow]
    measured: Measured | None
    luck: float
    """What the best of the tried versions would show above the others by luck; nan if not known."""

    @property
    def tried(self) -> int:
        return sum(row.trial is not None for row in self.rows)

    @property
    def best(self) -> VersionRow | None:
        return next((row for row in self.rows if row.is_best), None)

    @property
    def baseline(self) -> tuple[str, Estimate] | None:
        """What costs nothing, where the measure is defined for it: name and figure."""
        if self.measured is None:
            return None
        key, name = (
            (LENGTH, "length in words")
            if self.choices.measure in COEFFICIENTS
            else (MAJORITY, "always the pool's majority")
        )
        found = self.measured.tuning.estimates.get(key)
        return (name, found) if found and not found.reason else None

    @property
    def beside(self) -> list[tuple[str, Estimate]]:
        """What the versions' figures on the tuning part are read against, as far as it is known."""
        found = [self.baseline] if self.baseline else []
        if self.measured and self.measured.ceiling:
            found.append(("one rater against the others", self.measured.ceiling))
        return found


def judge_report(
    project: Project, snapshot: Snapshot, judge: Judge, choices: AlignmentChoices
) -> JudgeReport:
    """Raises DomainError for a choice that does not exist."""
    versions = list(judge.versions.select_related("parent", "created_by"))
    trials = _latest_trials(judge)
    keys = [str(trial.setup_id) for trial in trials.values() if trial.setup_id]
    tried = [each for each in snapshot.tried if each.key in keys]
    questions = [labels for labels in snapshot.labels() if any(each.on(labels.dimension) for each in tried)]
    question = _chosen(questions, choices)
    measured = _measured(project, snapshot, tried, question, choices) if question else None
    tuning = measured.tuning if measured else None
    best = tuning.best_of(keys) if tuning else None
    openings: dict[int, list[SealedOpening]] = {}
    for opening in SealedOpening.objects.filter(version__judge=judge).select_related("opened_by", "run"):
        openings.setdefault(opening.version_id, []).append(opening)
    tags = _tags(keys, question) if question else {}
    rows = []
    for version in versions:
        version.judge = judge
        trial = trials.get(version.pk)
        key = str(trial.setup_id) if trial and trial.setup_id else ""
        rows.append(
            VersionRow(
                version=version,
                trial=trial,
                tuning=tuning.estimates.get(key) if tuning else None,
                unscored=tuning.unscored.get(key, {}) if tuning else {},
                labelled=tuning.labelled if tuning else 0,
                is_best=bool(key) and key == best and len(keys) > 1,
                sealed=measured.sealed.get(key) if measured and version.pk in openings else None,
                openings=openings.get(version.pk, ()),
                tags=tags.get(key),
            )
        )
    luck = tuning.luck_of(keys) if tuning else float("nan")
    return JudgeReport(judge, choices, questions, question, rows, measured, luck)


def _latest_trials(judge: Judge) -> dict[int, Trial]:
    found = Trial.objects.filter(version__judge=judge).select_related("run__setup", "setup").order_by("pk")
    return {trial.version_id: trial for trial in found}


def _chosen(questions: Sequence[Labels], choices: AlignmentChoices) -> Labels | None:
    by_key = {labels.key: labels for labels in questions}
    if not by_key:
        return None
    refuse_unknown("question", choices.question, ("", *by_key))
    return by_key[choices.question] if choices.question else questions[0]


_kept: WeakKeyDictionary[Snapshot, dict[tuple[str, ...], Measured]] = WeakKeyDictionary()
_lock = Lock()


def _measured(
    project: Project,
    snapshot: Snapshot,
    tried: Sequence[Evaluator],
    question: Labels,
    choices: AlignmentChoices,
) -> Measured:
    asked = (choices.measure, question.key, *sorted(each.key for each in tried))
    with _lock:
        found = _kept.get(snapshot, {}).get(asked)
    if found is None:
        found = _computed(project, snapshot, tried, question, choices.measure)
        with _lock:
            kept = _kept.setdefault(snapshot, {})
            kept[asked] = found
            while len(kept) > KEPT_REPORTS:
                del kept[next(iter(kept))]
    return found


def _computed(
    project: Project, snapshot: Snapshot, tried: Sequence[Evaluator], question: Labels, measure: str
) -> Measured:
    seen = tried[0].seen  # all that is not in the tuning part, for each of them
    comparison = compare(snapshot.summaries, [*tried, *baselines(project, snapshot, seen)])
    tuning = figures(comparison, question, measure)
    keys = {each.key for each in tried}
    opened = [each for each in snapshot.evaluators if each.key in keys and each.on(question.dimension)]
    return Measured(
        tuning=tuning,
        sealed={
            each.key: figures(compare(snapshot.summaries, [each]), question, measure).estimates[each.key]
            for each in opened
        },
        ceiling=_ceiling(snapshot, question, comparison.counted, measure),
    )


def _ceiling(snapshot: Snapshot, question: Labels, counted: Bools, measure: str) -> Estimate | None:
    ratings = next(each for each in snapshot.human.questions if each.question.key == question.key)
    of_question = snapshot.summaries, snapshot.human, ratings, question, counted
    if measure in COEFFICIENTS:
        found = ceiling(*of_question, level="pooled", coefficient=measure)
    else:
        found = decision_ceiling(*of_question, statistic=measure)
    return None if found.reason else found


def _tags(keys: Sequence[str], question: Labels) -> dict[str, Tags]:
    """By the setup's key, where there are any."""
    current = DisagreementTag.objects.current().filter(
        setup__in=[int(key) for key in keys], question__key=question.key
    )
    counts: dict[str, Counter[str]] = {}
    for setup_id, verdict, times in current.order_by().values_list("setup", "verdict").annotate(Count("pk")):
        counts.setdefault(str(setup_id), Counter())[verdict] = times
    doubted: dict[str, list[int]] = {}
    for setup_id, summary_id in current.filter(verdict=Verdict.LABEL).values_list("setup", "summary"):
        doubted.setdefault(str(setup_id), []).append(summary_id)
    found = {}
    for key, given in counts.items():
        states = Counter(reratings_of(doubted.get(key, [])).values())
        found[key] = Tags(
            verdicts=[(str(verdict.label), given[verdict]) for verdict in Verdict if given[verdict]],
            asked=states[RatedAgain.ASKED],
            rated_again=states[RatedAgain.DONE],
        )
    return found
