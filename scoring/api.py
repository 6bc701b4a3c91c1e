"""The API's runs and scores, read-only."""

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_pages import (
    REFUSALS,
    OneOf,
    PageQuery,
    ProjectPage,
    one_of,
    page_of,
    read_only,
    read_query,
)
from annotation.models import Project
from annotation.permissions import Permission, project_for
from scoring.models import Batch, EvaluatorSetup, Run, Score
from scoring.runs import run_of


class SetupSerializer(serializers.ModelSerializer):
    setup = serializers.IntegerField(source="pk", help_text="Names the setup in this project's addresses.")

    class Meta:
        model = EvaluatorSetup
        fields: tuple[str, ...] = ("setup", "evaluator", "label", "signature", "fingerprint")
        read_only_fields = fields


class SetupDetailSerializer(SetupSerializer):
    params = serializers.DictField()
    provenance = serializers.DictField(help_text="What the fingerprint was made of.")

    class Meta(SetupSerializer.Meta):
        fields = (*SetupSerializer.Meta.fields, "params", "provenance")
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer):
    setup = SetupSerializer()
    done = serializers.IntegerField(help_text="Summaries finished, with or without scores.")

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id",
            "setup",
            "status",
            "total",
            "done",
            "reused",
            "failure",
            "created_at",
            "started_at",
            "finished_at",
        )
        read_only_fields = fields


class RunListSerializer(ProjectPage):
    results = RunSerializer(many=True)


class DimensionSerializer(serializers.Serializer):
    dimension = serializers.CharField()
    scores = serializers.IntegerField()
    missing = serializers.DictField(
        child=serializers.IntegerField(), help_text="Reason -> summaries without a score because of it."
    )


class RunDetailSerializer(RunSerializer):
    revision = serializers.IntegerField(help_text="The project's revision.")
    setup = SetupDetailSerializer()
    dimensions = DimensionSerializer(many=True)

    class Meta(RunSerializer.Meta):
        fields = ("revision", *RunSerializer.Meta.fields, "dimensions")
        read_only_fields = fields


class ScoreSerializer(serializers.ModelSerializer):
    summary = serializers.IntegerField(source="summary_id")
    article = serializers.CharField(
        source="summary.article.external_id", help_text="The article's id in its data set."
    )
    system = serializers.CharField(source="summary.system.name")
    language = serializers.CharField(source="summary.article.language")
    setup = serializers.IntegerField(source="setup_id", help_text="Described among `setups`.")
    run = serializers.IntegerField(source="run_id")

    class Meta:
        model = Score
        fields = (
            "summary",
            "article",
            "system",
            "language",
            "setup",
            "run",
            "dimension",
            "value",
            "reason",
            "explanation",
        )
        read_only_fields = fields
        extra_kwargs = {"reason": {"help_text": "Why there is no value; empty where there is one."}}


class ScoreListSerializer(ProjectPage):
    setups = SetupSerializer(many=True, help_text="The evaluators that these rows are by.")
    results = ScoreSerializer(many=True)


class RunQuery(PageQuery):
    setup = serializers.IntegerField(required=False)
    status = OneOf(Run.Status.values, required=False)


class ScoreQuery(PageQuery):
    setup = serializers.IntegerField(required=False)
    run = serializers.IntegerField(required=False)
    dimension = serializers.CharField(required=False)


@extend_schema(
    operation_id="runs_list", parameters=[RunQuery], responses={200: RunListSerializer, **REFUSALS}
)
@read_only
def run_list(request: Request, slug: str) -> Response:
    """The project's runs, the latest first."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, RunQuery)
    runs = _runs(project)
    if "setup" in query:
        runs = runs.filter(setup=_known("setup", query["setup"], _setups(project)))
    if "status" in query:
        runs = runs.filter(status=query["status"])
    page = page_of(request, runs, query)
    return Response(RunListSerializer({"revision": project.revision, **page}).data)


@extend_schema(operation_id="runs_retrieve", responses={200: RunDetailSerializer, **REFUSALS})
@read_only
def run_detail(request: Request, slug: str, run_id: int) -> Response:
    """One run: its evaluator with all that its numbers depend on, and how many scores there are."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    run = _runs(project).get(pk=run_of(project, run_id).pk)
    described = {
        "revision": project.revision,
        **{name: getattr(run, name) for name in RunSerializer.Meta.fields},
        "dimensions": _dimensions(run),
    }
    return Response(RunDetailSerializer(described).data)


@extend_schema(
    operation_id="scores_list", parameters=[ScoreQuery], responses={200: ScoreListSerializer, **REFUSALS}
)
@read_only
def score_list(request: Request, slug: str) -> Response:
    """Scores, and the reasons where there are none."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, ScoreQuery)
    scores = Score.objects.filter(setup__project=project)
    if "setup" in query:
        scores = scores.filter(setup=_known("setup", query["setup"], _setups(project)))
    if "run" in query:
        scores = scores.filter(run=_known("run", query["run"], _runs(project)))
    if "dimension" in query:
        scores = scores.filter(dimension=query["dimension"])
        if not scores.exists():
            one_of("dimension", query["dimension"], _dimension_names(project))
    rows = scores.select_related("summary__article", "summary__system")
    page = page_of(request, rows.order_by("setup", "dimension", "summary"), query)
    setups = EvaluatorSetup.objects.filter(pk__in={score.setup_id for score in page["results"]})
    return Response(ScoreListSerializer({"revision": project.revision, "setups": setups, **page}).data)


def _runs(project: Project) -> QuerySet[Run]:
    finished = Coalesce(Sum("batches__size", filter=Q(batches__state=Batch.State.DONE)), 0)
    runs = Run.objects.filter(setup__project=project).select_related("setup")
    return runs.annotate(done=finished).order_by("-created_at", "-pk")


def _setups(project: Project) -> QuerySet[EvaluatorSetup]:
    return EvaluatorSetup.objects.filter(project=project)


def _known(name: str, given: int, rows: QuerySet) -> int:
    return int(one_of(name, str(given), [str(pk) for pk in rows.order_by("pk").values_list("pk", flat=True)]))


def _dimension_names(project: Project) -> list[str]:
    scores = Score.objects.filter(setup__project=project).order_by("dimension")
    return list(scores.values_list("dimension", flat=True).distinct())


def _dimensions(run: Run) -> list[dict[str, object]]:
    counts: dict[str, dict[str, int]] = {}
    rows = run.scores.order_by("dimension", "reason").values_list("dimension", "reason")
    for dimension, reason, count in rows.annotate(Count("pk")):
        counts.setdefault(dimension, {})[reason] = count
    return [
        {"dimension": dimension, "scores": reasons.pop("", 0), "missing": reasons}
        for dimension, reasons in counts.items()
    ]
