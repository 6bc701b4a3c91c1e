import pytest
from django.urls import reverse

from tests.factories import make_member, make_project, make_summary

pytestmark = pytest.mark.django_db


def current_section(client, address: str) -> list[str]:
    sections = client.get(address).context["sections"]
    return [section.title for section in sections if section.is_current]


def test_a_page_marks_only_its_own_section_as_current(client):
    project = make_project()
    summary = make_summary(project)
    client.force_login(make_member(project, "manager"))
    assert current_section(client, reverse("progress", args=[project.slug])) == ["Progress"]
    assert current_section(client, reverse("summaries", args=[project.slug])) == ["Summaries"]
    assert current_section(client, reverse("summary", args=[project.slug, summary.pk])) == ["Summaries"]
    assert current_section(client, reverse("run_new", args=[project.slug])) == ["Evaluators"]
    assert current_section(client, reverse("endpoints", args=[project.slug])) == ["Evaluators"]


def test_a_role_sees_only_the_sections_it_may_open(client):
    project = make_project()
    client.force_login(make_member(project, "researcher"))
    sections = client.get(reverse("progress", args=[project.slug])).context["sections"]
    assert [section.title for section in sections] == [
        "Progress",
        "Agreement",
        "Evaluators",
        "Results",
        "Summaries",
        "Export",
    ]
