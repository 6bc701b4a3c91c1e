"""The form of a new ICE run: custom dimensions, and errors found before any request."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation.protocol import Question, Questionnaire, Scale, ScaleKind
from scoring.models import Run
from tests.factories import make_member, make_project, make_summary
from tests.scoring.runs.test_planning import rate

pytestmark = pytest.mark.django_db

TONE = Questionnaire(
    "tone",
    "Tone",
    ("Against the article",),
    (
        Question(
            "tone", "tone", "Tone", "Tone?", 1, Scale(ScaleKind.ORDINAL, low=1, high=5), needs_article=True
        ),
    ),
)
FORM = {
    "evaluator": "ice",
    "param_model": "m",
    "param_dimensions": "tone",
    "param_prompt": "described",
    "param_sees": "tone=article",
    "param_descriptions": "tone=Is it, on the whole, sober?",
    "action": "start",
}


@pytest.fixture
def project():
    project = make_project(TONE)
    for value in "12345":
        rate(make_summary(project), tone=value)
    return project


def posted(project, **changes):
    client = Client()
    client.force_login(make_member(project, "researcher"))
    return client.post(reverse("run_new", args=[project.slug]), {**FORM, **changes})


def test_custom_dimension_takes_a_description_and_its_visible_text(project):
    assert posted(project).status_code == 302
    setup = Run.objects.get().setup
    assert setup.provenance["provenance"]["descriptions"] == {"tone": "Is it, on the whole, sober?"}
    assert len(setup.provenance["provenance"]["examples"]["tone"]) == 4


def test_question_of_the_project_needs_no_words_in_the_form(project):
    assert posted(project, param_descriptions="", param_sees="").status_code == 302
    params = Run.objects.get().setup.params
    assert params["sees"] == ["tone=article"]
    assert params["descriptions"] == '{"tone": "Tone?"}'


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        (
            {"other_dimensions": "focus", "param_sees": "tone=article,focus=article"},
            "param_descriptions",
            "Found nothing for the dimension 'focus'",
        ),
        ({"other_dimensions": "focus"}, "param_sees", "Found nothing for the dimension 'focus'"),
        ({"param_context_tokens": "600"}, "param_examples", "Found 4, expected at most "),
        ({"param_context_tokens": "60"}, "param_examples", "not even 1 fits"),
    ],
)
def test_error_is_shown_beside_its_field(project, changes, field, message):
    response = posted(project, **changes)
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert message in unescape(response.content.decode())
    assert not Run.objects.exists()
