"""The summaries behind the figures: those of a region of the plot, and the numbers of one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import protocol
from annotation.errors import DomainError
from annotation.models import Summary
from annotation.permissions import Permission
from annotation.summaries.find_summaries import summary_in
from annotation.summaries.summary_trail import SummaryTrail
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.disagreements.pair_choices import ListChoices, Pair, chosen_pair, list_controls, pairs_of
from metaeval.disagreements.ranked_pairs import RankedPairs
from metaeval.disagreements.ranked_rows import ranked_rows
from metaeval.disagreements.votes import Votes, votes_on
from metaeval.live.choices import Control
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.check_choice import check_choice
from metaeval.stats.scores.percentiles import percentile_of
from scoring.models import Score

SORTS = {
    "-apart": "largest disagreement first",
    "-score": "highest score first",
    "score": "lowest score first",
    "-label": "highest label first",
    "label": "lowest label first",
}


@dataclass(frozen=True)
class RegionChoices(ListChoices):
    only: tuple[str, ...] = ()
    """Keys of the compared evaluators, whose seen articles are left out; none for all."""
    score_from: str = ""
    score_to: str = ""
    label_from: str = ""
    label_to: str = ""
    """Ends of the region, included; empty for none."""
    sort: str = "-apart"


@dataclass(frozen=True, eq=False)
class RegionPage:
    choices: RegionChoices
    pair: Pair
    controls: Sequence[Control]
    pairs: RankedPairs
    seen: dict[str, int]
    listed: Ints
    """Indices among the pairs."""

    @property
    def limits(self) -> list[str]:
        """The region in words; empty if it has no ends."""
        ends = (
            ("score", self.choices.score_from, self.choices.score_to),
            ("label", self.choices.label_from, self.choices.label_to),
        )
        return [f"{name} {_in_words(low, high)}" for name, low, high in ends if low or high]


def region_page(snapshot: Snapshot, choices: RegionChoices) -> RegionPage | None:
    """Return the page for these choices; None if no evaluator scores any question yet.

    Raises DomainError for a choice that does not exist or an end that is not a number.
    """
    check_choice("sort", choices.sort, tuple(SORTS))
    pair = chosen_pair(snapshot, choices)
    if pair is None:
        return None
    pairs, seen = pairs_of(snapshot, choices, pair)
    inside = _between(pairs.scores, choices, "score") & _between(pairs.labels, choices, "label")
    return RegionPage(
        choices=choices,
        pair=pair,
        controls=[
            *list_controls(snapshot, choices, pair),
            Control("sort", "Order", list(SORTS.items()), choices.sort),
        ],
        pairs=pairs,
        seen=seen,
        listed=_sorted(pairs, np.flatnonzero(inside), choices.sort),
    )


def _between(values: Floats, choices: RegionChoices, name: str) -> np.ndarray:
    low = _number(f"{name}_from", getattr(choices, f"{name}_from"), -math.inf)
    high = _number(f"{name}_to", getattr(choices, f"{name}_to"), math.inf)
    return (values >= low) & (values <= high)


def _number(name: str, text: str, none: float) -> float:
    if not text:
        return none
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise DomainError(f"{name}: found {text[:40]!r}, expected a number")
    return number


def _sorted(pairs: RankedPairs, places: Ints, sort: str) -> Ints:
    """Return the indices sorted, ties in the order of summaries."""
    by = {"apart": np.abs(pairs.ahead), "score": pairs.scores, "label": pairs.labels}[sort.removeprefix("-")]
    keys = -by[places] if sort.startswith("-") else by[places]
    return places[np.argsort(keys, kind="stable")]


def _in_words(low: str, high: str) -> str:
    if low and high:
        return low if low == high else f"from {low} to {high}"
    return f"{low} or more" if low else f"{high} or less"


@dataclass(frozen=True)
class Standing:
    """The percentile of a number among `n` summaries, from 0 to 1 (best)."""

    percentile: float
    n: int


@dataclass(frozen=True)
class LabelRow:
    question: protocol.Question
    value: float
    votes: Votes
    standing: Standing


@dataclass(frozen=True)
class ScoreRow:
    score: Score
    standing: Standing | None
    """The rank of the score; None without a score, or for a summary that is not rated, such as gold."""


@dataclass(frozen=True)
class SummaryScores:
    labels: Sequence[LabelRow]
    """One for each question with a label."""
    scores: Sequence[ScoreRow]


def labels_and_scores(snapshot: Snapshot, summary: Summary) -> SummaryScores:
    """Return the labels by question, and the scores by evaluator and dimension."""
    place = _place(snapshot, summary.pk)
    scores = Score.objects.filter(summary=summary).select_related("setup")
    return SummaryScores(
        labels=[] if place is None else _labels(snapshot, place),
        scores=[
            ScoreRow(score, None if place is None else _score_standing(snapshot, place, score))
            for score in scores.order_by("setup__label", "setup", "dimension")
        ],
    )


def _place(snapshot: Snapshot, summary_id: int) -> int | None:
    place = int(np.searchsorted(snapshot.summary_ids, summary_id))
    is_there = place < len(snapshot.summary_ids) and snapshot.summary_ids[place] == summary_id
    return place if is_there else None


def _labels(snapshot: Snapshot, place: int) -> list[LabelRow]:
    rows = []
    for labels, ratings in zip(snapshot.labels(), snapshot.human.questions, strict=True):
        standing = _standing(labels.values, place)
        if standing is not None:
            votes = votes_on(snapshot.human, ratings, [place])[place]
            rows.append(LabelRow(ratings.question, float(labels.values[place]), votes, standing))
    return rows


def _score_standing(snapshot: Snapshot, place: int, score: Score) -> Standing | None:
    evaluator = next((each for each in snapshot.evaluators if each.key == str(score.setup_id)), None)
    if evaluator is None or score.dimension not in evaluator.scores:
        return None  # the snapshot is older than this score
    values = evaluator.scores[score.dimension].values
    return _standing(values if evaluator.higher_is_better else -values, place)


def _standing(values: Floats, place: int) -> Standing | None:
    if np.isnan(values[place]):
        return None
    return Standing(percentile_of(float(values[place]), values), int((~np.isnan(values)).sum()))


ROWS_ON_A_PAGE = 25


@require_safe
def comparison_summaries(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    snapshot = snapshot_of(project)
    region = region_page(snapshot, RegionChoices.read(request.GET))
    if region is None:
        return render(request, "metaeval/disagreements/summaries.html", {"region": None})
    page = Paginator(region.listed, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    rows = ranked_rows(project, snapshot, region.pairs, list(page), region.choices.group)
    context = {
        "region": region,
        "page": page,
        "rows": rows,
        "query": region.choices.address().removeprefix("?"),
        "trail": SummaryTrail.of([row.summary.pk for row in rows], request.get_full_path()),
    }
    return render(request, "metaeval/disagreements/summaries.html", context)


@require_safe
def summary_scores(request: SignedInRequest, slug: str, summary_id: int) -> HttpResponse:
    """Show all labels and scores of one summary; for htmx only the tables."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    summary = summary_in(project, summary_id)
    context = {"summary": summary, "found": labels_and_scores(snapshot_of(project), summary)}
    template = "metaeval/disagreements/summary_scores.html"
    return render(request, f"{template}#scores" if request.htmx else template, context)
