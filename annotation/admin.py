"""Administration pages: users, which Django provides, and memberships."""

from django.contrib import admin

from annotation.models import Membership


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    """Editable, so that a project whose managers have left can get a new one."""

    list_display = ("user", "role", "project")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    autocomplete_fields = ("user",)
