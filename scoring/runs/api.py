"""The API of runs and scores: reading them, starting and cancelling a run."""

from typing import Any

from django.db.models import Manager, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import (
    REFUSALS,
    KeyedPageQuery,
    OneOf,
    PageQuery,
    ProjectPage,
    for_members,
    keyed_page_of,
    one_of,
    page_of,
    read_body,
    read_only,
    read_query,
    refusals,
    sent_example,
)
from annotation.web.form_choices import article_languages
from annotation.web.idempotency import CREATION_REFUSALS, KEY_PARAMETER, answer_prepared_once
from annotation.web.request_types import SignedInApiRequest
from scoring.inputs.items import Selection
from scoring.models import Run, Score, Setup
from scoring.replies.budgets import LARGEST_BUDGET, SMALLEST_BUDGET
from scoring.runs.lifecycle import cancel_run, run_of
from scoring.runs.planning import RunPlan, plan, start
from scoring.runs.progress import RunProgress, cut_in, progress_of, reasons_of, runs_of


class SetupSerializer(serializers.ModelSerializer):
    setup = serializers.IntegerField(source="pk", help_text="Id of the setup in this project's addresses.")

    class Meta:
        model = Setup
        fields: tuple[str, ...] = ("setup", "evaluator", "label", "signature", "fingerprint")
        read_only_fields = fields


class SetupDetailSerializer(SetupSerializer):
    params = serializers.DictField()
    provenance = serializers.DictField(help_text="Values that the fingerprint was computed from.")

    class Meta(SetupSerializer.Meta):
        fields = (*SetupSerializer.Meta.fields, "params", "provenance")
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer):
    setup = SetupSerializer()
    done = serializers.IntegerField(help_text="Summaries finished, with or without a score.")
    unscored = serializers.IntegerField(help_text="Summaries without a score on some dimension.")

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id",
            "setup",
            "status",
            "total",
            "done",
            "unscored",
            "reused",
            "failure",
            "delivery",
            "budget",
            "spent",
            "prompt_tokens",
            "completion_tokens",
            "created_at",
            "started_at",
            "finished_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "delivery": {"help_text": "How requests are sent: now, or batch (answered within a day)."},
            "budget": {"help_text": "US dollars that its requests may cost; null: no limit."},
            "spent": {"help_text": "US dollars for replies received in this run, if a price was known."},
        }


class RunListSerializer(ProjectPage):
    results = RunSerializer(many=True)


class RunDetailSerializer(RunSerializer):
    revision = serializers.IntegerField(help_text="The project's revision.")
    setup = SetupDetailSerializer()
    reasons = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Reason for a missing score to number of summaries.",
    )
    cut = serializers.IntegerField(help_text="Summaries scored with a text truncated to the model's limit.")

    class Meta(RunSerializer.Meta):
        fields = ("revision", *RunSerializer.Meta.fields, "reasons", "cut")
        read_only_fields = fields


class ScoreSerializer(serializers.ModelSerializer):
    summary = serializers.IntegerField(source="summary_id")
    article = serializers.CharField(
        source="summary.article.external_id", help_text="The article's id in its dataset."
    )
    system = serializers.CharField(source="summary.system.name")
    language = serializers.CharField(source="summary.article.language")
    setup = serializers.IntegerField(
        source="setup_id", help_text="Id of the setup, which is described in `setups`."
    )
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
    setups = SetupSerializer(many=True, help_text="The setups of these scores.")
    results = ScoreSerializer(many=True)


class RunQuery(PageQuery):
    setup = serializers.IntegerField(required=False)
    status = OneOf(Run.Status.values, required=False)


class ScoreQuery(KeyedPageQuery):
    setup = serializers.IntegerField(required=False)
    run = serializers.IntegerField(required=False)
    dimension = serializers.CharField(required=False)


class NewRunSerializer(serializers.Serializer):
    evaluator = serializers.CharField(required=False, help_text="Name of an evaluator, such as rouge.")
    params = serializers.DictField(
        required=False, help_text="Parameters of the evaluator. Those that are absent keep their defaults."
    )
    setup = serializers.IntegerField(
        required=False, help_text="Id of a setup to run again, instead of an evaluator."
    )
    languages = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Languages of the articles; empty for all."
    )
    rated_only = serializers.BooleanField(
        default=False, help_text="True to score only summaries that have a rating."
    )
    budget = serializers.DecimalField(
        max_digits=12,
        decimal_places=-int(SMALLEST_BUDGET.as_tuple().exponent),
        min_value=SMALLEST_BUDGET,
        max_value=LARGEST_BUDGET,
        allow_null=True,
        default=None,
        help_text="US dollars that its requests may cost; null: no limit.",
    )
    delivery = serializers.ChoiceField(choices=Run.Delivery.choices, default=Run.Delivery.NOW)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("evaluator" in attrs) == ("setup" in attrs):
            raise serializers.ValidationError({"evaluator": "expected this or `setup`, not both"})
        if "setup" in attrs and "params" in attrs:
            raise serializers.ValidationError({"params": "given with `setup`, which has its own"})
        return attrs


@extend_schema(
    methods=["GET"],
    operation_id="runs_list",
    parameters=[RunQuery],
    responses={200: RunListSerializer, **REFUSALS},
)
@extend_schema(
    methods=["POST"],
    operation_id="runs_create",
    request=NewRunSerializer,
    parameters=[KEY_PARAMETER],
    responses={201: RunDetailSerializer, **CREATION_REFUSALS},
    examples=sent_example(evaluator="rouge", params={"variant": "2"}, languages=["de"], rated_only=True),
)
@for_members("GET", "HEAD", "POST")
def run_list(request: SignedInApiRequest, slug: str) -> Response:
    """List the project's runs, latest first. POST starts one; ask for it until its `status` is final."""
    return _new_run(request, slug) if request.method == "POST" else _listed_runs(request, slug)


def _new_run(request: SignedInApiRequest, slug: str) -> Response:
    project = project_for(request.user, slug, Permission.MANAGE_RUNS)
    body = read_body(request, NewRunSerializer)
    for language in body["languages"]:
        one_of("languages", language, article_languages(project))
    if "setup" in body:
        setup = project.setups.get(pk=_known("setup", body["setup"], project.setups))
        evaluator, params = setup.evaluator, setup.params
    else:
        evaluator, params = body["evaluator"], body.get("params", {})
    selection = Selection(tuple(body["languages"]), body["rated_only"])

    def begin(planned: RunPlan) -> Response:
        run = start(planned, request.user, body["budget"], body["delivery"])
        return Response(_detail(run), status=201)

    return answer_prepared_once(request, lambda: plan(project, evaluator, params, selection), begin)


@consistent_read()
def _listed_runs(request: Request, slug: str) -> Response:
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, RunQuery)
    runs = runs_of(project)
    if "setup" in query:
        setup = _known("setup", query["setup"], project.setups)
        runs = [(run, progress) for run, progress in runs if run.setup_id == setup]
    if "status" in query:
        runs = [(run, progress) for run, progress in runs if run.status == query["status"]]
    page = page_of(request, [_described(run, progress) for run, progress in runs], query)
    return Response(RunListSerializer({"revision": project.revision, **page}).data)


@extend_schema(operation_id="runs_retrieve", responses={200: RunDetailSerializer, **REFUSALS})
@read_only
@consistent_read()
def run_detail(request: Request, slug: str, run_id: int) -> Response:
    """Describe one run: its setup with everything the scores depend on, and its results."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    return Response(_detail(run_of(project, run_id)))


@extend_schema(
    operation_id="runs_cancel",
    request=None,
    responses={200: RunDetailSerializer, **REFUSALS, **refusals(409, 429)},
)
@for_members("POST")
def run_cancel(request: SignedInApiRequest, slug: str, run_id: int) -> Response:
    """Cancel a run that has not ended. Its scores are kept."""
    project = project_for(request.user, slug, Permission.MANAGE_RUNS)
    cancel_run(run_of(project, run_id), request.user)
    return Response(_detail(run_of(project, run_id)))


@extend_schema(
    operation_id="scores_list", parameters=[ScoreQuery], responses={200: ScoreListSerializer, **REFUSALS}
)
@read_only
@consistent_read()
def score_list(request: Request, slug: str) -> Response:
    """List scores, or the reasons why there are none, by setup, dimension and summary."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, ScoreQuery)
    scores = Score.objects.filter(setup__in=project.setups.order_by().values("pk"))
    if "setup" in query:
        scores = scores.filter(setup=_known("setup", query["setup"], project.setups))
    if "run" in query:
        scores = scores.filter(run=_known("run", query["run"], Run.objects.filter(setup__project=project)))
    if "dimension" in query:
        scores = scores.filter(dimension=query["dimension"])
        if not scores.exists():
            there = Score.objects.filter(setup__project=project).order_by("dimension")
            names = there.values_list("dimension", flat=True).distinct()
            one_of("dimension", query["dimension"], list(names))
    rows = scores.select_related("summary__article", "summary__system").defer(
        "summary__text", "summary__article__text"
    )
    varying = {"setup": "setup_id", "dimension": "dimension", "summary": "summary_id"}
    key = [field for name, field in varying.items() if name not in query]
    page = keyed_page_of(request, rows, query, key, revision=project.revision)
    setups = Setup.objects.filter(pk__in={score.setup_id for score in page["results"]})
    return Response(ScoreListSerializer({"revision": project.revision, "setups": setups, **page}).data)


def _detail(run: Run) -> dict[str, Any]:
    described = {
        "revision": run.setup.project.revision,
        **_described(run, progress_of(run)),
        "reasons": dict(reasons_of(run)),
        "cut": cut_in(run),
    }
    detail: dict[str, Any] = RunDetailSerializer(described).data
    return detail


def _described(run: Run, progress: RunProgress) -> dict[str, object]:
    return {**vars(run), "setup": run.setup, "done": progress.done, "unscored": progress.unscored}


def _known(name: str, given: int, rows: Manager | QuerySet) -> int:
    return int(one_of(name, str(given), [str(pk) for pk in rows.order_by("pk").values_list("pk", flat=True)]))
