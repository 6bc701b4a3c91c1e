"""Publishing and unpublishing results on the settings page."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(project):
    return signed_in(make_member(project, "manager"))


def settings_page(client, project):
    return client.get(reverse("project_settings", args=[project.slug])).content.decode()


def test_publishing_asks_first_and_warns_that_raters_can_see_the_results(manager, project):
    page = manager.get(reverse("results_publish", args=[project.slug])).content.decode()
    assert "Signed-out raters can read these pages, too" in page
    project.refresh_from_db()
    assert project.results_published_at is None


def test_the_settings_show_the_public_addresses_while_published(manager, project):
    address = f"http://testserver{reverse('comparison', args=[project.slug])}"
    assert address not in settings_page(manager, project)
    manager.post(reverse("results_publish", args=[project.slug]))
    page = settings_page(manager, project)
    assert f'value="{address}"' in page
    assert "published</span> since" in page
    assert Client().get(address).status_code == 200
    manager.post(reverse("results_unpublish", args=[project.slug]))
    assert address not in settings_page(manager, project)
    assert Client().get(address).status_code == 302


def test_members_and_readers_see_that_results_are_published(manager, project):
    address = reverse("agreement", args=[project.slug])
    assert "published since" not in manager.get(address).content.decode()
    manager.post(reverse("results_publish", args=[project.slug]))
    assert "published since" in manager.get(address).content.decode()
    assert "published since" in Client().get(address).content.decode()
