"""The administrators' view of the tables: reading nearly all, changing only who manages which project.

Everything else is written by actions, which keep the counts and histories that a plain edit would break.
"""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from annotation import models


class ReadOnly(admin.ModelAdmin):
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class ReadOnlyRows(admin.TabularInline):
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class QuestionRows(ReadOnlyRows):
    model = models.Question
    fields = ("position", "key", "title", "stage", "scale_kind", "needs_article", "stops_rating_on")


class AnswerRows(ReadOnlyRows):
    model = models.Answer
    fields = ("question", "value", "comment", "revision", "is_current", "after_reveal", "created_at")


class GoldAnswerRows(ReadOnlyRows):
    model = models.GoldAnswer
    fields = ("question", "value", "explanation")


@admin.register(models.Membership)
class MembershipAdmin(admin.ModelAdmin):
    """Editable, so that a project whose managers have left gets a new one."""

    list_display = ("user", "role", "project")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    autocomplete_fields = ("user",)


@admin.register(models.Questionnaire)
class QuestionnaireAdmin(ReadOnly):
    list_display = ("title", "key")
    inlines = (QuestionRows,)


@admin.register(models.Project)
class ProjectAdmin(ReadOnly):
    list_display = ("name", "slug", "questionnaire", "created_at")
    list_select_related = ("questionnaire",)
    search_fields = ("name", "slug")


@admin.register(models.Rater)
class RaterAdmin(ReadOnly):
    list_display = ("pseudonym", "project", "user", "status", "group", "languages")
    list_filter = ("status", "project")
    list_select_related = ("user", "project")
    search_fields = ("pseudonym", "user__username")


@admin.register(models.Rating)
class RatingAdmin(ReadOnly):
    list_display = ("id", "summary_id", "rater", "created_at", "completed_at")
    list_filter = ("rater__project",)
    list_select_related = ("rater",)
    fields = ("rater", "assignment_id", "round", "created_at", "completed_at", "stage_times")
    inlines = (AnswerRows,)


@admin.register(models.GoldRating)
class GoldRatingAdmin(ReadOnly):
    list_display = ("summary_id", "created_at", "retired_at")
    list_filter = ("summary__project",)
    inlines = (GoldAnswerRows,)


@admin.register(models.ImportJob)
class ImportJobAdmin(ReadOnly):
    list_display = ("file_name", "format", "project", "status", "dry_run", "created_at")
    list_filter = ("status", "format", "project")
    list_select_related = ("project",)
    exclude = ("file", "articles_file", "errors")


@admin.register(models.Invitation)
class InvitationAdmin(ReadOnly):
    list_display = ("project", "role", "note", "created_at", "expires_at", "accepted_by")
    list_select_related = ("project", "accepted_by")
    exclude = ("token_hash",)
