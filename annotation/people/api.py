"""The API's invitations and raters: accounts for a page of a lab's own, each with a token that rates."""

from django.db import transaction
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from annotation.gold.qualified_languages import qualify_rater
from annotation.lookups import one_of
from annotation.models import ApiToken, Invitation, Project, Role
from annotation.people.api_tokens import LIFETIMES, USUAL_LIFETIME, issue_api_token
from annotation.people.invitation_list import invite_person
from annotation.people.invitation_mail import mail_invitations
from annotation.people.invitations import Invitee, revoke_invitation
from annotation.people.members import create_rater
from annotation.permissions import Permission, project_for
from annotation.web.api_pages import (
    REFUSALS,
    Page,
    PageQuery,
    for_members,
    page_of,
    read_body,
    read_query,
    refusals,
    sent_example,
)
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
    examples=sent_example(username="participant-7", languages=["de", "pt-BR"], qualified=True, days=30),
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


class InvitationSerializer(serializers.ModelSerializer):
    languages = serializers.ListField(child=serializers.CharField())
    email = serializers.CharField(help_text="E-mail address to which the link was sent; empty for none.")
    status = serializers.CharField(help_text="open, used, revoked or expired.")

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = (
            "id",
            "role",
            "languages",
            "note",
            "email",
            "status",
            "created_at",
            "expires_at",
        )
        read_only_fields = fields


class InvitationListSerializer(Page):
    results = InvitationSerializer(many=True)


class NewInvitationSerializer(serializers.Serializer):
    role = serializers.ChoiceField(Role.choices)
    languages = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Codes such as de or pt-BR, for annotators."
    )
    email = serializers.EmailField(
        default="", allow_blank=True, help_text="Address to which the server sends the link if it sends mail."
    )
    note = serializers.CharField(
        default="", allow_blank=True, max_length=120, help_text="Recipient of the invitation."
    )


class CreatedInvitationSerializer(InvitationSerializer):
    link = serializers.URLField(help_text="Page on which one person joins the project. Shown only now.")

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "link")
        read_only_fields = fields


@extend_schema(
    methods=["GET"],
    operation_id="invitations_list",
    parameters=[PageQuery],
    responses={200: InvitationListSerializer, **REFUSALS},
)
@extend_schema(
    methods=["POST"],
    operation_id="invitations_create",
    request=NewInvitationSerializer,
    parameters=[KEY_PARAMETER],
    responses={201: CreatedInvitationSerializer, **CREATION_REFUSALS},
    examples=sent_example(role="annotator", languages=["de"], email="ada@example.org", note="Ada"),
)
@for_members("GET", "HEAD", "POST")
def invitation_list(request: SignedInApiRequest, slug: str) -> Response:
    """List the project's invitations, the latest first. POST invites one person and returns the link."""
    project = project_for(request.user, slug, Permission.MANAGE_PEOPLE)
    if request.method == "POST":
        invitee = Invitee(**read_body(request, NewInvitationSerializer))
        return answer_once(request, lambda: _invited(request, project, invitee))
    invitations = project.invitations.order_by("-created_at", "-pk")
    page = page_of(request, invitations, read_query(request, PageQuery))
    return Response(InvitationListSerializer(page).data)


def _invited(request: SignedInApiRequest, project: Project, invitee: Invitee) -> Response:
    invitation, token = invite_person(project, invitee)
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    # No mail may bring a link that is not stored in the end.
    transaction.on_commit(lambda: mail_invitations([(invitation, link)]))
    return Response({**InvitationSerializer(invitation).data, "link": link}, status=201)


@extend_schema(
    operation_id="invitations_destroy", request=None, responses={204: None, **REFUSALS, **refusals(429)}
)
@for_members("DELETE")
def invitation_detail(request: SignedInApiRequest, slug: str, invitation_id: int) -> Response:
    """Revoke an open invitation. Its link no longer works, and it stays in the list."""
    project = project_for(request.user, slug, Permission.MANAGE_PEOPLE)
    revoke_invitation(one_of(project.invitations.all(), invitation_id, "invitation"))
    return Response(status=204)
