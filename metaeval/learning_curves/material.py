"""A reader's choices on a curve's page, and its data: test articles, models, comparators, raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.database.portions import portions
from annotation.models import Project, Summary
from metaeval.comparison.comparison import Comparison, compare
from metaeval.comparison.human_ceiling import placed_turns
from metaeval.comparison.uncertainty import Column
from metaeval.learning_curves.following import FollowedCurve, FollowedModel
from metaeval.learning_curves.model_scores import held_out_articles
from metaeval.learning_curves.statistics import CurveRows
from metaeval.live.choices import ComparisonChoices
from metaeval.live.controls import Picks, picks
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Bools
from metaeval.stats.check_choice import check_choice
from scoring.models import CurveModel


@dataclass(frozen=True)
class CurveChoices(ComparisonChoices):
    """The choices of the comparison page; `only` are the comparators."""

    coefficient: str = "pearson"
    items: str = "common"


def curve_picks(
    snapshot: Snapshot, choices: CurveChoices, offered: Sequence[SetupScores], shown: Sequence[SetupScores]
) -> list[Picks]:
    """Return the check boxes; `offered` are the comparators that can be picked, `shown` those compared."""
    by_default = not choices.only
    keys = {each.key for each in shown}
    comparators = Picks(
        "only",
        "Compare with",
        "None picked: all that have scored every test article. Only summaries that all of them have scored"
        " count.",
        [
            (
                each.key,
                f"{each.label} (shown)" if by_default and each.key in keys else each.label,
                each.key in choices.only,
            )
            for each in offered
        ],
    )
    others = [each for each in picks(snapshot, choices) if each.name == "systems"]
    return [comparators, *others]


@dataclass(frozen=True, eq=False)
class CurveQuestion:
    """One question that the models score, and its rows."""

    labels: Labels
    rows: CurveRows
    models: Sequence[Sequence[FollowedModel]]
    """(shares, models) those with scores, at least one for each share."""
    others: Sequence[SetupScores]
    left_out: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class CurveMaterial:
    questions: Sequence[CurveQuestion]
    """Questions on which at least one summary has a label and all scores."""
    offered: Sequence[SetupScores]
    """The project's evaluators, without models of learning curves."""
    shown: Sequence[SetupScores]
    """The comparators."""
    seen: Mapping[str, int]
    """Reason -> test articles left out, because a comparator has seen them."""
    n_labelled: int
    """Test summaries with a label, scored or not."""


def curve_material(
    project: Project, snapshot: Snapshot, followed: FollowedCurve, choices: CurveChoices
) -> CurveMaterial:
    """Read which models are done, and return all rows. Raises DomainError for an unknown choice."""
    tested = _tested(snapshot, followed)
    of_curves = {
        str(key) for key in CurveModel.objects.filter(curve__project=project).values_list("setup", flat=True)
    }
    offered = [each for each in snapshot.evaluators if each.key not in of_curves]
    labels = snapshot.labels(choices.group, choices.labels)
    labelled = tested & ~np.all([np.isnan(each.values) for each in labels], axis=0)
    for key in choices.only:
        check_choice("evaluator", key, [each.key for each in offered])
    shown = [
        each
        for each in offered
        if (each.key in choices.only if choices.only else _scored_all(snapshot, each, labelled))
    ]
    there = {each.key: each for each in snapshot.evaluators}
    done = {
        str(each.model.setup_id): each
        for each in followed.models
        if each.is_done and str(each.model.setup_id) in there
    }
    comparison = compare(
        snapshot.summaries,
        [*(there[key] for key in done), *shown],
        language=choices.language,
        dataset=choices.dataset,
        systems=choices.systems,
        among=tested,
    )
    questions = [
        found for each in labels if done and (found := _question(snapshot, comparison, each, done, choices))
    ]
    seen = comparison.why_seen(comparison.evaluators)
    return CurveMaterial(questions, offered, shown, seen, int(labelled.sum()))


def _tested(snapshot: Snapshot, followed: FollowedCurve) -> Bools:
    """Return the summaries of the curve's test articles, (summaries,)."""
    summaries = Summary.objects.filter(project=followed.curve.project_id)
    ids = [
        pk
        for articles in portions(held_out_articles(followed.curve))
        for pk in summaries.filter(article__in=articles).values_list("pk", flat=True)
    ]
    found: Bools = np.isin(snapshot.summary_ids, ids)
    return found


def _scored_all(snapshot: Snapshot, evaluator: SetupScores, labelled: Bools) -> bool:
    """Return whether the evaluator has a score in every article with a labelled summary."""
    scored = np.zeros(len(labelled), dtype=bool)
    for scores in evaluator.scores.values():
        scored |= ~np.isnan(scores.values)
    articles = snapshot.summaries.articles
    return not np.setdiff1d(articles[labelled], articles[labelled & scored]).size


def _question(
    snapshot: Snapshot,
    comparison: Comparison,
    labels: Labels,
    done: Mapping[str, FollowedModel],
    choices: CurveChoices,
) -> CurveQuestion | None:
    """Return the rows of one question; None if no model scores it, or nothing has a label and all scores."""
    column = comparison.column(labels, "common")
    models = [(place, done[each.key]) for place, each in enumerate(column.evaluators) if each.key in done]
    if not models:
        return None
    complete = ~np.isnan(column.rows.labels) & ~np.isnan(column.rows.scores).any(axis=0)
    if not complete.any():
        return None
    shares = sorted({each.model.share for _, each in models})
    by_share = [[(place, each) for place, each in models if each.model.share == share] for share in shares]
    others = [place for place, each in enumerate(column.evaluators) if each.key not in done]
    method = choices.method(is_live=snapshot.is_live)
    figure = comparison.figure(
        column.evaluators[models[0][0]],
        labels,
        method.level,
        method.coefficient,
        "common",
        method.constant,
    )
    return CurveQuestion(
        labels=labels,
        rows=_rows(
            snapshot,
            comparison,
            column,
            complete,
            [[place for place, _ in each] for each in by_share],
            others,
            choices.group,
        ),
        models=[[each for _, each in members] for members in by_share],
        others=[column.evaluators[place] for place in others],
        left_out=figure.estimate.left_out,
    )


def _rows(
    snapshot: Snapshot,
    comparison: Comparison,
    column: Column,
    complete: Bools,
    shares: Sequence[Sequence[int]],
    others: Sequence[int],
    group: str,
) -> CurveRows:
    turned = np.array([1 if each.higher_is_better else -1 for each in column.evaluators])
    rows = replace(column.rows, scores=column.rows.scores * turned[:, None]).at(complete)
    places = np.flatnonzero(comparison.counted)[complete]
    common = np.zeros(len(snapshot.summaries), dtype=bool)
    common[places] = True
    scores = np.full((len(turned), len(common)), np.nan)
    scores[:, places] = rows.scores
    labels, human = column.labels, snapshot.human
    turns = placed_turns(snapshot.summaries, human, human.on(labels.key), labels, common, group)
    return CurveRows(
        rows=rows,
        shares=[np.array(each) for each in shares],
        others=others,
        rule=labels.rule,
        turns=[turn.with_scores(np.vstack([turn.scores, scores[:, found]])) for turn, found in turns],
    )
