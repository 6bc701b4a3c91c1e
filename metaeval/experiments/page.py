"""The page of an experiment: its members' figures, and what is said about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Project
from metaeval import page_background
from metaeval.background import LONG, Key
from metaeval.choices import Control, MetaevalChoices
from metaeval.comparison import MetaevalTable
from metaeval.experiments.choices import ExperimentChoices, experiment_controls, experiment_picks
from metaeval.experiments.figures import experiment_charts
from metaeval.experiments.report import QuestionFigures, in_figures, question_figures
from metaeval.experiments.systems import NamedSystems, named_systems
from metaeval.experiments.wins import Wins, wins
from metaeval.export.chart import Chart
from metaeval.judgements import Evaluator
from metaeval.metaeval_controls import Picks, method_controls
from metaeval.page_background import AsOf
from metaeval.points import Points, points_of
from metaeval.significance_table import SignificanceTable, significance_table
from metaeval.snapshot import Snapshot, snapshot_of
from metaeval.stats import spread
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.uncertainty import Column, Uncertainty
from scoring.families.following import Followed, MemberRun
from scoring.models import RunFamily


@dataclass(frozen=True)
class Results:
    """What is known of the members that are done, of which there is one at least."""

    questions: Sequence[QuestionFigures]
    significance: SignificanceTable | None
    wins: Wins | None
    systems: NamedSystems
    compared: Sequence[Evaluator]
    seen: Mapping[str, int]
    """Reason -> articles left out for all members because one has seen them."""
    definitions: Sequence[str]
    n_labelled: int
    n_articles: int
    is_computed: bool
    """Whether there are intervals and tests, of this revision or an earlier one."""
    intervals_of: str
    """The earlier revision that they are of, in words; empty for this one."""
    has_wins_of_now: bool

    @property
    def n_seen(self) -> int:
        return sum(self.seen.values())

    @property
    def said_of_intervals(self) -> str:
        """What a reader must know of them; empty for those of this revision."""
        if self.intervals_of:
            return f"as of {self.intervals_of}"
        return "" if self.is_computed else "being computed"


@dataclass(frozen=True)
class ExperimentPage:
    followed: Followed
    snapshot: Snapshot
    choices: ExperimentChoices
    comparison: MetaevalChoices
    """The Comparison page's choices for the same figures."""
    controls: Sequence[Control]
    method_controls: Sequence[Control]
    picks: Sequence[Picks]
    results: Results | None
    """None as long as no member is done."""
    charts: Sequence[Chart]
    """Every chart of the page, which are also files."""

    @property
    def compared(self) -> Sequence[Evaluator]:
        return self.results.compared if self.results else ()

    @property
    def definitions(self) -> Sequence[str]:
        return self.results.definitions if self.results else ()

    @property
    def seen(self) -> Mapping[str, int]:
        return self.results.seen if self.results else {}

    @property
    def of_seeds(self) -> bool:
        return self.followed.family.kind == RunFamily.Kind.SEEDS

    @property
    def spread_definition(self) -> str:
        return spread.DEFINITION

    @property
    def intervals_of(self) -> str:
        return self.results.intervals_of if self.results else ""

    @property
    def waits(self) -> int:
        """Results from the background that are still being computed."""
        found = self.results
        if found is None:
            return 0
        return (not found.is_computed or bool(found.intervals_of)) + (not found.has_wins_of_now)

    @property
    def level(self) -> str:
        return LEVELS[self.choices.level].label

    @property
    def coefficient(self) -> str:
        return COEFFICIENTS[self.choices.coefficient].label

    @property
    def test(self) -> str:
        return TESTS[self.choices.test].label if self.choices.test in TESTS else ""


def page_now(project: Project, followed: Followed, choices: ExperimentChoices) -> ExperimentPage:
    """The page as it can be shown at once: values first, and what else there is by now.

    Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    return _page(project, snapshot, followed, choices, page_background.wait_for(snapshot))


def whole_page(project: Project, followed: Followed, choices: ExperimentChoices) -> ExperimentPage:
    """The page with its intervals and tests, however long they take. Raises as `page_now`."""
    return _page(project, snapshot_of(project), followed, choices, None)


def waiting_keys(project: Project, followed: Followed, choices: ExperimentChoices) -> list[Key]:
    """What the page of the project's present revision may wait for."""
    members = in_figures(followed, [each.key for each in snapshot_of(project).evaluators])
    compared = choices.compared(list(members))
    return [
        page_background.uncertainties_key(project, project.revision, compared),
        _wins_key(project, project.revision, followed, compared),
    ]


def _page(
    project: Project,
    snapshot: Snapshot,
    followed: Followed,
    choices: ExperimentChoices,
    wait_s: float | None,
) -> ExperimentPage:
    members = in_figures(followed, [each.key for each in snapshot.evaluators])
    comparison = choices.compared(list(members))
    # Without a member nobody is compared; for the Comparison an empty choice stands for all.
    points = points_of(snapshot, comparison) if members else None
    results = None
    shown = None
    if points:
        shown = _question(points.table, choices)
        found = page_background.uncertainties(project, snapshot, points.table, comparison, wait_s)
        won = _wins(project, snapshot, followed, shown, members, comparison, wait_s)
        results = _results(snapshot, points, members, choices, shown, found, won)
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
        charts=experiment_charts(followed.family, results.questions, intervals=results.said_of_intervals)
        if results
        else [],
    )


def _results(
    snapshot: Snapshot,
    points: Points,
    members: Mapping[str, MemberRun],
    choices: ExperimentChoices,
    shown: Column,
    found: AsOf[Sequence[Uncertainty]] | None,
    won: AsOf[Wins] | None,
) -> Results:
    table = points.table
    uncertain = found.result if found else None
    questions = question_figures(table, members, uncertain)
    systems = named_systems(table.comparison, shown.labels, members, choices.named, choices.items)
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
        compared=table.comparison.evaluators,
        seen=table.comparison.seen,
        definitions=list(dict.fromkeys(sentences)),
        n_labelled=points.n_labelled,
        n_articles=points.n_articles,
        is_computed=uncertain is not None,
        intervals_of=found.earlier_than(snapshot) if found else "",
        has_wins_of_now=won is not None and not won.earlier_than(snapshot),
    )


def _question(table: MetaevalTable, choices: ExperimentChoices) -> Column:
    """The column of the tables of pairs and systems: the chosen one or, if nobody scores it, the first that
    somebody does."""
    scored = [column for column in table.columns if column.evaluators] or list(table.columns)
    return next((column for column in scored if column.labels.key == choices.question), scored[0])


def _wins(
    project: Project,
    snapshot: Snapshot,
    followed: Followed,
    shown: Column,
    members: Mapping[str, MemberRun],
    compared: MetaevalChoices,
    wait_s: float | None,
) -> AsOf[Wins] | None:
    beside = (shown.labels.key, *members)
    return page_background.present_or_latest(
        LONG,
        _wins_key(project, snapshot.revision, followed, compared),
        lambda: AsOf(snapshot.revision, snapshot.n_ratings, beside, wins(shown, members, compared.method)),
        beside,
        wait_s,
    )


def _wins_key(project: Project, revision: int, followed: Followed, compared: MetaevalChoices) -> Key:
    return Key(project.pk, revision, ("wins", followed.family.pk, compared))
