"""The API of experiments, read-only."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import REFUSALS, PageQuery, ProjectPage, page_of, read_only, read_query
from metaeval.experiments.following import experiments_of
from scoring.models import Experiment, Run


class MemberSerializer(serializers.Serializer):
    name = serializers.CharField(source="label", help_text="The value that varies, in words.")
    setup = serializers.IntegerField(source="setup.pk", help_text="Id for `only` of the comparison.")
    fingerprint = serializers.CharField(source="setup.fingerprint", allow_null=True)
    run = serializers.IntegerField(source="run.pk", allow_null=True, help_text="The setup's latest run.")
    status = serializers.ChoiceField(Run.Status.choices, source="run.status", allow_null=True)
    total = serializers.IntegerField(
        source="progress.total", allow_null=True, help_text="Summaries of that run."
    )
    done = serializers.IntegerField(source="progress.done", allow_null=True)


class ExperimentSerializer(serializers.ModelSerializer):
    params = serializers.DictField(help_text="Values of the other parameters.")
    members = MemberSerializer(many=True)

    class Meta:
        model = Experiment
        fields = ("id", "name", "kind", "evaluator", "parameter", "params", "created_at", "members")
        read_only_fields = fields


class ExperimentListSerializer(ProjectPage):
    results = ExperimentSerializer(many=True)


@extend_schema(
    operation_id="experiments_list",
    parameters=[PageQuery],
    responses={200: ExperimentListSerializer, **REFUSALS},
)
@read_only
@consistent_read()
def experiment_list(request: Request, slug: str) -> Response:
    """List the project's experiments, latest first, with their members in order."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, PageQuery)
    described = [{**vars(each.experiment), "members": each.members} for each in experiments_of(project)]
    page = page_of(request, described, query)
    return Response(ExperimentListSerializer({"revision": project.revision, **page}).data)
