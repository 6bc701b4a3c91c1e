"""The administrators' pages: they open, change nothing that actions keep, and show no hash of a token."""

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.actions.people import invite
from annotation.models import ImportJob, Membership, Rating
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

MODELS = [model for model in admin.site._registry if model._meta.app_label == "annotation"]


@pytest.fixture
def client():
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("admin", password="a-long-enough-password"))
    return client


@pytest.fixture
def project():
    project = make_project()
    now = timezone.now()
    Rating.objects.create(
        summary=make_summary(project), rater=make_rater(project), created_at=now, completed_at=now
    )
    make_gold(project)
    make_member(project, "manager")
    ImportJob.objects.create(project=project, format="gold", file="imports/x", file_name="x")
    return project


def address(model, page, *ids):
    return reverse(f"admin:annotation_{model._meta.model_name}_{page}", args=ids)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_each_list_and_each_object_opens_and_can_only_be_read(client, project, model):
    invitation, _ = invite(project, "researcher")
    assert client.get(address(model, "changelist")).status_code == 200
    found = model.objects.latest("pk")
    page = client.get(address(model, "change", found.pk))
    assert page.status_code == 200
    assert invitation.token_hash not in page.content.decode()
    if model is not Membership:
        assert client.get(address(model, "add")).status_code == 403
        assert client.post(address(model, "change", found.pk), {}).status_code == 403
        assert client.post(address(model, "delete", found.pk), {"post": "yes"}).status_code == 403
        assert model.objects.filter(pk=found.pk).exists()


def test_an_administrator_can_give_a_project_a_manager(client, project):
    user = make_rater(project).user
    form = {"project": project.pk, "user": user.pk, "role": "manager"}
    assert client.post(address(Membership, "add"), form).status_code == 302
    assert Membership.objects.filter(project=project, user=user).exists()


def test_nobody_else_gets_in(project):
    client = Client()
    client.force_login(Membership.objects.get(project=project).user)
    assert client.get(reverse("admin:index")).status_code == 302
