"""The component page: every control, table, chart and state once, for developers."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from types import SimpleNamespace

import numpy as np
from django import forms
from django.conf import settings
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import protocol
from annotation.models import Article, ImportJob, Project, Rater
from annotation.progress.daily_bars import daily_bars
from annotation.rating.desk import GivenAnswer
from annotation.rating.sheet_form import QuestionRow
from annotation.rating.shown_item import ShownAnswer
from metaeval.charts import (
    Curve,
    Measured,
    MemberGroup,
    Range,
    answer_columns,
    calibration_plot,
    curves,
    evaluator_bars,
    histogram,
    interval_dots,
    learning_curve,
    member_line,
    member_rows,
    scatter,
    two_distributions,
)
from metaeval.charts.heat_table import HeatCell, HeatRow, heat
from metaeval.comparison.significance_table import SignificanceTable
from metaeval.comparison.uncertainty import PairFigure
from metaeval.export.chart import Chart
from metaeval.live.choices import ComparisonChoices, Control
from scoring.models import Run

LEVELS = (constants.INFO, constants.SUCCESS, constants.WARNING, constants.ERROR)
ARTICLE = Article(
    title="The harbour froze", text="Ships waited for four days.\n\nThen they left.", language="en"
)
MEASURED = [
    Measured("ROUGE-1", 0.52, 0.41, 0.61),
    Measured("Length", 0.3, 0.1, 0.45),
    Measured("New", math.nan),
]


@require_safe
def components(request: HttpRequest) -> HttpResponse:
    """Show the components; 404 unless the settings are local."""
    if not settings.LOCAL:
        raise Http404
    days = [(date(2026, 1, 26) + timedelta(day), day * 3 % 11, day % 4) for day in range(14)]
    page = SimpleNamespace(
        columns=["Fluent", "Attribution"],
        rows=_heat_rows(),
        ceilings=HeatRow("One rater", "", [_cell(0.8), _cell(0.7)]),
        choices=ComparisonChoices(),
    )
    context = {
        "project": Project(name="Components", slug="components"),
        "messages": [Message(level, "A message.") for level in LEVELS],
        "page_of_list": Paginator(range(60), 20).page(2),
        "form": SampleForm({"count": "many"}),
        "question_rows": _question_rows(),
        "raters": [Rater(status=status) for status in Rater.Status],
        "jobs": [ImportJob(status=status) for status in ImportJob.Status],
        "runs": [Run(status=status) for status in Run.Status],
        "article": ARTICLE,
        "controls": [Control("level", "Level", [("pooled", "Pooled"), ("system", "Systems")], "pooled")],
        "page": page,
        "table": _significance(),
        "bars": daily_bars(days),
        "charts": _charts(),
    }
    return render(request, "components.html", context)


class SampleForm(forms.Form):
    """One field of each kind, some with errors."""

    name = forms.CharField(label="Text", help_text="One sentence of help.")
    count = forms.IntegerField(label="Number")
    kind = forms.ChoiceField(label="Menu", choices=[("a", "First"), ("b", "Second")], required=False)
    file = forms.FileField(label="File", required=False)
    notes = forms.CharField(label="Several lines", widget=forms.Textarea, required=False)
    password = forms.CharField(label="Password", widget=forms.PasswordInput, required=False)
    agreed = forms.BooleanField(label="Check box", required=False)
    one = forms.ChoiceField(
        label="One of several", choices=[("a", "First"), ("b", "Second")], widget=forms.RadioSelect
    )
    several = forms.MultipleChoiceField(
        label="Several of several",
        choices=[("a", "First"), ("b", "Second")],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )


def _question_rows() -> list[QuestionRow]:
    """Return an answered question, an unanswered one, and a numeric one with an error."""
    first, second = protocol.SEAHORSE.questions[:2]
    scale = protocol.Scale(protocol.ScaleKind.ORDINAL, low=1, high=7)
    numeric = protocol.Question("numeric", "fluency", "Fluent", "How well does it read?", 1, scale)
    nothing, yes = GivenAnswer(""), GivenAnswer("yes", "A comment.")
    return [
        QuestionRow(1, ShownAnswer(first, yes), yes, saved=True, error=""),
        QuestionRow(2, ShownAnswer(second, nothing), nothing, saved=False, error=""),
        QuestionRow(
            3, ShownAnswer(numeric, nothing), nothing, saved=False, error="Please answer this question."
        ),
    ]


def _cell(value: float) -> HeatCell:
    """Return a cell of the heat table; nan is undefined."""
    below = "too few articles" if math.isnan(value) else "n 120"
    return HeatCell(f"cell-{value}", value, below, heat(value), address="", is_chosen=False)


def _heat_rows() -> list[HeatRow]:
    """Return every shade, and every state of a cell."""
    best = replace(_cell(0.96), interval=".91 to .98", cluster="a", is_best=True, is_chosen=True)
    pairs = [[_cell(step / 10), _cell(step / 10 + 0.05)] for step in range(1, 10)]
    return [
        HeatRow("Best, chosen", "a signature", [best, _cell(math.nan)]),
        *(HeatRow(f"Shade {place}", "a signature", pair) for place, pair in enumerate(pairs, start=1)),
        HeatRow("None", "", [None, _cell(-0.2)]),
    ]


def _significance() -> SignificanceTable:
    ahead = PairFigure("ROUGE-1", 0.22, 0.003, 120, 120, "", is_significant=True)
    level = PairFigure("ROUGE-1", -0.01, 0.61, 120, 120, "", is_significant=False)
    untested = PairFigure("ROUGE-1", 0.02, math.nan, 4, 4, "too few articles", is_significant=False)
    undefined = PairFigure("ROUGE-1", math.nan, math.nan, 0, 0, "nothing in common", is_significant=False)
    rows = [("ROUGE-1", "a", [None, ahead, level]), ("Length", "b", [untested, None, undefined])]
    return SignificanceTable("Fluent", ["ROUGE-1", "Length", "New"], rows, "summaries", "")


def _charts() -> list[Chart]:
    """Return each kind of chart, of made-up numbers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 11, 120) / 10
    scores = np.clip(labels * 0.6 + rng.normal(0.2, 0.15, 120), 0, 1)
    systems, unit = np.arange(120) % 8, Range(0, 1)
    names = [f"System {number}" for number in range(1, 9)]
    draw: dict[str, Callable[[], str]] = {
        "scatter": lambda: scatter(
            labels,
            scores,
            systems,
            system_names=names,
            score_title="Score",
            label_title="Human label",
            legend=True,
        ),
        "calibration": lambda: calibration_plot(
            labels, scores, score_title="Score", label_title="Human label", same_scale=True
        ),
        "curves": lambda: curves(
            [
                Curve("training loss", [1, 2, 3], [0.9, 0.5, 0.4]),
                Curve("validation loss", [2, 3], [0.6, 0.65]),
            ],
            title="Loss",
            across_title="Step",
            up_title="Loss",
            best=2,
        ),
        "learning-curve": lambda: learning_curve(
            [20, 50, 200],
            MEASURED[:3],
            [Measured("ROUGE-L", 0.3, 0.2, 0.4), Measured("One rater", 0.7, 0.6, 0.8)],
            title="Learning curve",
            across_title="Training answers",
            up_title="Pearson's r",
            name="SEAHORSE, mean over seeds",
        ),
        "bars": lambda: evaluator_bars(MEASURED, title="Evaluators", value_title="Spearman's ρ", ceiling=0.7),
        "intervals": lambda: interval_dots(MEASURED, title="Differences", value_title="Difference"),
        "histogram": lambda: histogram(labels, title="Human labels", counted="summaries", span=unit),
        "distributions": lambda: two_distributions(labels, scores, span=unit),
        "answers": lambda: answer_columns(np.array([30, 12, 4]), ["yes", "no", "unsure"], title="Answers"),
        "members": lambda: member_rows([MemberGroup("Fluent", MEASURED)], title="Members", value_title="ρ"),
        "member-line": lambda: member_line(
            [1, 2, 4], MEASURED, unit, title="Line", across_title="Examples", up_title="ρ"
        ),
    }
    return [Chart(name, (), drawn, list, f"What the {name} chart shows.") for name, drawn in draw.items()]
