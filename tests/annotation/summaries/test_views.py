"""The pages that list summaries and show one."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import Rating
from annotation.people.members import remove_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, correct_answer, flag_article
from tests.annotation.rating.rating_steps import signed_in, submit_stage
from tests.factories import (
    ALL_YES,
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "researcher"))


def listed(client, project, **query):
    response = client.get(reverse("summaries", args=[project.slug]), query)
    assert response.status_code == 200
    return [summary.pk for summary, _ in response.context["rows"]]


def text_of(client, summary):
    response = client.get(reverse("summary", args=[summary.project.slug, summary.pk]))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def rate_all(rater, value="yes"):
    assignment = take_assignment(rater)
    questions = rater.project.questionnaire.protocol
    while assignment.state == "open":
        given = {question.key: GivenAnswer(value) for question in questions.stage(assignment.stage)}
        assignment = submit_stage(rater, assignment.pk, assignment.stage, given)
    return assignment


def test_filters_narrow_the_list(project, client):
    german = make_summary(project, article=make_article(project, language="de", title="Die Fähre"))
    other = make_summary(project, system=make_system(project, "system-b"), text="The ferry sank, 100% sure.")
    gold = make_gold(project).summary
    rated = make_summary(project)
    flagged = make_summary(project, language="tr")
    now = timezone.now()
    Rating.objects.create(summary=rated, rater=make_rater(project), created_at=now, completed_at=now)
    assignment = make_rater(project).assignments.create(
        summary=flagged, stage=3, state="done", stage_opened_at=now, leased_until=now
    )
    flag_article(assignment.rater, assignment.pk, "Cut off.")
    assert len(listed(client, project)) == 5
    assert listed(client, project, language="de") == [german.pk]
    assert listed(client, project, system="system-b") == [other.pk]
    assert listed(client, project, text="FERRY") == [other.pk]
    assert listed(client, project, text="Fähre") == [german.pk]
    assert listed(client, project, text="0% s") == [other.pk]
    assert listed(client, project, text="100_ sure") == []
    assert listed(client, project, text=rated.article.external_id) == [rated.pk]
    assert listed(client, project, shown="gold") == [gold.pk]
    assert listed(client, project, shown="rated") == [rated.pk]
    assert listed(client, project, shown="flagged") == [flagged.pk]
    assert listed(client, project, shown="skipped") == []
    assignment.state, assignment.skip_reason = "skipped", "text"
    assignment.save()
    assert listed(client, project, shown="skipped") == [flagged.pk]
    page = client.get(reverse("summary", args=[project.slug, flagged.pk])).content.decode()
    assert "The text is broken or incomplete" in page
    assert set(listed(client, project, shown="unrated")) == {german.pk, other.pk, flagged.pk}


def test_a_row_shows_where_a_summary_comes_from_and_how_often_it_was_rated(project, client):
    article = make_article(project, language="de", title="Die Fähre")
    people = make_system(project, "people", is_reference=True)
    make_summary(project, article=article, system=people, text="Sie sank.", ratings_wanted=3)
    rate_all(make_rater(project, languages=["de"]))
    page = client.get(reverse("summaries", args=[project.slug])).content.decode()
    row = " ".join(strip_tags(page[page.index("<ol") : page.index("</ol>")]).split())
    assert row == "Sie sank. people German Die Fähre reference 1 rating 3 wanted"


@pytest.mark.parametrize(
    "query",
    [{"shown": "x"}, {"language": "xx"}, {"system": "' OR 1=1"}, {"text": "x" * 101}, {"page": "no"}],
)
def test_an_invalid_filter_shows_everything(project, client, query):
    make_summary(project)
    assert len(listed(client, project, **query)) == 1


def test_a_page_lists_25_summaries_and_keeps_the_filters(project, client):
    for _ in range(26):
        make_summary(project)
    first = client.get(reverse("summaries", args=[project.slug]), {"language": "en", "page": 1})
    assert len(first.context["rows"]) == 25
    assert "?language=en&amp;page=2" in first.content.decode()
    assert len(listed(client, project, language="en", page=2)) == 1


def test_summaries_of_other_projects_are_not_listed_nor_shown(project, client):
    foreign = make_summary(make_project())
    assert listed(client, project) == []
    assert client.get(reverse("summary", args=[project.slug, foreign.pk])).status_code == 404


def test_an_empty_project_links_to_the_import(project):
    client = Client()
    client.force_login(make_member(project, "manager"))
    text = client.get(reverse("summaries", args=[project.slug])).content.decode()
    assert reverse("imports", args=[project.slug]) in text


def test_a_summary_is_shown_with_its_article_references_and_ratings(project, client):
    summary = make_summary(project)
    reference = make_summary(
        project,
        article=summary.article,
        system=make_system(project, "people", is_reference=True),
        text="A reference.",
        ratings_wanted=0,
    )
    rater = make_rater(project)
    rating = rate_all(rater).rating
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no", "A verb is missing."))
    text = text_of(client, summary)
    for part in (summary.text, summary.article.text, reference.text, rater.pseudonym, "A verb is missing."):
        assert part in text
    assert rater.user.username not in text
    assert "Earlier answer:" in text
    assert "after the next stage was shown" in text


def test_ratings_that_do_not_count_show_the_reason(project, client):
    summary = make_summary(project, ratings_wanted=2)
    removed, busy = make_rater(project), make_rater(project)
    rate_all(removed)
    remove_rater(removed)
    submit_stage(busy, take_assignment(busy).pk, 1, {"comprehensibility": GivenAnswer("yes")})
    text = text_of(client, summary)
    assert "not counted: rater removed" in text
    assert "not counted: not finished" in text


def test_questions_that_were_not_asked_are_not_shown_as_answers(project, client):
    summary = make_summary(project)
    rate_all(make_rater(project), value="no")
    assert text_of(client, summary).count("not asked") == 5


@pytest.mark.parametrize(("role", "may"), [("manager", True), ("researcher", False)])
def test_only_managers_see_the_link_to_change_the_gold_set(project, role, may):
    summary = make_summary(project)
    client = Client()
    client.force_login(make_member(project, role))
    assert (reverse("gold_answers", args=[project.slug, summary.pk]) in text_of(client, summary)) is may


def test_texts_are_escaped(project, client):
    article = make_article(project, title=f"t{SCRIPT}", text=f"a{SCRIPT}", dataset=SCRIPT, split="<i>")
    summary = make_summary(project, article=article, text=f"s{SCRIPT}", system=make_system(project, SCRIPT))
    make_summary(
        project,
        article=article,
        text=f"r{SCRIPT}",
        system=make_system(project, f"ref{SCRIPT}", is_reference=True),
        ratings_wanted=0,
    )
    rater = make_rater(project, pseudonym=f"p{SCRIPT}", group=SCRIPT)
    rating = rate_all(rater).rating
    correct_answer(rater, rating.pk, "grammar", GivenAnswer("no", f"c{SCRIPT}"))
    flag_article(rater, rating.assignment_id, f"f{SCRIPT}")
    pages = [
        text_of(client, summary),
        client.get(reverse("summaries", args=[project.slug]), {"text": SCRIPT, "x": SCRIPT}).content.decode(),
    ]
    for text in pages:
        assert SCRIPT not in text
        assert "<i>" not in text
        assert text.count("&lt;script&gt;") >= 4


def test_gold_answers_are_shown_with_their_explanations(project, client):
    gold = make_gold(project, {**ALL_YES, "grammar": "no"})
    text = text_of(client, gold.summary)
    assert "GOLD-EXPLANATION grammar is no." in text


def test_twenty_rows_need_no_more_queries_than_ten(project, client, django_assert_max_num_queries):
    article = make_article(project)
    summary = make_summary(project, article=article, ratings_wanted=40)

    def grow():
        now = timezone.now()
        for _ in range(10):
            rater = make_rater(project)
            listed_summary = make_summary(project)
            for rated in (summary, listed_summary):
                Rating.objects.create(summary=rated, rater=rater, created_at=now, completed_at=now)
            make_gold(project)
            make_summary(
                project,
                article=article,
                system=make_system(project, f"reference-{rater.pk}", is_reference=True),
                ratings_wanted=0,
            )

    addresses = [
        reverse("summaries", args=[project.slug]),
        reverse("summary", args=[project.slug, summary.pk]),
    ]
    grow()
    counts = []
    for address in addresses:
        with django_assert_max_num_queries(60) as ten:
            client.get(address)
        counts.append(len(ten))
    grow()
    for address, count in zip(addresses, counts, strict=True):
        with django_assert_max_num_queries(count):
            client.get(address)
