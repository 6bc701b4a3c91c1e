"""The guidelines of a rater by the API, to show and confirm on a page of a lab's own."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.guidelines.following import confirm_guidelines, followed_versions
from annotation.permissions import rater_for
from annotation.web.api_pages import REFUSALS, rates, read_body, refusals


class FollowedVersionSerializer(serializers.Serializer):
    id = serializers.IntegerField(source="version.pk")
    number = serializers.IntegerField(source="version.number")
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="The rater's languages whose summaries are rated by it."
    )
    text = serializers.CharField(source="version.text", help_text="CommonMark.")
    confirmed_at = serializers.DateTimeField(allow_null=True)


class FollowedGuidelinesSerializer(serializers.Serializer):
    versions = FollowedVersionSerializer(many=True)


class ConfirmedVersionsSerializer(serializers.Serializer):
    versions = serializers.ListField(
        child=serializers.IntegerField(), help_text="Ids that the rater has read."
    )


@extend_schema(
    methods=["GET"],
    operation_id="rating_guidelines",
    responses={200: FollowedGuidelinesSerializer, **REFUSALS},
)
@extend_schema(
    methods=["POST"],
    operation_id="rating_guidelines_confirm",
    request=ConfirmedVersionsSerializer,
    responses={200: FollowedGuidelinesSerializer, **REFUSALS, **refusals(429)},
)
@rates("GET", "POST")
def guidelines(request: Request, slug: str) -> Response:
    """Return the guidelines that you follow. POST confirms those that you have read, before you rate."""
    rater = rater_for(request.user, slug)
    if request.method == "POST":
        confirm_guidelines(rater, read_body(request, ConfirmedVersionsSerializer)["versions"])
    return Response(FollowedGuidelinesSerializer({"versions": followed_versions(rater)}).data)
