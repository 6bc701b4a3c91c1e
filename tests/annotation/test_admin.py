"""The admin pages: accounts and memberships, for staff only."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.models import AuditEntry, Membership
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    client = Client()
    client.force_login(User.objects.create_superuser("admin", password="a-long-enough-password"))
    return client


@pytest.fixture
def project():
    project = make_project()
    make_member(project, "manager")
    return project


def test_only_accounts_groups_and_memberships_can_be_edited(rf):
    assert set(admin.site._registry) == {User, Group, Membership, AuditEntry, TOTPDevice}
    request = rf.get("/")
    request.user = User(is_staff=True, is_superuser=True)
    log = admin.site._registry[AuditEntry]
    assert not any(log.get_model_perms(request)[what] for what in ("add", "change", "delete"))
    apps = admin.site._registry[TOTPDevice]
    assert not any(apps.get_model_perms(request)[what] for what in ("add", "change"))
    request.user.is_superuser = False
    assert not apps.has_delete_permission(request)


def test_accounts_and_memberships_open(client, project):
    membership = Membership.objects.get(project=project)
    for page, ids in (
        ("auth_user_changelist", []),
        ("auth_user_change", [membership.user_id]),
        ("annotation_membership_changelist", []),
        ("annotation_membership_change", [membership.pk]),
    ):
        assert client.get(reverse(f"admin:{page}", args=ids)).status_code == 200


def test_an_administrator_can_give_a_project_a_manager(client, project):
    user = make_rater(project).user
    form = {"project": project.pk, "user": user.pk, "role": "manager"}
    assert client.post(reverse("admin:annotation_membership_add"), form).status_code == 302
    membership = Membership.objects.get(project=project, user=user)
    entry = AuditEntry.objects.first()
    assert (entry.actor_name, entry.action, entry.project) == ("admin", "member_added", project)
    form = {"project": project.pk, "user": user.pk, "role": "researcher"}
    client.post(reverse("admin:annotation_membership_change", args=[membership.pk]), form)
    client.post(reverse("admin:annotation_membership_delete", args=[membership.pk]), {"post": "yes"})
    actions = list(project.audit_entries.values_list("action", "object"))
    assert actions[:3] == [
        ("member_removed", f"{user} as researcher"),
        ("member_added", f"{user} as researcher"),
        ("member_removed", f"{user} as manager"),
    ]
    assert client.get(reverse("admin:annotation_auditentry_changelist")).status_code == 200


def test_users_without_staff_status_are_refused(project):
    client = Client()
    client.force_login(Membership.objects.get(project=project).user)
    assert client.get(reverse("admin:index"), follow=True).status_code == 403
