"""The API's rechecks, read-only: the figures of their pages."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, page_of, read_only, read_query
from metaeval.rechecks.comparison import measure_consistency, shift_of
from metaeval.rechecks.report import alpha_of
from metaeval.rechecks.results import RecheckReplies, replies_of_each
from metaeval.rechecks.starting import REPEATS
from scoring.models import Run


class ConsistencySerializer(serializers.Serializer):
    dimension = serializers.CharField()
    summaries = serializers.IntegerField(help_text="Summaries with a score in every repeat.")
    unscored = serializers.IntegerField(help_text="Other summaries with a score in some repeat.")
    identical = serializers.FloatField(
        allow_null=True, help_text="Share with the same score in every repeat."
    )
    difference = serializers.FloatField(allow_null=True, help_text="Mean absolute difference of two replies.")
    deviation = serializers.FloatField(allow_null=True, help_text="Standard deviation within a summary.")
    alpha = serializers.FloatField(
        allow_null=True, help_text="Krippendorff's alpha (interval) of the repeats."
    )


class DriftSerializer(serializers.Serializer):
    dimension = serializers.CharField()
    summaries = serializers.IntegerField(help_text="Summaries with a score then and in every repeat now.")
    lost = serializers.IntegerField(help_text="Summaries scored then, but not in every repeat now.")
    changed = serializers.FloatField(
        allow_null=True, help_text="Share whose original score did not occur again."
    )
    difference = serializers.FloatField(allow_null=True, help_text="Mean score now minus then.")
    low = serializers.FloatField(allow_null=True, help_text="Lower end of its 95% interval.")
    high = serializers.FloatField(allow_null=True)


class RecheckSerializer(serializers.ModelSerializer):
    setup = serializers.IntegerField(source="setup_id")
    summaries = serializers.SerializerMethodField(help_text="Summaries to score again.")
    repeats = serializers.SerializerMethodField(help_text="Requests per summary.")
    ended_at = serializers.DateTimeField(source="finished_at", allow_null=True)
    cost = serializers.DecimalField(
        max_digits=14, decimal_places=8, source="spent", help_text="US dollars, if the price is known."
    )
    consistency = ConsistencySerializer(
        many=True, required=False, help_text="Figures of finished consistency rechecks."
    )
    drift = DriftSerializer(many=True, required=False, help_text="Figures of finished drift rechecks.")

    class Meta:
        model = Run
        fields = (
            "id",
            "setup",
            "kind",
            "summaries",
            "repeats",
            "created_at",
            "ended_at",
            "status",
            "failure",
            "has_changed",
            "prompt_tokens",
            "completion_tokens",
            "cost",
            "budget",
            "consistency",
            "drift",
        )
        read_only_fields = fields

    def get_summaries(self, run: Run) -> int:
        return run.total // self.get_repeats(run)

    def get_repeats(self, run: Run) -> int:
        return REPEATS[Run.Kind(run.kind)]


class RecheckListSerializer(ProjectPage):
    results = RecheckSerializer(many=True)


class RecheckQuery(PageQuery):
    kind = OneOf(Run.RECHECKS, required=False)


@extend_schema(
    operation_id="rechecks_list",
    parameters=[RecheckQuery],
    responses={200: RecheckListSerializer, **REFUSALS},
)
@read_only
@consistent_read()
def recheck_list(request: Request, slug: str) -> Response:
    """Return the project's rechecks with their results, the latest first."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, RecheckQuery)
    runs = Run.objects.rechecks().filter(setup__project=project)
    if "kind" in query:
        runs = runs.filter(kind=query["kind"])
    page = page_of(request, runs, query)
    ended = [each for each in page["results"] if each.status == Run.Status.DONE]
    replies = replies_of_each(ended)
    for each in ended:
        if each.kind == Run.Kind.CONSISTENCY:
            each.consistency = _consistency(replies[each.pk])
        else:
            each.drift = _drift(replies[each.pk])
    return Response(RecheckListSerializer({"revision": project.revision, **page}).data)


def _consistency(found: RecheckReplies) -> list[dict[str, object]]:
    rows = []
    for dimension, replies in found.items():
        alpha = alpha_of(replies)
        value = None if alpha.reason else alpha.value
        rows.append({"dimension": dimension, **vars(measure_consistency(replies)), "alpha": value})
    return rows


def _drift(found: RecheckReplies) -> list[dict[str, object]]:
    return [{"dimension": dimension, **vars(shift_of(replies))} for dimension, replies in found.items()]
