"""The API's judges and what they said when asked again, read-only: the numbers of their pages."""

import math
from collections.abc import Iterator

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, page_of, read_only, read_query
from annotation.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from metaeval.alignment.figures import MEASURES
from metaeval.alignment.report import AlignmentChoices, JudgeReport, VersionRow, judge_report
from metaeval.api import FigureSerializer
from metaeval.snapshot import snapshot_of
from metaeval.stats.result import Estimate, or_none
from scoring.alignment.judges import judge_of
from scoring.alignment.parts import Part
from scoring.models import Judge, JudgeVersion


class OpeningSerializer(serializers.Serializer):
    opened_at = serializers.DateTimeField()
    how = serializers.CharField(help_text="confirmed: on the judge's page; run: by an ordinary run before.")


class VersionSerializer(serializers.ModelSerializer):
    version = serializers.IntegerField(source="number")
    made_from = serializers.IntegerField(
        source="parent.number", allow_null=True, default=None, help_text="The version that it edits."
    )
    params = serializers.DictField()
    openings = OpeningSerializer(many=True, help_text="Looks at the sealed labels for this version.")

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


class ReachedSerializer(FigureSerializer):
    """What a version, or what it is read against, reaches on one part of the labels."""

    version = serializers.IntegerField(allow_null=True, help_text="Null: what versions are read against.")
    name = serializers.CharField()
    part = serializers.ChoiceField([Part.TUNING.value, Part.SEALED.value])
    setup = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField(allow_null=True, help_text="Of the latest trial.")
    n = serializers.IntegerField()
    articles = serializers.IntegerField(allow_null=True)
    is_best = serializers.BooleanField()
    interval_reason = serializers.CharField(required=False, help_text="Why there is no interval.")


class TrialListSerializer(ProjectPage):
    judge = serializers.CharField()
    question = serializers.CharField(allow_null=True, help_text="Null: no tried version scores a question.")
    measure = serializers.CharField()
    luck = serializers.FloatField(
        allow_null=True,
        help_text="What the best of the tried versions shows too much by luck, were all equally good.",
    )
    results = ReachedSerializer(many=True)


class TrialQuery(PageQuery):
    question = serializers.CharField(
        default="", help_text="A question's key; else the first that one scores."
    )
    measure = OneOf(list(MEASURES), default=AlignmentChoices.measure)


@extend_schema(
    operation_id="judges_list", parameters=[PageQuery], responses={200: JudgeListSerializer, **REFUSALS}
)
@read_only
@consistent_read()
def judge_list(request: Request, slug: str) -> Response:
    """The project's judges with their versions, and how often sealed labels were looked at for each."""
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
    """What a judge's versions reach on one question: on the tuning part, and where opened on the sealed."""
    project = project_for(request.user, slug, Permission.MANAGE_RUNS)
    judge = judge_of(project, judge_id)
    query = read_query(request, TrialQuery)
    snapshot = snapshot_of(project)
    choices = AlignmentChoices(question=query["question"], measure=query["measure"])
    report = judge_report(project, snapshot, judge, choices)
    answer = {
        "revision": snapshot.revision,
        "judge": judge.name,
        "question": report.question.key if report.question else None,
        "measure": choices.measure,
        "luck": None if math.isnan(report.luck) else report.luck,
        **page_of(request, list(_reached(report)), query),
    }
    return Response(TrialListSerializer(answer).data)


def _reached(report: JudgeReport) -> Iterator[dict[str, object]]:
    for row in report.rows:
        if row.tuning is not None:
            yield _row(row, Part.TUNING, row.tuning, row.unscored)
        if row.sealed is not None:
            yield _row(row, Part.SEALED, row.sealed, row.sealed.left_out)
    for name, estimate in report.beside:
        named = {"version": None, "name": name, "setup": None, "run": None, "is_best": False}
        yield {**named, "part": Part.TUNING, **_figure(estimate), "left_out": estimate.left_out}


def _row(row: VersionRow, part: Part, estimate: Estimate, left_out: object) -> dict[str, object]:
    return {
        "version": row.version.number,
        "name": str(row.version),
        "part": part,
        "setup": row.trial.setup_id if row.trial else None,
        "run": row.run.pk if row.run else None,
        "is_best": row.is_best and part == Part.TUNING,
        **_figure(estimate),
        "left_out": left_out,
    }


def _figure(estimate: Estimate) -> dict[str, object]:
    interval = estimate.interval
    found: dict[str, object] = {
        "value": or_none(estimate.value),
        "low": or_none(interval.low) if interval else None,
        "high": or_none(interval.high) if interval else None,
        "n": estimate.n,
        "articles": estimate.articles,
        "definition": estimate.definition,
    }
    if estimate.reason:
        found["reason"] = estimate.reason
    if interval and interval.reason:
        found["interval_reason"] = interval.reason
    return found
