"""The API's agreement and meta-evaluation, read-only: the rows of the pages with results."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, page_of, read_only, read_query
from annotation.permissions import Permission, project_for
from metaeval.agreement_report import OWN_SCALE, agreement_report
from metaeval.choices import refuse_unknown
from metaeval.judgements import ALL
from metaeval.metaeval_report import compare
from metaeval.snapshot import snapshot_of
from metaeval.stats.coefficients import COEFFICIENTS
from metaeval.stats.krippendorff import SCALES
from metaeval.stats.levels import LEVELS


class FigureSerializer(serializers.Serializer):
    """A value with what it stands on; null with the reason where it is undefined."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Lower end of the interval.")
    high = serializers.FloatField(allow_null=True, help_text="Upper end of the interval.")
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text="Reason -> how much was left out because of it."
    )
    definition = serializers.CharField()
    reason = serializers.CharField(required=False, help_text="Why there is no value.")


class AgreementSerializer(FigureSerializer):
    question = serializers.CharField()
    language = serializers.CharField(help_text=f"A language's code, or '{ALL}' for all together.")
    statistic = serializers.CharField()
    scale = serializers.CharField()
    units = serializers.IntegerField(help_text="Summaries with two ratings or more.")
    ratings = serializers.IntegerField()
    raters = serializers.IntegerField()


class AgreementListSerializer(ProjectPage):
    results = AgreementSerializer(many=True)


class MetaevalSerializer(FigureSerializer):
    evaluator = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True, help_text="Described among `evaluators`.")
    dimension = serializers.CharField()
    level = serializers.CharField()
    coefficient = serializers.CharField()
    n = serializers.IntegerField(help_text="Summaries, or systems at the system level.")
    articles = serializers.IntegerField()
    systems = serializers.IntegerField()


class EvaluatorSerializer(serializers.Serializer):
    setup = serializers.IntegerField(source="key", help_text="Names it in `only`.")
    evaluator = serializers.CharField(source="label")
    signature = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True)


class MetaevalListSerializer(ProjectPage):
    evaluators = EvaluatorSerializer(many=True, help_text="Those that are compared with each other.")
    results = MetaevalSerializer(many=True)


class AgreementQuery(PageQuery):
    language = serializers.CharField(
        required=False, help_text=f"One language alone, or '{ALL}' for all together; else every one of them."
    )
    group = serializers.CharField(required=False, help_text="Raters of one group alone.")
    scale = OneOf([OWN_SCALE, *SCALES], default=OWN_SCALE, help_text="Scale for alpha.")


class MetaevalQuery(PageQuery):
    level = OneOf(list(LEVELS), default="pooled")
    coefficient = OneOf(list(COEFFICIENTS), default="spearman")
    language = serializers.CharField(default=ALL, help_text=f"One language, or '{ALL}' for all together.")
    group = serializers.CharField(required=False, help_text="Labels of one group of raters alone.")
    only = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Setups to compare, repeated; all where none is named. It matters to the numbers: articles "
        "that any of them has seen are left out for all of them.",
    )


@extend_schema(
    operation_id="agreement_list",
    parameters=[AgreementQuery],
    responses={200: AgreementListSerializer, **REFUSALS},
)
@read_only
def agreement(request: Request, slug: str) -> Response:
    """How well raters agree: every statistic of every question, per language and for all together."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, AgreementQuery)
    snapshot = snapshot_of(project)
    figures = agreement_report(
        snapshot.summaries,
        snapshot.human,
        language=query.get("language", ""),
        group=query.get("group", ""),
        scale=query["scale"],
    )
    page = page_of(request, [figure.as_json() for figure in figures], query)
    return Response(AgreementListSerializer({"revision": snapshot.revision, **page}).data)


@extend_schema(
    operation_id="meta_evaluation_list",
    parameters=[MetaevalQuery],
    responses={200: MetaevalListSerializer, **REFUSALS},
)
@read_only
def metaeval(request: Request, slug: str) -> Response:
    """How well evaluators agree with human labels: one coefficient at one level, for each dimension."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, MetaevalQuery)
    snapshot = snapshot_of(project)
    group = query.get("group", "")
    refuse_unknown("group", group, ("", *snapshot.human.groups))
    comparison = compare(
        snapshot.summaries, snapshot.evaluators, language=query["language"], only=query["only"]
    )
    figures = comparison.figures(snapshot.labels(group), query["level"], query["coefficient"])
    page = page_of(request, [figure.as_json() for figure in figures], query)
    answer = {"revision": snapshot.revision, "evaluators": comparison.evaluators, **page}
    return Response(MetaevalListSerializer(answer).data)
