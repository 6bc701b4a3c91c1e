"""For operators: setups, runs and batches to look at. They are changed on the project's pages."""

from typing import Any

from django.contrib import admin

from scoring.models import Batch, EvaluatorSetup, Run


class LookOnly(admin.ModelAdmin):
    show_full_result_count = False

    def has_add_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_delete_permission(self, *_: Any, **__: Any) -> bool:
        return False


@admin.register(EvaluatorSetup)
class EvaluatorSetupAdmin(LookOnly):
    list_display = ("label", "project", "evaluator", "signature", "created_at")
    list_filter = ("evaluator",)
    list_select_related = ("project",)
    exclude = ("pool",)


@admin.register(Run)
class RunAdmin(LookOnly):
    list_display = ("id", "setup", "status", "total", "reused", "created_by", "created_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("setup", "created_by")


@admin.register(Batch)
class BatchAdmin(LookOnly):
    list_display = ("id", "run_id", "number", "size", "state", "attempts", "claimed_until", "finished_at")
    list_filter = ("state",)
