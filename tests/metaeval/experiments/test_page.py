"""The results page of an experiment."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from annotation.errors import DomainError
from annotation.models import Rating
from metaeval.comparison.page import whole_page as comparison_page
from metaeval.experiments.figures import figure_rows
from metaeval.experiments.following import experiment_of
from metaeval.experiments.page import ExperimentChoices, page_now, whole_page
from metaeval.experiments.report import SEEN_BY_A_MEMBER
from metaeval.experiments.starting import ExperimentRequest, plan_experiment, start_experiment
from scoring.models import Run, Score
from scoring.runs.lifecycle import delete_run
from scoring.runs.worker import work_on_run
from tests.metaeval.rated_projects import make_setup, score

pytestmark = pytest.mark.django_db


def run_metaeval(project, *arguments):
    out = StringIO()
    call_command("metaeval", "--project", project.slug, "--format", "json", *arguments, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize(
    ("chosen", "arguments"),
    [
        ({}, "--items common"),
        (
            {"level": "article", "coefficient": "kendall_b", "interval": "none", "test": "none"},
            "--items common --level article --coefficient kendall_b --interval none --test none",
        ),
        (
            {"items": "own", "systems": ("s0", "s1"), "questions": ("coherence",), "test": "perm_both"},
            "--system s0 --system s1 --question coherence --test perm_both",
        ),
    ],
)
def test_values_equal_those_of_the_command(compared, followed, chosen, arguments):
    outsider = make_setup(compared, "Outsider")
    score(outsider, {each.summary: 1.0 for each in Score.objects.filter(value__isnull=False)[:9]}, "fluency")
    rows = figure_rows(whole_page(compared, followed, ExperimentChoices(**chosen)).results.questions)
    names = {member.setup.label: member.label for member in followed.members}
    only = [each for label in names for each in ("--evaluator", label)]
    told = [
        row | {"member": names[row["evaluator"]]} for row in run_metaeval(compared, *arguments.split(), *only)
    ]

    def by_place(row):
        return row["dimension"], row["member"]

    assert sorted(json.loads(json.dumps(rows)), key=by_place) == sorted(told, key=by_place)
    assert {row["member"] for row in rows} == {"0", "1", "2"}


def test_articles_seen_by_one_member_are_left_out_for_all(compared, followed):
    found = whole_page(compared, followed, ExperimentChoices()).results
    [question] = found.questions
    assert {each.figure.estimate.n for each in question.figures} == {29 * 4}
    assert {each.figure.estimate.articles for each in question.figures} == {29}
    assert found.n_seen == 1
    assert all(each.left_out[SEEN_BY_A_MEMBER] == 1 for each in question.figures)


def test_members_are_compared_on_summaries_that_all_have_scored(compared, followed):
    setup = followed.members[2].setup
    Score.objects.filter(setup=setup, summary__article__external_id="a7").update(value=None, reason="refused")
    compared.bump_revision()
    common = whole_page(compared, followed, ExperimentChoices()).results.questions[0]
    assert {each.figure.estimate.n for each in common.figures} == {28 * 4}
    own = whole_page(compared, followed, ExperimentChoices(items="own")).results.questions[0]
    assert [each.figure.estimate.n for each in own.figures] == [120, 116, 116]


def test_members_are_listed_in_the_order_of_the_experiment(compared, followed):
    [question] = whole_page(compared, followed, ExperimentChoices()).results.questions
    assert [each.member for each in question.figures] == ["0", "1", "2"]
    values = [each.figure.estimate.value for each in question.figures]
    assert question.spread.mean == pytest.approx(np.mean(values))
    assert (question.spread.low, question.spread.high) == (min(values), max(values))


def test_tests_and_wins_use_the_members_names(compared, followed):
    page = whole_page(compared, followed, ExperimentChoices(question="coherence"))
    found = page.results
    assert set(found.significance.names) == {"0", "1", "2"}
    assert found.wins.names == ["0", "1", "2"]
    beside = comparison_page(compared, page.comparison).significance
    ours = {(row["evaluator"], row["other"]): row["p_value"] for row in found.significance.as_json()}
    names = {member.setup.label: member.label for member in followed.members}
    theirs = {(names[r["evaluator"]], names[r["other"]]): r["p_value"] for r in beside.as_json()}
    assert ours == theirs
    noise, good = 0, 2
    assert found.wins.shares[good, noise] == 1
    assert {(row["member"], row["other"]) for row in found.wins.as_json()} == set(ours)


def test_a_member_appears_once_its_run_is_done(compared, researcher):
    wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "0.5"))
    experiment = start_experiment(plan_experiment(compared, wanted), researcher)
    runs = [member.setup.runs.get() for member in experiment.members.all()]

    def members():
        page = page_now(compared, experiment_of(compared, experiment.pk), ExperimentChoices())
        return page.results and [each.member for each in page.results.questions[0].figures]

    assert members() is None
    for run in runs:
        work_on_run(run.pk)
    assert members() == ["0.1", "0.5"]
    Run.objects.filter(pk=runs[0].pk).update(status=Run.Status.CANCELLED)
    assert members() == ["0.5"]
    for run in runs:
        run.refresh_from_db()
        delete_run(run, researcher)
    assert members() is None


def test_a_single_member_has_no_tests(compared, researcher):
    wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "0.5"))
    experiment = start_experiment(plan_experiment(compared, wanted), researcher)
    work_on_run(experiment.members.first().setup.runs.get().pk)
    found = whole_page(compared, experiment_of(compared, experiment.pk), ExperimentChoices()).results
    assert (found.significance, found.wins) == (None, None)
    [evaluator] = found.points.compared
    assert evaluator.key == str(experiment.members.first().setup.pk)


def test_deleted_ratings_no_longer_count(compared, followed):
    before = whole_page(compared, followed, ExperimentChoices()).results.points.n_labelled
    Rating.objects.filter(summary__article__external_id="a5").delete()
    compared.bump_revision()
    assert whole_page(compared, followed, ExperimentChoices()).results.points.n_labelled == before - 4


@pytest.mark.parametrize("wrong", [{"level": "x"}, {"named": ("nobody",)}, {"questions": ("nothing",)}])
def test_unknown_choices_are_refused(compared, followed, wrong):
    with pytest.raises(DomainError, match="found"):
        page_now(compared, followed, ExperimentChoices(**wrong))
