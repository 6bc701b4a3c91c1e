"""Experiments through their addresses: started, followed, shown live, and as files."""

import csv
import io
import re
from xml.etree import ElementTree as ET

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import protocol
from annotation.models import Rating, Summary
from metaeval.experiments.choices import ExperimentChoices
from metaeval.experiments.figures import figure_rows
from metaeval.experiments.page import whole_page
from metaeval.templatetags.results import figure
from scoring.families.following import family_of
from scoring.families.starting import FamilyWanted, family_of_setups, plan_family, start_family
from scoring.models import EvaluatorSetup, Run, RunFamily
from scoring.working import work_on_run
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}
PAYLOAD = "<script>alert('x')</script>\"&"
NEW = {"evaluator": "copy_rate", "name": "Shares", "varies": "share", "values": "0.1, 0.2"}


@pytest.fixture
def researcher(client, compared):
    client.force_login(make_member(compared, "researcher"))
    return client


@pytest.fixture
def family(compared):
    """The evaluators there are, as seeds."""
    setups = EvaluatorSetup.objects.filter(project=compared).order_by("label")
    labelled = [(setup.pk, str(place)) for place, setup in enumerate(setups)]
    return family_of_setups(compared, make_member(compared, "manager"), "Luck", "seeds", labelled)


def address(page, project, family=None, /, **arguments):
    ids = {"family_id": family.pk} if family else {}
    return reverse(page, kwargs={"slug": project.slug, **ids, **arguments})


def shown(client, name, project, family=None, query=None, **headers):
    answer = client.get(address(name, project, family), query or {}, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def file_rows(client, page, project, family, /, **arguments):
    answer = client.get(address(page, project, family, **arguments))
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


class TestStarting:
    @pytest.fixture
    def compared(self):
        """Six articles by one system, with a label each, and an evaluator of each."""
        project = make_project(protocol.SUMMEVAL)
        summaries = make_summaries(project, [f"a{place}" for place in range(6)], ["s"])
        rater = make_rater(project)
        for summary, answer in zip(summaries, "123451", strict=True):
            rate(summary, rater, coherence=answer)
        for label in ("one", "two"):
            score(make_setup(project, label), dict.fromkeys(summaries, 1.0))
        return project

    def test_the_form_offers_the_evaluators_own_parameters(self, researcher, compared):
        page = shown(researcher, "experiment_new", compared)
        assert "New experiment with ICE" in page
        options = re.findall(r'<option value="(\w+)"', page[page.index('name="varies"') :])
        assert options[:4] == ["sampling", "seed", "examples", "model"]
        assert 'name="budget"' in page
        other = shown(researcher, "experiment_new", compared, query={"evaluator": "copy_rate"})
        assert re.findall(r'<option value="(\w+)"', other[other.index('name="varies"') :]) == ["share"]
        assert 'name="budget"' not in other

    def test_a_preview_starts_nothing_and_names_each_run(self, researcher, compared):
        given = {**NEW, "action": "preview"}
        preview = researcher.post(address("experiment_new", compared), given, **HTMX).content.decode()
        assert "<html" not in preview
        assert "12</b> times a summary" in preview
        assert "0.1" in preview
        assert not RunFamily.objects.exists()

    def test_start_leads_to_its_page_with_the_runs_waiting(self, researcher, compared):
        answer = researcher.post(address("experiment_new", compared), {**NEW, "action": "start"})
        family = RunFamily.objects.get()
        assert answer["Location"] == address("experiment", compared, family)
        page = shown(researcher, "experiment", compared, family)
        assert "0 of 2 runs done" in page
        assert "Nothing to compare yet" in page
        assert Run.objects.filter(setup__families=family, status="queued").count() == 2

    def test_the_usual_values_stand_in_for_none(self, researcher, compared):
        given = {"evaluator": "rouge", "name": "All", "varies": "variant", "action": "start"}
        researcher.post(address("experiment_new", compared), given)
        labels = RunFamily.objects.get().members.values_list("label", flat=True)
        assert list(labels) == ["1", "2", "L", "Lsum"]

    @pytest.mark.usefixtures("family")
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"values": "0.1, 7"}, "7: parameter"),
            ({"values": "0.1"}, "found 1 value, expected 2 to 64"),
            ({"values": ""}, "found 0 values"),
            ({"values": "0.5, much"}, "much: parameter"),
            ({"name": ""}, "This field is required."),
            ({"name": "Luck"}, "another experiment of this project"),
            ({"varies": "colour"}, "colour is not one of the available choices"),
        ],
    )
    def test_what_cannot_be_started_says_why_and_starts_nothing(self, researcher, compared, changes, told):
        before = Run.objects.count()
        answer = researcher.post(address("experiment_new", compared), {**NEW, **changes, "action": "start"})
        assert answer.status_code == 422
        assert told in answer.content.decode()
        assert (Run.objects.count(), RunFamily.objects.count()) == (before, 1)

    def test_what_varies_needs_no_field_of_its_own(self, researcher, compared, settings):
        settings.LLM_ENDPOINTS = ["http://127.0.0.1:9/v1"]
        given = {
            "evaluator": "ice",
            "name": "Judges",
            "varies": "model",
            "values": "one, two",
            "param_base_url": "http://127.0.0.1:9/v1",
            "param_dimensions": "coherence",
            "action": "start",
        }
        answer = researcher.post(address("experiment_new", compared), given)
        assert answer.status_code == 302, re.findall(r"<li>([^<]+)", answer.content.decode())
        models = [setup.params["model"] for setup in RunFamily.objects.get().setups.all()]
        assert sorted(models) == ["one", "two"]

    def test_an_evaluator_that_is_not_there_is_not_found(self, researcher, compared):
        answer = researcher.get(address("experiment_new", compared), {"evaluator": "nonesuch"})
        assert answer.status_code == 404


class TestComparing:
    def test_picked_evaluators_become_members_under_their_names(self, researcher, compared):
        setups = list(EvaluatorSetup.objects.filter(project=compared).order_by("label"))
        page = shown(researcher, "experiment_compare", compared, query={"only": setups[1].pk})
        assert re.findall(r'name="setup_(\d+)"[^>]*checked', page) == [str(setups[1].pk)]
        given = {"name": "Two", "kind": "models"}
        for setup in setups[:2]:
            given |= {f"setup_{setup.pk}": "on", f"label_{setup.pk}": f"as {setup.label}"}
        answer = researcher.post(address("experiment_compare", compared), given)
        family = RunFamily.objects.get()
        assert answer["Location"] == address("experiment", compared, family)
        assert [str(each) for each in family.members.all()] == ["as Also good in Two", "as Good in Two"]

    def test_a_name_that_is_taken_is_told_beside_it(self, researcher, compared, family):
        given = {"name": family.name, "kind": "models"}
        for setup in EvaluatorSetup.objects.filter(project=compared):
            given |= {f"setup_{setup.pk}": "on", f"label_{setup.pk}": setup.label}
        answer = researcher.post(address("experiment_compare", compared), given)
        assert answer.status_code == 422
        assert "is another experiment" in answer.context["form"].errors["name"][0]
        assert RunFamily.objects.get() == family

    def test_one_is_no_comparison(self, researcher, compared):
        answer = researcher.post(address("experiment_compare", compared), {"name": "One", "kind": "models"})
        assert answer.status_code == 422
        assert "Found 0 picked, expected 2 to 64 evaluators" in answer.content.decode()

    def test_without_two_evaluators_it_says_what_to_do(self, client):
        project = make_project()
        client.force_login(make_member(project, "researcher"))
        page = shown(client, "experiment_compare", project)
        assert "0 evaluators so far" in page
        assert address("experiment_new", project) in page


class TestPage:
    def test_it_shows_every_number_its_spread_its_tests_and_systems(self, researcher, compared, family):
        page = shown(researcher, "experiment", compared, family)
        found = whole_page(compared, family_of(compared, family.pk), ExperimentChoices()).results
        [question] = found.questions
        for each in question.figures:
            estimate = each.figure.estimate
            assert f"<b>{figure(estimate.value)}" in page
            assert f"{figure(estimate.interval.low)} to {figure(estimate.interval.high)}" in page
        assert f"standard deviation {figure(question.spread.sd)}" in page
        assert "Which evaluators are told apart" in page
        assert "Wins in 80% subsamples" in page
        assert "Systems, by people and by each member" in page
        assert "shade: range over the seeds" in page
        how = page[page.index('id="how-text"') :]
        assert all(f"- {label}: {label}|v:1" in how for label in ("Good", "Also good", "Noise"))

    def test_members_that_score_no_question_say_so(self, researcher, compared):
        summaries = Summary.objects.filter(project=compared)
        setups = [make_setup(compared, label) for label in ("one", "two")]
        for setup in setups:
            score(setup, dict.fromkeys(summaries, 1.0), "wit")
        labelled = [(setup.pk, setup.label) for setup in setups]
        family = family_of_setups(compared, make_member(compared, "manager"), "Wit", "models", labelled)
        page = shown(researcher, "experiment", compared, family)
        assert "No member scores a dimension that people are asked about" in page
        assert file_rows(researcher, "experiment_table", compared, family, kind="csv") == []

    def test_without_labels_it_says_what_is_missing(self, researcher, compared, family):
        Rating.objects.all().delete()
        compared.bump_revision()
        assert "No human labels" in shown(researcher, "experiment", compared, family)

    def test_news_come_when_something_counts_and_else_204(self, researcher, compared, family):
        page = shown(researcher, "experiment", compared, family)
        revision = re.search(r'name="revision" value="([\d-]+)"', page)[1]
        where = address("experiment", compared, family)
        assert researcher.get(where, {"revision": revision}, **HTMX).status_code == 204
        compared.bump_revision()
        news = researcher.get(where, {"revision": revision}, **HTMX)
        assert news.status_code == 200
        assert b"<html" not in news.content
        assert b'id="results"' in news.content

    def test_members_are_asked_for_again_until_the_last_run_ends(self, researcher, compared):
        user = make_member(compared, "manager")
        wanted = FamilyWanted("Shares", "copy_rate", "share", ("0.1", "0.2"))
        family = start_family(plan_family(compared, wanted), user)
        part = shown(researcher, "experiment_members", compared, family, **HTMX)
        assert "every 2s" in part
        assert "Cancel all" in part
        for run in Run.objects.filter(setup__families=family):
            work_on_run(run.pk)
        part = shown(researcher, "experiment_members", compared, family, **HTMX)
        assert "every 2s" not in part
        assert "2 runs done" in part

    def test_all_runs_are_cancelled_and_resumed_from_the_page(self, researcher, compared):
        wanted = FamilyWanted("Shares", "copy_rate", "share", ("0.1", "0.2"))
        family = start_family(plan_family(compared, wanted), make_member(compared, "manager"))
        answer = researcher.post(address("experiment_cancel", compared, family), follow=True)
        assert "2 runs are cancelled." in answer.content.decode()
        assert "Resume all" in answer.content.decode()
        answer = researcher.post(address("experiment_resume", compared, family), follow=True)
        assert "2 runs go on with what is missing." in answer.content.decode()
        assert set(Run.objects.filter(setup__families=family).values_list("status", flat=True)) == {"queued"}

    def test_deleting_asks_first_and_keeps_the_scores(self, researcher, compared, family):
        runs = Run.objects.count()
        assert "Its runs and their scores stay" in shown(researcher, "experiment_delete", compared, family)
        answer = researcher.post(address("experiment_delete", compared, family), follow=True)
        assert "The experiment Luck is deleted; its runs are kept." in answer.content.decode()
        assert not RunFamily.objects.exists()
        assert Run.objects.count() == runs

    @pytest.mark.usefixtures("family")
    def test_the_list_says_what_varies_and_the_empty_one_what_to_do(self, researcher, compared):
        page = shown(researcher, "experiments", compared)
        assert "Luck" in page
        assert "Seeds: 0, 1, 2" in page
        RunFamily.objects.all().delete()
        page = shown(researcher, "experiments", compared)
        assert "No experiment yet" in page
        assert address("experiment_new", compared) in page

    def test_names_are_escaped(self, researcher, compared):
        setups = EvaluatorSetup.objects.filter(project=compared)
        user = make_member(compared, "manager")
        labelled = [(setup.pk, f"{PAYLOAD}{setup.pk}") for setup in setups]
        family = family_of_setups(compared, user, PAYLOAD, "models", labelled)
        for name in ("experiment", "experiment_members", "experiment_delete"):
            assert "<script>alert" not in shown(researcher, name, compared, family)
        assert "<script>alert" not in shown(researcher, "experiments", compared)

    def test_a_choice_that_does_not_exist_is_told(self, researcher, compared, family):
        answer = researcher.get(address("experiment", compared, family), {"coefficient": "magic"})
        assert answer.status_code == 400
        assert "found &#x27;magic&#x27;, expected one of" in answer.content.decode()


class TestFiles:
    def test_the_table_has_the_rows_of_the_page(self, researcher, compared, family):
        results = whole_page(compared, family_of(compared, family.pk), ExperimentChoices()).results
        rows = file_rows(researcher, "experiment_table", compared, family, kind="csv")
        expected = figure_rows(results.questions)
        assert [(row["member"], float(row["value"]), int(row["n"])) for row in rows] == [
            (row["member"], row["value"], row["n"]) for row in expected
        ]
        for kind in ("tex", "md"):
            answer = researcher.get(address("experiment_table", compared, family, kind=kind))
            assert answer.status_code == 200
            assert f"{expected[0]['value']:.3f}".removeprefix("0") in answer.content.decode()

    @pytest.mark.parametrize(
        ("name", "fields", "rows"),
        [
            ("spread", {"dimension", "mean", "sd", "lowest", "highest", "repetitions"}, 1),
            ("pairs", {"evaluator", "other", "p_value"}, 6),
            ("wins", {"member", "other", "wins"}, 6),
            ("systems", {"system", "member", "value", "rank"}, 16),
        ],
    )
    def test_what_stands_beside_it_is_a_file_each(self, researcher, compared, family, name, fields, rows):
        found = file_rows(researcher, "experiment_csv", compared, family, name=name)
        assert len(found) == rows
        assert fields <= set(found[0])

    def test_files_that_there_are_not(self, researcher, compared, family):
        for name, arguments in (
            ("experiment_csv", {"name": "nothing"}),
            ("experiment_table", {"kind": "exe"}),
            ("experiment_figure", {"name": "nothing", "kind": "svg"}),
        ):
            assert researcher.get(address(name, compared, family, **arguments)).status_code == 404

    @pytest.mark.parametrize("kind", ["svg", "png", "pdf", "csv"])
    def test_the_plot_is_a_file_of_each_kind(self, researcher, compared, family, kind):
        answer = researcher.get(address("experiment_figure", compared, family, name="members", kind=kind))
        assert answer.status_code == 200
        start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"member,"}[kind]
        assert answer.content.startswith(start)

    def test_numbers_are_drawn_as_a_line_for_each_question(self, researcher, compared, family):
        family.kind = RunFamily.Kind.EXAMPLES
        family.save()
        where = address("experiment_figure", compared, family, name="members-coherence", kind="svg")
        svg = ET.fromstring(researcher.get(where).content)
        assert svg.find("{*}polyline[@class='path']") is not None
        assert "number of examples" in [text.text for text in svg.findall("{*}text")]


def test_more_experiments_and_members_cost_no_more_queries(researcher, compared, family):
    def counted():
        with CaptureQueriesContext(connection) as queries:
            shown(researcher, "experiments", compared)
        return len(queries)

    before = counted()
    user = make_member(compared, "manager")
    for number in range(3):
        setup = make_setup(compared, f"Further {number}", evaluator="length")
        labelled = [(each.setup_id, each.label) for each in family.members.all()]
        family_of_setups(compared, user, f"Luck {number}", "models", [*labelled, (setup.pk, "further")])
    assert counted() == before
