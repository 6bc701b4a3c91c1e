"""The queue of disagreements between raters, and the page that decides one summary."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation.adjudication.decisions import DecidedAnswer, decide_answers
from annotation.models import Adjudication, Answer, GoldRating, Rater
from tests.factories import ALL_YES, make_article, make_member, make_rater, make_summary
from tests.metaeval.rated_projects import rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def summaries(project):
    """Return four summaries by weight: two questions apart, one, only Unsure, none."""
    ann, ben = (make_rater(project, pseudonym=name) for name in ("ann", "ben"))
    german = make_article(project, language="de", title="Der Hafen", dataset="news")
    made = [make_summary(project, article=german), *(make_summary(project) for _ in range(3))]
    for summary, second in zip(
        reversed(made),
        ({}, {"grammar": "unsure"}, {"conciseness": "no"}, {"grammar": "no", "attribution": "no"}),
        strict=True,
    ):
        rate(summary, ann, **ALL_YES)
        rate(summary, ben, **ALL_YES | second)
    Answer.objects.filter(rating__rater=ben, value="no").update(comment="Look at the last sentence.")
    return made


def listed(client, project, **choices):
    answer = client.get(reverse("adjudication", args=[project.slug]), choices)
    assert answer.status_code == 200
    return [int(pk) for pk in re.findall(r'id="summary-(\d+)"', answer.content.decode())]


def text_of(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def item(project, summary, query=""):
    return reverse("adjudicate", args=[project.slug, summary.pk]) + query


def test_the_queue_begins_with_the_largest_disagreement_and_can_be_narrowed(
    client, project, manager, summaries
):
    client.force_login(manager)
    most, one, unsure, _ = (each.pk for each in summaries)
    assert listed(client, project) == [most, one, unsure]
    assert listed(client, project, question="grammar") == [most, unsure]
    assert listed(client, project, language="de") == [most]
    assert listed(client, project, dataset="news") == [most]
    assert listed(client, project, question="grammar", one="yes", other="unsure") == [unsure]
    assert listed(client, project, state="decided") == []
    page = text_of(client.get(reverse("adjudication", args=[project.slug])))
    assert "3 summaries to decide, 0 decided." in page
    assert "Attribution ✓ Yes 1 ✕ No 1 to decide" in page
    wrong = client.get(reverse("adjudication", args=[project.slug]), {"one": "yes", "other": "no"})
    assert wrong.status_code == 400  # answers belong to a question


def test_decided_and_gold_summaries_leave_the_queue(client, project, manager, summaries):
    client.force_login(manager)
    most, one, unsure, _ = summaries
    decide_answers(project, manager, most.pk, {"grammar": DecidedAnswer("no")})
    assert listed(client, project)[0] == most.pk  # attribution is left
    assert listed(client, project, question="grammar") == [unsure.pk]
    queue = reverse("adjudication", args=[project.slug])
    assert "Grammatical ✓ Yes 1 ✕ No 1 → decided: ✕ No Attribution ✓ Yes 1 ✕ No 1 to decide" in text_of(
        client.get(queue)
    )
    decide_answers(project, manager, most.pk, {"attribution": DecidedAnswer("unsure")})
    GoldRating.objects.create(summary=one)
    assert listed(client, project) == [unsure.pk]
    assert listed(client, project, state="decided") == [most.pk, one.pk]
    page = text_of(client.get(queue, {"state": "decided"}))
    assert "Attribution ✓ Yes 1 ✕ No 1 → decided: ? Unsure decided" in page
    assert "Concise ✓ Yes 1 ✕ No 1 gold" in page
    rows = list(
        csv.DictReader(
            io.StringIO(
                client.get(
                    reverse("adjudication_csv", args=[project.slug]), {"state": "decided"}
                ).content.decode()
            )
        )
    )
    assert [(row["question"], row["answers"], row["decision"]) for row in rows] == [
        ("Grammatical", "yes 1; no 1", "no"),
        ("Attribution", "yes 1; no 1", "unsure"),
        ("Concise", "yes 1; no 1", ""),
    ]


def test_a_removed_rater_causes_no_disagreement(client, project, manager, summaries):
    client.force_login(manager)
    Rater.objects.filter(project=project, pseudonym="ben").update(status=Rater.Status.REMOVED)
    project.bump_revision()
    assert listed(client, project, state="all") == []
    assert "No summary has two ratings yet" in text_of(
        client.get(reverse("adjudication", args=[project.slug]))
    )


def test_deciding_shows_all_answers_and_goes_on_to_the_next_summary(client, project, manager, summaries):
    client.force_login(manager)
    most, one, *_ = summaries
    shown = client.get(item(project, most))
    page = text_of(shown)
    assert "ann ✓ Yes" in page
    assert "ben ✕ No Look at the last sentence." in page
    assert "1 of 3" in page
    assert "Questions without disagreement (4)" in page
    form = {"answer-grammar": "no", "note-grammar": "It has no verb.", "answer-attribution": "yes"}
    answer = client.post(item(project, most), form, follow=True)
    assert answer.redirect_chain == [(item(project, one, "?"), 302)]
    assert "2 decisions saved. View or change" in text_of(answer)
    again = text_of(client.get(item(project, most)))
    assert f"Decided: ✕ No {manager.get_username()}" in again
    assert "It has no verb." in again

    client.post(reverse("adjudication_withdraw", args=[project.slug, most.pk, "grammar"]))
    assert "Earlier decisions (1)" in text_of(client.get(item(project, most)))
    assert Adjudication.objects.current().count() == 1


def test_only_who_sees_names_sees_who_decided(client, project, manager, summaries):
    grammar = {"grammar": DecidedAnswer("no")}
    decide_answers(project, manager, summaries[0].pk, grammar)
    decide_answers(project, manager, summaries[0].pk, {"grammar": DecidedAnswer("yes")})
    addresses = [item(project, summaries[0]), reverse("adjudication_csv", args=[project.slug]) + "?state=all"]
    client.force_login(make_member(project, "researcher"))
    page, file = (client.get(address).content.decode() for address in addresses)
    assert "Decided: ✓ Yes" in " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "adjudicator-1" in file
    for shown in (page, file):
        assert manager.get_username() not in shown
    client.force_login(manager)
    page, file = (client.get(address).content.decode() for address in addresses)
    assert page.count(manager.get_username()) >= 3  # of the decision, the one before, and who ended it
    assert manager.get_username() not in file


def test_a_note_without_an_answer_is_refused_and_kept(client, project, manager, summaries):
    client.force_login(manager)
    answer = client.post(item(project, summaries[0]), {"note-grammar": "Hm.", "answer-attribution": "no"})
    assert answer.status_code == 422
    assert "Choose an answer for this note." in text_of(answer)
    assert "Hm." in text_of(answer)
    assert re.search(r'name="answer-attribution" value="no" checked', answer.content.decode())
    assert not Adjudication.objects.exists()


def test_the_last_summary_leads_back_to_the_queue_with_its_filters(client, project, manager, summaries):
    client.force_login(manager)
    query = "?question=conciseness"
    answer = client.post(item(project, summaries[1], query), {"answer-conciseness": "no"}, follow=True)
    assert answer.redirect_chain == [(reverse("adjudication", args=[project.slug]) + query, 302)]
    assert "Everything is decided" in text_of(answer)


def test_researchers_read_decisions_but_see_no_form(client, project, manager, summaries):
    decide_answers(project, manager, summaries[0].pk, {"grammar": DecidedAnswer("no", "It has no verb.")})
    client.force_login(make_member(project, "researcher"))
    page = client.get(item(project, summaries[0]))
    assert "It has no verb." in text_of(page)
    assert "Save and go on" not in text_of(page)
    assert client.post(item(project, summaries[0]), {"answer-grammar": "no"}).status_code == 403


def test_answers_that_raters_confuse_lead_to_their_summaries(client, project, manager, summaries):
    client.force_login(manager)
    address = reverse("agreement", args=[project.slug])
    page = client.get(address, {"question": "grammar"}).content.decode()
    links = re.findall(r'href="(/projects/[^"]+/adjudication/\?[^"]+)"', page)
    assert len(links) == 4  # yes and no, yes and unsure, in both directions
    found = [
        re.findall(r'id="summary-(\d+)"', client.get(link.replace("&amp;", "&")).content.decode())
        for link in links
    ]
    assert found == [
        [str(summaries[0].pk)],
        [str(summaries[2].pk)],
        [str(summaries[0].pk)],
        [str(summaries[2].pk)],
    ]


def test_gold_answers_start_from_decisions_and_the_majority(client, project, manager, summaries):
    client.force_login(manager)
    decide_answers(project, manager, summaries[0].pk, {"grammar": DecidedAnswer("no", "It has no verb.")})
    page = client.get(reverse("gold_answers", args=[project.slug, summaries[0].pk])).content.decode()
    checked = dict(re.findall(r'name="(\w+)" value="(\w*)"[^>]*checked', page))
    assert checked == {
        **ALL_YES,
        "grammar": "no",
        "attribution": "",  # a tie: the manager decides
    }
    assert "It has no verb." in page
