"""The API of learning curves, read-only: the list of them, their progress, and the figures of one."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, page_of, read_only, read_query
from metaeval.learning_curves.following import curve_of, curves_of
from metaeval.learning_curves.material import CurveChoices
from metaeval.learning_curves.page import whole_page
from metaeval.live.api import FigureSerializer, LabelsQuery
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from scoring.models import LearningCurve


class CurveModelSerializer(serializers.Serializer):
    share = serializers.FloatField(source="model.share", help_text="Share of the training articles, 0 to 1.")
    seed = serializers.IntegerField(source="model.seed")
    examples = serializers.IntegerField(source="model.examples", help_text="Training examples.")
    name = serializers.CharField(source="training.model", help_text="Value for the parameter `model`.")
    setup = serializers.IntegerField(source="model.setup_id", allow_null=True)
    run = serializers.IntegerField(
        source="run.pk", allow_null=True, help_text="The run over the test articles."
    )
    status = serializers.ChoiceField(
        ["unfinished", "stopped", "done"],
        help_text="Progress of the training and of the scoring of test articles.",
    )


class LearningCurveSerializer(serializers.ModelSerializer):
    params = serializers.DictField(help_text="Parameters that all trainings share.")
    test_articles = serializers.IntegerField(help_text="Articles that no training sees.")
    models = CurveModelSerializer(many=True)

    class Meta:
        model = LearningCurve
        fields = ("id", "name", "method", "params", "test_articles", "created_at", "models")
        read_only_fields = fields


class LearningCurveListSerializer(ProjectPage):
    results = LearningCurveSerializer(many=True)


@extend_schema(
    operation_id="learning_curves_list",
    parameters=[PageQuery],
    responses={200: LearningCurveListSerializer, **REFUSALS},
)
@read_only
@consistent_read()
def learning_curve_list(request: Request, slug: str) -> Response:
    """List the project's learning curves, latest first, with their models by share and seed."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, PageQuery)
    described = [
        {**vars(each.curve), "test_articles": len(each.curve.test_articles), "models": each.models}
        for each in curves_of(project)
    ]
    page = page_of(request, described, query)
    return Response(LearningCurveListSerializer({"revision": project.revision, **page}).data)


class CurveFigureSerializer(FigureSerializer):
    name = serializers.CharField(help_text="A share with its training examples, or a comparator.")
    dimension = serializers.CharField()
    share = serializers.CharField(allow_null=True, help_text="The share; null for a comparator.")
    examples = serializers.IntegerField(allow_null=True, help_text="Training examples, the mean over models.")
    models = serializers.IntegerField(allow_null=True, help_text="Models that the value is the mean of.")
    level = serializers.CharField()
    coefficient = serializers.CharField()
    n = serializers.IntegerField()
    articles = serializers.IntegerField(allow_null=True, help_text="Null if not known.")


class CurveDifferenceSerializer(serializers.Serializer):
    dimension = serializers.CharField()
    share = serializers.CharField()
    examples = serializers.IntegerField()
    other = serializers.CharField(help_text="The comparator.")
    value = serializers.FloatField(
        allow_null=True, help_text="Agreement of the share's models less that of the comparator."
    )
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    is_better = serializers.BooleanField(help_text="True if the interval is above zero.")
    definition = serializers.CharField()
    reason = serializers.CharField(required=False)
    interval_reason = serializers.CharField(required=False)


class LearningCurveFiguresSerializer(ProjectPage):
    name = serializers.CharField()
    results = CurveFigureSerializer(many=True)
    differences = CurveDifferenceSerializer(many=True)
    sentences = serializers.ListField(
        child=serializers.CharField(),
        help_text="Sentences about the number of examples from which the models are better.",
    )


class LearningCurveQuery(LabelsQuery):
    level = OneOf(list(LEVELS), default=CurveChoices.level)
    coefficient = OneOf(list(COEFFICIENTS), default=CurveChoices.coefficient)
    only = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="A setup to compare with; repeat for several. Default: all that scored every test article.",
    )


@extend_schema(
    operation_id="learning_curve_figures",
    parameters=[LearningCurveQuery],
    responses={200: LearningCurveFiguresSerializer, **REFUSALS},
)
@read_only
def learning_curve_figures(request: Request, slug: str, curve_id: int) -> Response:
    """Return the agreement of each share's models and of the comparators with people, and the differences."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    followed = curve_of(project, curve_id)
    query = read_query(request, LearningCurveQuery)
    choices = CurveChoices(
        level=query["level"],
        coefficient=query["coefficient"],
        language=query["language"],
        group=query.get("group", ""),
        labels=query["labels"],
        only=tuple(query["only"]),
    )
    page = whole_page(project, followed, choices)
    figures = page.figures or ()
    answer = {
        "revision": page.snapshot.revision,
        "name": followed.curve.name,
        "differences": [row for each in figures for row in each.difference_rows()],
        "sentences": [f"{title}: {each}" for title, sentences in page.sentences for each in sentences],
        **page_of(request, [row for each in figures for row in each.rows()], query),
    }
    return Response(LearningCurveFiguresSerializer(answer).data)
