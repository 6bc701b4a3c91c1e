"""Probes: estimates of a run's time from scoring a few summaries on a worker."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.errors import NotAllowed
from scoring.errors import InvalidRun
from scoring.models import Probe, Score, Setup
from scoring.runs.probing import is_overdue, probe_of, seconds_expected, start_probe, work_on_probe
from tests.factories import make_article, make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    for number in range(40):
        article = make_article(project, text=f"Article {number}. The cat sat on the mat.")
        make_summary(project, article=article, text=f"The cat number {number} sat.")
    return project


@pytest.fixture
def weights(monkeypatch):
    folder = tiny_model("bert")
    monkeypatch.setenv("WEIGHTS_DIR", str(folder.parent))
    return folder.name


def test_probe_scores_16_summaries_and_estimates_the_time_of_all(
    project, researcher, weights, sent, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        probe = start_probe(project, "similarity", {"model": weights, "against": "article"}, researcher)
    [message] = sent("cpu")
    assert (message["task"], message["args"]) == ("scoring.tasks.work_on_probe", [probe.pk])
    assert seconds_expected(probe) is None
    work_on_probe(probe.pk)
    probe.refresh_from_db()
    assert (len(probe.summary_ids), probe.total, probe.failure) == (16, 40, "")
    assert seconds_expected(probe) == pytest.approx(probe.loading_s + probe.scoring_s * 40 / 16)
    assert probe.scoring_s > 0


def test_probe_stores_neither_scores_nor_a_setup(project, researcher):
    work_on_probe(start_probe(project, "length", {}, researcher).pk)
    assert not Score.objects.exists()
    assert not Setup.objects.exists()


def test_probe_of_a_small_project_scores_all_summaries(researcher, project):
    small = make_project()
    make_summary(small)
    probe = start_probe(small, "length", {}, make_member(small, "researcher"))
    work_on_probe(probe.pk)
    probe.refresh_from_db()
    assert (len(probe.summary_ids), probe.total) == (1, 1)
    assert probe.ended_at


def test_failed_probe_gives_its_reason(project, researcher, weights):
    probe = start_probe(project, "similarity", {"model": weights, "against": "article"}, researcher)
    Probe.objects.update(fingerprint="another")
    work_on_probe(probe.pk)
    probe.refresh_from_db()
    assert "weights" in probe.failure
    assert seconds_expected(probe) is None


def test_evaluators_whose_requests_cost_money_cannot_be_probed(project, researcher):
    for rated in project.summaries.all()[:12]:
        rate(rated, make_rater(project), attribution="yes")
    with pytest.raises(InvalidRun, match="may cost"):
        start_probe(project, "ice", {"model": "m", "dimensions": "attribution", "examples": 1}, researcher)


def test_probe_without_summaries_to_score_is_refused(researcher):
    empty = make_project()
    with pytest.raises(InvalidRun, match="nothing to score"):
        start_probe(empty, "length", {}, make_member(empty, "manager"))


def test_raters_cannot_start_a_probe(project):
    with pytest.raises(NotAllowed):
        start_probe(project, "length", {}, make_rater(project).user)


def test_probe_that_no_worker_claims_is_overdue_and_later_deleted(project, researcher):
    probe = start_probe(project, "length", {}, researcher)
    assert not is_overdue(probe)
    Probe.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert is_overdue(probe_of(project, probe.pk))
    start_probe(project, "length", {}, researcher)
    assert not Probe.objects.filter(pk=probe.pk).exists()
