"""Administration pages: users, which Django provides, memberships, and the audit log."""

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.models import AuditEntry, Membership
from annotation.people.two_factor import turn_off

# The library's own pages show keys and codes.
admin.site.unregister([StaticDevice, TOTPDevice])


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    """Editable, so that a project whose managers have left can get a new one."""

    list_display = ("user", "role", "project")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    autocomplete_fields = ("user",)

    def save_model(self, request: HttpRequest, obj: Membership, form: ModelForm, change: bool) -> None:
        before = Membership.objects.filter(pk=obj.pk).select_related("user", "project").first()
        if before is not None:
            record(Action.MEMBER_REMOVED, before.project, before)
        super().save_model(request, obj, form, change)
        record(Action.MEMBER_ADDED, obj.project, obj)

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        record(Action.MEMBER_REMOVED, obj.project, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for membership in queryset.select_related("user", "project"):
            record(Action.MEMBER_REMOVED, membership.project, membership)
        super().delete_queryset(request, queryset)


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin):
    """Read-only: for entries of accounts and of deleted projects, which no project's page shows."""

    list_display = ("at", "actor_name", "project_id", "action", "object", "reason")
    list_filter = ("action",)
    search_fields = ("actor_name", "object")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:  # noqa: ARG002
        return False


@admin.register(TOTPDevice)
class TwoFactorAdmin(admin.ModelAdmin):
    """Accounts with two-factor authentication. Superusers turn it off by deleting, for lost phones."""

    list_display = ("user", "created_at", "last_used_at")
    search_fields = ("user__username",)
    fields = ("user", "created_at", "last_used_at")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: TOTPDevice | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TOTPDevice | None = None) -> bool:  # noqa: ARG002
        return bool(request.user.is_active and request.user.is_superuser)

    def delete_model(self, request: HttpRequest, obj: TOTPDevice) -> None:  # noqa: ARG002
        turn_off(obj.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[TOTPDevice]) -> None:  # noqa: ARG002
        for app in queryset.select_related("user"):
            turn_off(app.user)
