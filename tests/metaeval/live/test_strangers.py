"""Limits on what readers who are not members have computed from published results."""

import threading

import pytest
from django.test import Client
from django.urls import reverse

from annotation import protocol
from annotation.errors import Busy, DomainError, TooManyRequests
from annotation.projects.settings import publish_results, unpublish_results
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import agreement_rows
from metaeval.live import background, strangers
from metaeval.live.background import Key, Pending
from metaeval.live.choices import ComparisonChoices
from metaeval.live.strangers import MOST_RESAMPLES, AnswersToStrangers, Computed
from metaeval.stats.method import Method
from tests.addresses import ARGUMENTS
from tests.factories import make_member, make_project, make_rater, make_user
from tests.metaeval.comparison_rows import comparison_rows
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, rate_all, score
from tests.test_access_matrix import OPEN_WHEN_PUBLISHED

SOON_S = 120
QUICK = {"interval": "none", "test": "none"}


def make_published():
    project = make_project(protocol.SUMMEVAL, name="Harbours")
    rater = make_rater(project)
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    rate_all((each, rater, {"coherence": answer}) for each, answer in zip(summaries, "123455", strict=True))
    for name in ("ROUGE-1", "ROUGE-2"):
        score(make_setup(project, name), dict(zip(summaries, [1.0, 3, 2, 2, 4, 6], strict=True)))
    publish_results(project, make_member(project, "manager"))
    project.refresh_from_db()
    return project


@pytest.fixture
def project(db):
    return make_published()


@pytest.fixture
def stored_project(transactional_db):
    """Return a project outside a transaction, where the server keeps answers."""
    return make_published()


@pytest.fixture
def stranger():
    return Client()


def address(project, url_name, **arguments):
    return reverse(url_name, kwargs={"slug": project.slug, **arguments})


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("name", ["api_comparison", "api_agreement"])
def test_strangers_get_at_most_a_thousand_resamples_from_the_api(project, stranger, name):
    here = address(project, name)
    refused = stranger.get(here, {"interval": "none", "resamples": 10_000})
    assert refused.status_code == 400
    assert "found 10,000, expected at most 1,000 for published results" in refused.json()["detail"]
    assert stranger.get(here, {"interval": "none", "resamples": 1_000}).status_code == 200
    member = signed_in(make_member(project, "researcher"))
    assert member.get(here, {"interval": "none", "resamples": 10_000}).status_code == 200


def test_pages_and_files_offer_strangers_no_resamples(project, stranger):
    for name, named in (
        ("comparison", {}),
        ("comparison_methods", {}),
        ("comparison_table", {"kind": "csv"}),
        ("agreement_table", {"kind": "csv"}),
    ):
        answer = stranger.get(address(project, name, **named), {"resamples": 10_000})
        assert answer.status_code == 200
        assert "10,000 resamples" not in answer.content.decode(), name
        assert "10000 resamples" not in answer.content.decode(), name


def test_the_limit_of_resamples_holds_for_every_caller(project):
    more = MOST_RESAMPLES + 1
    project.only_published = True
    with pytest.raises(DomainError, match="at most 1,000"):
        comparison_rows(project, ComparisonChoices(), Method(resamples=more, **QUICK))
    with pytest.raises(DomainError, match="at most 1,000"):
        agreement_rows(project, method=AgreementMethod(interval="none", resamples=more))
    project.only_published = False
    assert comparison_rows(project, ComparisonChoices(), Method(resamples=more, **QUICK))
    assert agreement_rows(project, method=AgreementMethod(interval="none", resamples=more))


def test_an_address_that_asks_too_often_is_told_when_to_come_back(project, stranger, monkeypatch):
    monkeypatch.setattr(strangers, "NEW_PER_MINUTE", 2)
    for level in ("pooled", "article"):
        assert stranger.get(address(project, "api_comparison"), {**QUICK, "level": level}).status_code == 200
    for name in ("api_comparison", "comparison", "systems_csv"):
        refused = stranger.get(address(project, name), {**QUICK, "level": "system"})
        assert refused.status_code == 429, name
        seconds = int(refused["Retry-After"])
        assert 0 < seconds <= 60
        assert f"more than 2 new results within a minute. Try again in {seconds} second" in (
            refused.content.decode()
        )
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert elsewhere.get(address(project, "comparison"), {**QUICK, "level": "system"}).status_code == 200


def test_members_are_not_counted(project, monkeypatch):
    monkeypatch.setattr(strangers, "NEW_PER_MINUTE", 1)
    member = signed_in(make_member(project, "researcher"))
    for level in ("pooled", "article", "system"):
        assert member.get(address(project, "comparison"), {**QUICK, "level": level}).status_code == 200


def test_every_published_address_is_limited_for_strangers_only(project, monkeypatch):
    monkeypatch.setattr(strangers, "MOST_AT_ONCE", 0)
    readers = {
        503: (Client(), signed_in(make_user("somebody"))),
        200: (signed_in(make_member(project, "researcher")),),
    }
    for url_name in sorted(OPEN_WHEN_PUBLISHED):
        named = {"kind": "csv", "name": "labels" if url_name == "systems_table" else "collected"}
        here = address(
            project, url_name, **{each: named[each] for each in ARGUMENTS[url_name] if each != "slug"}
        )
        for status, clients in readers.items():
            expected = 404 if status == 200 and url_name.endswith("_figure") else status  # no such chart
            for client in clients:
                answer = client.get(here)
                assert answer.status_code == expected, (url_name, status)
                if status == 503:
                    assert answer["Retry-After"] == "5"
                    assert "Try again in 5 seconds" in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("comparison", {}),
        ("comparison_table", {"kind": "csv"}),
        ("agreement", {}),
        ("answers", {}),
        ("api_comparison", {}),
    ],
)
def test_the_same_question_is_computed_once_for_a_revision(
    stored_project, stranger, monkeypatch, name, named
):
    here = address(stored_project, name, **named)
    choices = QUICK if "comparison" in name else {}
    first = stranger.get(here, choices)
    while "…" in first.content.decode():  # the page waits for its intervals
        first = stranger.get(here, choices)
    monkeypatch.setattr(strangers, "MOST_AT_ONCE", 0)
    again = Client(REMOTE_ADDR="203.0.113.9").get(here, choices)
    assert (again.status_code, again.content) == (200, first.content)
    assert again["Content-Type"] == first["Content-Type"]
    assert again.get("Content-Disposition") == first.get("Content-Disposition")
    assert stranger.get(here, {**choices, "group": "other"}).status_code == 503
    rate(stored_project.summaries.first(), make_rater(stored_project), coherence="2")
    assert stranger.get(here, choices).status_code == 503


def test_all_pages_of_a_list_are_one_question(stored_project, stranger, monkeypatch):
    here = address(stored_project, "api_agreement")
    first = stranger.get(here, {"limit": 1, "interval": "none"}).json()
    monkeypatch.setattr(strangers, "MOST_AT_ONCE", 0)
    second = stranger.get(here, {"limit": 1, "offset": 1, "interval": "none"}).json()
    assert first["results"] != second["results"]


def test_kept_answers_are_closed_when_results_are_unpublished(stored_project, stranger):
    here = address(stored_project, "systems")
    assert stranger.get(here).status_code == 200
    unpublish_results(stored_project, make_member(stored_project, "manager"))
    assert stranger.get(here).status_code == 302


def test_a_page_for_somebody_who_is_signed_in_is_not_shown_to_others(stored_project, stranger):
    here = address(stored_project, "systems")
    user = make_user("somebody-else")
    assert user.username in signed_in(user).get(here).content.decode()
    shown = stranger.get(here).content.decode()
    assert user.username not in shown
    assert "csrfmiddlewaretoken" not in shown


def test_polls_without_news_are_free(project, stranger, monkeypatch):
    monkeypatch.setattr(strangers, "MOST_AT_ONCE", 0)
    poll = {"revision": str(project.revision)}
    assert stranger.get(address(project, "comparison"), poll, HTTP_HX_REQUEST="true").status_code == 204


def test_strangers_do_not_queue_more_than_a_few_results_and_members_do_not_wait(stored_project, stranger):
    go = threading.Event()
    try:
        for number in range(background.MOST_FOR_STRANGERS):
            key = Key(-1, 0, number, is_published=True)
            assert background.STRANGERS.ready_or_start(key, lambda: go.wait(SOON_S), 0) == Pending()
        refused = stranger.get(address(stored_project, "evaluator_card"))
        assert (refused.status_code, refused["Retry-After"]) == (503, "5")
        member = signed_in(make_member(stored_project, "researcher"))
        rows = member.get(address(stored_project, "evaluator_card_table", kind="csv"))
        assert rows.status_code == 200
    finally:
        go.set()


def key(number):
    return Key(1, 1, number, is_published=True)


def test_a_few_answers_are_computed_at_once(transactional_db):
    answers, begun, go = AnswersToStrangers(), threading.Barrier(3), threading.Event()

    def slow():
        begun.wait(SOON_S)
        assert go.wait(SOON_S)
        return Computed("slow")

    threads = [
        threading.Thread(target=answers.answer, args=(key(number), f"203.0.113.{number}", slow))
        for number in range(2)
    ]
    for thread in threads:
        thread.start()
    begun.wait(SOON_S)
    with pytest.raises(Busy):
        answers.answer(key(2), "203.0.113.2", lambda: Computed("quick"))
    go.set()
    for thread in threads:
        thread.join(SOON_S)
    assert answers.answer(key(2), "203.0.113.2", lambda: Computed("quick")) == "quick"


def test_failed_computations_count_and_free_their_place(transactional_db, monkeypatch):
    monkeypatch.setattr(strangers, "NEW_PER_MINUTE", 3)
    answers = AnswersToStrangers()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            answers.answer(key(1), "203.0.113.1", lambda: 1 / 0)
    with pytest.raises(TooManyRequests):
        answers.answer(key(1), "203.0.113.1", lambda: Computed("late"))


def test_answers_that_are_not_final_are_computed_again(transactional_db):
    answers = AnswersToStrangers()
    assert answers.answer(key(1), "203.0.113.1", lambda: Computed("waiting", is_final=False)) == "waiting"
    assert answers.answer(key(1), "203.0.113.1", lambda: Computed("ready")) == "ready"
    assert answers.answer(key(1), "203.0.113.1", lambda: Computed("never asked")) == "ready"


def test_the_oldest_answers_make_room(transactional_db, monkeypatch):
    monkeypatch.setattr(strangers, "KEPT_ANSWERS", 2)
    answers = AnswersToStrangers()
    for number in range(3):
        answers.answer(key(number), "203.0.113.1", lambda: Computed("first"))
    assert [answers.answer(key(number), "203.0.113.1", lambda: Computed("new")) for number in (2, 1, 0)] == [
        "first",
        "first",
        "new",
    ]
