"""The API's raters: accounts for a page of a lab's own, each with a token that rates."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from annotation.gold.qualified_languages import qualify_rater
from annotation.models import ApiToken
from annotation.people.api_tokens import LIFETIMES, USUAL_LIFETIME, issue_api_token
from annotation.people.members import create_rater
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import for_members, read_body
from annotation.web.idempotency import CREATION_REFUSALS, KEY_PARAMETER, answer_once
from annotation.web.request_types import SignedInApiRequest

LONGEST_LABEL = 80


class NewRaterSerializer(serializers.Serializer):
    username = serializers.CharField(help_text="Name of the new account, for example a participant's number.")
    languages = serializers.ListField(child=serializers.CharField(), help_text="Codes such as de or pt-BR.")
    qualified = serializers.BooleanField(
        default=False, help_text="True if the rater needs no gold round in these languages."
    )
    days = serializers.ChoiceField(
        choices=list(LIFETIMES), default=USUAL_LIFETIME, help_text="Days until the token expires."
    )


class AddedRaterSerializer(serializers.Serializer):
    rater = serializers.CharField(help_text="Pseudonym by which pages and files call the rater.")
    token = serializers.CharField(help_text="Token that rates in this project as the rater. Shown only now.")
    expires_at = serializers.DateTimeField()


@extend_schema(
    operation_id="raters_create",
    request=NewRaterSerializer,
    parameters=[KEY_PARAMETER],
    responses={201: AddedRaterSerializer, **CREATION_REFUSALS},
)
@for_members("POST")
def rater_new(request: SignedInApiRequest, slug: str) -> Response:
    """Create an account without a password that rates in the project, and return its token."""
    project = project_for(request.user, slug, Permission.MANAGE_PEOPLE)
    body = read_body(request, NewRaterSerializer)

    def create() -> Response:
        with transaction.atomic():
            rater = create_rater(project, request.user, body["username"], body["languages"])
            if body["qualified"]:
                for language in rater.languages:
                    qualify_rater(rater, request.user, language)
            assert rater.user is not None  # just created
            label = f"made by {request.user.get_username()}"[:LONGEST_LABEL]
            token, text = issue_api_token(rater.user, label, body["days"], project, ApiToken.Scope.RATE)
        added = {"rater": rater.pseudonym, "token": text, "expires_at": token.expires_at}
        return Response(AddedRaterSerializer(added).data, status=201)

    return answer_once(request, create)
