"""The page of dimensions: built-in ones, the project's own, and those its questions measure."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from scoring.dimensions.project_dimensions import add_dimension
from scoring.models import JudgedDimension
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_member, make_rater, make_summary
from tests.metaeval.rated_projects import rate

pytestmark = pytest.mark.django_db

FOCUS = {"name": "focus", "description": "Does it keep to the subject?", "sees": "article"}


@pytest.fixture
def user(project):
    return make_member(project, "manager")


@pytest.fixture
def manager(user):
    return signed_in(user)


def at(name, project, *args):
    return reverse(name, args=[project.slug, *args])


def text_of(response):
    return " ".join(unescape(response.content.decode()).split())


def rows(response):
    """Return each dimension's row as text, by the dimension's name."""
    page = text_of(response)
    parts = page.split('<span class="mono small muted">')[1:]
    return {part.partition("<")[0]: part.partition("</li>")[0] for part in parts}


def test_page_lists_built_in_dimensions_with_the_questions_that_measure_them(manager, project):
    rate(make_summary(project), make_rater(project), attribution="yes")
    found = rows(manager.get(at("dimensions", project)))
    assert len(found) == 10
    assert "✓ labels" in found["attribution"]
    assert "Sees the article and the summary" in found["attribution"]
    assert "no labels yet" in found["grammar"]
    assert "no question measures it" in found["fluency"]
    assert "Sees a reference and the summary" in found["relevance"]


def test_manager_adds_changes_and_removes_a_dimension(manager, project, user):
    response = manager.post(at("dimensions", project), FOCUS, follow=True)
    assert "Does it keep to the subject?" in rows(response)["focus"]
    focus = JudgedDimension.objects.get()
    assert focus.changed_by == user
    here = at("dimension", project, focus.pk)
    assert 'value="focus"' in text_of(manager.get(here))
    manager.post(here, {**FOCUS, "description": "Is it on topic?", "sees": "summary"})
    focus.refresh_from_db()
    assert (focus.description, focus.sees) == ("Is it on topic?", "summary")
    here = at("dimension_remove", project, focus.pk)
    assert "have to describe it themselves" in text_of(manager.get(here))
    assert JudgedDimension.objects.exists()
    manager.post(here)
    assert not JudgedDimension.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"name": ""}, "name", "Enter a name"),
        ({"name": "a=b"}, "name", "expected a name without any of"),
        ({"name": "x" * 61}, "name", "expected at most 60"),
        ({"description": " "}, "description", "Enter a question"),
        ({"description": "x" * 1001}, "description", "Found 1,001 characters, expected at most 1,000"),
        ({"sees": "summary_and_more"}, "sees", "Select a valid choice"),
        ({"sees": ""}, "sees", "expected one of summary, article, reference"),
    ],
)
def test_error_is_shown_beside_its_field(manager, project, changes, field, message):
    response = manager.post(at("dimensions", project), {**FOCUS, **changes})
    assert response.status_code == 422
    assert message in str(response.context["form"].errors[field])
    assert not JudgedDimension.objects.exists()


def test_taken_name_is_refused_when_adding_and_when_changing(manager, project, user):
    add_dimension(project, user, **FOCUS)
    other = add_dimension(project, user, **{**FOCUS, "name": "style"})
    for here in (at("dimensions", project), at("dimension", project, other.pk)):
        response = manager.post(here, FOCUS)
        assert response.status_code == 422
        assert "called 'focus'" in text_of(response)


def test_form_starts_with_the_words_of_a_built_in_dimension(manager, project, user):
    page = text_of(manager.get(at("dimensions", project) + "?like=attribution"))
    assert 'value="attribution"' in page
    add_dimension(project, user, name="attribution", description="Is it true?", sees="article")
    found = rows(manager.get(at("dimensions", project)))
    assert "replaces the built-in one" in found["attribution"]
    assert "Is it true?" in found["attribution"]
    own = JudgedDimension.objects.get()
    assert "use the built-in dimension" in text_of(manager.get(at("dimension_remove", project, own.pk)))


def test_researcher_reads_but_cannot_change_dimensions(project, user):
    add_dimension(project, user, **FOCUS)
    client = Client()
    client.force_login(make_member(project, "researcher"))
    page = text_of(client.get(at("dimensions", project)))
    assert "Does it keep to the subject?" in page
    assert "<form" not in page[page.index("<main") :]
    assert client.post(at("dimensions", project), {**FOCUS, "name": "style"}).status_code == 403
