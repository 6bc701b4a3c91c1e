"""An experiment with three seeds of ICE at a scripted endpoint, from the request to the page."""

import hashlib

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.models import Answer
from metaeval.experiments.following import experiment_of
from metaeval.experiments.page import ExperimentChoices, whole_page
from metaeval.experiments.starting import ExperimentRequest, plan_experiment, start_experiment
from scoring.models import Run, Score
from scoring.runs.worker import work_on_run
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import UNIT_LABELS, make_summaries, rate
from tests.scoring.scripted_endpoint import Answer as Reply
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db


def reply_by_prompt(asked) -> Reply:
    """Return a number that depends only on the prompt."""
    return Reply(f"0.{int(hashlib.sha256(asked.prompt.encode()).hexdigest(), 16) % 90 + 10}")


@pytest.fixture
def endpoint(monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ScriptedEndpoint(reply_by_prompt) as server:
        settings.LLM_ENDPOINTS = [server.base_url]
        yield server


@pytest.fixture
def project():
    project = make_project(UNIT_LABELS)
    rater = make_rater(project)
    summaries = make_summaries(project, [f"a{place}" for place in range(12)], ["s", "t"])
    for place, summary in enumerate(summaries):
        summary.text = f"Summary number {place}."
        summary.save()
        rate(summary, rater, coherence=str(round(0.1 + 0.03 * place, 2)))
    return project


def test_three_seeds_give_three_values_on_common_unseen_articles(project, endpoint):
    params = {
        "model": "judge",
        "base_url": endpoint.base_url,
        "dimensions": "coherence",
        "examples": "2",
        "pool_articles": "2",
    }
    wanted = ExperimentRequest("Seeds", "ice", "seed", ("0", "1", "2"), params)
    planned = plan_experiment(project, wanted)
    experiment = start_experiment(planned, make_member(project, "researcher"))
    for run in Run.objects.filter(setup__experiments=experiment):
        work_on_run(run.pk, slice_s=60)
    followed = experiment_of(project, experiment.pk)
    assert followed.n_done == 3

    pools = [set(each.setup.seen_articles.values_list("pk", flat=True)) for each in followed.members]
    seen = set().union(*pools)
    assert all(len(pool) == 2 for pool in pools)
    assert len(seen) > 2
    assert planned.seen == len(seen)

    results = whole_page(project, followed, ExperimentChoices(questions=("coherence",))).results
    [question] = results.questions
    labels = dict(Answer.objects.values_list("rating__summary", "value"))
    values = []
    for member, found in zip(followed.members, question.figures, strict=True):
        rows = Score.objects.filter(setup=member.setup, value__isnull=False)
        pairs = [
            (float(labels[row.summary_id]), row.value)
            for row in rows.select_related("summary")
            if row.summary.article_id not in seen
        ]
        estimate = found.figure.estimate
        assert estimate.n == len(pairs) == 2 * (12 - len(seen))
        assert estimate.value == pytest.approx(spearmanr(*zip(*pairs, strict=True))[0], abs=1e-12)
        values.append(estimate.value)
    assert len(set(values)) == 3
    assert question.spread.sd == pytest.approx(np.std(values, ddof=1))
    assert results.n_seen == len(seen)
