"""The API's evaluator cards, read-only: the numbers of the evaluator card's page."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rest_framework import serializers

from annotation.models import Project
from annotation.web.api_pages import ProjectPage
from metaeval.card.page import whole_card
from metaeval.live.api import EvaluatorFigureSerializer, LabelsQuery, results_list
from metaeval.live.choices import PairChoices


class CardRowSerializer(EvaluatorFigureSerializer):
    section = serializers.CharField(help_text="Section of the card; 'finding' for answers in words.")
    measure = serializers.CharField()
    n = serializers.IntegerField(allow_null=True, help_text="Summaries.")
    text = serializers.CharField(required=False, help_text="The answer or a remark in words.")


class CardListSerializer(ProjectPage):
    results = CardRowSerializer(many=True)


class CardQuery(LabelsQuery):
    evaluator = serializers.CharField(required=False, help_text="A setup. Default: the first.")
    question = serializers.CharField(
        required=False, help_text="A question. Default: the first that the setup scores."
    )


@results_list("evaluator_card_list", CardQuery, CardListSerializer)
def evaluator_card(
    project: Project, query: dict[str, Any]
) -> tuple[dict[str, Any], Sequence[dict[str, object]]]:
    """Return all numbers of an evaluator's card; none if it does not score the question."""
    choices = PairChoices(
        **{field.name: query[field.name] for field in fields(PairChoices) if field.name in query}
    )
    card = whole_card(project, choices)
    return {"revision": card.snapshot.revision}, card.rows
