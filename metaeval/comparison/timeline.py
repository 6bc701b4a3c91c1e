"""A figure over the campaign: what a reader would have seen at earlier looks, and when it was settled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np
from django.db.models import Min

from annotation.models import Project, Rating
from metaeval.charts.campaign_line import campaign_line
from metaeval.charts.measured_rows import Measured
from metaeval.comparison.page import chosen_pair
from metaeval.comparison.report import comparison_table
from metaeval.export.chart import Chart
from metaeval.live.background import LONG, SOON, Key, queue_of
from metaeval.live.choices import ComparisonChoices, Control
from metaeval.live.controls import controls, picks
from metaeval.live.results_page import ComparedPage
from metaeval.snapshot.arrays import Labels, SetupScores
from metaeval.snapshot.database_rows import places_of, whole_numbers
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.arrays import Bools, Floats
from metaeval.stats.correlation.constant_scores import coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Interval, or_none
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID, intervals

FIRST_LOOK = 10
"""Articles at the first look; there are no intervals before."""
GROWTH = 1.25
"""The factor by which the articles grow from one look to the next."""
AT_ONE_LOOK = "jackknife_articles"
NOTHING = {"pearson": 0.0, "spearman": 0.0, "kendall_b": 0.0, "kendall_c": 0.0, "roc_auc": 0.5}
"""Coefficient -> its value for scores without any relation to the labels. For pairwise accuracy it depends on
ties."""
SETTLED = " It is settled at the first look whose always-valid interval excludes {nothing:g}."
DEFINITION = (
    "The campaign looked back on: at each look those summaries whose first rating was finished by then, with"
    " their labels and scores of today. Looks are at 10 articles with a label and a score, and whenever there"
    " are a quarter more.{settled} Imported ratings without a time count as finished when they were imported."
)


@dataclass(frozen=True)
class Look:
    """A figure as it stood when so many articles were rated."""

    articles: int
    summaries: int
    at: datetime
    """Time of the latest first rating of a summary."""
    value: float
    """The coefficient; nan if undefined."""
    always: Interval
    """The interval that holds at every look."""
    once: Interval
    """The interval for a single look."""

    def excludes(self, nothing: float) -> bool:
        """Return whether the always-valid interval excludes the value where nothing is there."""
        return self.always.low > nothing or self.always.high < nothing

    def as_json(self) -> dict[str, object]:
        """Return the row of a file."""
        return {
            "articles": self.articles,
            "summaries": self.summaries,
            "at": self.at.isoformat(),
            "value": or_none(self.value),
            "low": or_none(self.always.low),
            "high": or_none(self.always.high),
            "low_at_one_look": or_none(self.once.low),
            "high_at_one_look": or_none(self.once.high),
            "interval_reason": self.always.reason,
        }


@dataclass(frozen=True, kw_only=True)
class TimelinePage(ComparedPage):
    evaluator: SetupScores | None
    """The chosen evaluator; None if no evaluator has scores."""
    question: Labels | None
    looks_back: Sequence[Look] | None
    """The looks in order; None while they are being computed."""

    @property
    def waits(self) -> int:
        return self.looks_back is None

    @property
    def looks(self) -> str:
        """Always empty: both kinds of intervals are shown."""
        return ""

    @property
    def nothing(self) -> float | None:
        """The value of the coefficient where nothing is there; None if it depends on the labels."""
        return NOTHING.get(self.choices.coefficient)

    @property
    def settled(self) -> Look | None:
        """The first look at which it is settled that something is there."""
        if self.nothing is None:
            return None
        return next((look for look in self.looks_back or () if look.excludes(self.nothing)), None)

    @property
    def last_reason(self) -> str:
        """Return why the last look has no interval that holds at every look; empty if it has one."""
        return self.looks_back[-1].always.reason if self.looks_back else ""

    @property
    def charts(self) -> Sequence[Chart]:
        if self.looks_back is None or self.evaluator is None or self.question is None:
            return ()
        looks = self.looks_back
        settled = self.settled
        name = f"{self.evaluator.label}, {self.question.title}"

        def draw() -> str:
            return campaign_line(
                [look.articles for look in looks],
                [_measured(look, look.always) for look in looks],
                [_measured(look, look.once) for look in looks],
                nothing=self.nothing,
                settled=settled.articles if settled else None,
                title=f"{name}: agreement with human labels over the campaign",
                up_title=f"{self.coefficient}, {self.level}",
            )

        caption = "Wide band: 95% interval that holds at every look, if there is one. Narrow: for one look."
        about = self.evaluator.label, self.question.key
        return [Chart("timeline", about, draw, lambda: [look.as_json() for look in looks], caption)]


def timeline_page(project: Project, choices: ComparisonChoices, wait_s: float | None = SOON) -> TimelinePage:
    """Return the page of one evaluator and question, without looks if these take over `wait_s` seconds.

    Raises DomainError for a choice that does not exist.
    """
    snapshot = snapshot_of(project)
    method = choices.method(is_live=snapshot.is_live)
    table = comparison_table(snapshot, choices, method)
    pair = chosen_pair(table, choices)
    evaluator, labels = pair or (None, None)
    looks: Sequence[Look] | None = ()
    if evaluator and labels:
        column = table.comparison.column(labels, method.items)
        place = [each.key for each in column.evaluators].index(evaluator.key)
        counted = ~column.seen[place]
        rows = column.rows.with_scores(column.rows.scores[[place]]).at(counted)
        rated = first_rated(project, snapshot)[table.comparison.counted][counted]
        key = Key.of(project, snapshot.revision, "timeline", choices)
        looks = queue_of(key, LONG).result(key, partial(looks_back, rows, rated, method), wait_s)
    compared = [(each.key, each.label) for each in table.comparison.evaluators]
    questions = [(each.labels.key, each.labels.title) for each in table.columns]
    return TimelinePage(
        snapshot=snapshot,
        choices=choices,
        controls=[
            Control("evaluator", "Evaluator", compared, evaluator.key if evaluator else ""),
            Control("question", "Question", questions, labels.key if labels else ""),
            *controls(snapshot, choices),
        ],
        picks=picks(snapshot, choices),
        evaluator=evaluator,
        question=labels,
        looks_back=looks,
        definitions=_definitions(looks, labels, NOTHING.get(choices.coefficient)),
        seen=table.comparison.why_seen([evaluator]) if evaluator else {},
    )


def first_rated(project: Project, snapshot: Snapshot) -> Floats:
    """Return when each summary's first rating that counts was finished, (summaries,) seconds, or nan."""
    times = np.full(len(snapshot.summary_ids), np.nan)
    rated = Rating.objects.countable().filter(summary__project=project)
    found = list(rated.order_by().values_list("summary_id").annotate(first=Min("completed_at")))
    known = whole_numbers(summary for summary, _ in found)
    there = np.isin(known, snapshot.summary_ids)
    moments = np.array([first.timestamp() for _, first in found])
    times[places_of(known[there], snapshot.summary_ids)] = moments[there]
    return times


def looks_back(rows: Rows, rated: Floats, method: Method) -> list[Look]:
    """Return the looks at one evaluator's figure, in order; none with fewer than FIRST_LOOK articles.

    Parameters
    ----------
    rows : of one evaluator, (1, n) scores.
    rated : (n,) seconds since 1970 when each summary was first rated; nan for never.
    """
    used = ~np.isnan(rated) & ~np.isnan(rows.labels) & ~np.isnan(rows.scores[0])
    order = np.flatnonzero(used)[np.argsort(rated[used], kind="stable")]
    _, first = np.unique(rows.own_articles[order], return_index=True)
    new_articles = np.sort(first)
    found = []
    for articles in look_sizes(len(new_articles)):
        end = new_articles[articles] if articles < len(new_articles) else len(order)
        counted = np.zeros(len(rated), dtype=bool)
        counted[order[:end]] = True
        found.append(_look(rows, counted, articles, float(rated[order[end - 1]]), method))
    return found


def look_sizes(articles: int) -> list[int]:
    """Return the numbers of articles at each look, the last of which has all.

    >>> look_sizes(33)
    [10, 13, 16, 20, 25, 31, 33]
    """
    sizes, size = [], float(FIRST_LOOK)
    while size < articles:
        sizes.append(math.ceil(size))
        size *= GROWTH
    return list(dict.fromkeys([*sizes, articles])) if articles >= FIRST_LOOK else []


def _look(rows: Rows, counted: Bools, articles: int, until: float, method: Method) -> Look:
    here = rows.at(counted)
    formula = coefficient_at(method.level, method.coefficient, method.constant)
    [estimate] = LEVELS[method.level].estimates(formula, here)
    asked = method.level, method.coefficient, here, method.resampling
    [always] = intervals(ALWAYS_VALID, *asked, constant=method.constant)
    [once] = intervals(AT_ONE_LOOK, *asked, constant=method.constant)
    at = datetime.fromtimestamp(until).astimezone()
    return Look(articles, int(counted.sum()), at, estimate.value, always, once)


def _measured(look: Look, interval: Interval) -> Measured:
    return Measured(f"{look.articles:,} articles", look.value, interval.low, interval.high)


def _definitions(looks: Sequence[Look] | None, labels: Labels | None, nothing: float | None) -> list[str]:
    if not looks or labels is None:
        return []
    settled = "" if nothing is None else SETTLED.format(nothing=nothing)
    kinds = [each.definition for each in (looks[-1].always, looks[-1].once)]
    return [DEFINITION.format(settled=settled), *kinds, labels.definition]
