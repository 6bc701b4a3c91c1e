"""The sample project: its texts, its declared model of raters and judges, and loading it."""

import re
from collections import Counter, defaultdict
from itertools import pairwise
from statistics import mean

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from annotation.demo.load import load_demo_project
from annotation.demo.sample.load import DATASET, SLUG
from annotation.demo.sample.model import (
    JUDGES,
    QUESTIONS,
    make_summaries,
    read_gold,
    read_texts,
    sentences,
    simulate_ratings,
    simulate_scores,
)
from annotation.gold.checks import check_accuracies
from annotation.gold.qualified_languages import qualified_languages
from annotation.models import Answer, Assignment, Project, Rater, Rating, Summary
from annotation.progress.progress import progress_of
from annotation.protocol import SEAHORSE, is_complete
from scoring.models import Run, Score

TEXTS = read_texts()
MADE = make_summaries(TEXTS)
GOLD = read_gold()
SYSTEMS = ["reference", "abstractive", "lead-2", "fluent-guesser", "clipped"]


def simulated():
    return simulate_ratings({made.key: made for made in MADE}, [(made.key, 3) for made in MADE])


def true_share(system, question):
    return mean(made.truth[question] for made in MADE if made.system == system)


def test_each_text_is_unique_and_of_the_right_length(subtests):
    assert len(TEXTS) == 80
    texts = [row[field] for row in TEXTS for field in ("id", "title", "article")]
    texts += [made.text for made in MADE]
    texts += [item["summary"] for item in GOLD]
    assert [text for text, times in Counter(texts).items() if times > 1] == []
    for row in TEXTS:
        with subtests.test(row["id"]):
            assert 60 <= len(row["article"].split()) <= 110
            assert row["article"] == " ".join(row["article"].split())
            for field in ("reference", "abstractive", "guesser"):
                assert 1 <= len(sentences(row[field])) <= 2


def test_the_systems_differ_in_true_quality():
    assert Counter(made.system for made in MADE) == dict.fromkeys(SYSTEMS, 80)
    attribution = {system: true_share(system, "attribution") for system in SYSTEMS}
    assert attribution["lead-2"] == attribution["reference"] == 1
    assert 0.9 < attribution["abstractive"] < 0.95
    assert 0.45 < attribution["fluent-guesser"] < 0.6
    conciseness = [true_share(system, "conciseness") for system in SYSTEMS]
    assert all(better > worse for better, worse in pairwise(conciseness))


def test_gold_answers_are_complete_and_have_yes_and_no_for_each_question():
    values = defaultdict(set)
    for item in GOLD:
        assert item["dataset"] == DATASET
        answers = {question: answer["value"] for question, answer in item["answers"].items()}
        assert is_complete(SEAHORSE, answers)
        for question, value in answers.items():
            values[question].add(value)
    assert len(GOLD) == 6
    assert values == {question: {"yes", "no"} for question in QUESTIONS}
    assert not {item["article_id"] for item in GOLD} & {row["id"] for row in TEXTS}


def test_gold_explanations_quote_only_the_summary_or_the_article():
    for item in GOLD:
        text = item["summary"] + item["article"]
        for answer in item["answers"].values():
            assert all(
                quoted.casefold() in text.casefold()
                for quoted in re.findall("“(.+?)”", answer["explanation"])
            )


def test_the_simulation_is_deterministic_and_follows_the_questionnaire():
    ratings = simulated()
    assert ratings == simulated()
    assert all(is_complete(SEAHORSE, rating.answers) for rating in ratings)
    assert all(list(simulate_scores(judge, MADE)) == list(simulate_scores(judge, MADE)) for judge in JUDGES)


def test_a_rater_does_one_summary_after_the_other_within_a_day():
    by_rater = defaultdict(list)
    for rating in simulated():
        seconds = sum(seconds for _, seconds in rating.stages)
        by_rater[rating.rater.name, rating.day].append((rating.opened_s, rating.opened_s + seconds))
    for times in by_rater.values():
        assert all(end < start for (_, end), (start, _) in pairwise(times))
        assert times[-1][1] < 24 * 3600


def test_one_raters_leaning_changes_halfway():
    shares = defaultdict(list)
    for rating in simulated():
        if rating.rater.name == "sim-crowd-4" and "conciseness" in rating.answers:
            shares[rating.day >= 6].append(rating.answers["conciseness"] == "yes")
    assert mean(shares[True]) > mean(shares[False]) + 0.2


def test_the_second_judge_is_better_and_the_first_is_fooled_by_fluent_errors():
    errors, on_inventions = [], []
    for judge in JUDGES:
        found = [(made, row["scores"]) for made, row in zip(MADE, simulate_scores(judge, MADE), strict=True)]
        scored = [(made, scores) for made, scores in found if scores["attribution"] is not None]
        assert len(MADE) > len(scored) > 0.95 * len(MADE)
        errors.append(
            mean(abs(made.truth[key] - scores[key]) for made, scores in scored for key in QUESTIONS)
        )
        on_inventions.append(
            mean(
                scores["attribution"]
                for made, scores in scored
                if made.system == "fluent-guesser" and not made.truth["attribution"]
            )
        )
    assert errors[0] > errors[1] + 0.05
    assert on_inventions[0] > on_inventions[1] + 0.1


def yes_share(project, system, question):
    answers = Answer.objects.current().filter(
        rating__in=Rating.objects.countable().filter(rater__project=project),
        rating__summary__system__name=system,
        question__key=question,
    )
    return answers.filter(value="yes").count() / answers.count()


@pytest.mark.django_db
def test_the_demo_command_loads_a_campaign_halfway_once():
    call_command("load_demo")
    project = Project.objects.get(slug=SLUG)

    assert "simulated" in project.name
    assert "SIMULATED" in project.description
    summaries = Summary.objects.rateable().filter(project=project)
    assert summaries.count() == 400
    ratings = Rating.objects.countable().filter(rater__project=project)
    assert 0.5 < ratings.values("summary").distinct().count() / 400 < 0.6
    assert set(Counter(ratings.values_list("summary", flat=True)).values()) == {1, 2, 3}
    for question, order in {
        "attribution": ["abstractive", "fluent-guesser"],
        "grammar": ["abstractive", "clipped"],
        "conciseness": ["abstractive", "lead-2", "fluent-guesser", "clipped"],
    }.items():
        shares = [yes_share(project, system, question) for system in order]
        assert all(better > worse for better, worse in pairwise(shares)), question

    progress = progress_of(project)
    assert progress.imported == 0
    assert progress.collected == ratings.count()
    assert progress.forecast.pace > 20
    assert progress.forecast.ends_on is not None
    seconds = {row.rater.pseudonym: row.seconds for row in progress.raters}
    assert seconds["sim-crowd-6"] < 30 < seconds["sim-expert-1"]

    [suspended] = project.raters.filter(status=Rater.Status.SUSPENDED)
    assert suspended.pseudonym == "sim-crowd-6"
    assert suspended.check_suspensions.get().checks == 6
    others = project.raters.filter(group__in=["expert", "crowd"]).exclude(pk=suspended.pk)
    assert others.count() == 8
    assert all(check_accuracies(rater, ["en"])["en"].share >= 0.7 for rater in others)

    assert set(project.memberships.values_list("user__username", "role")) == {
        ("demo-manager", "manager"),
        ("demo-researcher", "researcher"),
    }
    annotator = project.raters.get(user__username="demo-annotator")
    assert qualified_languages(annotator) == ["en"]
    assert project.guidelines.published().count() == 1

    labels = {judge.name for judge in JUDGES}
    assert set(project.setups.filter(evaluator="imported").values_list("label", flat=True)) == labels
    absent = Score.objects.filter(setup__project=project, value__isnull=True)
    assert set(absent.values_list("reason", flat=True)) == {"The simulated judge gave no answer."}
    assert Run.objects.filter(setup__project=project, finished_at__isnull=True).count() == 4

    def everything():
        return [model.objects.count() for model in (Project, Summary, Assignment, Answer, Run, Score, User)]

    before = everything()
    call_command("load_demo")
    assert everything() == before


@pytest.mark.django_db
def test_the_sample_is_added_to_an_earlier_demo_with_the_same_accounts():
    load_demo_project()
    before = set(User.objects.values_list("username", flat=True))
    call_command("load_demo")
    assert set(User.objects.values_list("username", flat=True)) == before
    assert Project.objects.filter(slug=SLUG).exists()
