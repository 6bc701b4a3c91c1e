import pytest

from annotation.errors import DomainError
from annotation.guidelines.rendering import render_guidelines
from annotation.guidelines.starting_points import (
    EMPTY,
    HEADINGS,
    SHIPPED,
    headings_for,
    starting_points,
    starting_text,
)
from annotation.guidelines.views import coverage
from annotation.protocol import SEAHORSE, SUMMEVAL
from tests.factories import make_project, publish_guidelines

pytestmark = pytest.mark.django_db

LANGUAGES = ["de", "en", "es", "ru", "tr", "vi"]


@pytest.fixture(scope="module")
def shipped(request):
    path = request.config.rootpath / "annotation/guidelines/texts/seahorse.md"
    return path.read_text(encoding="utf-8")


def test_our_guidelines_explain_each_question_with_examples_in_all_six_languages(shipped):
    rendered = render_guidelines(shipped, SEAHORSE.questions)
    for row in coverage(rendered, SEAHORSE.questions, LANGUAGES):
        assert row.has_section, row.question.key
        assert [(each.language, each.missing) for each in row.languages] == [(code, ()) for code in LANGUAGES]
    assert all(example.language for example in rendered.examples), "an example in no part for a language"


@pytest.mark.parametrize("language", LANGUAGES)
def test_raters_of_one_language_get_its_examples_and_its_article_only(shipped, language):
    html = render_guidelines(shipped, SEAHORSE.questions, [language]).html
    others = [code for code in LANGUAGES if code != language]
    assert html.count(f'lang="{language}"') == 14  # an article and thirteen summaries
    assert not any(f'lang="{code}"' in html for code in others)
    assert html.count('href="#guidelines-example-article"') >= 2
    assert html.count('id="guidelines-example-article"') == 1


def test_every_example_says_why(shipped):
    examples = [part.split("\n\n") for part in shipped.split("\n#### ")[1:]]
    for heading, quotation, why, *_ in examples:
        assert quotation.startswith("> "), heading
        assert len(why.split()) >= 3, heading


def test_a_draft_can_start_from_versions_ours_headings_or_nothing():
    project = make_project()
    publish_guidelines(project, "First.")
    publish_guidelines(project, "Zweite.", language="de")
    assert [name for name, _ in starting_points(project)] == ["de/1", "en/1", SHIPPED, HEADINGS, EMPTY]
    assert starting_text(project, "en/1") == "First."
    assert "## Attribution" in starting_text(project, SHIPPED)
    assert starting_text(project, EMPTY) == ""
    with pytest.raises(DomainError, match="not offered"):
        starting_text(project, "tr/9")


def test_ours_are_offered_for_their_questionnaire_only():
    assert SHIPPED not in dict(starting_points(make_project(SUMMEVAL)))


@pytest.mark.parametrize("questionnaire", [SEAHORSE, SUMMEVAL])
def test_headings_cover_each_question_and_answer(questionnaire):
    rendered = render_guidelines(headings_for(questionnaire), questionnaire.questions)
    rows = coverage(rendered, questionnaire.questions, ["en"])
    assert all(row.has_section and not row.languages[0].missing for row in rows)
