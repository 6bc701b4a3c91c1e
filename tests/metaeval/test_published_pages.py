"""Published results in the eyes of somebody who is not signed in: every address and link, nothing hidden."""

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import resolve, reverse

from annotation.actions.publishing import publish_results
from annotation.models import Answer
from tests.addresses import ARGUMENTS
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.metaeval.rated_projects import make_setup, rate, score
from tests.test_access_matrix import OPEN_WHEN_PUBLISHED

pytestmark = pytest.mark.django_db

HIDDEN = "SECRET"
"""Within each text, name and address that is for members alone."""
SIGNATURE = f"ice|model:m-1|base_url:http://{HIDDEN}/v1|api_key_env:{HIDDEN}_API_KEY|v:1"
HTMX = {"HTTP_HX_REQUEST": "true"}
LINK = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"]*)"')
QUICK = {"interval": "analytic", "test": "williams"}
METAEVAL_CHOICES = (
    QUICK,
    {**QUICK, "level": "system"},
    {**QUICK, "level": "article", "coefficient": "roc_auc"},
    {**QUICK, "group": "crowd"},
)
OTHER_CHOICES = ({}, {"group": "crowd"})


@pytest.fixture
def project():
    """Six summaries that two raters disagree about and two evaluators score, one of them not on all."""
    project = make_project(name="Harbours")
    raters = [
        make_rater(project, pseudonym=f"{HIDDEN}-pseudonym-{group}", group=group)
        for group in ("expert", "crowd")
    ]
    for rater in raters:
        rater.user.username, rater.user.email = (
            f"{HIDDEN}-{rater.group}",
            f"{HIDDEN}-{rater.group}@example.org",
        )
        rater.user.save()
    summaries = []
    for number in range(3):
        article = make_article(
            project, title=f"{HIDDEN}-title", text=f"{HIDDEN}-article", external_id=f"{HIDDEN}-{number}"
        )
        for system in ("lead", "copy"):
            summaries.append(
                make_summary(
                    project, article=article, system=make_system(project, system), text=f"{HIDDEN}-summary"
                )
            )
    for place, summary in enumerate(summaries):
        for each, rater in enumerate(raters):
            rate(summary, rater, comprehensibility="yes" if (place + each) % 3 else "no")
    Answer.objects.update(comment=f"{HIDDEN}-comment")
    score(make_setup(project, "Length"), {summary: float(place) for place, summary in enumerate(summaries)})
    asked = make_setup(project, "ICE", evaluator="ice", signature=SIGNATURE)
    given = {summary: float(place % 4) for place, summary in enumerate(summaries[1:])}
    score(asked, {summaries[0]: f"http://{HIDDEN}/v1 answers 400: {HIDDEN}-summary", **given})
    publish_results(project, make_member(project, "manager"))
    return project


def addresses(project):
    """Each address that publishing opens, with the files that the pages offer."""
    found = [
        reverse(name, args=[project.slug]) for name in OPEN_WHEN_PUBLISHED if ARGUMENTS[name] == ("slug",)
    ]
    for page in ("agreement", "metaeval"):
        here = reverse(page, args=[project.slug])
        content = Client().get(here, METAEVAL_CHOICES[0] if page == "metaeval" else {}).content.decode()
        links = (link.partition("?")[0] for link in LINK.findall(content))
        found += (link for link in links if link.startswith(here))
    return sorted(set(found))


def answers(project, client):
    for address in addresses(project):
        choices = METAEVAL_CHOICES if "/meta-evaluation/" in address else OTHER_CHOICES
        for chosen in choices[:1] if "/figures/" in address else choices:
            answer = client.get(address, chosen)
            assert answer.status_code == 200, (address, chosen)
            yield address, answer
    for page in ("agreement", "metaeval"):
        address = reverse(page, args=[project.slug])
        yield address, client.get(address, **HTMX)


def test_nothing_hidden_is_in_any_answer_none_links_to_it_and_nobody_keeps_a_copy(project):
    """Of links there are besides: the way in, and the one home that every page has."""
    linked = set()
    for address, answer in answers(project, Client()):
        content = answer.content.decode(errors="replace")
        assert HIDDEN not in f"{answer.headers} {content}", address
        assert "no-store" in answer["Cache-Control"], address
        if answer["Content-Type"].startswith("text/html"):
            paths = {urlsplit(urljoin(address, unescape(link))).path for link in LINK.findall(content)}
            linked |= {resolve(path).url_name for path in paths if not path.startswith("/static/")}
    assert linked - OPEN_WHEN_PUBLISHED == {"home", "sign_in"}
    assert {"agreement", "metaeval", "metaeval_table", "metaeval_figure"} <= linked


def test_members_see_in_the_same_places_what_is_hidden_from_others(client, project):
    """Or the test above would look for what no page ever shows."""
    client.force_login(make_member(project, "researcher"))
    shown = client.get(reverse("metaeval", args=[project.slug]), QUICK).content.decode()
    assert f"http://{HIDDEN}/v1 answers 400" in shown
    assert f"base_url:http://{HIDDEN}/v1" in shown
    assert reverse("summaries", args=[project.slug]) in shown
    assert re.search(r'href="[^"]*/summaries/\d+/', shown)


def test_that_a_score_is_missing_is_told_without_the_reason(project):
    address = reverse("metaeval_table", args=[project.slug, "csv"])
    assert "without a score: reasons are not published: 1" in Client().get(address).content.decode()


def test_the_header_offers_the_two_pages_and_the_way_in(project):
    content = Client().get(reverse("metaeval", args=[project.slug]), QUICK).content.decode()
    navigation = re.search(r'<nav aria-label="Project">(.*?)</nav>', content, re.DOTALL)[1]
    assert re.findall(r">([^<>]+)</a>", navigation) == ["Agreement", "Meta-evaluation"]
    assert f"/sign-in/?next={reverse('metaeval', args=[project.slug])}" in content


def test_a_page_that_is_open_notices_that_it_was_closed(project):
    address = reverse("metaeval", args=[project.slug])
    project.results_published_at = None
    project.save()
    answer = Client().get(address, {"revision": project.revision}, **HTMX)
    assert answer.status_code == 302
    assert answer.url.startswith(reverse("sign_in"))
