"""Every address, requested in every way by a rater while the article is concealed.

The addresses come from the URL configuration, so pages added later are tested too.
"""

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.gold.rounds import next_in_round, start_round
from annotation.models import Assignment, GoldAnswer, Project, Rater, Rating, Summary
from annotation.protocol import SEAHORSE
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, flag_article
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import (
    ALL_YES,
    make_article,
    make_gold,
    make_project,
    make_rater,
    make_summary,
    make_system,
)

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.sqlite_suffices("the same pages are opened on PostgreSQL with further values"),
]

ARTICLE = ("SENTINEL-TEXT", "SENTINEL-TITLE")
NEVER = (
    "SENTINEL-EXTERNAL",
    "SENTINEL-SYSTEM",
    "SENTINEL-DATASET",
    "SENTINEL-OTHER-COMMENT",
    "SENTINEL-OTHER-FLAG",
    "SENTINEL-PSEUDONYM",
)
GOLD = ("GOLD-EXPLANATION",)
HTMX = {"HX-Request": "true"}


def answers(stage, value="yes"):
    return {question.key: GivenAnswer(value) for question in SEAHORSE.stage(stage)}


def rate(rater, assignment, last_stage=3, comment=""):
    for stage in range(1, last_stage + 1):
        given = {key: GivenAnswer(answer.value, comment) for key, answer in answers(stage).items()}
        submit_stage(rater, assignment.pk, stage, given)


@pytest.fixture
def project():
    return make_project(gold_round_size=1, gold_retry_size=1)


@pytest.fixture
def article(project):
    return make_article(
        project,
        external_id="SENTINEL-EXTERNAL",
        title="SENTINEL-TITLE",
        text="SENTINEL-TEXT stands here.",
        dataset="SENTINEL-DATASET",
    )


def production(project, article) -> Assignment:
    """Return a rater's assignment at stage 1.

    The rater has rated another summary of the article; another rater has rated, commented and flagged both.
    """
    rater, other = make_rater(project), make_rater(project, pseudonym="SENTINEL-PSEUDONYM")
    for number in (1, 2):
        system = make_system(project, f"SENTINEL-SYSTEM-{number}")
        make_summary(project, article=article, system=system, ratings_wanted=2, text=f"Summary {number}.")
    for _ in range(2):
        taken = take_assignment(other)
        rate(other, taken, last_stage=2)
        flag_article(other, taken.pk, "SENTINEL-OTHER-FLAG")
        submit_stage(
            other,
            taken.pk,
            3,
            {key: GivenAnswer("no", "SENTINEL-OTHER-COMMENT") for key in answers(3)},
        )
    rate(rater, take_assignment(rater))
    return take_assignment(rater)


def gold(project, article) -> Assignment:
    """Return a gold assignment at stage 1 that is repeated after a failed and reviewed round."""
    rater = make_rater(project, status=Rater.Status.TRAINING)
    make_gold(project, ALL_YES | {"grammar": "no"}, article=article, system=make_system(project, NEVER[1]))
    rate(rater, next_in_round(start_round(rater, "en")))
    return next_in_round(start_round(rater, "en"))


def hidden_check(project, article) -> Assignment:
    """Return a hidden check at stage 1, of an article of which an earlier check was finished and shown."""
    project.check_rate, project.check_feedback = 1, True
    project.save()
    rater = make_rater(project)
    make_summary(project, article=article)
    for number in (1, 2):
        system = make_system(project, f"SENTINEL-SYSTEM-{number}")
        make_gold(project, article=article, system=system)
    rate(rater, take_assignment(rater))
    GoldAnswer.objects.filter(gold__summary__ratings__isnull=True).update(explanation="SENTINEL-CHECK")
    return take_assignment(rater)


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """Yield every route except the admin's, which is for staff only."""
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if route.startswith("admin/"):
            continue
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        else:
            assert isinstance(pattern, URLPattern)
            yield route


RATERS_OWN = re.compile(r"/(rate|rating|rounds|checks|history|guidelines)/")


def paths(slug: str, numbers: set[int]) -> list[str]:
    """Return every route with the slug, and each of the numbers filled in."""
    words = {
        "<slug:slug>": slug,
        "<slug:question_key>": "attribution",
        "<str:token>": "invented",
        "<slug:session_id>": "invented",
        "<str:uidb64>": "MA",
        "<str:model_name>": "invented",
        "<slug:name>": "scatter",
        "<slug:kind>": "csv",
        "<slug:language>": "en",
        "<slug:format_name>": "ratings",
    }
    found = set()
    for route in routes(get_resolver()):
        for word, value in words.items():
            route = route.replace(word, value)
        found |= {"/" + re.sub(r"<int:\w+>", str(number), route) for number in numbers}
    assert not [path for path in found if "<" in path], "a route has a part that this test cannot fill in"
    return sorted(found - {reverse("sign_out")})  # signing out would end the test


def requests_to_try(path: str, stage: int) -> list[tuple[str, dict[str, object], dict[str, str]]]:
    """Return (method, form, headers) of every request to try; no form may open the article."""
    if path.startswith("/api/"):
        jump, off_scale = (
            {"answers": {key: {"value": value} for key in answers(asked)}}
            for asked, value in ((3, "yes"), (stage, "maybe"))
        )
        return [
            ("get", {}, {}),
            *[(method, form, {}) for method in ("post", "put") for form in ({}, jump, off_scale)],
        ]
    anywhere = [("get", {}, {}), ("get", {}, HTMX), ("post", {}, {})]
    if not RATERS_OWN.search(path):
        return anywhere
    jump = {"stage": "3"} | {f"answer-{key}": "yes" for key in answers(3)}
    off_scale = {"stage": str(stage)} | {f"answer-{key}": "maybe" for key in answers(stage)}
    flag = {"stage": str(stage), "flag": "Cut off."}
    other_answers = {"stage": "1", "answer-comprehensibility": "unsure", "comment-comprehensibility": "Hm."}
    correction = {"answer-attribution": "no"}
    return [
        *anywhere,
        *[(method, {}, {}) for method in ("head", "options")],
        *[("post", form, {}) for form in (jump, flag, other_answers, correction)],
        *[("post", form, HTMX) for form in (jump, off_scale, flag)],
    ]


def leaks(
    assignment: Assignment, sentinels: tuple[str, ...], *, others: bool = False, only: str = ""
) -> list[str]:
    """Return every place where a sentinel was found. Each request's changes are rolled back.

    Raters' own pages are tried with the ids of all that the rater has or had and of another's rating, or,
    with `others`, the pages that are not for raters with the summary's id. With `only`, the paths are tried
    that match it.
    """
    client = Client()
    client.force_login(assignment.rater.user)
    ratings = Rating.objects.values_list("pk", flat=True)
    past, foreign = ratings.filter(rater=assignment.rater), ratings.exclude(rater=assignment.rater)[:1]
    seen = {assignment.summary_id}
    numbers = seen if others else {*seen, assignment.pk, *past, *foreign}
    found = []
    for path in paths(assignment.rater.project.slug, numbers):
        if bool(RATERS_OWN.search(path)) == others or not re.search(only, path):
            continue
        for method, form, headers in requests_to_try(path, assignment.stage):
            with transaction.atomic():
                is_json = path.startswith("/api/") and method != "get"
                kind = {"content_type": "application/json"} if is_json else {}
                response = getattr(client, method)(path, form, headers=headers, **kind)
                body = b"".join(response).decode()
                transaction.set_rollback(True)
            said = body + str(dict(response.headers)) + str(response.cookies)
            found += [f"{method.upper()} {path} {form}: {word}" for word in sentinels if word in said]
    return found


def at_stage(assignment: Assignment, stage: int) -> Assignment:
    rate(assignment.rater, assignment, last_stage=stage - 1)
    assignment.refresh_from_db()
    assert assignment.stage == stage
    return assignment


@pytest.mark.parametrize(
    "start", [production, *(pytest.param(each, marks=pytest.mark.thorough) for each in (gold, hidden_check))]
)
def test_pages_that_are_not_for_raters_reveal_nothing(project, article, start):
    assert leaks(start(project, article), (*ARTICLE, *NEVER, *GOLD, "SENTINEL-CHECK"), others=True) == []


@pytest.mark.parametrize("stage", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_no_address_reveals_the_article_or_data_hidden_from_raters(project, article, stage):
    assert leaks(at_stage(production(project, article), stage), ARTICLE + NEVER) == []


@pytest.mark.parametrize("stage", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_no_address_reveals_a_gold_summarys_article_or_answers(project, article, stage):
    assert leaks(at_stage(gold(project, article), stage), ARTICLE + NEVER + GOLD) == []


@pytest.mark.parametrize("stage", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_no_address_reveals_a_hidden_check(project, article, stage):
    opened = at_stage(hidden_check(project, article), stage)
    assert opened.is_check
    assert leaks(opened, (*ARTICLE, *NEVER, "SENTINEL-CHECK")) == []


def test_a_silent_check_and_ordinary_work_get_the_same_responses(project):
    """Two raters do the same with equal texts: one as a check, the other as ordinary work."""
    heard = []
    for is_check in (False, True):
        Project.objects.filter(pk=project.pk).update(check_rate=int(is_check))
        same = {"text": "Same.", "article": make_article(project, title="Same", text="Same.")}
        summary = make_summary(project, **same)
        if is_check:
            summary = make_gold(project, **same, system=make_system(project, "other")).summary
        heard.append(responses_to_a_rating(make_rater(project), summary))
    assert heard[0] == heard[1]


PASSING = r'value="\w{64}"|"x-csrftoken": "\w{64}"|\d\d:\d\d|datetime="[^"]*"|<b>\d+ s</b>|data-user="\d+"'
"""Tokens, times and accounts, which differ between any two responses."""


def responses_to_a_rating(rater: Rater, summary: Summary) -> list[str]:
    """Rate the summary, which comes next, and return all responses without ids, tokens and times."""
    client = Client()
    client.force_login(rater.user)
    first = client.get(reverse("rate", args=[rater.project.slug]), follow=True)
    opened = Assignment.objects.get(rater=rater, summary=summary)
    Summary.objects.update(open_places=0)  # nothing follows for either
    item = reverse("rate_item", args=[rater.project.slug, opened.pk])
    responses = [first]
    for stage in (1, 2, 3):
        form = {"stage": stage} | {f"answer-{key}": "yes" for key in answers(stage)}
        responses.append(client.post(item, form, headers=HTMX))
    own = {"history": [], "history_rating": [opened.rating.pk]}
    responses += [client.get(reverse(name, args=[rater.project.slug, *ids])) for name, ids in own.items()]
    said = []
    for response in responses:
        headers = {
            name: value
            for name, value in response.headers.items()
            if name[0] not in "CE" and name != "X-Request-Id"  # which is random
        }
        text = f"{response.status_code} {headers} {response.content.decode()}"
        text = text.replace(rater.user.username, "NAME")
        text = re.sub(rf"/({opened.pk}|{opened.rating.pk})/", "/N/", text)
        said.append(re.sub(PASSING, "", text, flags=re.IGNORECASE))
    return said


def test_the_last_stage_reveals_the_article_and_nothing_else(project, article):
    found = leaks(at_stage(production(project, article), 3), ARTICLE + NEVER)
    assert any(line.startswith("GET /projects/") and "/rate/" in line for line in found), "no article found"
    assert not [line for line in found if line.endswith(NEVER)]


@pytest.mark.thorough
def test_pages_that_are_not_for_raters_reveal_nothing_at_the_last_stage(project, article):
    assert leaks(at_stage(production(project, article), 3), ARTICLE + NEVER, others=True) == []
