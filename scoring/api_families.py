"""The API's experiments, read-only: what varies, and the setups and runs of which one consists."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_pages import REFUSALS, PageQuery, ProjectPage, page_of, read_only, read_query
from annotation.consistent_read import consistent_read
from annotation.permissions import Permission, project_for
from scoring.families.following import Followed, families_of
from scoring.models import Run, RunFamily


class MemberSerializer(serializers.Serializer):
    name = serializers.CharField(help_text="The value that varies, in words.")
    setup = serializers.IntegerField(help_text="Names it in `only` of the meta-evaluation.")
    fingerprint = serializers.CharField(allow_null=True)
    run = serializers.IntegerField(allow_null=True, help_text="The latest of the setup.")
    status = serializers.ChoiceField(Run.Status.choices, allow_null=True)
    total = serializers.IntegerField(allow_null=True, help_text="Summaries of that run.")
    done = serializers.IntegerField(allow_null=True)


class FamilySerializer(serializers.ModelSerializer):
    params = serializers.DictField(help_text="What was given for the parameters that stay as they are.")
    members = MemberSerializer(many=True)

    class Meta:
        model = RunFamily
        fields = ("id", "name", "kind", "evaluator", "parameter", "params", "created_at", "members")
        read_only_fields = fields


class FamilyListSerializer(ProjectPage):
    results = FamilySerializer(many=True)


@extend_schema(
    operation_id="experiments_list",
    parameters=[PageQuery],
    responses={200: FamilyListSerializer, **REFUSALS},
)
@read_only
@consistent_read()
def family_list(request: Request, slug: str) -> Response:
    """The project's experiments, the latest first, with their members in order."""
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    query = read_query(request, PageQuery)
    page = page_of(request, [_described(each) for each in families_of(project)], query)
    return Response(FamilyListSerializer({"revision": project.revision, **page}).data)


def _described(followed: Followed) -> dict[str, object]:
    family = followed.family
    stored = [name for name in FamilySerializer.Meta.fields if name != "members"]
    members = [
        {
            "name": each.label,
            "setup": each.setup.pk,
            "fingerprint": each.setup.fingerprint,
            "run": each.run.pk if each.run else None,
            "status": each.run.status if each.run else None,
            "total": each.progress.total if each.progress else None,
            "done": each.progress.done if each.progress else None,
        }
        for each in followed.members
    ]
    return {**{name: getattr(family, name) for name in stored}, "members": members}
