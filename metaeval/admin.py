"""For operators: tags of disagreements to look at. They are set on the disagreements page."""

from django.contrib import admin

from metaeval.models import DisagreementTag
from scoring.admin import LookOnly


@admin.register(DisagreementTag)
class DisagreementTagAdmin(LookOnly):
    list_display = (
        "id",
        "setup",
        "question",
        "summary_id",
        "verdict",
        "created_by",
        "created_at",
        "ended_at",
    )
    list_filter = ("verdict",)
    list_select_related = ("setup", "question", "created_by")
    raw_id_fields = ("summary",)
