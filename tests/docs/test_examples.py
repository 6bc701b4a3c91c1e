"""The documentation's example script, run without Django."""

import gzip
import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

EXAMPLE = "docs/examples/compare_metrics.py"
WITHOUT_DJANGO = (
    "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__');"
    " sys.exit('django' in sys.modules)"
)


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DJANGO, EXAMPLE, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def annotated(article, model, answer):
    dimensions = ("coherence", "consistency", "fluency", "relevance")
    ratings = [dict.fromkeys(dimensions, answer)] * 3
    return {"id": article, "model_id": model, "decoded": "x " * answer, "expert_annotations": ratings}


@pytest.fixture
def annotations(tmp_path):
    path = tmp_path / "annotations.jsonl.gz"
    rows = [annotated(f"a{n}", f"M{m}", 1 + (n + m * 2) % 5) for n in range(8) for m in range(4)]
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path, rows


def scored(path, rows, score):
    path.write_text(
        "".join(
            json.dumps({"id": f"{row['id']}/{row['model_id']}", "scores": {"general": score(row)}}) + "\n"
            for row in rows
        )
    )
    return path


def test_each_score_file_gives_one_line_per_dimension(annotations, tmp_path):
    path, rows = annotations
    right = scored(tmp_path / "right.jsonl", rows, lambda row: len(row["decoded"]))
    wrong = scored(tmp_path / "wrong.jsonl", rows, lambda row: -len(row["decoded"]))
    printed = run(path, right, wrong)
    lines = [line.split() for line in printed.splitlines()]
    assert [line[1] for line in lines if line[:1] == ["right"]] == ["1.000"] * 4
    assert [line[1] for line in lines if line[:1] == ["wrong"]] == ["-1.000"] * 4
    assert "Kendall's τ-b, mean over articles" in printed


def test_it_reads_the_published_file(shared, tmp_path):
    path = shared / "data/summeval/model_annotations.aligned.paired.12systems.jsonl.gz"
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    words = scored(tmp_path / "words.jsonl", rows, lambda row: len(row["decoded"].split()))
    assert "100 articles, 1200 summaries" in run(path, words)
