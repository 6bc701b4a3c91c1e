"""Rating by the API, for a page of a lab's own: what the rating page shows and takes, stage by stage."""

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import protocol
from annotation.errors import DomainError
from annotation.gold.qualified_languages import choose_language, current_language, work_languages
from annotation.gold.rounds import start_round
from annotation.models import Assignment
from annotation.permissions import rater_for
from annotation.rating.assigning import skip_assignment
from annotation.rating.current_assignment import next_assignment
from annotation.rating.desk import Desk, GivenAnswer, desk_at
from annotation.rating.shown_item import shown_item
from annotation.rating.submitting import submit_at
from annotation.web.api_pages import REFUSALS, OneOf, rates, read_body, refusals, sent_example


class GivenAnswerSerializer(serializers.Serializer):
    value = serializers.CharField(allow_blank=True, help_text="One of the question's `values`.")
    comment = serializers.CharField(allow_blank=True, default="", help_text="Up to 2,000 characters.")


class AskedSerializer(serializers.Serializer):
    key = serializers.CharField(source="question.key")
    title = serializers.CharField(source="question.title")
    wording = serializers.CharField(source="question.wording")
    scale = serializers.CharField(source="question.scale.kind")
    values = serializers.ListField(child=serializers.CharField(), source="question.scale.choices")
    answer = GivenAnswerSerializer(help_text="The locked answer, or a draft; its value is empty for none.")


class RatedArticleSerializer(serializers.Serializer):
    title = serializers.CharField()
    text = serializers.CharField()


class RatingItemSerializer(serializers.Serializer):
    assignment = serializers.IntegerField(source="assignment_id")
    language = serializers.CharField()
    stage = serializers.IntegerField(help_text="The open stage, from 1.")
    stages = serializers.ListField(child=serializers.CharField(), source="stage_titles")
    summary = serializers.CharField()
    article = RatedArticleSerializer(allow_null=True, help_text="Null until the stage that shows it.")
    asked = AskedSerializer(many=True, help_text="Questions of the open stage.")
    locked = AskedSerializer(many=True, help_text="Questions of earlier stages.")
    in_gold_round = serializers.BooleanField()


class NextSerializer(serializers.Serializer):
    item = RatingItemSerializer(allow_null=True)
    reason = serializers.CharField(required=False, help_text="The reason why there is no item.")


class SkipBody(serializers.Serializer):
    reason = OneOf(Assignment.SkipReason.values)


class ChosenLanguageSerializer(serializers.Serializer):
    language = serializers.CharField(
        required=False, help_text="Language to work in from now on. Needed once by raters of several."
    )


class SubmittedStageSerializer(serializers.Serializer):
    answers = serializers.DictField(child=GivenAnswerSerializer(), help_text="Question's key to its answer.")
    keep_contradictions = serializers.BooleanField(
        default=False, help_text="True if the rater means answers that contradict each other."
    )


CONFLICTS = {**REFUSALS, **refusals(409, 429)}
FIRST_QUESTION = protocol.SEAHORSE.questions[0]
FIRST_STAGE = OpenApiExample(
    "The first stage",
    response_only=True,
    value={
        "item": {
            "assignment": 540,
            "language": "de",
            "stage": 1,
            "stages": protocol.SEAHORSE.stage_titles,
            "summary": "Der Hafen ist seit Montag zugefroren.",
            "article": None,
            "asked": [
                {
                    "key": FIRST_QUESTION.key,
                    "title": FIRST_QUESTION.title,
                    "wording": FIRST_QUESTION.wording,
                    "scale": FIRST_QUESTION.scale.kind,
                    "values": FIRST_QUESTION.scale.choices,
                    "answer": {"value": "", "comment": ""},
                }
            ],
            "locked": [],
            "in_gold_round": False,
        }
    },
)


@extend_schema(
    operation_id="rating_next",
    request=ChosenLanguageSerializer,
    responses={200: NextSerializer, **CONFLICTS},
    examples=[*sent_example(language="de"), FIRST_STAGE],
)
@rates("POST")
def next_item(request: Request, slug: str) -> Response:
    """Return the summary that you rate next, and reserve it. Repeating it returns the same one."""
    rater = rater_for(request.user, slug)
    body = read_body(request, ChosenLanguageSerializer)
    if "language" in body:
        choose_language(rater, body["language"])
    if not current_language(rater):
        raise DomainError(f"language: missing; expected one of {', '.join(rater.languages)}")
    assignment = next_assignment(rater)
    if assignment is not None:
        return _shown(desk_at(rater, assignment.pk))
    reason = (
        "Nothing is left to rate at the moment."
        if work_languages(rater)
        else "You rate a round of gold summaries first. Start one, then ask again."
    )
    return Response({"item": None, "reason": reason})


@extend_schema(operation_id="rating_round", request=None, responses={200: NextSerializer, **CONFLICTS})
@rates("POST")
def round_new(request: Request, slug: str) -> Response:
    """Start a gold round in the language in which you work, and return its first summary."""
    rater = rater_for(request.user, slug)
    start_round(rater, current_language(rater))
    assignment = next_assignment(rater)
    assert assignment is not None  # a round has at least one summary
    return _shown(desk_at(rater, assignment.pk))


@extend_schema(operation_id="rating_retrieve", responses={200: NextSerializer, **CONFLICTS})
@rates("GET")
def open_item(request: Request, slug: str, assignment_id: int) -> Response:
    """Return a summary that is assigned to you, at its open stage."""
    return _shown(desk_at(rater_for(request.user, slug), assignment_id))


@extend_schema(
    operation_id="rating_submit",
    request=SubmittedStageSerializer,
    responses={200: NextSerializer, **CONFLICTS},
    examples=sent_example(answers={"comprehensibility": {"value": "yes", "comment": "One word is missing."}}),
)
@rates("PUT")
def submit(request: Request, slug: str, assignment_id: int, stage: int) -> Response:
    """Submit a stage, which locks its answers, and return the next one.

    `item` is null once the rating is finished. Sending the same answers again changes nothing.
    """
    rater = rater_for(request.user, slug)
    body = read_body(request, SubmittedStageSerializer)
    given = {key: GivenAnswer(**answer) for key, answer in body["answers"].items()}
    desk = submit_at(
        desk_at(rater, assignment_id), stage, given, keeps_contradictions=body["keep_contradictions"]
    )
    if desk.assignment.state == Assignment.State.DONE:
        return Response({"item": None, "reason": "The rating is finished."})
    return _shown(desk)


@extend_schema(
    operation_id="rating_skip",
    request=SkipBody,
    responses={204: None, **CONFLICTS},
    examples=sent_example(reason="text"),
)
@rates("POST")
def skip(request: Request, slug: str, assignment_id: int) -> Response:
    """Skip a summary for good. It goes to another rater."""
    reason = read_body(request, SkipBody)["reason"]
    skip_assignment(rater_for(request.user, slug), assignment_id, reason)
    return Response(status=204)


def _shown(desk: Desk) -> Response:
    desk.require_open()
    return Response(NextSerializer({"item": shown_item(desk)}).data)
