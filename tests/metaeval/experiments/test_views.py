"""The pages and files of experiments."""

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
from metaeval.experiments.figures import figure_rows
from metaeval.experiments.following import experiment_of
from metaeval.experiments.page import ExperimentChoices, whole_page
from metaeval.experiments.starting import (
    ExperimentRequest,
    experiment_of_setups,
    plan_experiment,
    start_experiment,
)
from metaeval.templatetags.results import figure
from scoring.models import Experiment, Run, Setup
from scoring.runs.worker import work_on_run
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
def experiment(compared):
    """Return an experiment with all evaluators as seeds."""
    setups = Setup.objects.filter(project=compared).order_by("label")
    labelled = [(setup.pk, str(place)) for place, setup in enumerate(setups)]
    return experiment_of_setups(compared, make_member(compared, "manager"), "Luck", "seeds", labelled)


def address(page, project, experiment=None, /, **arguments):
    ids = {"experiment_id": experiment.pk} if experiment else {}
    return reverse(page, kwargs={"slug": project.slug, **ids, **arguments})


def get_page(client, name, project, experiment=None, query=None, **headers):
    answer = client.get(address(name, project, experiment), query or {}, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def file_rows(client, page, project, experiment, /, **arguments):
    answer = client.get(address(page, project, experiment, **arguments))
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


class TestStarting:
    @pytest.fixture
    def compared(self):
        """Return a project with six articles by one system, all labelled, and two evaluators."""
        project = make_project(protocol.SUMMEVAL)
        summaries = make_summaries(project, [f"a{place}" for place in range(6)], ["s"])
        rater = make_rater(project)
        for summary, answer in zip(summaries, "123451", strict=True):
            rate(summary, rater, coherence=answer)
        for label in ("one", "two"):
            score(make_setup(project, label), dict.fromkeys(summaries, 1.0))
        return project

    def test_the_form_offers_the_evaluators_own_parameters(self, researcher, compared):
        page = get_page(researcher, "experiment_new", compared)
        assert "New experiment with ICE" in page
        options = re.findall(r'<option value="(\w+)"', page[page.index('name="varies"') :])
        assert options[:4] == ["sampling", "seed", "examples", "model"]
        assert 'name="budget"' in page
        other = get_page(researcher, "experiment_new", compared, query={"evaluator": "copy_rate"})
        assert re.findall(r'<option value="(\w+)"', other[other.index('name="varies"') :]) == ["share"]
        assert 'name="budget"' not in other

    def test_a_preview_lists_the_runs_without_starting_them(self, researcher, compared):
        given = {**NEW, "action": "preview"}
        preview = researcher.post(address("experiment_new", compared), given, **HTMX).content.decode()
        assert "<html" not in preview
        assert "12</b> scores to compute" in preview
        assert "0.1" in preview
        assert not Experiment.objects.exists()

    def test_starting_redirects_to_the_experiment_with_queued_runs(self, researcher, compared):
        answer = researcher.post(address("experiment_new", compared), {**NEW, "action": "start"})
        experiment = Experiment.objects.get()
        assert answer["Location"] == address("experiment", compared, experiment)
        page = get_page(researcher, "experiment", compared, experiment)
        assert "0 of 2 runs done" in page
        assert "No results yet" in page
        assert Run.objects.filter(setup__experiments=experiment, status="queued").count() == 2

    def test_missing_values_default_to_the_usual_ones(self, researcher, compared):
        given = {"evaluator": "rouge", "name": "All", "varies": "variant", "action": "start"}
        researcher.post(address("experiment_new", compared), given)
        labels = Experiment.objects.get().members.values_list("label", flat=True)
        assert list(labels) == ["1", "2", "L", "Lsum"]

    @pytest.mark.usefixtures("experiment")
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"values": "0.1, 7"}, "7: found &#x27;7&#x27;, expected a number from 0.01 to 1"),
            ({"values": "0.1"}, "found 1 value, expected 2 to 64"),
            ({"values": ""}, "found 0 values"),
            ({"values": "0.5, much"}, "much: found &#x27;much&#x27;, expected a number"),
            ({"name": ""}, "This field is required."),
            ({"name": "Luck"}, "This project already has an experiment called"),
            ({"varies": "colour"}, "colour is not one of the available choices"),
        ],
    )
    def test_an_invalid_experiment_is_refused_with_a_reason(self, researcher, compared, changes, told):
        before = Run.objects.count()
        answer = researcher.post(address("experiment_new", compared), {**NEW, **changes, "action": "start"})
        assert answer.status_code == 422
        assert told in answer.content.decode()
        assert (Run.objects.count(), Experiment.objects.count()) == (before, 1)

    def test_the_varied_parameter_needs_no_value_of_its_own(self, researcher, compared, settings):
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
        models = [setup.params["model"] for setup in Experiment.objects.get().setups.all()]
        assert sorted(models) == ["one", "two"]

    def test_an_unknown_evaluator_is_not_found(self, researcher, compared):
        answer = researcher.get(address("experiment_new", compared), {"evaluator": "nonesuch"})
        assert answer.status_code == 404


class TestComparing:
    def test_chosen_evaluators_become_members_with_the_given_names(self, researcher, compared):
        setups = list(Setup.objects.filter(project=compared).order_by("label"))
        page = get_page(researcher, "experiment_compare", compared, query={"only": setups[1].pk})
        assert re.findall(r'name="setup_(\d+)"[^>]*checked', page) == [str(setups[1].pk)]
        given = {"name": "Two", "kind": "models"}
        for setup in setups[:2]:
            given |= {f"setup_{setup.pk}": "on", f"label_{setup.pk}": f"as {setup.label}"}
        answer = researcher.post(address("experiment_compare", compared), given)
        experiment = Experiment.objects.get()
        assert answer["Location"] == address("experiment", compared, experiment)
        assert [str(each) for each in experiment.members.all()] == ["as Also good in Two", "as Good in Two"]

    def test_a_duplicate_name_is_refused_next_to_its_field(self, researcher, compared, experiment):
        given = {"name": experiment.name, "kind": "models"}
        for setup in Setup.objects.filter(project=compared):
            given |= {f"setup_{setup.pk}": "on", f"label_{setup.pk}": setup.label}
        answer = researcher.post(address("experiment_compare", compared), given)
        assert answer.status_code == 422
        assert "This project already has an experiment called" in answer.context["form"].errors["name"][0]
        assert Experiment.objects.get() == experiment

    def test_comparing_needs_two_evaluators(self, researcher, compared):
        answer = researcher.post(address("experiment_compare", compared), {"name": "One", "kind": "models"})
        assert answer.status_code == 422
        assert "0 evaluators selected, expected 2 to 64" in answer.content.decode()

    def test_a_project_without_two_evaluators_explains_the_next_step(self, client):
        project = make_project()
        client.force_login(make_member(project, "researcher"))
        page = get_page(client, "experiment_compare", project)
        assert "0 evaluators so far" in page
        assert address("experiment_new", project) in page


class TestPage:
    def test_the_page_shows_values_spread_tests_and_systems(self, researcher, compared, experiment):
        one_look = {"interval": "one_look", "test": "one_look"}
        choices = ExperimentChoices(**one_look)
        page = get_page(researcher, "experiment", compared, experiment, one_look)
        assert "For a single look:" in page
        found = whole_page(compared, experiment_of(compared, experiment.pk), choices).results
        [question] = found.questions
        for each in question.figures:
            estimate = each.figure.estimate
            assert f"<b>{figure(estimate.value)}" in page
            assert f"{figure(estimate.interval.low)} to {figure(estimate.interval.high)}" in page
        assert f"standard deviation {figure(question.spread.sd)}" in page
        assert "Significant differences" in page
        assert "Wins in 80% subsamples" in page
        assert "Systems: " in page
        assert "shade: range over the seeds" in page
        how = page[page.index('id="how-text"') :]
        assert all(f"- {label}: {label}|v:1" in how for label in ("Good", "Also good", "Noise"))

    def test_members_without_scores_on_a_question_are_explained(self, researcher, compared):
        summaries = Summary.objects.filter(project=compared)
        setups = [make_setup(compared, label) for label in ("one", "two")]
        for setup in setups:
            score(setup, dict.fromkeys(summaries, 1.0), "wit")
        labelled = [(setup.pk, setup.label) for setup in setups]
        experiment = experiment_of_setups(
            compared, make_member(compared, "manager"), "Wit", "models", labelled
        )
        page = get_page(researcher, "experiment", compared, experiment)
        assert "No member scores a dimension of the questionnaire" in page
        assert file_rows(researcher, "experiment_table", compared, experiment, kind="csv") == []

    def test_missing_labels_are_explained(self, researcher, compared, experiment):
        Rating.objects.all().delete()
        compared.bump_revision()
        assert "No human labels" in get_page(researcher, "experiment", compared, experiment)

    def test_polling_returns_204_until_the_project_changes(self, researcher, compared, experiment):
        page = get_page(researcher, "experiment", compared, experiment)
        revision = re.search(r'name="revision" value="([\d-]+)"', page)[1]
        where = address("experiment", compared, experiment)
        assert researcher.get(where, {"revision": revision}, **HTMX).status_code == 204
        compared.bump_revision()
        news = researcher.get(where, {"revision": revision}, **HTMX)
        assert news.status_code == 200
        assert b"<html" not in news.content
        assert b'id="results"' in news.content

    def test_the_page_polls_until_the_last_run_ends(self, researcher, compared):
        user = make_member(compared, "manager")
        wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "0.2"))
        experiment = start_experiment(plan_experiment(compared, wanted), user)
        part = get_page(researcher, "experiment_members", compared, experiment, **HTMX)
        assert "every 2s" in part
        assert "Cancel all" in part
        for run in Run.objects.filter(setup__experiments=experiment):
            work_on_run(run.pk)
        part = get_page(researcher, "experiment_members", compared, experiment, **HTMX)
        assert "every 2s" not in part
        assert "2 runs done" in part

    def test_all_runs_can_be_cancelled_and_resumed_from_the_page(self, researcher, compared):
        wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "0.2"))
        experiment = start_experiment(plan_experiment(compared, wanted), make_member(compared, "manager"))
        answer = researcher.post(address("experiment_cancel", compared, experiment), follow=True)
        assert "2 runs cancelled." in answer.content.decode()
        assert "Resume all" in answer.content.decode()
        answer = researcher.post(address("experiment_resume", compared, experiment), follow=True)
        assert "2 runs resumed." in answer.content.decode()
        assert set(Run.objects.filter(setup__experiments=experiment).values_list("status", flat=True)) == {
            "queued"
        }

    def test_deleting_asks_for_confirmation_and_keeps_the_runs(self, researcher, compared, experiment):
        runs = Run.objects.count()
        assert "Its runs and their scores are kept" in get_page(
            researcher, "experiment_delete", compared, experiment
        )
        answer = researcher.post(address("experiment_delete", compared, experiment), follow=True)
        assert "Experiment Luck deleted. Its runs are kept." in answer.content.decode()
        assert not Experiment.objects.exists()
        assert Run.objects.count() == runs

    @pytest.mark.usefixtures("experiment")
    def test_the_list_names_varied_values_and_explains_an_empty_list(self, researcher, compared):
        page = get_page(researcher, "experiments", compared)
        assert "Luck" in page
        assert "Seeds: 0, 1, 2" in page
        Experiment.objects.all().delete()
        page = get_page(researcher, "experiments", compared)
        assert "No experiments yet" in page
        assert address("experiment_new", compared) in page

    def test_names_are_escaped(self, researcher, compared):
        setups = Setup.objects.filter(project=compared)
        user = make_member(compared, "manager")
        labelled = [(setup.pk, f"{PAYLOAD}{setup.pk}") for setup in setups]
        experiment = experiment_of_setups(compared, user, PAYLOAD, "models", labelled)
        for name in ("experiment", "experiment_members", "experiment_delete"):
            assert "<script>alert" not in get_page(researcher, name, compared, experiment)
        assert "<script>alert" not in get_page(researcher, "experiments", compared)

    def test_an_unknown_choice_is_refused_with_the_valid_ones(self, researcher, compared, experiment):
        answer = researcher.get(address("experiment", compared, experiment), {"coefficient": "magic"})
        assert answer.status_code == 400
        assert "found &#x27;magic&#x27;, expected one of" in answer.content.decode()


class TestFiles:
    def test_the_table_has_the_rows_of_the_page(self, researcher, compared, experiment):
        results = whole_page(compared, experiment_of(compared, experiment.pk), ExperimentChoices()).results
        rows = file_rows(researcher, "experiment_table", compared, experiment, kind="csv")
        expected = figure_rows(results.questions)
        assert [(row["member"], float(row["value"]), int(row["n"])) for row in rows] == [
            (row["member"], row["value"], row["n"]) for row in expected
        ]
        for kind in ("tex", "md"):
            answer = researcher.get(address("experiment_table", compared, experiment, kind=kind))
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
    def test_each_table_can_be_downloaded(self, researcher, compared, experiment, name, fields, rows):
        found = file_rows(researcher, "experiment_csv", compared, experiment, name=name)
        assert len(found) == rows
        assert fields <= set(found[0])

    def test_unknown_files_are_not_found(self, researcher, compared, experiment):
        for name, arguments in (
            ("experiment_csv", {"name": "nothing"}),
            ("experiment_table", {"kind": "exe"}),
            ("experiment_figure", {"name": "nothing", "kind": "svg"}),
        ):
            assert researcher.get(address(name, compared, experiment, **arguments)).status_code == 404

    @pytest.mark.parametrize("kind", ["svg", "png", "pdf", "csv"])
    def test_the_chart_can_be_downloaded_in_every_format(self, researcher, compared, experiment, kind):
        answer = researcher.get(address("experiment_figure", compared, experiment, name="members", kind=kind))
        assert answer.status_code == 200
        start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"member,"}[kind]
        assert answer.content.startswith(start)

    def test_numeric_members_are_drawn_as_one_line_chart_per_question(self, researcher, compared, experiment):
        experiment.kind = Experiment.Kind.EXAMPLES
        experiment.save()
        where = address("experiment_figure", compared, experiment, name="members-coherence", kind="svg")
        svg = ET.fromstring(researcher.get(where).content)
        assert svg.find("{*}polyline[@class='path']") is not None
        assert "Number of examples" in [text.text for text in svg.findall("{*}text")]

    def test_a_setting_stands_on_the_axis_and_in_the_caption_by_its_label(self, researcher, compared):
        wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "0.2", "0.5"))
        experiment = start_experiment(plan_experiment(compared, wanted), make_member(compared, "manager"))
        for member in experiment.members.all():
            work_on_run(member.setup.runs.get().pk)
        where = address("experiment_figure", compared, experiment, name="members-coherence", kind="svg")
        svg = ET.fromstring(researcher.get(where).content)
        assert "Leading share" in [text.text for text in svg.findall("{*}text")]
        page = get_page(researcher, "experiment", compared, experiment)
        assert "by Leading share; band: 95% intervals" in page


def test_more_experiments_and_members_cost_no_more_queries(researcher, compared, experiment):
    def count_queries():
        with CaptureQueriesContext(connection) as queries:
            get_page(researcher, "experiments", compared)
        return len(queries)

    before = count_queries()
    user = make_member(compared, "manager")
    for number in range(3):
        setup = make_setup(compared, f"Further {number}", evaluator="length")
        labelled = [(each.setup_id, each.label) for each in experiment.members.all()]
        experiment_of_setups(compared, user, f"Luck {number}", "models", [*labelled, (setup.pk, "further")])
    assert count_queries() == before
