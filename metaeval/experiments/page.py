"""The page of an experiment, and what a reader may choose on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

from annotation.models import Project
from metaeval.comparison import pending
from metaeval.comparison.comparison import ComparisonTable
from metaeval.comparison.pending import AsOf
from metaeval.comparison.report import Points, point_values_of
from metaeval.comparison.significance_table import SignificanceTable, significance_table
from metaeval.comparison.uncertainty import Column, Uncertainty
from metaeval.experiments.figures import experiment_charts
from metaeval.experiments.following import Followed, MemberRun
from metaeval.experiments.report import QuestionFigures, finished_members, question_figures
from metaeval.experiments.systems import NamedSystems, named_systems
from metaeval.experiments.wins import Wins, wins
from metaeval.export.chart import Chart
from metaeval.live.background import LONG, ComputationProgress, Key, progress_of
from metaeval.live.choices import ComparisonChoices, Control
from metaeval.live.controls import Picks, controls, method_controls, picks
from metaeval.live.results_page import ComparedPage
from metaeval.snapshot.arrays import Labels
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats import spread
from metaeval.stats.result import each_once
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID
from scoring.models import Experiment


@dataclass(frozen=True)
class ExperimentChoices(ComparisonChoices):
    """The choices of the comparison page; by default only summaries that all members have scored count."""

    items: str = "common"
    named: tuple[str, ...] = ()
    """Names of the systems in the table of systems; none for all."""

    def compared(self, keys: Sequence[str]) -> ComparisonChoices:
        """Return the same choices for the comparison page, with these evaluators."""
        shared = {field.name: getattr(self, field.name) for field in fields(ComparisonChoices)}
        return replace(ComparisonChoices(**shared), only=tuple(keys), evaluator="")


def experiment_controls(
    snapshot: Snapshot, choices: ExperimentChoices, shown: Labels | None, columns: Sequence[Labels]
) -> list[Control]:
    """Return the menus. `shown` is the question of the tables of pairs and systems."""
    questions = [(each.key, each.title) for each in columns]
    of_tables = Control("question", "Question of tables", questions, shown.key if shown else "")
    return [*controls(snapshot, choices), of_tables]


def experiment_picks(snapshot: Snapshot, choices: ExperimentChoices) -> list[Picks]:
    names = snapshot.summaries.system_names
    named = Picks(
        "named",
        "Systems shown",
        "In the table of systems. None picked: all.",
        [(name, name, name in choices.named) for name in names],
    )
    return [*(each for each in picks(snapshot, choices) if each.name != "only"), named]


@dataclass(frozen=True)
class Results:
    """The results of the finished members, at least one."""

    questions: Sequence[QuestionFigures]
    significance: SignificanceTable | None
    wins: Wins | None
    systems: NamedSystems
    points: Points
    definitions: Sequence[str]
    is_computed: bool
    """True if there are intervals and tests, of this revision or an earlier one."""
    intervals_of: str
    """The earlier revision that they belong to, in words; empty for this one."""
    progress: ComputationProgress
    """The number of questions with those of this revision, while they are being computed."""
    has_current_wins: bool

    @property
    def n_seen(self) -> int:
        return self.points.table.comparison.n_seen

    @property
    def interval_remark(self) -> str:
        """A remark on the intervals; empty for those of this revision."""
        if self.intervals_of:
            return f"as of {self.intervals_of}"
        return "" if self.is_computed else "being computed"


@dataclass(frozen=True, kw_only=True)
class ExperimentPage(ComparedPage):
    followed: Followed
    choices: ExperimentChoices
    comparison: ComparisonChoices
    """The same choices for the comparison page."""
    method_controls: Sequence[Control]
    results: Results | None
    """Figures of the finished members; None until one is done."""

    @property
    def address_ids(self) -> tuple[int, ...]:
        """The ids in the addresses of the page's files."""
        return (self.followed.experiment.pk,)

    @property
    def charts(self) -> Sequence[Chart]:
        found = self.results
        if found is None:
            return ()
        return experiment_charts(self.followed, found.questions, intervals=found.interval_remark)

    @property
    def paragraphs(self) -> Sequence[str]:
        return self.paragraphs_on(self.results.points.compared) if self.results else ()

    @property
    def of_seeds(self) -> bool:
        return self.followed.experiment.kind == Experiment.Kind.SEEDS

    @property
    def spread_definition(self) -> str:
        return spread.DEFINITION

    @property
    def intervals_of(self) -> str:
        return self.results.intervals_of if self.results else ""

    @property
    def progress(self) -> ComputationProgress | None:
        return self.results.progress if self.results else None

    @property
    def waits(self) -> int:
        found = self.results
        if found is None:
            return 0
        is_pending = not found.is_computed or bool(found.intervals_of)
        return (found.progress.left if is_pending else 0) + (not found.has_current_wins)


def page_now(project: Project, followed: Followed, choices: ExperimentChoices) -> ExperimentPage:
    """Return the page at once, with the intervals and tests that are ready.

    Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    return _page(project, snapshot, followed, choices, pending.wait_for(snapshot))


def whole_page(project: Project, followed: Followed, choices: ExperimentChoices) -> ExperimentPage:
    """Return the page with all intervals and tests. Raises as `page_now`."""
    return _page(project, snapshot_of(project), followed, choices, None)


def waiting_keys(project: Project, followed: Followed, choices: ExperimentChoices) -> list[Key]:
    """Return the keys of the background results of the current revision."""
    members = finished_members(followed, [each.key for each in snapshot_of(project).evaluators])
    compared = choices.compared(list(members))
    return [
        pending.uncertainties_key(project, project.revision, compared),
        _wins_key(project, project.revision, followed, compared),
    ]


def _page(
    project: Project, snapshot: Snapshot, followed: Followed, choices: ExperimentChoices, wait_s: float | None
) -> ExperimentPage:
    members = finished_members(followed, [each.key for each in snapshot.evaluators])
    comparison = choices.compared(list(members))
    # For the comparison page an empty choice of evaluators means all.
    points = point_values_of(snapshot, comparison) if members else None
    results = None
    shown = None
    if points:
        shown = _question(points.table, choices)
        found = pending.uncertainties(project, snapshot, points.table, comparison, wait_s)
        won = _wins(project, snapshot, followed, shown, members, comparison, wait_s)
        key = pending.uncertainties_key(project, snapshot.revision, comparison)
        results = _results(snapshot, points, members, choices, shown, found, progress_of(key), won)
    return ExperimentPage(
        followed=followed,
        snapshot=snapshot,
        choices=choices,
        comparison=comparison,
        controls=experiment_controls(
            snapshot,
            choices,
            shown.labels if shown else None,
            [column.labels for column in points.table.columns] if points else [],
        ),
        method_controls=method_controls(choices),
        picks=experiment_picks(snapshot, choices),
        results=results,
        definitions=results.definitions if results else (),
        seen=points.table.comparison.seen if points else {},
    )


def _results(
    snapshot: Snapshot,
    points: Points,
    members: Mapping[str, MemberRun],
    choices: ExperimentChoices,
    shown: Column,
    found: AsOf[Sequence[Uncertainty]] | None,
    progress: ComputationProgress | None,
    won: AsOf[Wins] | None,
) -> Results:
    table = points.table
    uncertain = found.result if found else None
    questions = question_figures(table, members, uncertain)
    systems = named_systems(
        table.comparison,
        shown.labels,
        members,
        choices.named,
        choices.items,
        at_every_look=table.method.interval == ALWAYS_VALID,
    )
    sentences = [
        *(
            sentence
            for each in questions
            for figure in each.figures
            for sentence in figure.figure.definitions
        ),
        *(sentence for _, means in systems.rows for mean in means for sentence in mean.figure.definitions),
    ]
    return Results(
        questions=questions,
        significance=significance_table(
            table, uncertain, shown.labels.key, {key: member.label for key, member in members.items()}
        )
        if uncertain
        else None,
        wins=won.result if won and len(won.result.names) > 1 else None,
        systems=systems,
        points=points,
        definitions=each_once(sentences),
        is_computed=uncertain is not None,
        intervals_of=found.earlier_than(snapshot) if found else "",
        progress=progress or ComputationProgress(0, 1),
        has_current_wins=won is not None and not won.earlier_than(snapshot),
    )


def _question(table: ComparisonTable, choices: ExperimentChoices) -> Column:
    """Return the chosen column or, if no member scores it, the first that one does."""
    scored = [column for column in table.columns if column.evaluators] or list(table.columns)
    return next((column for column in scored if column.labels.key == choices.question), scored[0])


def _wins(
    project: Project,
    snapshot: Snapshot,
    followed: Followed,
    shown: Column,
    members: Mapping[str, MemberRun],
    compared: ComparisonChoices,
    wait_s: float | None,
) -> AsOf[Wins] | None:
    key, scope = _wins_key(project, snapshot.revision, followed, compared), (shown.labels.key, *members)
    compute = partial(wins, shown, members, compared.method(is_live=snapshot.is_live))
    return pending.present_or_latest(LONG, key, snapshot, scope, compute, wait_s)


def _wins_key(project: Project, revision: int, followed: Followed, compared: ComparisonChoices) -> Key:
    return Key.of(project, revision, "wins", followed.experiment.pk, compared)
