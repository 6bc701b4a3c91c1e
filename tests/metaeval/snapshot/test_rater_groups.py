"""Groups of raters that differ are named wherever their answers are mixed without a choice."""

import csv
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation import protocol
from metaeval.agreement.report import agreement_rows
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot import arrays
from metaeval.snapshot.rater_groups import differing_groups
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.method import Method
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.comparison_rows import comparison_rows
from tests.metaeval.rated_projects import make_setup, make_summaries, rate_all, score

VALUES = Method(interval="none", test="none")
WARNING = "Warning: answers of different groups of raters are mixed. Crowd and expert differ in"


@pytest.fixture
def project(db):
    """Experts and crowd workers order summaries oppositely on coherence, and agree on fluency."""
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, [f"a{number:02}" for number in range(12)], ["s", "t"])
    rated = []
    for group, n_raters in (("expert", 2), ("crowd", 3)):
        for number in range(n_raters):
            rater = make_rater(project, group=group)
            for place, summary in enumerate(summaries):
                point = 1 + (place + (place // 5 + number) % 2) % 5
                coherence = point if group == "expert" else 6 - point
                rated.append((summary, rater, {"coherence": str(coherence), "fluency": str(point)}))
    rate_all(rated)
    given = {summary: float(place % 7) for place, summary in enumerate(summaries)}
    score(make_setup(project, "Evaluator"), given)
    return project


def test_only_questions_on_which_groups_differ_are_named(project):
    snapshot = snapshot_of(project)
    (found,) = differing_groups(snapshot.summaries, snapshot.human)
    assert (found.question, found.first, found.second) == ("coherence", "crowd", "expert")
    assert found.said.startswith("crowd and expert differ in judgement (")


@pytest.mark.parametrize("cells", [1, 48, 2**24])
def test_ratings_are_counted_alike_in_tables_of_any_size(project, monkeypatch, cells):
    monkeypatch.setattr(arrays, "LARGEST_TABLE", cells)
    human = snapshot_of(project).human
    first_half = np.arange(24) < 12
    assert human.counted(first_half, "") == (60, 12, 5)
    assert human.counted(first_half, "expert", ["fluency"]) == (24, 12, 2)
    assert human.counted(first_half, "", ["relevance"]) == (0, 0, 0)


def test_every_export_says_so_until_a_group_is_chosen(project):
    for rows_of in (
        lambda group: comparison_rows(project, ComparisonChoices(group=group), VALUES),
        lambda group: agreement_rows(project, group=group),
    ):
        key = "dimension" if "dimension" in rows_of("")[0] else "question"
        for group in ("", "all", "expert"):
            for row in rows_of(group):
                is_warned = group == "" and row[key] == "coherence"
                assert (WARNING in row["definition"]) == is_warned
                assert row.get("warning", "").startswith(WARNING) == is_warned
                if group == "expert":
                    assert "of the group expert" in row["definition"]
                else:
                    assert "of all groups together (crowd, expert)" in row["definition"]
    values = {
        group: [row["value"] for row in comparison_rows(project, ComparisonChoices(group=group), VALUES)]
        for group in ("", "all", "expert")
    }
    assert values[""] == values["all"] != values["expert"]


@pytest.mark.parametrize("command", ["metaeval", "agreement"])
def test_commands_warn_once_beside_their_output(project, command):
    for group, warned in (("", 1), ("expert", 0)):
        shown, warnings = StringIO(), StringIO()
        arguments = ("--project", project.slug, "--group", group, "--format", "csv")
        call_command(command, *arguments, stdout=shown, stderr=warnings)
        assert warnings.getvalue().count(f"coherence: {WARNING}") == warned
        assert warnings.getvalue().count("Warning") == warned
        rows = list(csv.DictReader(StringIO(shown.getvalue())))
        assert any(row.get("warning") for row in rows) == bool(warned)


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("comparison", ("comparison_table", "csv")),
        ("agreement", ("agreement_table", "csv")),
        ("evaluator_card", ("evaluator_card_table", "csv")),
        ("answers", ("answers_table", "systems", "csv")),
        ("answers", ("answers_table", "questions", "csv")),
        ("systems", ("systems_table", "labels", "csv")),
        ("systems", ("systems_table", "scores", "csv")),
    ],
)
def test_pages_ask_for_a_choice_that_the_address_carries(client, project, page, file):
    client.force_login(make_member(project, "researcher"))
    address = reverse(page, args=[project.slug])
    asked = client.get(address)
    said = asked.content.decode()
    assert "Whose answers count?" in said
    assert "Coherence: crowd and expert differ in judgement" in said
    for group in ("expert", "crowd", "all"):
        assert f'href="?group={group}"' in said
        chosen = client.get(address, {"group": group})
        assert "Whose answers count?" not in chosen.content.decode()
    assert "Groups of raters differ beyond chance, so each is shown on its own" in " ".join(said.split())
    how = asked.context["how"]
    assert "different groups of raters are mixed" not in how
    assert "of the group crowd" in how
    assert "of the group expert" in how
    assert len({part.split('"')[0] for part in said.split(' id="')[1:]}) == said.count(' id="')
    name, *named = file
    link = f'href="{reverse(name, args=[project.slug, *named])}'
    assert link in chosen.content.decode()
    assert link not in said
    changed = client.get(address, {"group": "expert"}, headers={"HX-Request": "true"})
    assert '<div id="rater-groups" hx-swap-oob="outerHTML">' in changed.content.decode()


def test_planning_mixes_groups_with_a_warning(client, project):
    client.force_login(make_member(project, "researcher"))
    address = reverse("planning", args=[project.slug])
    asked, chosen = client.get(address), client.get(address, {"group": "expert"})
    assert "All raters are mixed on this page" in asked.content.decode()
    assert WARNING in asked.context["how"].replace("Coherence: crowd", "Crowd")
    assert WARNING not in chosen.context["how"]


def test_agreement_is_shown_group_by_group_until_one_is_chosen(client, project):
    client.force_login(make_member(project, "researcher"))
    address = reverse("agreement", args=[project.slug])
    split, *alone, mixed = (
        client.get(address, {"group": group} if group else {}) for group in ("", "crowd", "expert", "all")
    )
    of_groups = [answer.context["page"].rows for answer in alone]
    rows = split.context["page"].rows
    assert [row.title for row in rows[:2]] == ["Coherence · crowd", "Coherence · expert"]
    for place, row in enumerate(rows):
        question, group = divmod(place, 2)
        expected = of_groups[group][question]
        for cell, own in zip(row.cells, expected.cells, strict=True):
            assert (cell.interval, cell.below) == (own.interval, own.below)
            assert cell.value == own.value or not own.is_defined
            assert f"group={('crowd', 'expert')[group]}" in cell.address
    assert split.context["page"].drawn is None
    assert [row.title for row in mixed.context["page"].rows[:1]] == ["Coherence"]
    assert len({cell.id for row in rows for cell in row.cells}) == sum(len(row.cells) for row in rows)


def test_evaluators_are_compared_group_by_group_until_one_is_chosen(client, project):
    summaries = {summary: float(-summary.pk) for summary in project.summaries.all()}
    score(make_setup(project, "Falling"), summaries)
    client.force_login(make_member(project, "researcher"))
    address = reverse("comparison", args=[project.slug])
    answers = [client.get(address, {"group": group} if group else {}) for group in ("", "crowd", "expert")]
    split, *alone = (answer.context["page"] for answer in answers)
    assert [each.group for each in split.apart] == ["crowd", "expert"]
    for part, own in zip(split.apart, alone, strict=True):
        for row, expected in zip(part.rows, own.rows, strict=True):
            for cell, same in zip(row.cells, expected.cells, strict=True):
                shown = (cell.value, cell.interval, cell.cluster, cell.is_best, cell.below)
                assert repr(shown) == repr(
                    (same.value, same.interval, same.cluster, same.is_best, same.below)
                )
                assert cell.address == same.address
        assert part.ceilings.cells[0].value == own.ceilings.cells[0].value
    assert (split.drawn, split.significance, split.charts) == (None, None, [])
    said = answers[0].content.decode()
    assert "<h3>crowd</h3>" in said
    assert "24 summaries have a label by expert" in " ".join(said.split())


def split_and_alone(client, project, page):
    """Return the page without a choice, then of each group, as the browser gets them."""
    client.force_login(make_member(project, "researcher"))
    address = reverse(page, args=[project.slug])
    return [client.get(address, {"group": group} if group else {}) for group in ("", "crowd", "expert")]


def test_systems_are_shown_group_by_group_until_one_is_chosen(client, project):
    answers = split_and_alone(client, project, "systems")
    split, *alone = (answer.context["page"] for answer in answers)
    values = [
        [[cell.figure.estimate.value for cell in row.cells] for row in each.rows]
        for each in (*split.apart, *alone)
    ]
    assert repr(values[:2]) == repr(values[2:])
    assert values[0] != values[1]
    assert split.score_columns == ["crowd", "expert", "Evaluator"]
    for place, row in enumerate(split.score_rows):
        own = [page.score_rows[place].cells for page in alone]
        expected = [own[0][0], own[1][0], own[0][1]]
        assert [cell.figure.estimate for cell in row.cells] == [cell.figure.estimate for cell in expected]
    said = " ".join(answers[0].content.decode().split()).replace(" ,", ",")
    assert "over 24 summaries labelled by crowd, over 24 summaries labelled by expert" in said


def test_answers_are_shown_group_by_group_until_one_is_chosen(client, project):
    answers = split_and_alone(client, project, "answers")
    split, *alone = (answer.context["page"] for answer in answers)
    for part, own in zip(split.apart, alone, strict=True):
        assert [each.as_json() for each in part.means] == [each.as_json() for each in own.means]
        assert repr(part.correlations) == repr(own.correlations)
    assert split.collected[-1].counts["ratings"] == 24 * 5
    assert alone[0].collected[-1].counts["ratings"] == 24 * 3
    assert answers[0].content.decode().count("<h3>crowd</h3>") == 3  # a table each


def test_an_evaluator_card_has_the_findings_of_each_group_until_one_is_chosen(client, project):
    answers = split_and_alone(client, project, "evaluator_card")
    split, *alone = (answer.context["page"] for answer in answers)
    for part, own in zip(split.apart, alone, strict=True):
        assert part.findings == own.findings
        assert repr(part.rows) == repr(own.rows)
    assert split.apart[0].findings != split.apart[1].findings
    assert (split.card, split.charts, split.rows) == (None, [], ())
    said = answers[0].content.decode()
    assert '<a href="?group=expert">Whole card, labels of expert</a>' in said
    assert 'id="agreement-title"' not in said
    assert 'id="agreement-title"' in answers[1].content.decode()


def test_files_of_pages_warn_until_a_group_is_chosen(client, project):
    client.force_login(make_member(project, "researcher"))
    files = [
        ("systems_table", "labels", "csv"),
        ("answers_table", "systems", "csv"),
        ("answers_table", "questions", "csv"),
        ("evaluator_card_table", "csv"),
    ]
    for name, *named in files:
        address = reverse(name, args=[project.slug, *named])
        for group, is_warned in (("", True), ("expert", False)):
            rows = list(csv.DictReader(StringIO(client.get(address, {"group": group}).content.decode())))
            assert rows
            warnings = {row.get("warning", "") for row in rows} - {""}
            assert any("groups of raters are mixed" in each for each in warnings) == is_warned


@pytest.mark.parametrize("page", ["comparison", "evaluator_card"])
def test_groups_apart_poll_without_news(client, project, page):
    client.force_login(make_member(project, "researcher"))
    address = reverse(page, args=[project.slug])
    answer = client.get(address)
    assert answer.context["page"].waits == 0
    assert client.get(address, {"revision": answer.context["stamp"]}).status_code == 204
