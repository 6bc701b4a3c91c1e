from itertools import combinations, product
from random import Random

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.errors import DomainError, NotAllowed
from annotation.gold.rounds import (
    WaitingRater,
    allow_round,
    next_in_round,
    open_round,
    raters_waiting,
    round_decision,
    sample_round,
    start_round,
    unevenness,
)
from annotation.models import Rater, Rating
from annotation.rating.assigning import skip_assignment, take_assignment
from annotation.rating.submitting import GivenAnswer
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import ALL_YES, make_gold, make_member, make_project, make_rater, make_summary

ANSWERS = ["yes", "no", "unsure"]


@st.composite
def gold_sets(draw):
    """Return sheets of three questions, the first of which ends a rating, and what a rater has seen."""
    sheets = {}
    for pk in range(draw(st.integers(1, 16))):
        gate = draw(st.sampled_from(["yes", "yes", "no"]))
        rest = {key: draw(st.sampled_from(ANSWERS)) for key in ("grammar", "attribution")}
        sheets[pk] = {"gate": gate} | (rest if gate == "yes" else {})
    seen = {
        pk: draw(st.sampled_from([(1, 1), (1, 2), (2, 2)]))
        for pk in draw(st.sets(st.sampled_from(list(sheets))))
    }
    return sheets, seen


@given(gold_sets(), st.integers(1, 10), st.integers(0, 99))
def test_no_seen_summary_repeats_while_unseen_ones_are_left_and_no_exchange_is_more_even(drawn, size, seed):
    sheets, seen = drawn
    chosen = sample_round(sheets, seen, size, Random(seed))
    left = set(sheets) - set(chosen)
    assert len(set(chosen)) == len(chosen) == min(size, len(sheets))

    def order(pk):
        return seen.get(pk, (0, 0))

    assert not left or max(map(order, chosen)) <= min(map(order, left))
    reached = unevenness({pk: sheets[pk] for pk in sheets if order(pk) <= max(map(order, chosen))}, chosen)
    for old in chosen:
        for new in left:
            if order(old) == order(new):
                among = {pk: sheets[pk] for pk in sheets if order(pk) <= order(new)}
                exchanged = [new if pk == old else pk for pk in chosen]
                assert reached <= unevenness(among, exchanged)


@given(st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=12), st.integers(1, 6), st.integers(0, 99))
def test_the_answers_to_one_question_are_as_even_as_any_choice_makes_them(answers, size, seed):
    sheets = {pk: {"grammar": answer} for pk, answer in enumerate(answers)}
    chosen = sample_round(sheets, {}, size, Random(seed))
    best = min(unevenness(sheets, each) for each in combinations(sheets, min(size, len(sheets))))
    assert unevenness(sheets, chosen) == best


def test_a_rare_answer_comes_up_in_every_round_that_may_have_it():
    sheets = {pk: {"grammar": "yes", "attribution": "yes"} for pk in range(40)}
    sheets[7] = {"grammar": "yes", "attribution": "no"}
    for seed in range(10):
        assert 7 in sample_round(sheets, {}, 5, Random(seed))


def test_two_raters_get_different_rounds():
    sheets = {pk: {"grammar": "yes" if pk % 2 else "no"} for pk in range(40)}
    assert sorted(sample_round(sheets, {}, 6, Random(1))) != sorted(sample_round(sheets, {}, 6, Random(2)))


pytestmark = pytest.mark.django_db


def answer_round(current, answers=ALL_YES) -> None:
    while assignment := next_in_round(current):
        questionnaire = current.rater.project.questionnaire.protocol
        for stage in range(1, questionnaire.last_stage + 1):
            given = {
                question.key: GivenAnswer(answers[question.key]) for question in questionnaire.stage(stage)
            }
            submit_stage(current.rater, assignment.pk, stage, given)


@pytest.fixture
def project():
    made = make_project(gold_round_size=3, gold_retry_size=2)
    for _ in range(5):
        make_gold(made)
    return made


@pytest.fixture
def rater(project):
    return make_rater(project, status=Rater.Status.TRAINING)


def test_a_rater_who_agrees_with_gold_is_qualified(project, rater):
    current = start_round(rater, "en")
    assert current.assignments.count() == 3
    answer_round(current)
    rater.refresh_from_db()
    current.refresh_from_db()
    assert (current.passed, rater.status) == (True, Rater.Status.QUALIFIED)


def test_a_failed_round_is_followed_by_a_smaller_round_of_other_summaries(project, rater):
    first = start_round(rater, "en")
    answer_round(first, {**ALL_YES, "grammar": "no"})
    first.refresh_from_db()
    rater.refresh_from_db()
    assert (first.passed, rater.status) == (False, Rater.Status.TRAINING)
    second = start_round(rater, "en")
    assert second.number == 2
    seen = set(first.assignments.values_list("summary", flat=True))
    assert second.assignments.count() == 2
    assert not seen & set(second.assignments.values_list("summary", flat=True))
    answer_round(second)
    rater.refresh_from_db()
    assert rater.status == Rater.Status.QUALIFIED


def test_the_projects_threshold_for_a_question_applies(project, rater):
    project.gold_thresholds = {"grammar": 0.0}
    project.save()
    current = start_round(Rater.objects.get(pk=rater.pk), "en")
    answer_round(current, {**ALL_YES, "grammar": "no"})
    current.refresh_from_db()
    assert current.passed
    assert [r.question for r in round_decision(current).results if r.agreement < 1] == ["grammar"]


def test_starting_again_returns_the_open_round(rater):
    assert start_round(rater, "en").pk == start_round(rater, "en").pk == open_round(rater, "en").pk


def test_a_round_is_not_decided_before_its_last_summary(project, rater):
    current = start_round(rater, "en")
    assignment = next_in_round(current)
    submit_stage(rater, assignment.pk, 1, {"comprehensibility": GivenAnswer("no")})
    current.refresh_from_db()
    assert current.decided_at is None


def test_ratings_of_gold_rounds_never_count(project, rater):
    answer_round(start_round(rater, "en"))
    assert Rating.objects.count() == 3
    assert not Rating.objects.countable().exists()


def test_production_is_closed_until_the_round_is_passed(project, rater):
    make_summary(project)
    with pytest.raises(NotAllowed, match="gold round"):
        take_assignment(rater)


def test_a_qualified_rater_gets_no_gold_round(project):
    with pytest.raises(NotAllowed, match="already qualified in English"):
        start_round(make_rater(project), "en")


def test_a_rater_without_gold_in_their_languages_is_told_so(project):
    with pytest.raises(NotAllowed, match="no gold summaries in Vietnamese"):
        start_round(make_rater(project, status=Rater.Status.TRAINING, languages=["vi"]), "vi")


def test_gold_summaries_cannot_be_skipped(rater):
    with pytest.raises(NotAllowed, match="cannot be skipped"):
        skip_assignment(rater, next_in_round(start_round(rater, "en")).pk, "hard")


def test_after_the_allowed_rounds_a_manager_decides(project, rater):
    project.gold_rounds = 2
    project.save()
    manager = make_member(project, "manager")
    rater = Rater.objects.get(pk=rater.pk)
    wrong = {**ALL_YES, "grammar": "no"}
    for _ in range(2):
        assert raters_waiting(project) == []
        answer_round(start_round(rater, "en"), wrong)
    with pytest.raises(NotAllowed, match="manager decides"):
        start_round(rater, "en")
    assert raters_waiting(project) == [WaitingRater(rater, "en")]
    with pytest.raises(NotAllowed):
        allow_round(rater, make_member(project, "researcher"), "en")
    allowed = allow_round(rater, manager, "en")
    assert (allowed.number, allowed.allowed_by, raters_waiting(project)) == (3, manager, [])
    with pytest.raises(DomainError, match="can already do a round"):
        allow_round(rater, manager, "en")
    answer_round(allowed)
    rater.refresh_from_db()
    assert rater.status == Rater.Status.QUALIFIED
    assert raters_waiting(project) == []


@pytest.mark.parametrize("seed", range(4))
def test_over_random_gold_sets_no_summary_returns_while_unseen_ones_of_its_language_are_left(seed):
    chance = Random(seed)
    made = make_project(gold_round_size=chance.randint(1, 5), gold_retry_size=chance.randint(1, 4))
    sets: dict[str, dict[int, dict[str, str]]] = {"de": {}, "en": {}}
    for language, sheets in sets.items():
        for _ in range(chance.randint(1, 9)):
            sheet = {key: chance.choice(["yes", "no"]) for key in ALL_YES} | {"comprehensibility": "yes"}
            sheet = sheet if chance.random() < 0.8 else {"comprehensibility": "no"}
            sheets[make_gold(made, sheet, language=language).summary_id] = sheet
    trainee = make_rater(made, status=Rater.Status.TRAINING, languages=["de", "en"])
    seen: set[int] = set()
    for language in chance.choices(["de", "en"], k=8):
        sheets = sets[language]
        unseen = set(sheets) - seen
        current = start_round(trainee, language)
        taken = list(current.assignments.values_list("summary", flat=True))
        assert set(taken) <= set(sheets)
        assert unseen <= set(taken) or set(taken) <= unseen
        if set(taken) <= unseen:
            fresh = {pk: sheets[pk] for pk in unseen}
            for old, new in product(taken, unseen - set(taken)):
                exchanged = [new if pk == old else pk for pk in taken]
                assert unevenness(fresh, taken) <= unevenness(fresh, exchanged)
        seen |= set(taken)
        current.assignments.update(state="done")
        trainee.rounds.filter(pk=current.pk).update(decided_at=timezone.now(), passed=False)
