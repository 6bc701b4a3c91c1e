"""Dimensions that judges are asked about, in the project's words."""

import pytest

from annotation.errors import DomainError
from annotation.protocol import SEAHORSE, Question, Questionnaire, Scale, ScaleKind
from scoring.contract.fingerprints import fingerprint
from scoring.dimensions.project_dimensions import (
    DimensionSource,
    add_dimension,
    change_dimension,
    known_dimensions,
    remove_dimension,
    with_words_of,
)
from scoring.errors import InvalidDimension
from scoring.evaluators import load_evaluator
from scoring.models import JudgedDimension
from scoring.prompts.dimensions import SEES, read_descriptions
from scoring.runs.planning import plan
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.scoring.runs.test_planning import rate

pytestmark = pytest.mark.django_db

FIVE = Scale(ScaleKind.ORDINAL, low=1, high=5)
NEWS = Questionnaire(
    "news",
    "News",
    ("Alone", "Against the article"),
    (
        Question("tone", "tone", "Tone", "Is the tone sober; is it calm?", 1, FIVE),
        Question("facts", "facts", "Facts", "Are the facts\nright?", 2, FIVE, needs_article=True),
        Question("fluency", "fluency", "Fluency", "Does it flow?", 2, FIVE),
    ),
)
WORDS = {"name": "tone", "description": "Is it, on the whole, sober; or calm?", "sees": "article"}


@pytest.fixture
def project():
    return make_project(NEWS)


def known(project):
    return {each.dimension.name: each for each in known_dimensions(project)}


class TestKnown:
    def test_dimensions_of_seahorse_and_summeval_are_built_in(self):
        found = known(make_project())
        assert set(found) == set(SEES)
        assert {each.source for each in found.values()} == {DimensionSource.READY}
        assert found["attribution"].dimension.description == SEAHORSE.questions[3].wording
        assert found["attribution"].questions == (SEAHORSE.questions[3].title,)
        assert found["relevance"].questions == ()

    def test_project_question_becomes_a_dimension_with_its_wording(self, project):
        found = known(project)
        assert found["facts"].source is DimensionSource.QUESTION
        assert found["facts"].dimension.description == "Are the facts right?"
        assert (found["facts"].dimension.sees, found["tone"].dimension.sees) == ("article", "summary")
        assert found["fluency"].source is DimensionSource.READY

    def test_project_dimensions_take_precedence(self, project, manager):
        add_dimension(project, manager, **WORDS)
        add_dimension(project, manager, **{**WORDS, "name": "fluency"})
        found = known(project)
        assert found["tone"].source is found["fluency"].source is DimensionSource.PROJECT
        assert found["tone"].dimension.description == WORDS["description"]
        assert found["tone"].questions == ("Tone",)
        assert (found["fluency"].replaces_ready, found["tone"].replaces_ready) == (True, False)

    def test_dimensions_of_other_projects_are_unknown(self, project, manager):
        add_dimension(project, manager, **{**WORDS, "name": "focus"})
        assert "focus" not in known(make_project())


class TestActions:
    def test_manager_adds_changes_and_removes_a_dimension(self, project, manager):
        added = add_dimension(
            project, manager, name=" on\ntopic ", description="Is it\non topic?", sees="summary"
        )
        assert (added.name, added.description, added.changed_by) == ("on topic", "Is it on topic?", manager)
        change_dimension(added, manager, name="focus", description="Is it?", sees="reference")
        stored = JudgedDimension.objects.get()
        assert (stored.name, stored.description, stored.sees) == ("focus", "Is it?", "reference")
        remove_dimension(stored, manager)
        assert not JudgedDimension.objects.exists()

    @pytest.mark.parametrize(
        ("changes", "field", "message"),
        [
            ({"name": " "}, "name", "Enter a name"),
            ({"name": "x" * 61}, "name", "Found 61 characters, expected at most 60"),
            ({"name": "a=b"}, "name", "Found '='"),
            ({"name": "a;b"}, "name", "Found ';'"),
            ({"name": "a,b"}, "name", "Found ','"),
            ({"name": "General"}, "name", "Choose another"),
            ({"name": "FOCUS"}, "name", "The project has a dimension called"),
            ({"description": "\n"}, "description", "a question"),
            ({"description": "x" * 1001}, "description", "Found 1,001 characters, expected at most 1,000"),
            ({"sees": "everything"}, "sees", "expected one of summary, article, reference"),
        ],
    )
    def test_invalid_dimension_is_refused_at_its_field(self, project, manager, changes, field, message):
        focus = add_dimension(project, manager, name="focus", description="Is it?", sees="summary")
        other = add_dimension(project, manager, **WORDS)
        for act in (
            lambda: add_dimension(project, manager, **{**WORDS, "name": "new", **changes}),
            lambda: change_dimension(other, manager, **{**WORDS, **changes}),
        ):
            with pytest.raises(InvalidDimension) as refused:
                act()
            assert list(refused.value.fields) == [field]
            assert message in refused.value.fields[field]
        assert set(JudgedDimension.objects.values_list("name", flat=True)) == {"tone", focus.name}

    def test_dimension_may_keep_its_own_name(self, project, manager):
        own = add_dimension(project, manager, **WORDS)
        assert change_dimension(own, manager, **{**WORDS, "name": "Tone"}).name == "Tone"

    @pytest.mark.parametrize("role", ["researcher", "annotator"])
    def test_only_managers_edit(self, project, manager, role):
        own = add_dimension(project, manager, **WORDS)
        person = make_member(project, role) if role == "researcher" else make_rater(project).user
        for act in (
            lambda: add_dimension(project, person, **{**WORDS, "name": "new"}),
            lambda: change_dimension(own, person, **WORDS),
            lambda: remove_dimension(own, person),
        ):
            with pytest.raises(DomainError):
                act()
        assert JudgedDimension.objects.count() == 1


def with_project_words(project, **given):
    return with_words_of(project, load_evaluator("ice"), {"model": "m", **given})


class TestWordsInParameters:
    def test_run_gets_words_only_for_its_dimensions(self, project, manager):
        add_dimension(project, manager, **WORDS)
        given = with_project_words(project, dimensions="tone,fluency", prompt="described")
        assert given["sees"] == ["tone=article"]
        assert read_descriptions(given["descriptions"]) == {"tone": WORDS["description"]}

    def test_run_without_named_dimensions_gets_those_of_the_questions(self, project):
        given = with_project_words(project, prompt="described")
        assert given["sees"] == ["tone=summary", "facts=article"]
        assert read_descriptions(given["descriptions"]) == {
            "tone": "Is the tone sober; is it calm?",
            "facts": "Are the facts right?",
        }

    def test_words_given_to_the_run_take_precedence(self, project, manager):
        add_dimension(project, manager, **WORDS)
        said = {"sees": "tone=reference", "descriptions": "tone=Mine?; other=Another?"}
        given = with_project_words(project, dimensions=["tone"], prompt="described", **said)
        assert (given["sees"], given["descriptions"]) == (said["sees"], said["descriptions"])
        given = with_project_words(project, dimensions="facts", prompt="described", **said)
        assert given["sees"] == ["tone=reference", "facts=article"]
        assert read_descriptions(given["descriptions"]) == {
            "tone": "Mine?",
            "other": "Another?",
            "facts": "Are the facts right?",
        }

    def test_prompt_without_descriptions_gets_none(self, project):
        assert "descriptions" not in with_project_words(project, dimensions="tone")

    def test_built_in_dimensions_leave_parameters_unchanged(self, project):
        assert with_project_words(project, dimensions="fluency", prompt="described") == {
            "model": "m",
            "dimensions": "fluency",
            "prompt": "described",
        }

    @pytest.mark.parametrize("wrong", [{"dimensions": 5}, {"sees": 5}, {"descriptions": "tone"}])
    def test_unreadable_parameters_are_left_for_validation(self, project, wrong):
        given = with_project_words(project, **{"prompt": "described", **wrong})
        assert wrong.items() <= given.items() or "sees" in wrong

    def test_evaluators_without_a_language_model_get_no_words(self, project):
        assert with_words_of(project, load_evaluator("length"), {"unit": "x"}) == {"unit": "x"}

    def test_words_are_part_of_the_fingerprint_and_the_parameters(self, project, manager):
        for number in range(4):
            rate(make_summary(project), tone=str(number + 1), facts="3", fluency="3")
        own = add_dimension(project, manager, **WORDS)
        run = {"model": "m", "dimensions": "tone", "prompt": "described"}
        first = plan(project, "ice", run, by_operator=True)
        assert first.evaluator.params.sees == ("tone=article",)
        assert WORDS["description"] in first.evaluator.params.descriptions
        assert WORDS["description"] in first.evaluator.provenance()["descriptions"]["tone"]
        change_dimension(own, manager, **{**WORDS, "description": "Is it sober?"})
        second = plan(project, "ice", run, by_operator=True)
        assert first.fingerprint != second.fingerprint
        add_dimension(project, manager, **{**WORDS, "name": "unrelated"})
        assert plan(project, "ice", run, by_operator=True).fingerprint == second.fingerprint
        assert fingerprint(second.evaluator) == second.fingerprint
