"""Agreement of a judge's versions on the tuning part and, once opened, on the sealed part."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import Project
from annotation.rating.rerating import ReratingState, reratings_of
from metaeval.comparison.comparison import compare
from metaeval.comparison.human_ceiling import ceiling, decision_ceiling, rater_turns
from metaeval.judges.baselines import LENGTH, MAJORITY, baselines
from metaeval.judges.figures import TrialFigures, figures
from metaeval.live.choices import Choices
from metaeval.models import DisagreementTag
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.snapshot.snapshot import PerSnapshot, Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.result import Estimate
from scoring.models import Judge, JudgeVersion, Run, SealedOpening, Trial

Verdict = DisagreementTag.Verdict
KEPT_REPORTS = 8


@dataclass(frozen=True)
class JudgeChoices(Choices):
    question: str = ""
    """Key; the first that a version scores if empty."""
    measure: str = "spearman"
    """One of MEASURES."""


@dataclass(frozen=True)
class VersionTags:
    """The tags of a version's disagreements on the question."""

    verdicts: Sequence[tuple[str, int]]
    rating_requested: int
    """Summaries tagged 'label wrong' that wait for another rating."""
    rated_again: int


@dataclass(frozen=True, eq=False)
class VersionRow:
    version: JudgeVersion
    trial: Trial | None
    """The latest."""
    tuning: Estimate | None
    """Agreement on the tuning part; None if it was not tried or does not score the question."""
    unscored: dict[str, int]
    """Reason -> labelled summaries of the tuning part without a score."""
    labelled: int
    is_best: bool
    sealed: Estimate | None
    openings: Sequence[SealedOpening]
    tags: VersionTags | None

    @property
    def run(self) -> Run | None:
        return self.trial.run if self.trial else None

    @property
    def opening_run(self) -> Run | None:
        """The unfinished run of the latest opening; its figures are not complete."""
        run = self.openings[-1].run if self.openings else None
        return run if run and run.status != Run.Status.DONE else None

    @property
    def setup_key(self) -> str:
        return str(self.trial.setup_id) if self.trial and self.trial.setup_id else ""


@dataclass(frozen=True, eq=False)
class JudgeFigures:
    """The computed figures of one question."""

    tuning: TrialFigures
    sealed: dict[str, Estimate]
    """Agreement on the sealed part by the evaluator's key."""
    ceiling: Estimate | None
    """One rater's agreement with the others on the tuning part; None if unknown."""


@dataclass(frozen=True, eq=False)
class JudgeReport:
    snapshot: Snapshot
    judge: Judge
    choices: JudgeChoices
    questions: Sequence[Labels]
    """The questions that a tried version scores."""
    question: Labels | None
    rows: Sequence[VersionRow]
    measured: JudgeFigures | None
    best_of_many_bias: float
    """Expected excess of the best tried version if all were equally good; nan if unknown."""

    @property
    def tried(self) -> int:
        return sum(row.trial is not None for row in self.rows)

    @property
    def best(self) -> VersionRow | None:
        return next((row for row in self.rows if row.is_best), None)

    @property
    def baseline(self) -> tuple[str, Estimate] | None:
        """The name and figure of a trivial baseline, if the measure is defined for it."""
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
    def compared_with(self) -> list[tuple[str, Estimate]]:
        """The baseline and the human ceiling on the tuning part, if known."""
        found = [self.baseline] if self.baseline else []
        if self.measured and self.measured.ceiling:
            found.append(("one rater against the others", self.measured.ceiling))
        return found


def judge_report(project: Project, snapshot: Snapshot, judge: Judge, choices: JudgeChoices) -> JudgeReport:
    """Return the report for these choices. Raises DomainError for a choice that does not exist."""
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
    bias = tuning.best_of_many_bias(keys) if tuning else float("nan")
    return JudgeReport(snapshot, judge, choices, questions, question, rows, measured, bias)


def _latest_trials(judge: Judge) -> dict[int, Trial]:
    found = Trial.objects.filter(version__judge=judge).select_related("run__setup", "setup").order_by("pk")
    return {trial.version_id: trial for trial in found}


def _chosen(questions: Sequence[Labels], choices: JudgeChoices) -> Labels | None:
    by_key = {labels.key: labels for labels in questions}
    if not by_key:
        return None
    check_choice("question", choices.question, ("", *by_key))
    return by_key[choices.question] if choices.question else questions[0]


_kept: PerSnapshot[tuple[str, ...], JudgeFigures] = PerSnapshot(KEPT_REPORTS)


def _measured(
    project: Project,
    snapshot: Snapshot,
    tried: Sequence[SetupScores],
    question: Labels,
    choices: JudgeChoices,
) -> JudgeFigures:
    key = (choices.measure, question.key, *sorted(each.key for each in tried))
    return _kept.result(snapshot, key, lambda: _computed(project, snapshot, tried, question, choices.measure))


def _computed(
    project: Project, snapshot: Snapshot, tried: Sequence[SetupScores], question: Labels, measure: str
) -> JudgeFigures:
    on = question.dimension
    outside = tried[0].seen_on(on)  # the same for all: everything outside the tuning part
    comparison = compare(snapshot.summaries, [*tried, *baselines(project, snapshot, outside)], on=on)
    tuning = figures(comparison, question, measure)
    keys = {each.key for each in tried}
    opened = [each for each in snapshot.evaluators if each.key in keys and each.on(question.dimension)]
    sealed = {}
    for each in opened:
        alone = compare(snapshot.summaries, [each], on=on)
        sealed[each.key] = figures(alone, question, measure).estimates[each.key]
    return JudgeFigures(
        tuning=tuning,
        sealed=sealed,
        ceiling=_ceiling(snapshot, question, comparison.counted, measure),
    )


def _ceiling(snapshot: Snapshot, question: Labels, counted: Bools, measure: str) -> Estimate | None:
    ratings = snapshot.human.on(question.key)
    turns = rater_turns(snapshot.summaries, snapshot.human, ratings, question, counted)
    found = ceiling(turns, "pooled", measure) if measure in COEFFICIENTS else decision_ceiling(turns, measure)
    return None if found.reason else found


def _tags(keys: Sequence[str], question: Labels) -> dict[str, VersionTags]:
    """Return the tags by the setup's key."""
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
        found[key] = VersionTags(
            verdicts=[(str(verdict.label), given[verdict]) for verdict in Verdict if given[verdict]],
            rating_requested=states[ReratingState.ASKED],
            rated_again=states[ReratingState.DONE],
        )
    return found
