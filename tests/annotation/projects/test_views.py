"""The pages that create a project and change its settings."""

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from annotation import protocol
from annotation.models import Project, Role, Summary
from annotation.projects.forms import COMMON_LICENCES
from annotation.projects.settings import SETTINGS, store_questionnaire
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db

NEW = {"name": "News", "slug": "", "questionnaire": "seahorse", "redundancy": 2}
MODIFIED = protocol.Questionnaire(
    key="clarity",
    title="Clarity alone",
    stage_titles=("Reading",),
    questions=(
        protocol.Question("clarity", "clarity", "Clear", "Is it clear?", stage=1, scale=protocol.ONE_TO_FIVE),
    ),
)


@pytest.fixture
def admin():
    return get_user_model().objects.create_superuser("admin", password="a-long-enough-password")


def test_an_administrator_creates_a_project_and_manages_it(admin):
    response = signed_in(admin).post(reverse("project_new"), NEW)
    project = Project.objects.get()
    assert response.url == reverse("set_up", args=[project.slug])
    assert (project.slug, project.redundancy, project.questionnaire.key) == ("news", 2, "seahorse")
    assert list(project.memberships.values_list("user", "role")) == [(admin.pk, Role.MANAGER)]


def test_a_new_project_opens_its_set_up(admin):
    text = signed_in(admin).post(reverse("project_new"), NEW, follow=True).content.decode()
    assert "3 of 7 steps are complete" in text


def test_stored_questionnaires_can_be_chosen(admin):
    store_questionnaire(MODIFIED)
    client = signed_in(admin)
    assert "Clarity alone" in client.get(reverse("project_new")).content.decode()
    client.post(reverse("project_new"), NEW | {"questionnaire": "clarity"})
    assert Project.objects.get().questionnaire.key == "clarity"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": ""}, "This field is required"),
        ({"name": "x" * 121}, "at most 120"),
        ({"name": "Новости"}, "Enter an address"),
        ({"name": "Taken"}, "is taken"),
        ({"slug": "new"}, "is taken"),
        ({"slug": "no spaces"}, "valid"),
        ({"questionnaire": "other"}, "Select a valid choice"),
        ({"redundancy": 0}, "greater than or equal to 1"),
        ({"redundancy": "many"}, "whole number"),
    ],
)
def test_an_invalid_project_is_refused(admin, changes, complaint):
    make_project(slug="taken")
    response = signed_in(admin).post(reverse("project_new"), NEW | changes)
    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert Project.objects.count() == 1


def test_researchers_annotators_and_strangers_cannot_create_projects():
    project = make_project()
    for user in (make_member(project, "researcher"), make_rater(project).user, make_user()):
        assert signed_in(user).post(reverse("project_new"), NEW).status_code == 403
    assert Project.objects.count() == 1


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "manager"))


def settings_of(project, **changes):
    """Return what the form sends: shares as percentages."""
    names = [name for name in SETTINGS if name != "gold_thresholds"]
    stored = {name: getattr(project, name) for name in names}
    shares = {
        name: 100 * stored[name]
        for name in ("extra_share", "gold_threshold", "check_rate", "check_threshold")
    }
    return stored | shares | changes


def save(client, project, **changes):
    return client.post(
        reverse("project_settings", args=[project.slug]), settings_of(project, **changes), follow=True
    )


def test_settings_are_saved(project, client):
    save(client, project, name="Renamed", daily_goal=33, **{"threshold:grammar": 60})
    project.refresh_from_db()
    assert (project.name, project.daily_goal, project.gold_thresholds) == ("Renamed", 33, {"grammar": 0.6})
    text = client.get(reverse("project_settings", args=[project.slug])).content.decode()
    assert 'name="threshold:grammar" value="60"' in text
    assert "<details open>" in text


def test_shares_are_percentages_on_the_page_and_shares_in_the_project(project, client):
    text = client.get(reverse("project_settings", args=[project.slug])).content.decode()
    assert f'name="gold_threshold" value="{100 * project.gold_threshold:g}"' in text
    assert "<details>" in text
    save(client, project, extra_share="12.5", gold_threshold="70")
    project.refresh_from_db()
    assert (project.extra_share, project.gold_threshold) == (0.125, 0.7)


def test_an_emptied_threshold_and_an_unticked_box_are_saved(project, client):
    save(client, project, **{"threshold:grammar": 60})
    form = settings_of(project)
    del form["allow_corrections"]
    client.post(reverse("project_settings", args=[project.slug]), form)
    project.refresh_from_db()
    assert (project.gold_thresholds, project.allow_corrections) == ({}, False)


def test_a_changed_redundancy_shows_the_number_of_affected_summaries(project, client):
    make_summary(project)
    make_summary(project)
    make_gold(project)
    text = save(client, project, redundancy=3).content.decode()
    assert "2 summaries now need a different number of ratings" in text
    assert sorted(Summary.objects.values_list("ratings_wanted", flat=True)) == [0, 3, 3]


@pytest.mark.parametrize(
    ("redundancy", "effect"),
    [
        (3, "<b>4 more ratings</b>: 6 missing instead of 2."),
        (1, "2 ratings are missing."),
        ("x", "Correct the numbers to see their effect."),
        (0, "Correct the numbers to see their effect."),
    ],
)
def test_the_effect_of_a_redundancy_is_shown_before_it_is_saved(project, client, redundancy, effect):
    make_summary(project)
    make_summary(project)
    form = settings_of(project, redundancy=redundancy, name="")
    shown = client.post(
        reverse("project_settings", args=[project.slug]), form, headers={"HX-Request": "true"}
    )
    assert " ".join(shown.content.decode().split()) == effect
    assert Project.objects.get().redundancy == 1


def test_a_refused_setting_is_named_beside_its_field_and_keeps_what_was_typed(project, client):
    text = save(client, project, check_minimum=30, check_window=20, check_rate="12.50").content.decode()
    beside = text.split('name="check_minimum"')[1].split("</div>")[0]
    assert "Found 30, but only the last 20 hidden checks count." in beside
    assert 'name="check_rate" value="12.50"' in text


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"licence": "CC-BY-4.0"},
        {"redundancy": 0},
        {"extra_share": 101},
        {"extra_share": "nan"},
        {"lease_minutes": 0},
        {"gold_threshold": 200},
        {"threshold:grammar": -1},
        {"daily_goal": 70000},
    ],
)
def test_one_invalid_setting_prevents_saving_all_settings(project, client, changes):
    response = save(client, project, **({"gold_round_size": 5} | changes))
    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    assert Project.objects.get().gold_round_size == 20


def test_a_licence_is_saved_and_common_ones_are_suggested(project, client):
    text = save(client, project, licence="cc-by-4.0").content.decode()
    assert 'name="licence" value="cc-by-4.0"' in text
    assert '<option value="mit"></option>' in text
    assert Project.objects.get().licence == "cc-by-4.0"
    assert "in lower case, such as cc-by-4.0" in save(client, project, licence="CC-BY-4.0").content.decode()


def test_the_suggested_licences_are_valid(project, client):
    for licence in COMMON_LICENCES:
        save(client, project, licence=licence)
        assert Project.objects.get().licence == licence


def test_a_refused_name_does_not_appear_in_the_header(project, client):
    text = save(client, project, name="x" * 121).content.decode()
    assert f'<span class="crumb">{project.name}</span>' in text


def test_only_managers_change_settings(project):
    for user in (make_member(project, "researcher"), make_rater(project).user):
        assert save(signed_in(user), project, redundancy=9).status_code == 403
    assert save(signed_in(make_user()), project, redundancy=9).status_code == 404
    assert Project.objects.get().redundancy == 1
