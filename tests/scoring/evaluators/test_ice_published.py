"""From imported labels to a correlation, with the replies that ICE's authors received."""

import json
import re

import pytest
from django.core.management import call_command
from scipy.stats import kendalltau, spearmanr

from scoring.models import Run, Score
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_project
from tests.metaeval.comparison_rows import values_of
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

SYSTEMS = "M11,M13,M1,M14,M15,M12,M5,M17,M20,M23,M2,M0,M22,M8,M10,M9"
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


@pytest.fixture
def served(shared, tmp_path):
    """Return eight articles by 16 systems as a file and as a dict, and summary -> published scores.

    Some systems wrote the same summary. Articles where it has two scores are left out, because the text
    alone does not tell which one applies.
    """
    published = json.loads((shared / "data" / "ice" / "data_sms.json").read_text())
    scores: dict[str, dict[str, float]] = {}
    chosen = {}
    for article_id, article in published.items():
        rows = [(row["sys_summ"], row["scores"]) for row in article["sys_summs"].values()]
        if all(scores.get(text, found) == found for text, found in rows) and len(dict(rows)) == len(rows):
            chosen[article_id] = article
            scores |= dict(rows)
        if len(chosen) == 8:
            break
    path = tmp_path / "served.json"
    path.write_text(json.dumps(chosen))
    return path, chosen, scores


@pytest.fixture
def endpoint(served, monkeypatch):
    """Answer like text-davinci-003 did about the summary at the end of the prompt."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _, _, scores = served

    def answer(asked):
        *_, summary, question = asked.prompt.splitlines()
        dimension = re.fullmatch(r"(\w+):", question)[1].lower()
        return Answer(f" {scores[summary.removeprefix('Summary: ')][f'ice_uniform_{dimension}']}")

    with ScriptedEndpoint(answer) as server:
        yield server


def test_table_1_is_reproduced_for_the_served_summaries(served, endpoint):
    path, articles, _ = served
    project = make_project()
    settings = {
        "project": project.slug,
        "labels": "human_score_{dimension}",
        "systems": SYSTEMS,
        "create_questionnaire": True,
    }
    call_command("import", "bartscore", str(path), verbosity=0, **settings)
    project.refresh_from_db()

    run = plan_run(project, "ice", {"model": "text", "api": "completions", "base_url": endpoint.base_url})
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE, run.failure

    examples = run.setup.provenance["provenance"]["examples"]
    in_context = set(run.setup.seen_articles.values_list("external_id", flat=True))
    assert {name: len(drawn) for name, drawn in examples.items()} == dict.fromkeys(DIMENSIONS, 4)
    assert len(in_context) == 4
    assert in_context < set(articles)
    left_out = Score.objects.filter(setup=run.setup, value=None)
    assert set(left_out.values_list("reason", flat=True)) == {"article is in the in-context pool"}
    assert set(left_out.values_list("summary__article__external_id", flat=True)) == in_context
    assert len(endpoint.asked) == 4 * 16 * 4

    rest = [
        row["scores"]
        for article_id, article in articles.items()
        if article_id not in in_context
        for row in article["sys_summs"].values()
    ]
    for coefficient, by_scipy in (("spearman", spearmanr), ("kendall_b", kendalltau)):
        found = values_of(project, level="pooled", coefficient=coefficient, items="common")
        rows = {(re.split("[ ,]", row["evaluator"])[0], row["dimension"]): row for row in found}
        for dimension in DIMENSIONS:
            ours, theirs = (rows[name, dimension] for name in ("ICE", "ice_uniform"))
            published = [each[f"ice_uniform_{dimension}"] for each in rest]
            people = [each[f"human_score_{dimension}"] for each in rest]
            assert ours["value"] == pytest.approx(by_scipy(published, people)[0], abs=1e-12)
            assert (ours["n"], ours["articles"]) == (64, 4)
            assert (theirs["value"], theirs["n"]) == (ours["value"], ours["n"])
            [(reason, articles_left_out)] = ours["left_out"].items()
            assert reason.startswith("articles seen by ICE")
            assert articles_left_out == 4
