"""Contradictory answers: SEAHORSE's rule, the report and the notice to raters."""

import re
from dataclasses import replace

import pytest
from django.urls import reverse

from annotation.contradictions.report import contradictions_by_rater, contradictory_ratings
from annotation.contradictions.rules import contradictions
from annotation.errors import ContradictoryAnswers
from annotation.gold.rounds import next_in_round, start_round
from annotation.models import Assignment, Rater, Rating
from annotation.protocol import SEAHORSE, SUMMEVAL
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import HTMX, address, at_stage, sheet, signed_in, submit_stage
from tests.factories import ALL_YES, make_gold, make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

pytestmark = pytest.mark.django_db

CONTRADICTORY = {"attribution": "no", "main_ideas": "yes", "conciseness": "yes"}
NOTICE = "these answers contradict each other"


@pytest.mark.parametrize(
    ("attribution", "main_ideas", "conciseness", "questions"),
    [
        ("no", "yes", "yes", ("attribution", "conciseness")),
        ("yes", "no", "yes", ("main_ideas", "conciseness")),
        ("no", "no", "yes", ("attribution", "main_ideas", "conciseness")),
        ("no", "no", "no", None),
        ("no", "no", "unsure", None),
        ("yes", "unsure", "yes", None),
    ],
)
def test_concise_contradicts_missing_main_ideas_and_unattributed_content(
    attribution, main_ideas, conciseness, questions
):
    given = {"attribution": attribution, "main_ideas": main_ideas, "conciseness": conciseness}
    found = contradictions(SEAHORSE, ALL_YES | given)
    assert [each.questions for each in found] == ([questions] if questions else [])


def test_unfinished_sheets_and_other_questionnaires_have_no_contradiction():
    assert contradictions(SEAHORSE, {"attribution": "no"}) == []
    assert contradictions(SUMMEVAL, {"coherence": "1", "relevance": "5"}) == []
    assert contradictions(replace(SEAHORSE, key="ours"), ALL_YES | {"attribution": "no"}) == []


class TestReport:
    @pytest.fixture
    def project(self):
        return make_project()

    @pytest.fixture
    def raters(self, project):
        """Return ann, who contradicts herself in one rating of two, ben, who never does, and one removed."""
        ann, ben, out = (make_rater(project, pseudonym=name) for name in ("ann", "ben", "out"))
        first, second = make_summary(project, text="First."), make_summary(project, text="Second.")
        rate(first, ann, **ALL_YES | {"attribution": "no", "main_ideas": "no"})
        rate(second, ann, **ALL_YES)
        rate(first, ben, **ALL_YES)
        rate(second, ben, comprehensibility="no")
        rate(first, out, **ALL_YES | {"attribution": "no"})
        Rater.objects.filter(pk=out.pk).update(status=Rater.Status.REMOVED)
        return ann, ben

    def test_ratings_are_counted_by_rater(self, project, raters):
        ann, ben = raters
        found = [(row.rater, row.contradictory, row.checked) for row in contradictions_by_rater(project)]
        assert found == [(ann, 1, 2), (ben, 0, 1)]
        assert [rating.rater for rating in contradictory_ratings(project)] == [ann]

    @pytest.mark.usefixtures("raters")
    def test_the_page_lists_them_and_can_be_narrowed_to_a_rater(self, project):
        client = signed_in(make_member(project, "researcher"))
        page = reverse("contradictions", args=[project.slug])
        said = re.sub(r"<[^>]+>|\s+", " ", client.get(page).content.decode())
        said = " ".join(said.split())
        assert "ann 1 2 50% ben 0 1 0%" in said
        assert "First. Attribution ✕ No Main ideas ✕ No Concise ✓ Yes ann" in said
        assert "No rating contradicts itself" in client.get(page, {"rater": "ben"}).content.decode()
        assert page in client.get(reverse("raters", args=[project.slug])).content.decode()

    def test_a_questionnaire_without_rules_says_so(self):
        project = make_project(SUMMEVAL)
        client = signed_in(make_member(project, "manager"))
        page = client.get(reverse("contradictions", args=[project.slug])).content.decode()
        assert "Only SEAHORSE" in page
        settings = client.get(reverse("project_settings", args=[project.slug])).content.decode()
        assert "contradiction_notice" not in settings


class TestNotice:
    @pytest.fixture
    def assignment(self):
        project = make_project(contradiction_notice=True)
        make_summary(project, ratings_wanted=2)
        return at_stage(take_assignment(make_rater(project)), 3)

    def test_the_rater_is_asked_once_and_may_keep_the_answers(self, assignment):
        client = signed_in(assignment.rater.user)
        asked = client.post(address(assignment), sheet(3, CONTRADICTORY), headers=HTMX)
        assert asked.status_code == 422
        said = asked.content.decode()
        assert f"Attribution, Concise: {NOTICE}" in said
        assert re.search(r'name="answer-attribution" value="no" checked', said)
        assert not Rating.objects.filter(completed_at__isnull=False).exists()
        form = sheet(3, CONTRADICTORY) | {"contradictions": "keep"}
        assert client.post(address(assignment), form).status_code == 302
        rating = Rating.objects.get(completed_at__isnull=False)
        assert rating.answers.current().get(question__key="conciseness").value == "yes"
        assert client.post(address(assignment), sheet(3, CONTRADICTORY)).status_code == 302  # sent twice

    def test_it_is_off_by_default_and_in_gold_rounds(self):
        off = make_project()
        make_summary(off)
        taken = at_stage(take_assignment(make_rater(off)), 3)
        given = {key: GivenAnswer(value) for key, value in CONTRADICTORY.items()}
        assert submit_stage(taken.rater, taken.pk, 3, given).state == Assignment.State.DONE

        on = make_project(contradiction_notice=True)
        make_gold(on)
        trainee = make_rater(on, status=Rater.Status.TRAINING)
        in_round = at_stage(next_in_round(start_round(trainee, "en")), 3)
        assert submit_stage(trainee, in_round.pk, 3, given).state == Assignment.State.DONE

    def test_nothing_is_stored_before_the_rater_decides(self, assignment):
        given = {key: GivenAnswer(value) for key, value in CONTRADICTORY.items()}
        with pytest.raises(ContradictoryAnswers):
            submit_stage(assignment.rater, assignment.pk, 3, given)
        assert not assignment.rating.answers.filter(question__key="conciseness").exists()
        consistent = given | {"conciseness": GivenAnswer("no")}
        assert submit_stage(assignment.rater, assignment.pk, 3, consistent).state == Assignment.State.DONE
