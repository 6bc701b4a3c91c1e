"""The API of learning curves, read-only: which there are, and how far they are."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, PageQuery, ProjectPage, page_of, read_only, read_query
from scoring.learning_curves.following import curves_of
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
