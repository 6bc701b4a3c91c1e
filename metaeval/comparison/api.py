"""The API's comparison of evaluators with human labels, read-only: the rows of the comparison page."""

from dataclasses import fields
from functools import partial
from typing import Any

from rest_framework import serializers

from annotation.errors import StillComputing
from annotation.models import Project
from annotation.web.api_pages import OneOf, ProjectPage
from metaeval.comparison.report import comparison_table
from metaeval.live.api import (
    MOST_RESAMPLES,
    RESAMPLES_HELP,
    EvaluatorFigureSerializer,
    LabelsQuery,
    results_list,
)
from metaeval.live.background import BUSY_S, LONG, Key, part_done, queue_of
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import CONSTANT
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import BY_LEVEL, BY_TEST, ITEMS, NONE, ONE_LOOK, Method
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS

WAITS_S = 10.0
"""Seconds that a request waits for its comparison, which goes on afterwards."""


class WithinMarginSerializer(serializers.Serializer):
    """Tests of the evaluator being as good as the other. The p-values are corrected."""

    margin = serializers.FloatField(help_text="The loss that still counts as good.")
    not_worse_p = serializers.FloatField(
        allow_null=True, help_text="p-value of the evaluator being worse by the margin or more."
    )
    as_good = serializers.BooleanField(help_text="True if that p-value is below .05.")
    equivalent_p = serializers.FloatField(
        allow_null=True, help_text="p-value of a difference of the margin or more, in either direction."
    )
    equivalent = serializers.BooleanField(help_text="True if that p-value is below .05.")
    margin_reason = serializers.CharField(
        allow_blank=True, help_text="The reason why there are no such p-values."
    )


class DifferenceSerializer(serializers.Serializer):
    """The difference from another evaluator."""

    other = serializers.CharField(help_text="The other evaluator.")
    difference = serializers.FloatField(
        allow_null=True, help_text="The difference; above 0 if the other is worse."
    )
    p_value = serializers.FloatField(allow_null=True, help_text="p-value, corrected for multiple testing.")
    significant = serializers.BooleanField()
    units = serializers.IntegerField(help_text="Units that count for both.")
    reason = serializers.CharField(allow_blank=True, help_text="The reason why there is no p-value.")


class PairSerializer(DifferenceSerializer):
    """The value minus another evaluator's, on the units that both have."""

    n = serializers.IntegerField(help_text="Summaries that count for both.")
    within_margin = WithinMarginSerializer(
        required=False, help_text="Tests with the margin, if there is one."
    )


class CoefficientSerializer(EvaluatorFigureSerializer):
    """One coefficient of one evaluator."""

    fingerprint = serializers.CharField(allow_null=True, help_text="Fingerprint of the setup.")
    level = serializers.CharField()
    coefficient = serializers.CharField()
    units = serializers.IntegerField(help_text="Units that the value is computed from.")
    unit = serializers.CharField(help_text="summaries, articles, systems or data sets.")
    counted_as_zero = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="Reason -> number of articles, or systems, of a mean that count as 0.",
    )
    cluster = serializers.CharField(
        required=False,
        help_text="Letters. Evaluators of the dimension that share one do not differ significantly.",
    )
    why_no_letters = serializers.CharField(
        required=False, help_text="The reason why the test gives the evaluator no letters."
    )


class ComparisonSerializer(CoefficientSerializer):
    n = serializers.IntegerField(help_text="Summaries, or systems at the system level.")
    articles = serializers.IntegerField(allow_null=True, help_text="Null if some are not known.")
    systems = serializers.IntegerField(allow_null=True, help_text="Null if some are not known.")
    few_units = serializers.CharField(
        required=False,
        help_text="Warning that other values on the dimension have more than twice as many units.",
    )
    is_best = serializers.BooleanField(
        required=False,
        help_text="True if no other evaluator on the dimension is better on the units that both have.",
    )
    method_warning = serializers.CharField(
        required=False, help_text="Warning that the interval or the test misleads at the level."
    )
    differences = PairSerializer(
        many=True, required=False, help_text="The differences from every other evaluator, with a test."
    )


class EvaluatorSerializer(serializers.Serializer):
    setup = serializers.IntegerField(source="key", help_text="Id of the setup, for `only`.")
    evaluator = serializers.CharField(source="label")
    signature = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True)


class ComparisonListSerializer(ProjectPage):
    evaluators = EvaluatorSerializer(many=True, help_text="The evaluators that are compared.")
    results = ComparisonSerializer(many=True)


class ComparisonQuery(LabelsQuery):
    level = OneOf(list(LEVELS), default=Method.level)
    coefficient = OneOf(list(COEFFICIENTS), default=Method.coefficient)
    interval = OneOf(
        [BY_LEVEL, ONE_LOOK, NONE, *INTERVALS],
        default=Method.interval,
        help_text=f"95% interval; {BY_LEVEL}: one that holds at every look until the campaign is closed;"
        f" {ONE_LOOK}: the one that holds at the level at one look.",
    )
    test = OneOf(
        [BY_LEVEL, ONE_LOOK, NONE, *TESTS],
        default=Method.test,
        help_text=f"Significance test between evaluators; {BY_LEVEL} and {ONE_LOOK} as for the interval.",
    )
    correction = OneOf(
        [BY_TEST, NONE, *CORRECTIONS],
        default=Method.correction,
        help_text=f"Correction for multiple testing; {BY_TEST}: Benjamini and Hochberg's for the always-valid"
        " test, Holm's for others.",
    )
    items = OneOf(
        list(ITEMS),
        default=Method.items,
        help_text="own: all that the evaluator has scored; common: what every evaluator has scored.",
    )
    constant = OneOf(
        list(CONSTANT),
        default=Method.constant,
        help_text="Articles (at the level within_system: systems) whose scores are all equal.",
    )
    margin = serializers.FloatField(
        default=Method.margin,
        min_value=0,
        help_text="The loss with which an evaluator still counts as good as another, in units of the"
        " coefficient, less than 1. If above 0 and there is a test, each pair is tested for that, too.",
    )
    resamples = serializers.IntegerField(
        default=Method.resamples, min_value=1, max_value=MOST_RESAMPLES, help_text=RESAMPLES_HELP
    )
    seed = serializers.IntegerField(default=Method.seed, min_value=0)
    dataset = serializers.CharField(default=ALL, help_text=f"One dataset, or '{ALL}' for all.")
    system = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="A system; repeat for several. Default: all."
    )
    question = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="A question; repeat for several. Default: all."
    )
    only = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="A setup to compare; repeat for several. Default: all. With "
        "items=common this choice changes the numbers.",
    )


@results_list("comparison_list", ComparisonQuery, ComparisonListSerializer)
def comparison(project: Project, query: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, object]]]:
    """Return one coefficient of each evaluator with the human labels on each dimension.

    If that takes long, as with permutations of many summaries, the answer is 503 with Retry-After until the
    result is there, and says how much is done; it is then kept as long as the project does not change.
    """
    snapshot = snapshot_of(project)
    choices = ComparisonChoices(
        language=query["language"],
        dataset=query["dataset"],
        systems=tuple(query["system"]),
        questions=tuple(query["question"]),
        group=query.get("group", ""),
        labels=query["labels"],
        only=tuple(query["only"]),
    )
    asked = {field.name: query[field.name] for field in fields(Method)}
    Method(**asked).refuse_inapplicable_test()
    method = Method(**asked, is_live=snapshot.is_live)
    table = comparison_table(snapshot, choices, method)
    key = Key.of(project, snapshot.revision, "comparison_list", choices, method)
    queue = queue_of(key, LONG)
    found = queue.result(key, partial(table.uncertainties, part_done), WAITS_S, parts=len(table.columns))
    if found is None:
        so_far = progress.in_words if (progress := queue.progress(key)) else ""
        raise StillComputing(f"This comparison is still being computed{so_far}.", BUSY_S)
    rows = [figure.as_json() for figure in table.figures(found)]
    return {"revision": snapshot.revision, "evaluators": table.comparison.evaluators}, rows
