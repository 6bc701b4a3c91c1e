import pytest
from django.urls import reverse

from tests.annotation.exports.exporting_steps import rate
from tests.factories import make_article, make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    for language in ("de", "en"):
        summary = make_summary(project, article=make_article(project, language=language))
        rate(summary, make_rater(project), comprehensibility="no")
    return project


@pytest.fixture
def manager(client, project):
    client.force_login(make_member(project, "manager"))
    return client


def page(client, project, **parameters):
    return client.get(reverse("exports", args=[project.slug]), parameters).content.decode()


def test_the_page_offers_formats_that_suit_the_project_and_its_own_languages(manager, project):
    shown = page(manager, project)
    assert "SEAHORSE (TSV)" in shown
    assert "SummEval (JSONL)" not in shown
    assert 'name="language" value="de"' in shown
    assert 'name="dataset"' not in shown, "there is only one"


def test_an_empty_project_says_what_to_do_first(client):
    project = make_project()
    client.force_login(make_member(project, "manager"))
    shown = page(client, project)
    assert "Nothing to export yet" in shown
    assert reverse("imports", args=[project.slug]) in shown


def test_a_researcher_is_offered_scores_only(client, project):
    client.force_login(make_member(project, "researcher"))
    shown = page(client, project)
    assert "Scores (CSV)" in shown
    assert "Gold set" not in shown


def test_a_file_is_sent_with_its_name_and_the_chosen_languages(manager, project):
    response = manager.get(
        reverse("export_file", args=[project.slug, "ratings"]), {"language": "de", "file_type": "jsonl"}
    )
    assert response.streaming
    assert response["Content-Disposition"] == f'attachment; filename="{project.slug}-ratings.jsonl"'
    content = b"".join(response.streaming_content).decode()
    assert '"language": "de"' in content
    assert '"language": "en"' not in content


def test_a_wrong_filter_shows_the_form_again(manager, project):
    response = manager.get(reverse("export_file", args=[project.slug, "ratings"]), {"language": "fr"})
    assert response.status_code == 422
    assert "Nothing was exported" in response.content.decode()
    assert manager.get(reverse("export_file", args=[project.slug, "summeval"])).status_code == 409
    assert manager.get(reverse("export_file", args=[project.slug, "nothing"])).status_code == 404


def test_the_api_lists_formats_and_sends_files(manager, project):
    listed = manager.get(f"/api/projects/{project.slug}/exports/").json()["results"]
    options = {option["name"]: option for option in listed[0]["options"]}
    assert listed[0]["name"] == "ratings"
    assert options["file_type"]["choices"] == ["csv", "jsonl"]
    address = f"/api/projects/{project.slug}/exports/ratings/"
    content = b"".join(manager.get(address, {"language": ["de", "en"]}).streaming_content)
    assert content.count(b"comprehensibility") == 2
    refused = manager.get(address, {"language": "fr"})
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "language: found 'fr', expected one of de, en",
    )
    twice = manager.get(address, {"file_type": ["csv", "jsonl"]})
    assert twice.json()["detail"] == "file_type: given twice"
