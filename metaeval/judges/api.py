"""The API's judges and their trials, read-only."""

import math
from collections.abc import Iterator

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, page_of, read_only, read_query
from metaeval.judges.figures import MEASURES
from metaeval.judges.report import JudgeChoices, JudgeReport, VersionRow, judge_report
from metaeval.judges.versions import judge_of
from metaeval.live.api import FigureSerializer
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.result import Estimate, reasons, value_and_ends
from scoring.models import Judge, JudgeVersion
from scoring.sealed_labels.label_parts import LabelPart


class OpeningSerializer(serializers.Serializer):
    opened_at = serializers.DateTimeField()
    how = serializers.CharField(help_text="confirmed: on the judge's page; run: by an earlier ordinary run.")


class VersionSerializer(serializers.ModelSerializer):
    version = serializers.IntegerField(source="number")
    made_from = serializers.IntegerField(
        source="parent.number", allow_null=True, default=None, help_text="The version that was edited."
    )
    params = serializers.DictField()
    openings = OpeningSerializer(many=True, help_text="Times at which the sealed labels were opened.")

    class Meta:
        model = JudgeVersion
        fields = ("version", "made_from", "note", "created_at", "params", "openings")
        read_only_fields = fields


class JudgeSerializer(serializers.ModelSerializer):
    versions = VersionSerializer(many=True)

    class Meta:
        model = Judge
        fields = ("id", "name", "evaluator", "created_at", "versions")
        read_only_fields = fields


class JudgeListSerializer(ProjectPage):
    results = JudgeSerializer(many=True)


class TrialFigureSerializer(FigureSerializer):
    """The agreement of a version, a baseline or the human ceiling on one part of the labels."""

    version = serializers.IntegerField(
        allow_null=True, help_text="Number of the version; null for a baseline or the human ceiling."
    )
    name = serializers.CharField()
    part = serializers.ChoiceField([LabelPart.TUNING.value, LabelPart.SEALED.value])
    setup = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField(allow_null=True, help_text="The latest trial.")
    n = serializers.IntegerField()
    articles = serializers.IntegerField(allow_null=True)
    is_best = serializers.BooleanField()


class TrialListSerializer(ProjectPage):
    judge = serializers.CharField()
    question = serializers.CharField(
        allow_null=True, help_text="The question; null if no tried version scores one."
    )
    measure = serializers.CharField()
    best_of_many_bias = serializers.FloatField(
        allow_null=True,
        help_text="Expected excess of the best version if all tried versions were equally good.",
    )
    results = TrialFigureSerializer(many=True)


class TrialQuery(PageQuery):
    question = serializers.CharField(
        default="", help_text="A question. Default: the first that a version scores."
    )
    measure = OneOf(list(MEASURES), default=JudgeChoices.measure)


@extend_schema(
    operation_id="judges_list", parameters=[PageQuery], responses={200: JudgeListSerializer, **REFUSALS}
)
@read_only
@consistent_read()
def judge_list(request: Request, slug: str) -> Response:
    """Return the project's judges with their versions and openings of the sealed labels."""
    project = project_for(request.user, slug, Permission.MANAGE_RUNS)
    query = read_query(request, PageQuery)
    judges = Judge.objects.filter(project=project)
    page = page_of(request, judges.prefetch_related("versions__parent", "versions__openings"), query)
    return Response(JudgeListSerializer({"revision": project.revision, **page}).data)


@extend_schema(
    operation_id="judge_trials_list",
    parameters=[TrialQuery],
    responses={200: TrialListSerializer, **REFUSALS},
)
@read_only
def judge_trials(request: Request, slug: str, judge_id: int) -> Response:
    """Return the agreement of a judge's versions on one question, by part of the labels."""
    project = project_for(request.user, slug, Permission.MANAGE_RUNS)
    judge = judge_of(project, judge_id)
    query = read_query(request, TrialQuery)
    snapshot = snapshot_of(project)
    choices = JudgeChoices(question=query["question"], measure=query["measure"])
    report = judge_report(project, snapshot, judge, choices)
    answer = {
        "revision": snapshot.revision,
        "judge": judge.name,
        "question": report.question.key if report.question else None,
        "measure": choices.measure,
        "best_of_many_bias": None if math.isnan(report.best_of_many_bias) else report.best_of_many_bias,
        **page_of(request, list(_rows(report)), query),
    }
    return Response(TrialListSerializer(answer).data)


def _rows(report: JudgeReport) -> Iterator[dict[str, object]]:
    for row in report.rows:
        if row.tuning is not None:
            yield _row(row, LabelPart.TUNING, row.tuning, row.unscored)
        if row.sealed is not None:
            yield _row(row, LabelPart.SEALED, row.sealed, row.sealed.left_out)
    for name, estimate in report.compared_with:
        named = {"version": None, "name": name, "setup": None, "run": None, "is_best": False}
        yield {**named, "part": LabelPart.TUNING, **_figure(estimate), "left_out": estimate.left_out}


def _row(row: VersionRow, part: LabelPart, estimate: Estimate, left_out: object) -> dict[str, object]:
    return {
        "version": row.version.number,
        "name": str(row.version),
        "part": part,
        "setup": row.trial.setup_id if row.trial else None,
        "run": row.run.pk if row.run else None,
        "is_best": row.is_best and part == LabelPart.TUNING,
        **_figure(estimate),
        "left_out": left_out,
    }


def _figure(estimate: Estimate) -> dict[str, object]:
    return {
        **value_and_ends(estimate.value, estimate.interval),
        "n": estimate.n,
        "articles": estimate.articles,
        "definition": estimate.definition,
        **reasons(estimate.reason, estimate.interval),
    }
