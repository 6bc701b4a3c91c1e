"""The API's preregistered comparisons, read-only: the rows of their page."""

from typing import Any

from rest_framework import serializers

from annotation.models import Project
from annotation.web.api_pages import PageQuery, ProjectPage
from metaeval.live.api import results_list
from metaeval.models import Preregistration
from metaeval.preregistrations.page import NoChoices, preregistrations_page


class PreregistrationSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    statement = serializers.CharField(help_text="The claim in words.")
    claim = serializers.ChoiceField(Preregistration.Claim.choices)
    first = serializers.CharField(help_text="The evaluator that the claim is about.")
    second = serializers.CharField()
    question = serializers.CharField()
    level = serializers.CharField()
    coefficient = serializers.CharField()
    margin = serializers.FloatField(allow_null=True, help_text="The loss that still counts as good.")
    language = serializers.CharField()
    group = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    registered_at = serializers.DateTimeField()
    ratings_before = serializers.IntegerField(help_text="Finished ratings when it was registered.")
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    withdrawn_because = serializers.CharField(allow_blank=True)
    difference = serializers.FloatField(
        allow_null=True, help_text="The first coefficient minus the second; above 0 if the first is better."
    )
    p_value = serializers.FloatField(
        allow_null=True, help_text="p-value, corrected for all preregistrations of the project."
    )
    verdict = serializers.CharField()
    n = serializers.IntegerField(help_text="Summaries that count for both.")
    units = serializers.IntegerField()
    unit = serializers.CharField(help_text="summaries, articles or systems.")
    reason = serializers.CharField(allow_blank=True, help_text="The reason why there is no p-value.")
    definition = serializers.CharField()


class PreregistrationListSerializer(ProjectPage):
    results = PreregistrationSerializer(many=True)


@results_list("preregistrations_list", PageQuery, PreregistrationListSerializer)
def preregistration_list(
    project: Project, _query: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, object]]]:
    """Return what comparisons were to show before their results were known, and what they show."""
    page = preregistrations_page(project, NoChoices(), wait_s=None)
    return {"revision": page.snapshot.revision}, [row.as_json() for row in page.rows]
