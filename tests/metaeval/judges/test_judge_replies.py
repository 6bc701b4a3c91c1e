"""A language model's published replies on SummEval, imported with the commands that users run."""

import gzip
import io
import json
from statistics import fmean

import pytest
from django.core.management import call_command
from scipy import stats

from annotation.models import Project
from scoring.prompts.marks import MarkScale
from scoring.prompts.replies import read_score
from tests.metaeval.comparison_rows import values_of
from tests.metaeval.rated_projects import DIMENSIONS

LETTERS = MarkScale(1, 5, letters="ABCDE")


def read_lines(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def data(shared):
    folder = shared / "data/summeval"
    return (
        read_lines(folder / "model_annotations.aligned.paired.12systems.jsonl.gz"),
        read_lines(folder / "llm_judge_gpt-3.5-turbo-0301.jsonl.gz"),
    )


@pytest.fixture
def judged(db, shared, data, tmp_path):
    """Import SummEval and the judge's letters; return the project and the letters by summary."""
    _, replies = data
    path = shared / "data/summeval/model_annotations.aligned.paired.12systems.jsonl.gz"
    call_command("create_project", "S", questionnaire="summeval", slug="s", stdout=io.StringIO())
    call_command("import", "summeval", str(path), project="s", stdout=io.StringIO())
    by_summary = {}
    for reply in replies:
        if reply["prompt"] == "mcq":
            key = f"{reply['id']}/{reply['model_id']}"
            by_summary.setdefault(key, {}).setdefault(reply["dimension"], read_score(reply["resp"], LETTERS))
    written = tmp_path / "judge.jsonl"
    with written.open("w") as file:
        for key, readings in by_summary.items():
            scores = {name: reading.value for name, reading in readings.items()}
            reasons = {name: reading.reason for name, reading in readings.items() if reading.reason}
            file.write(json.dumps({"id": key, "scores": scores, "reasons": reasons}) + "\n")
    call_command("import", "scores", str(written), project="s", evaluator="gpt-3.5 mcq", stdout=io.StringIO())
    return Project.objects.get(slug="s"), by_summary


@pytest.mark.thorough
def test_agreement_of_the_judges_letters_with_experts_matches_scipy(judged, data):
    project, by_summary = judged
    experts = {
        f"{row['id']}/{row['model_id']}": {
            name: fmean(each[name] for each in row["expert_annotations"]) for name in DIMENSIONS
        }
        for row in data[0]
    }
    rows = {row["dimension"]: row for row in values_of(project, group="expert", coefficient="kendall_b")}
    for name in DIMENSIONS:
        read = [key for key in experts if by_summary[key][name].value is not None]
        expected = stats.kendalltau(
            [round(experts[key][name], 12) for key in read], [by_summary[key][name].value for key in read]
        ).statistic
        assert rows[name]["value"] == pytest.approx(expected, abs=1e-9)
        assert rows[name]["n"] == len(read)
        unread = len(experts) - len(read)
        assert rows[name]["left_out"].get("summaries without a score: unparsable", 0) == unread
