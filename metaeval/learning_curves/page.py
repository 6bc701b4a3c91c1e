"""The page of a learning curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from annotation.models import Project
from metaeval.charts import Measured, learning_curve
from metaeval.comparison import pending
from metaeval.comparison.comparison import GUARD
from metaeval.export.chart import Chart
from metaeval.learning_curves.following import FollowedCurve
from metaeval.learning_curves.material import CurveChoices, CurveMaterial, curve_material, curve_picks
from metaeval.learning_curves.report import CurveFigures, curve_figures
from metaeval.learning_curves.statistics import curve_statistics
from metaeval.live.background import LONG, Key
from metaeval.live.controls import controls
from metaeval.live.results_page import ComparedPage
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import each_once
from scoring.contract.params import ShownParam, params_in_words, undeclared_params
from scoring.trainers import TRAINERS, load_trainer

TRAINED = (
    "Learning curve: {title}, trained on {shares} of the training articles, {models} models in all, compared"
    " on {articles:,} test articles that none of them has seen. A smaller share is a part of each larger one"
    " of the same seed. Another seed takes other articles, begins with other new weights, and reads the"
    " examples in another order."
)


@dataclass(frozen=True, kw_only=True)
class CurvePage(ComparedPage):
    is_for_one_look = True

    followed: FollowedCurve
    material: CurveMaterial
    figures: Sequence[CurveFigures] | None
    """One for each question; None while they are being computed."""

    @property
    def address_ids(self) -> tuple[int, ...]:
        """The ids in the addresses of the page's files."""
        return (self.followed.curve.pk,)

    @property
    def waits(self) -> int:
        return self.figures is None

    @property
    def intervals_of(self) -> str:
        """Always empty: figures and their intervals are of the same revision."""
        return ""

    @property
    def examples(self) -> str:
        """Return the name of the models' training examples, in the plural."""
        return examples_in_words(self.followed)

    @property
    def title(self) -> str:
        """The method's title; its name if this version no longer has it."""
        method = self.followed.curve.method
        return load_trainer(method).title if method in TRAINERS else method

    @property
    def params(self) -> Sequence[ShownParam]:
        """The parameters that all trainings share."""
        curve = self.followed.curve
        if curve.method not in TRAINERS:
            return undeclared_params(curve.params)
        varied = params_in_words(load_trainer(curve.method), curve.params)
        return [each for each in varied if each.name in curve.params]

    @property
    def paragraphs(self) -> Sequence[str]:
        if not self.figures:
            return ()
        curve = self.followed.curve
        evaluators = [each for question in self.material.questions for each in question.others]
        trained = TRAINED.format(
            title=self.title,
            shares=", ".join(share for share, _ in self.followed.by_share),
            models=len(self.followed.models),
            articles=len(curve.test_articles),
        )
        return [trained, *self.paragraphs_on(list(dict.fromkeys(evaluators)))]

    @property
    def charts(self) -> Sequence[Chart]:
        return [self._chart(each) for each in self.figures or ()]

    @property
    def sentences(self) -> list[tuple[str, list[str]]]:
        """Return each question with a sentence per comparator: the examples needed to be better."""
        return [
            (each.labels.title, [each.verdict(other, self.examples) for other in each.comparators])
            for each in self.figures or ()
        ]

    def _chart(self, figures: CurveFigures) -> Chart:
        name, method = self.followed.curve.name, figures.method
        levels = [each for each in figures.comparators if not each.estimate.reason]
        return Chart(
            figures.chart_name,
            (name, method.level, method.coefficient),
            lambda: learning_curve(
                [each.examples for each in figures.shares],
                [Measured.of(each.share, each.estimate) for each in figures.shares],
                [Measured.of(each.name, each.estimate) for each in levels],
                title=f"{name}: agreement with human labels, {figures.labels.title}",
                across_title=f"Training {self.examples}",
                up_title=f"{COEFFICIENTS[method.coefficient].label}, {LEVELS[method.level].label}",
                name=f"{self.title}, mean over seeds",
                left_out=GUARD,
            ),
            figures.rows,
            f"{figures.labels.title}; band and vertical lines: 95% intervals.",
        )


def page_now(project: Project, followed: FollowedCurve, choices: CurveChoices) -> CurvePage:
    """Return the page at once, with its figures if they are ready.

    Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    return _page(project, snapshot, followed, choices, pending.wait_for(snapshot))


def whole_page(project: Project, followed: FollowedCurve, choices: CurveChoices) -> CurvePage:
    """Return the page with all figures. Raises as `page_now`."""
    return _page(project, snapshot_of(project), followed, choices, None)


def waiting_keys(project: Project, followed: FollowedCurve, choices: CurveChoices) -> list[Key]:
    """Return the key of the figures of the current revision."""
    return [_key(project, project.revision, followed, choices)]


def examples_in_words(followed: FollowedCurve) -> str:
    """Return what the models learnt from, in the plural."""
    method = followed.curve.method
    return load_trainer(method).examples if method in TRAINERS else "examples"


def _page(
    project: Project, snapshot: Snapshot, followed: FollowedCurve, choices: CurveChoices, wait_s: float | None
) -> CurvePage:
    material = curve_material(project, snapshot, followed, choices)
    method = choices.method(is_live=snapshot.is_live)
    key = _key(project, snapshot.revision, followed, choices)
    figures = LONG.result(key, partial(_figures, material, method), wait_s) if material.questions else []
    return CurvePage(
        followed=followed,
        material=material,
        figures=figures,
        snapshot=snapshot,
        choices=choices,
        controls=controls(snapshot, choices),
        picks=curve_picks(snapshot, choices, material.offered, material.shown),
        definitions=each_once(
            [*(sentence for each in figures or () for sentence in each.definitions), GUARD]
        ),
        seen=material.seen,
    )


def _figures(material: CurveMaterial, method: Method) -> list[CurveFigures]:
    return [curve_figures(each, curve_statistics(each.rows, method), method) for each in material.questions]


def _key(project: Project, revision: int, followed: FollowedCurve, choices: CurveChoices) -> Key:
    done = tuple(each.model.setup_id for each in followed.models if each.is_done)
    return Key.of(project, revision, "learning curve", followed.curve.pk, done, choices)
