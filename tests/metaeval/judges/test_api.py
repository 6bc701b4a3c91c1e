"""The API's judges, experiments and rechecks, compared with their pages."""

from decimal import Decimal

import numpy as np
import pytest
from django.urls import reverse

from metaeval.experiments.starting import experiment_of_setups
from metaeval.judges.report import JudgeChoices, judge_report
from metaeval.rechecks.comparison import shift_of
from metaeval.rechecks.report import alpha_of
from metaeval.rechecks.starting import REPEATS
from metaeval.snapshot.snapshot import snapshot_of
from scoring.models import RecheckScore, Run
from scoring.sealed_labels.label_parts import LabelPart
from tests.metaeval.judges.judge_trials import next_version, open_with, summaries_of, try_with
from tests.metaeval.judges.labelled_projects import make_judge, make_labelled, split
from tests.metaeval.rated_projects import make_setup, score

pytestmark = pytest.mark.django_db
RNG = np.random.default_rng(3)


@pytest.fixture
def labelled(db):
    project, user = make_labelled(articles=40)
    split(project, user)
    return project, user


@pytest.fixture
def tried(labelled):
    """Return a judge with an opened, a tried and an untried version."""
    project, user = labelled
    first = make_judge(project, user)
    trial = try_with(first, random_scores(project, LabelPart.TUNING))
    second = next_version(first, user, 1, "another draw")
    try_with(second, random_scores(project, LabelPart.TUNING))
    next_version(second, user, 2)
    open_with(trial, random_scores(project, LabelPart.SEALED), user)
    project.bump_revision()
    return first.judge


def random_scores(project, part):
    return {summary: float(RNG.normal()) for summary in summaries_of(project, part)}


@pytest.fixture
def reader(client, labelled):
    client.force_login(labelled[1])
    return client


def ask(client, project, name, *ids, **parameters):
    answer = client.get(reverse(name, args=[project.slug, *ids]), parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_judges_list_their_versions_and_openings(reader, labelled, tried):
    project, _ = labelled
    body = ask(reader, project, "api_judges")
    [judge] = body["results"]
    assert (judge["id"], judge["name"], judge["evaluator"]) == (tried.pk, "Coherence", "ice")
    first, second, third = judge["versions"]
    assert [each["made_from"] for each in judge["versions"]] == [None, 1, 2]
    assert (second["note"], second["params"]["seed"]) == ("another draw", 1)
    assert [each["how"] for each in first["openings"]] == ["confirmed"]
    assert second["openings"] == third["openings"] == []
    project.refresh_from_db()
    assert body["revision"] == project.revision


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
def test_trials_have_the_values_of_the_judge_page(reader, labelled, tried, measure):
    project, _ = labelled
    body = ask(reader, project, "api_judge", tried.pk, measure=measure)
    report = judge_report(project, snapshot_of(project), tried, JudgeChoices(measure=measure))
    assert body["best_of_many_bias"] == report.best_of_many_bias
    assert (body["judge"], body["question"], body["measure"]) == ("Coherence", "coherence", measure)
    found = {(row["version"], row["name"], row["part"]): row for row in body["results"]}
    for row in report.rows[:2]:
        shown = found.pop((row.version.number, str(row.version), "tuning"))
        assert (shown["value"], shown["low"], shown["high"], shown["n"]) == (
            row.tuning.value,
            row.tuning.interval.low,
            row.tuning.interval.high,
            row.tuning.n,
        )
        assert shown["is_best"] == row.is_best
        assert shown["setup"] == row.trial.setup_id
    sealed = found.pop((1, "Coherence v1", "sealed"))
    assert (sealed["value"], sealed["is_best"]) == (report.rows[0].sealed.value, False)
    assert {key: row["value"] for key, row in found.items()} == {
        (None, name, "tuning"): estimate.value for name, estimate in report.compared_with
    }


def test_untried_judges_have_no_rows_and_unknown_choices_are_refused(reader, labelled):
    project, user = labelled
    judge = make_judge(project, user).judge
    body = ask(reader, project, "api_judge", judge.pk)
    assert (body["question"], body["best_of_many_bias"], body["results"]) == (None, None, [])
    url = reverse("api_judge", args=[project.slug, judge.pk])
    refused = reader.get(url, {"measure": "best_of_many_bias"})
    assert refused.status_code == 400
    assert "expected one of" in refused.json()["detail"]
    assert reader.get(reverse("api_judge", args=[project.slug, 999_999])).status_code == 404


def test_an_undefined_figure_has_its_reason(reader, labelled, tried):
    rows = ask(reader, labelled[0], "api_judge", tried.pk, measure="kappa")["results"]
    assert rows
    assert all(row["value"] is None and "yes/no" in row["reason"] for row in rows)


def test_experiments_list_their_members_with_setups_and_runs(reader, labelled):
    project, user = labelled
    setups = [make_setup(project, name) for name in ("One", "Two")]
    for setup in setups:
        score(setup, random_scores(project, LabelPart.TUNING), "coherence")
    named = [(setup.pk, setup.label) for setup in setups]
    family = experiment_of_setups(project, user, "Which", "models", named)
    [found] = ask(reader, project, "api_experiments")["results"]
    assert (found["id"], found["name"], found["kind"]) == (family.pk, "Which", "models")
    assert [(each["setup"], each["name"], each["status"]) for each in found["members"]] == [
        (*each, "done") for each in named
    ]
    assert [each["run"] for each in found["members"]] == [setup.runs.get().pk for setup in setups]


def make_recheck(setup, kind, replies, **fields):
    """Store a recheck with these replies by summary, in the order of requests."""
    is_drift = kind == Run.Kind.DRIFT
    run = Run.objects.create(
        setup=setup, kind=kind, total=len(replies) * REPEATS[kind], spent=Decimal("0.5"), **fields
    )
    RecheckScore.objects.bulk_create(
        RecheckScore(
            run=run,
            summary_id=pk,
            dimension="coherence",
            repetition=place + (not is_drift),
            value=value,
            reason="" if value is not None else "no number",
        )
        for pk, each in replies.items()
        for place, value in enumerate(each)
    )
    return run


def test_consistency_checks_have_the_values_of_their_page(reader, labelled):
    project, _ = labelled
    setup = make_setup(project, "Judge", evaluator="ice")
    first, second, third = (each.pk for each in summaries_of(project, LabelPart.TUNING)[:3])
    now = project.created_at
    twice = {first: (0.5, 0.5), second: (0.25, 0.75), third: (0.5, None)}
    steady = make_recheck(
        setup, Run.Kind.CONSISTENCY, twice, status="done", finished_at=now, budget=Decimal(2)
    )
    later = {first: (0.5, 0.5, 0.5), second: (0.25, 0.75, 0.5), third: (0.5, 0.5, None)}
    drift = make_recheck(setup, Run.Kind.DRIFT, later, status="done", finished_at=now, has_changed=False)
    failed = make_recheck(setup, Run.Kind.DRIFT, {}, status="failed", finished_at=now, failure="no key")
    rows = {row["id"]: row for row in ask(reader, project, "api_rechecks")["results"]}
    assert list(rows) == [failed.pk, drift.pk, steady.pk]
    [found] = rows[steady.pk]["consistency"]
    assert {name: found[name] for name in ("summaries", "unscored", "identical", "difference")} == {
        "summaries": 2,
        "unscored": 1,
        "identical": 0.5,
        "difference": 0.25,
    }
    assert found["alpha"] == alpha_of(twice).value
    assert (rows[steady.pk]["budget"], rows[steady.pk]["cost"]) == ("2.0000", "0.50000000")
    [shift] = rows[drift.pk]["drift"]
    assert shift == {"dimension": "coherence", **vars(shift_of(later))}
    assert rows[drift.pk]["has_changed"] is False
    assert rows[failed.pk]["failure"] == "no key"
    assert not {"drift", "consistency"} & rows[failed.pk].keys()
    alone = ask(reader, project, "api_rechecks", kind="consistency")
    assert [row["id"] for row in alone["results"]] == [steady.pk]
