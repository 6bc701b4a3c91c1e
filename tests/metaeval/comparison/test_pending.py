"""Pages that show the previous intervals and tests while new ones are being computed."""

import threading

import pytest
from django.urls import reverse

from annotation import protocol
from metaeval.comparison import pending
from metaeval.comparison.page import page_now, whole_page
from metaeval.live import background
from metaeval.live.background import BackgroundResults, ComputationProgress, Key
from metaeval.live.choices import ComparisonChoices
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.comparison_rows import comparison_rows
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

SOON_S = 120
CHOICES = ComparisonChoices(interval="one_look", test="one_look")


@pytest.fixture
def project(transactional_db):
    """Return twelve summaries, eleven of them rated, scored by two evaluators."""
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
def queues(monkeypatch):
    """Replace the background queues, so that tests do not share results."""
    new = BackgroundResults(), BackgroundResults()
    for name, queue in zip(("LONG", "SHORT"), new, strict=True):
        for module in (pending, background):
            monkeypatch.setattr(module, name, queue)
    return new


@pytest.fixture
def block_queues(queues):
    """Return a function that blocks background computations until the returned event is set."""
    go = threading.Event()

    def hold():
        for queue in queues:
            queue.ready_or_start(Key(-1, 0, "held up"), lambda: go.wait(SOON_S), 0)
        return go

    yield hold
    go.set()


def finished_page(project):
    """Return the page once all of it has been computed."""
    while (page := page_now(project, CHOICES)).waits:
        pass  # page_now itself waits for a while
    return page


def intervals(page):
    return [cell.interval for row in page.rows for cell in row.cells if cell is not None]


def values(page):
    return [cell.value for row in page.rows for cell in row.cells if cell is not None]


def test_the_first_page_has_values_and_waits_for_the_rest(project, block_queues):
    go = block_queues()
    page = page_now(project, CHOICES)
    assert set(intervals(page)) == {"…"}
    assert (page.levels, page.significance) == ((), None)
    assert (page.progress, page.waits) == (ComputationProgress(0, 4), 5), (
        "those of four questions, and the chosen cell's levels"
    )
    go.set()
    whole = whole_page(project, CHOICES)
    assert values(page) == values(whole)
    assert not whole.is_pending


def test_a_page_says_on_how_many_questions_intervals_are_there(client, project, block_queues):
    client.force_login(make_member(project, "researcher"))
    block_queues()
    text = client.get(reverse("comparison", args=[project.slug]) + CHOICES.address()).content.decode()
    assert "Intervals are being computed (0 of 4 done)…" in text


def test_previous_intervals_are_marked_with_their_revision(project, block_queues):
    before = finished_page(project)
    assert not any("†" in text for text in intervals(before))
    go = block_queues()
    rate_one_more(project)
    between = page_now(project, CHOICES)
    as_of = f"revision {before.snapshot.revision:,}, 1 rating ago"
    assert (between.intervals_of, between.levels_of, between.waits) == (as_of, as_of, 5)
    assert intervals(between) == [f"{text} †" for text in intervals(before)]
    assert between.levels == before.levels
    assert between.significance == before.significance
    go.set()
    after = whole_page(project, CHOICES)
    assert values(between) == values(after) != values(before)
    assert (after.intervals_of, after.is_pending) == ("", False)
    assert finished_page(project).intervals_of == ""


def test_pages_mark_previous_intervals_and_files_wait_for_current_ones(client, project, block_queues):
    client.force_login(make_member(project, "researcher"))
    page = reverse("comparison", args=[project.slug]) + CHOICES.address()
    revision = project.revision
    finished_page(project)
    go = block_queues()
    rate_one_more(project)
    text = " ".join(client.get(page).content.decode().split())
    assert f"† Intervals and letters as of revision {revision:,}, 1 rating ago" in text
    assert f"at every level, as of revision {revision:,}, 1 rating ago †" in text
    assert f"95% intervals as of revision {revision:,}" in text
    assert "1,000 resamples" not in text.split('id="how-text"')[1].split("</pre>")[0]
    rows = {row["evaluator"]: row for row in comparison_rows(project, CHOICES, CHOICES.method(is_live=True))}
    go.set()
    now = {cell.id: cell.interval for row in whole_page(project, CHOICES).rows for cell in row.cells if cell}
    assert len(rows) == len(now)
    ends = [f"{row['low']:.2f}".replace("0.", ".").replace("-", "−") for row in rows.values()]
    assert all(any(text.startswith(end) for text in now.values()) for end in ends)


def test_intervals_of_other_evaluators_or_choices_are_not_shown(project, block_queues):
    finished_page(project)
    block_queues()
    score(make_setup(project, "New"), {project.summaries.first(): 1.0}, "coherence")
    project.refresh_from_db()
    page = page_now(project, CHOICES)
    assert (page.intervals_of, page.is_pending) == ("", True)
    assert set(intervals(page)) <= {"…", ""}
    assert page_now(project, ComparisonChoices(level="article")).intervals_of == ""


def test_another_level_in_the_table_keeps_the_levels_of_the_drawn_pair(project, block_queues):
    first = finished_page(project)
    block_queues()
    assert page_now(project, ComparisonChoices(level="article")).levels is first.levels
