"""While intervals and tests of a new revision are being computed, the latest ones stand in and say so."""

import threading

import pytest
from django.urls import reverse

from annotation import protocol
from metaeval import page_background
from metaeval.background import BackgroundResults, Key
from metaeval.choices import MetaevalChoices
from metaeval.metaeval_page import page_now, whole_page
from metaeval.metaeval_report import metaeval_rows
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

SOON_S = 10
CHOICES = MetaevalChoices()


@pytest.fixture
def project(transactional_db):
    """Twelve summaries, eleven of them rated, scored by two evaluators."""
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, [f"article {number}" for number in range(12)], ["a"])
    for label, values in (("Good", "123245123245"), ("Noise", "521413352142")):
        score(make_setup(project, label), dict(zip(summaries, map(float, values), strict=True)), "coherence")
    rater = make_rater(project)
    for summary, answer in zip(summaries[:-1], "12324512324", strict=True):
        rate(summary, rater, coherence=answer)
    project.refresh_from_db()
    return project


def rate_one_more(project):
    rate(project.summaries.order_by("pk").last(), project.raters.first(), coherence="1")
    project.refresh_from_db()


@pytest.fixture(autouse=True)
def lines(monkeypatch):
    """New ones, in which nothing is left of another test."""
    new = BackgroundResults(), BackgroundResults()
    for name, line in zip(("LONG", "SHORT"), new, strict=True):
        monkeypatch.setattr(page_background, name, line)
    return new


@pytest.fixture
def held_up(lines):
    """Nothing is computed in the background, because something else is, until the event is set."""
    go = threading.Event()

    def hold():
        for line in lines:
            line.ready_or_start(Key(-1, 0, "held up"), lambda: go.wait(SOON_S), 0)
        return go

    yield hold
    go.set()


def intervals(page):
    return [cell.interval for row in page.rows for cell in row.cells if cell is not None]


def values(page):
    return [cell.value for row in page.rows for cell in row.cells if cell is not None]


def test_the_first_page_of_all_has_values_and_waits_for_the_rest(project, held_up):
    go = held_up()
    page = page_now(project, CHOICES)
    assert set(intervals(page)) == {"…"}
    assert (page.levels, page.significance, page.waits) == ((), None, 2)
    go.set()
    whole = whole_page(project, CHOICES)
    assert values(page) == values(whole)
    assert not whole.is_pending


def test_what_is_shown_meanwhile_is_marked_as_of_its_revision_beside_the_present_values(project, held_up):
    before = page_now(project, CHOICES)
    assert before.waits == 0
    assert not any("†" in text for text in intervals(before))
    go = held_up()
    rate_one_more(project)
    between = page_now(project, CHOICES)
    as_of = f"revision {before.snapshot.revision:,}, 1 rating ago"
    assert (between.intervals_of, between.levels_of, between.waits) == (as_of, as_of, 2)
    assert intervals(between) == [f"{text} †" for text in intervals(before)]
    assert between.levels == before.levels
    assert between.significance == before.significance
    go.set()
    after = whole_page(project, CHOICES)
    assert values(between) == values(after) != values(before)
    assert (after.intervals_of, after.is_pending) == ("", False)
    assert page_now(project, CHOICES).waits == 0


def test_the_page_says_it_and_the_rows_for_files_and_programs_are_the_present_ones(client, project, held_up):
    client.force_login(make_member(project, "researcher"))
    page = reverse("metaeval", args=[project.slug])
    revision = project.revision
    client.get(page)
    go = held_up()
    rate_one_more(project)
    text = client.get(page).content.decode()
    assert f"† Intervals and letters as of revision {revision:,}, 1 rating ago" in text
    assert f"at every level, as of revision {revision:,}, 1 rating ago †" in text
    assert f"95% intervals as of revision {revision:,}" in text
    assert "1,000 resamples" not in text.split('id="how-text"')[1].split("</pre>")[0]
    rows = {row["evaluator"]: row for row in metaeval_rows(project, CHOICES, CHOICES.method)}
    go.set()
    now = {cell.id: cell.interval for row in whole_page(project, CHOICES).rows for cell in row.cells if cell}
    assert len(rows) == len(now)
    ends = [f"{row['low']:.2f}".replace("0.", ".").replace("-", "−") for row in rows.values()]
    assert all(any(text.startswith(end) for text in now.values()) for end in ends)


def test_with_other_evaluators_or_choices_nothing_stands_in(project, held_up):
    page_now(project, CHOICES)
    held_up()
    score(make_setup(project, "New"), {project.summaries.first(): 1.0}, "coherence")
    project.refresh_from_db()
    page = page_now(project, CHOICES)
    assert (page.intervals_of, page.is_pending) == ("", True)
    assert set(intervals(page)) <= {"…", ""}
    assert page_now(project, MetaevalChoices(level="article")).intervals_of == ""


def test_another_level_in_the_table_leaves_the_drawn_pairs_levels(project, held_up):
    first = page_now(project, CHOICES)
    held_up()
    assert page_now(project, MetaevalChoices(level="article")).levels is first.levels
