"""The API's comparison of evaluators across projects, read-only: the rows of the page's file."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.errors import StillComputing
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import (
    REFUSALS,
    OneOf,
    Page,
    PageQuery,
    page_of,
    read_only,
    read_query,
    refusals,
)
from metaeval.across_projects.data_sets import BY, AcrossChoices, chosen_projects, with_questions
from metaeval.across_projects.page import page_now
from metaeval.comparison.api import WAITS_S, CoefficientSerializer, DifferenceSerializer
from metaeval.live.background import BUSY_S
from metaeval.snapshot.label_rules import LABEL_RULES
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import CONSTANT
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method


class AcrossQuery(PageQuery):
    other = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Slug of another project whose results you see as a member; repeat for several.",
    )
    question = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Key of the question that counts in all projects, or 'slug:key' for one of them; repeat for"
        " several. Default: the first that all ask.",
    )
    level = OneOf(list(LEVELS), default=Method.level)
    coefficient = OneOf(list(COEFFICIENTS), default=Method.coefficient)
    constant = OneOf(
        list(CONSTANT), default=Method.constant, help_text="Articles whose scores are all equal."
    )
    labels = OneOf(
        list(LABEL_RULES), default="mean", help_text="Rule that turns several raters' answers into one label."
    )
    by = OneOf(
        list(BY), default="project", help_text="dataset: a data set for each dataset that articles name."
    )


class AcrossSerializer(CoefficientSerializer):
    data_set = serializers.CharField(help_text="Name of the data set, or mean.")
    project = serializers.CharField(required=False, help_text="Slug; absent for means.")
    question = serializers.CharField(required=False, help_text="Key of the question; absent for means.")
    n = serializers.IntegerField(help_text="Summaries, systems at the system level, data sets of a mean.")
    articles = serializers.IntegerField(required=False, allow_null=True)
    systems = serializers.IntegerField(required=False, allow_null=True)
    predicted_low = serializers.FloatField(
        required=False, allow_null=True, help_text="Lower end of the prediction interval of a mean."
    )
    predicted_high = serializers.FloatField(required=False, allow_null=True)
    tau_squared = serializers.FloatField(
        required=False, allow_null=True, help_text="Variance between data sets, on the scale of the mean."
    )
    i_squared = serializers.FloatField(required=False, allow_null=True, help_text="Share, 0 to 1.")
    q = serializers.FloatField(required=False, allow_null=True, help_text="Cochran's Q.")
    heterogeneity_p = serializers.FloatField(required=False, allow_null=True, help_text="p-value of Q.")
    differences = DifferenceSerializer(
        many=True, required=False, help_text="The mean differences from every other evaluator."
    )


class AcrossProjectSerializer(serializers.Serializer):
    slug = serializers.CharField(source="project.slug")
    revision = serializers.IntegerField(source="snapshot.revision")
    question = serializers.CharField(help_text="Key of the question that counts; empty if none was chosen.")


class AcrossListSerializer(Page):
    projects = AcrossProjectSerializer(many=True, help_text="The projects that are compared.")
    results = AcrossSerializer(many=True)


@extend_schema(
    operation_id="across_projects_list",
    parameters=[AcrossQuery],
    responses={200: AcrossListSerializer, **REFUSALS, **refusals(503)},
)
@read_only
def across_projects(request: Request, slug: str) -> Response:
    """Return one coefficient of each evaluator in each data set, and its mean over data sets.

    If that takes long, the answer is 503 with Retry-After until the result is there.
    """
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, AcrossQuery)
    choices = AcrossChoices(
        other=tuple(query["other"]),
        question=tuple(query["question"]),
        level=query["level"],
        coefficient=query["coefficient"],
        constant=query["constant"],
        labels=query["labels"],
        by=query["by"],
    )
    chosen = with_questions(chosen_projects(request.user, project, choices.other), choices.question)
    page = page_now(request.user, chosen, choices, WAITS_S)
    if page.waits:
        raise StillComputing("This comparison is still being computed.", BUSY_S)
    found = page_of(request, page.table.as_json(), query)
    return Response(AcrossListSerializer({"projects": chosen, **found}).data)
