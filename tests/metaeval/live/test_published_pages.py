"""Published results as anonymous visitors see them: every page, file and link."""

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import resolve, reverse

from annotation.models import Answer
from annotation.projects.settings import publish_results
from metaeval.live import strangers
from tests.addresses import ARGUMENTS
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.kept_snapshots import kept_snapshots
from tests.metaeval.rated_projects import make_setup, rate, score
from tests.test_access_matrix import OPEN_WHEN_PUBLISHED

pytestmark = pytest.mark.django_db

HIDDEN = "SECRET"
"""Part of each text, name and address that only members may see."""
SIGNATURE = f"ice|model:m-1|base_url:http://{HIDDEN}/v1|api_key_env:{HIDDEN}_API_KEY|v:1"
NAME = f"ICE, m-1, at {HIDDEN}:8000, API key variable {HIDDEN}_API_KEY"
HTMX = {"HTTP_HX_REQUEST": "true"}
LINK = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"]*)"')
QUICK = {"interval": "analytic", "test": "williams"}
COMPARISON_CHOICES = (
    QUICK,
    {**QUICK, "level": "system"},
    {**QUICK, "level": "article", "coefficient": "roc_auc", "test": "none"},
    {**QUICK, "group": "crowd"},
)
OTHER_CHOICES = ({}, {"group": "crowd"})
WITHOUT_CHOICES = ({},)


@pytest.fixture
def project():
    """Return a published project with six summaries, two raters and an evaluator that lacks a score."""
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
    asked = make_setup(project, NAME, evaluator="ice", signature=SIGNATURE, fingerprint="1a2b3c")
    given = {summary: float(place % 4) for place, summary in enumerate(summaries[1:])}
    score(asked, {summaries[0]: f"http://{HIDDEN}/v1 answers 400: {HIDDEN}-summary", **given})
    make_setup(project, f"ICE, m-2, at {HIDDEN}:8000, 8 examples", evaluator="ice", signature=SIGNATURE)
    publish_results(project, make_member(project, "manager"))
    return project


@pytest.fixture
def no_limit(monkeypatch):
    monkeypatch.setattr(strangers, "NEW_PER_MINUTE", 1_000)


def published_addresses(project):
    """Return each address opened by publishing, including the files that pages link to."""
    found = [
        reverse(name, args=[project.slug]) for name in OPEN_WHEN_PUBLISHED if ARGUMENTS[name] == ("slug",)
    ]
    for page in ("agreement", "comparison"):
        here = reverse(page, args=[project.slug])
        content = Client().get(here, COMPARISON_CHOICES[0] if page == "comparison" else {}).content.decode()
        links = (link.partition("?")[0] for link in LINK.findall(content))
        found += (link for link in links if link.startswith(here))
    return sorted(set(found))


def published_answers(project, client):
    kept = {}
    for address in published_addresses(project):
        choices = COMPARISON_CHOICES if "/comparison/" in address else OTHER_CHOICES
        choices = WITHOUT_CHOICES if "/preregistrations/" in address else choices
        for chosen in choices[:1] if "/figures/" in address else choices:
            with kept_snapshots(kept):
                answer = client.get(address, chosen)
            assert answer.status_code == 200, (address, chosen)
            yield address, answer
    for page in ("agreement", "comparison"):
        address = reverse(page, args=[project.slug])
        yield address, client.get(address, **HTMX)


def test_published_pages_expose_no_hidden_text_or_link_and_are_not_cached(project, no_limit):
    """Pages also link to sign-in and to the home page."""
    linked = set()
    for address, answer in published_answers(project, Client()):
        content = answer.content.decode(errors="replace")
        assert HIDDEN not in f"{answer.headers} {content}", address
        assert "no-store" in answer["Cache-Control"], address
        if answer["Content-Type"].startswith("text/html"):
            paths = {urlsplit(urljoin(address, unescape(link))).path for link in LINK.findall(content)}
            linked |= {resolve(path).url_name for path in paths if not path.startswith("/static/")}
    assert linked - OPEN_WHEN_PUBLISHED == {"home", "sign_in"}
    assert {"agreement", "comparison", "comparison_table", "comparison_figure"} <= linked


def test_members_see_the_hidden_text_on_the_same_pages(client, project):
    """Otherwise the test above would pass because no page ever shows the text."""
    client.force_login(make_member(project, "researcher"))
    shown = client.get(reverse("comparison", args=[project.slug]), QUICK).content.decode()
    assert f"http://{HIDDEN}/v1 answers 400" in shown
    assert f"base_url:http://{HIDDEN}/v1" in shown
    assert NAME in shown
    assert reverse("summaries", args=[project.slug]) in shown
    assert re.search(r'href="[^"]*/summaries/\d+/', shown)


def test_missing_scores_are_counted_without_their_reasons(project):
    address = reverse("comparison_table", args=[project.slug, "csv"])
    assert "without a score: reasons are not published: 1" in Client().get(address).content.decode()


def test_the_header_links_to_both_pages_and_to_sign_in(project):
    content = Client().get(reverse("comparison", args=[project.slug]), QUICK).content.decode()
    navigation = re.search(r'<nav aria-label="Project">(.*?)</nav>', content, re.DOTALL)[1]
    assert re.findall(r">([^<>]+)</a>", navigation) == ["Agreement", "Results"]
    assert f"/sign-in/?next={reverse('comparison', args=[project.slug])}" in content


def test_polling_an_unpublished_page_redirects_to_sign_in(project):
    address = reverse("comparison", args=[project.slug])
    project.results_published_at = None
    project.save()
    answer = Client().get(address, {"revision": project.revision}, **HTMX)
    assert answer.status_code == 302
    assert answer.url.startswith(reverse("sign_in"))


def test_setup_names_are_published_without_their_address(project):
    address = reverse("comparison", args=[project.slug])
    content = Client().get(address, {**QUICK, "level": "system"}).content.decode()
    assert "ICE, m-1" in content
    assert "ICE, m-2, 8 examples" in content
    body = Client().get(reverse("api_comparison", args=[project.slug]), QUICK).json()
    assert [row["evaluator"] for row in body["evaluators"]] == ["ICE, m-1", "Length"]


def test_setups_whose_names_differ_only_by_address_are_numbered(project):
    other = make_setup(project, "ICE, m-1, at localhost:8000", evaluator="ice", signature=SIGNATURE)
    score(other, dict.fromkeys(project.summaries.all(), 1.0))
    body = Client().get(reverse("api_comparison", args=[project.slug]), QUICK).json()
    assert sorted(row["evaluator"] for row in body["evaluators"]) == ["ICE, m-1", "ICE, m-1 · 2", "Length"]
