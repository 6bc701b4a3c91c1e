"""The dimensions that judges are asked about, in the words of the project."""

import pytest

from annotation.errors import DomainError
from annotation.protocol import SEAHORSE, Question, Questionnaire, Scale, ScaleKind
from scoring.errors import InvalidDimension
from scoring.evaluators import load_evaluator
from scoring.fingerprints import fingerprint
from scoring.judge.dimensions import SEES, read_descriptions
from scoring.judged_dimensions import (
    Source,
    add_dimension,
    change_dimension,
    known_dimensions,
    remove_dimension,
    with_words_of,
)
from scoring.models import JudgedDimension
from scoring.planning import plan
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.scoring.test_planning import rate

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


@pytest.fixture
def manager(project):
    return make_member(project, "manager")


def known(project):
    return {each.dimension.name: each for each in known_dimensions(project)}


class TestKnown:
    def test_those_of_seahorse_and_summeval_are_ready(self):
        found = known(make_project())
        assert set(found) == set(SEES)
        assert {each.source for each in found.values()} == {Source.READY}
        assert found["attribution"].dimension.description == SEAHORSE.questions[3].wording
        assert found["attribution"].questions == (SEAHORSE.questions[3].title,)
        assert found["relevance"].questions == ()

    def test_a_question_of_the_project_is_known_by_its_wording(self, project):
        found = known(project)
        assert found["facts"].source is Source.QUESTION
        assert found["facts"].dimension.description == "Are the facts right?"
        assert (found["facts"].dimension.sees, found["tone"].dimension.sees) == ("article", "summary")
        assert found["fluency"].source is Source.READY

    def test_the_projects_own_goes_before_all(self, project, manager):
        add_dimension(project, manager, **WORDS)
        add_dimension(project, manager, **{**WORDS, "name": "fluency"})
        found = known(project)
        assert found["tone"].source is found["fluency"].source is Source.PROJECT
        assert found["tone"].dimension.description == WORDS["description"]
        assert found["tone"].questions == ("Tone",)
        assert (found["fluency"].replaces_ready, found["tone"].replaces_ready) == (True, False)

    def test_what_another_project_says_is_unknown(self, project, manager):
        add_dimension(project, manager, **{**WORDS, "name": "focus"})
        assert "focus" not in known(make_project())


class TestActions:
    def test_a_dimension_is_added_changed_and_removed(self, project, manager):
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
            ({"name": " "}, "name", "Give the dimension a name"),
            ({"name": "x" * 61}, "name", "Found 61 characters, expected at most 60"),
            ({"name": "a=b"}, "name", "Found '='"),
            ({"name": "a;b"}, "name", "Found ';'"),
            ({"name": "a,b"}, "name", "Found ','"),
            ({"name": "General"}, "name", "choose another"),
            ({"name": "FOCUS"}, "name", "The project has a dimension called"),
            ({"description": "\n"}, "description", "as a question"),
            ({"description": "x" * 1001}, "description", "Found 1,001 characters, expected at most 1,000"),
            ({"sees": "everything"}, "sees", "expected one of summary, article, reference"),
        ],
    )
    def test_what_cannot_be_is_refused_with_its_field(self, project, manager, changes, field, message):
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

    def test_its_own_name_is_not_taken(self, project, manager):
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


def completed(project, **given):
    return with_words_of(project, load_evaluator("ice"), {"model": "m", **given})


class TestWordsInParameters:
    def test_a_run_gets_them_for_its_dimensions_alone(self, project, manager):
        add_dimension(project, manager, **WORDS)
        given = completed(project, dimensions="tone,fluency", prompt="described")
        assert given["sees"] == ["tone=article"]
        assert read_descriptions(given["descriptions"]) == {"tone": WORDS["description"]}

    def test_without_named_dimensions_for_those_that_questions_measure(self, project):
        given = completed(project, prompt="described")
        assert given["sees"] == ["tone=summary", "facts=article"]
        assert read_descriptions(given["descriptions"]) == {
            "tone": "Is the tone sober; is it calm?",
            "facts": "Are the facts right?",
        }

    def test_what_the_run_says_itself_stays(self, project, manager):
        add_dimension(project, manager, **WORDS)
        said = {"sees": "tone=reference", "descriptions": "tone=Mine?; other=Another?"}
        given = completed(project, dimensions=["tone"], prompt="described", **said)
        assert (given["sees"], given["descriptions"]) == (said["sees"], said["descriptions"])
        given = completed(project, dimensions="facts", prompt="described", **said)
        assert given["sees"] == ["tone=reference", "facts=article"]
        assert read_descriptions(given["descriptions"]) == {
            "tone": "Mine?",
            "other": "Another?",
            "facts": "Are the facts right?",
        }

    def test_a_prompt_that_describes_nothing_gets_no_descriptions(self, project):
        assert "descriptions" not in completed(project, dimensions="tone")

    def test_ready_dimensions_leave_parameters_as_they_are(self, project):
        assert completed(project, dimensions="fluency", prompt="described") == {
            "model": "m",
            "dimensions": "fluency",
            "prompt": "described",
        }

    @pytest.mark.parametrize("wrong", [{"dimensions": 5}, {"sees": 5}, {"descriptions": "tone"}])
    def test_what_cannot_be_read_is_left_to_be_refused(self, project, wrong):
        given = completed(project, **{"prompt": "described", **wrong})
        assert wrong.items() <= given.items() or "sees" in wrong

    def test_evaluators_that_ask_nothing_are_left_alone(self, project):
        assert with_words_of(project, load_evaluator("length"), {"unit": "x"}) == {"unit": "x"}

    def test_the_words_are_in_the_fingerprint_and_the_runs_parameters(self, project, manager):
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
