"""The API's agreement between raters, read-only: the rows of the agreement page."""

from typing import Any

from rest_framework import serializers

from annotation.models import Project
from annotation.web.api_pages import OneOf, PageQuery, ProjectPage
from metaeval.agreement.method import (
    ALWAYS_VALID,
    ARTICLES,
    BY_LANGUAGE,
    BY_STATE,
    INTERVALS,
    OWN_SCALE,
    PARTS,
    AgreementMethod,
)
from metaeval.agreement.report import agreement_rows
from metaeval.live.api import MOST_RESAMPLES, RESAMPLES_HELP, FigureSerializer, results_list
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.method import NONE


class AgreementSerializer(FigureSerializer):
    question = serializers.CharField()
    language = serializers.CharField(
        required=False, help_text=f"A language code, or '{ALL}' for all languages together."
    )
    dataset = serializers.CharField(required=False, help_text="A dataset, with by=dataset.")
    week = serializers.CharField(required=False, help_text="A week such as 2026-W48, with by=week.")
    statistic = serializers.CharField()
    scale = serializers.CharField()
    units = serializers.IntegerField(help_text="Summaries with two ratings or more.")
    ratings = serializers.IntegerField()
    raters = serializers.IntegerField()


class AgreementListSerializer(ProjectPage):
    results = AgreementSerializer(many=True)


class AgreementQuery(PageQuery):
    by = OneOf([*PARTS], default=BY_LANGUAGE, help_text="Parts in which agreement is told apart.")
    language = serializers.CharField(
        required=False, help_text=f"One language, or '{ALL}' for all together. Default: each of them."
    )
    group = serializers.CharField(required=False, help_text="One group of raters.")
    scale = OneOf([OWN_SCALE, *SCALES], default=OWN_SCALE, help_text="Scale for alpha, AC and kappa.")
    interval = OneOf(
        [BY_STATE, NONE, *INTERVALS],
        default=BY_STATE,
        help_text=f"'{BY_STATE}': '{ALWAYS_VALID}' until the campaign is closed, then '{ARTICLES}'.",
    )
    resamples = serializers.IntegerField(
        default=AgreementMethod.resamples,
        min_value=1,
        max_value=MOST_RESAMPLES,
        help_text=RESAMPLES_HELP,
    )
    seed = serializers.IntegerField(default=AgreementMethod.seed, min_value=0)


@results_list("agreement_list", AgreementQuery, AgreementListSerializer)
def agreement(project: Project, query: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, object]]]:
    """Return every statistic of every question, for each language, dataset or week and for all together."""
    snapshot = snapshot_of(project)
    rows = agreement_rows(
        project,
        snapshot,
        by=query["by"],
        language=query.get("language", ""),
        group=query.get("group", ""),
        method=AgreementMethod(query["scale"], query["interval"], query["resamples"], query["seed"]),
    )
    return {"revision": snapshot.revision}, rows
