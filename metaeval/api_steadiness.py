"""The API's judges asked again, read-only: the figures of their pages."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, page_of, read_only, read_query
from annotation.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from metaeval.steadiness.report import alpha_of
from scoring.models import Reasking
from scoring.steadiness.comparison import shift_of, steadiness_of
from scoring.steadiness.reading import Found, replies_of_each


class SteadySerializer(serializers.Serializer):
    dimension = serializers.CharField()
    summaries = serializers.IntegerField(help_text="With a score each time; the figures are about these.")
    unscored = serializers.IntegerField(help_text="Of the others, those with a score at least once.")
    identical = serializers.FloatField(allow_null=True, help_text="Share that got one score each time.")
    difference = serializers.FloatField(allow_null=True, help_text="Mean absolute, of two replies.")
    deviation = serializers.FloatField(allow_null=True, help_text="Standard deviation within a summary.")
    alpha = serializers.FloatField(allow_null=True, help_text="Krippendorff's, interval, of the repeats.")


class ShiftSerializer(serializers.Serializer):
    dimension = serializers.CharField()
    summaries = serializers.IntegerField(help_text="With a score then and each time now.")
    lost = serializers.IntegerField(help_text="Scored then, and not each time now.")
    changed = serializers.FloatField(allow_null=True, help_text="Share whose first score did not come again.")
    difference = serializers.FloatField(allow_null=True, help_text="Mean of what is said now less then.")
    low = serializers.FloatField(allow_null=True, help_text="Lower end of its 95% interval.")
    high = serializers.FloatField(allow_null=True)


class ReaskingSerializer(serializers.ModelSerializer):
    setup = serializers.IntegerField(source="setup_id")
    summaries = serializers.SerializerMethodField(help_text="Those that were to be asked again.")
    consistency = SteadySerializer(many=True, required=False, help_text="Of kind consistency, when ended.")
    drift = ShiftSerializer(many=True, required=False, help_text="Of kind drift, when ended.")

    class Meta:
        model = Reasking
        fields = (
            "id",
            "setup",
            "kind",
            "summaries",
            "repeats",
            "created_at",
            "ended_at",
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

    def get_summaries(self, reasking: Reasking) -> int:
        return len(reasking.summary_ids)


class ReaskingListSerializer(ProjectPage):
    results = ReaskingSerializer(many=True)


class ReaskingQuery(PageQuery):
    kind = OneOf(Reasking.Kind.values, required=False)


@extend_schema(
    operation_id="reaskings_list",
    parameters=[ReaskingQuery],
    responses={200: ReaskingListSerializer, **REFUSALS},
)
@read_only
@consistent_read()
def reasking_list(request: Request, slug: str) -> Response:
    """Each time that a judge was asked again, the latest first, with what came of it."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, ReaskingQuery)
    reaskings = Reasking.objects.filter(setup__project=project)
    if "kind" in query:
        reaskings = reaskings.filter(kind=query["kind"])
    page = page_of(request, reaskings, query)
    ended = [each for each in page["results"] if not each.is_unfinished and not each.failure]
    replies = replies_of_each(ended)
    for each in ended:
        if each.kind == Reasking.Kind.CONSISTENCY:
            each.consistency = _steady(replies[each.pk])
        else:
            each.drift = _shifts(replies[each.pk])
    return Response(ReaskingListSerializer({"revision": project.revision, **page}).data)


def _steady(found: Found) -> list[dict[str, object]]:
    rows = []
    for dimension, replies in found.items():
        alpha = alpha_of(replies)
        value = None if alpha.reason else alpha.value
        rows.append({"dimension": dimension, **vars(steadiness_of(replies)), "alpha": value})
    return rows


def _shifts(found: Found) -> list[dict[str, object]]:
    return [{"dimension": dimension, **vars(shift_of(replies))} for dimension, replies in found.items()]
