import pytest
from django.test import Client
from django.urls import reverse

from annotation.gold.coverage import GoldShortage, gold_coverage, gold_shortages
from annotation.models import Rater
from tests.factories import (
    ALL_YES,
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    made = make_project(gold_round_size=2, gold_retry_size=1)
    for answers in (ALL_YES, {**ALL_YES, "grammar": "no"}, {"comprehensibility": "no"}):
        make_gold(made, answers)
    make_gold(made, language="de")
    make_gold(made, article=make_article(made, text=""))
    retired = make_gold(made, language="de")
    retired.retired_at = retired.created_at
    retired.save()
    make_summary(made, language="vi")
    make_rater(made, languages=["de", "en", "tr"])
    make_rater(made, languages=["es"], status=Rater.Status.REMOVED)
    return made


def test_shortages_count_what_a_first_round_and_a_retry_lack_in_the_raters_languages(project):
    assert gold_shortages(project) == [GoldShortage("de", 2), GoldShortage("tr", 3)]


def test_coverage_counts_answers_and_names_those_that_none_has(project):
    found = {each.language: each for each in gold_coverage(project)}
    assert {language: (each.summaries, each.missing) for language, each in found.items()} == {
        "de": (1, 2),
        "en": (3, 0),
        "tr": (0, 3),
        "vi": (0, 3),
    }
    assert not found["vi"].has_raters
    answers = {each.question.key: each.answers for each in found["en"].questions}
    assert answers["comprehensibility"] == {"yes": 2, "no": 1}
    assert answers["grammar"] == {"yes": 1, "no": 1}
    assert answers["attribution"] == {"yes": 2, "no": 0}


def test_the_gold_and_people_pages_warn_of_what_is_missing(project):
    client = Client()
    client.force_login(make_member(project, "manager"))
    for name in ("gold_set", "people"):
        page = " ".join(client.get(reverse(name, args=[project.slug])).content.decode().split())
        assert "German lacks 2 summaries, Turkish lacks 3 summaries." in page
        project.raters.update(languages=["en"])
        assert "lacks" not in client.get(reverse(name, args=[project.slug])).content.decode()
        project.raters.update(languages=["de", "en", "tr"])
