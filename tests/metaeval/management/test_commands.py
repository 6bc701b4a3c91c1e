"""The commands agreement and metaeval, on projects and on files without a database."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from annotation import protocol
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import agreement_rows
from tests.conftest import ROOT
from tests.factories import make_project, make_rater
from tests.metaeval.comparison_rows import rows_of
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

RATINGS = "article_id,system,rater,question,value\na,s,r1,q,yes\na,s,r2,q,no\n"
LABELLED = [{"id": str(number), "summary": "s", "labels": {"coherence": number}} for number in range(3)]
SCORED = [{"id": str(number), "scores": {"general": number**2}} for number in range(3)]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def run(*arguments):
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def project(db):
    project = make_project(protocol.SUMMEVAL)
    raters = [make_rater(project, group=group) for group in ("expert", "expert", "crowd")]
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    for summary, answers in zip(summaries, ("121", "233", "355", "221", "444", "551"), strict=True):
        for rater, answer in zip(raters, answers, strict=True):
            rate(summary, rater, coherence=answer)
    score(make_setup(project, "ROUGE-1"), dict(zip(summaries, [1.0, 3.0, 2.0, 2.0, 4.0, 6.0], strict=True)))
    return project


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "examples.jsonl").write_text(jsonl(LABELLED))
    (tmp_path / "rouge.jsonl").write_text(jsonl(SCORED))
    return tmp_path


@pytest.mark.parametrize("level", ["pooled", "article", "system"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall_b", "roc_auc"])
def test_metaeval_prints_the_rows_of_the_page(project, level, coefficient):
    printed = run(
        "metaeval",
        "--project",
        project.slug,
        "--level",
        level,
        "--coefficient",
        coefficient,
        "--format",
        "json",
    )
    assert json.loads(printed) == rows_of(project, level=level, coefficient=coefficient)


def test_a_test_that_does_not_hold_at_the_level_is_said_on_stderr_and_in_every_row(project, capsys):
    command = ("metaeval", "--project", project.slug, "--level", "system", "--interval", "none", "--format")
    assert "method_warning" not in run(*command, "json")
    assert capsys.readouterr().err == ""
    rows = json.loads(run(*command, "json", "--test", "williams"))
    assert all("in 10% to 12% of simulated studies" in row["method_warning"] for row in rows)
    assert capsys.readouterr().err == rows[0]["method_warning"] + "\n"
    (first, *_) = csv.DictReader(io.StringIO(run(*command, "csv", "--test", "williams")))
    assert first["method_warning"] == rows[0]["method_warning"]


def test_with_a_margin_each_pair_is_tested_for_being_as_good(project):
    summaries = [
        each.summary for each in project.setups.get().scores.order_by("pk").select_related("summary")
    ]
    score(make_setup(project, "BERTScore"), dict(zip(summaries, [1.0, 2.0, 3.0, 2.0, 4.0, 5.0], strict=True)))
    command = ("metaeval", "--project", project.slug, "--format", "json", "--margin", "0.1")
    rows = json.loads(run(*command))
    assert rows == rows_of(project, margin=0.1)
    assert {pair["within_margin"]["margin"] for row in rows for pair in row["differences"]} == {0.1}
    with pytest.raises(CommandError, match="margin: found 2, expected 0 or more and less than 1"):
        run(*command[:-1], "2")


@pytest.mark.parametrize("scale", [(), ("nominal",), ("interval",)])
def test_agreement_prints_the_rows_of_the_page(project, scale):
    chosen = [argument for name in scale for argument in ("--scale", name)]
    printed = run("agreement", "--project", project.slug, "--group", "expert", *chosen, "--format", "json")
    options = {"method": AgreementMethod(scale[0])} if scale else {}
    assert json.loads(printed) == agreement_rows(project, group="expert", **options)


def test_csv_table_and_latex_show_the_same_values(project):
    (value,) = (row["value"] for row in rows_of(project) if row["dimension"] == "coherence")
    (row,) = (
        row
        for row in csv.DictReader(io.StringIO(run("metaeval", "--project", project.slug, "--format", "csv")))
        if row["dimension"] == "coherence"
    )
    assert float(row["value"]) == value
    points = ("metaeval", "--project", project.slug, "--interval", "none")
    assert f"{value:.3f} (6)" in run(*points)
    assert f"${value:.3f}$" in run(*points, "--format", "latex")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["metaeval", "--project", "nowhere"], "no project 'nowhere'"),
        (["agreement", "--project", "nowhere"], "no project 'nowhere'"),
        (["agreement", "--input", "nowhere.csv"], "no such file"),
        (["metaeval", "--input", "nowhere.jsonl", "--scores", "s"], "no such file"),
        (["metaeval", "--input", "x.jsonl"], "needs --scores"),
        (["metaeval", "--project", "p", "--scores", "x"], "--scores and --only-known need --input"),
        (
            ["metaeval", "--input", "x", "--scores", "y", "--group", "g"],
            "--group and --labels go with --project only",
        ),
        (["agreement", "--project", "p", "--map", "a=b"], "--map needs --input"),
        (["metaeval", "--project", "p", "--test", "paired_t"], "it is for 'mean over articles'"),
        (
            ["metaeval", "--project", "p", "--test", "williams", "--coefficient", "roc_auc"],
            "for correlations, and ROC AUC is none",
        ),
    ],
)
def test_invalid_arguments_exit_with_code_2_and_a_message(db, arguments, message):
    with pytest.raises(CommandError, match=message) as refused:
        run(*arguments)
    assert refused.value.returncode == 2


def test_choices_unknown_to_the_project_exit_with_code_2(project):
    for arguments in (
        ["metaeval", "--group", "nobody"],
        ["metaeval", "--language", "xx"],
        ["agreement", "--group", "nobody"],
    ):
        with pytest.raises(CommandError, match="expected one of") as refused:
            run(*arguments, "--project", project.slug)
        assert refused.value.returncode == 2


def test_invalid_columns_and_rows_exit_with_code_2(files):
    (files / "bad.csv").write_text(RATINGS + ",s,r3,q,no\n")
    (files / "mixed.csv").write_text(f"{RATINGS.splitlines()[0]}\na,s,r1,q,1\na,s,r2,q,2\na,s,r3,q,NA\n")
    for arguments, message in (
        (["mixed.csv"], "mixed.csv, q: found 'NA' in line 4 among numbers"),
        (["mixed.csv", "--missing", ""], "mixed.csv, q: found 'NA' in line 4 among numbers"),
        (["bad.csv"], "bad.csv, line 4, article_id: found"),
        (["ratings.csv", "--map", "nonsense=x"], "there is no field 'nonsense'"),
        (["ratings.csv", "--map", "rater"], "expected field=column"),
    ):
        with pytest.raises(CommandError, match=message) as refused:
            run("agreement", "--input", str(files / arguments[0]), *arguments[1:])
        assert refused.value.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "statistic", "value"),
    [
        (["agreement", "--input", "ratings.csv"], "pairwise_agreement", 0.0),
        (["metaeval", "--input", "examples.jsonl", "--scores", "rouge.jsonl"], None, 1.0),
    ],
)
def test_files_need_no_database(files, arguments, statistic, value):
    environment = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:9/nothing"}
    arguments = [str(files / each) if "." in each else each for each in arguments]
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments, "--format", "json"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    (row,) = (row for row in rows if statistic == row.get("statistic"))
    assert row["value"] == value
    assert "always-valid" not in row["definition"]


def test_markers_of_missing_answers_can_be_given(files):
    (files / "r.csv").write_text(f"{RATINGS.splitlines()[0]}\na,s,r1,q,1\na,s,r2,q,2\na,s,r3,q,NA\n")
    rows = json.loads(
        run("agreement", "--input", str(files / "r.csv"), "--missing", "NA", "--format", "json")
    )
    assert {row["raters"] for row in rows} == {2}


def test_a_second_reading_can_be_compared_with_the_first(files, capsys):
    header = RATINGS.splitlines()[0]
    (files / "r.csv").write_text(f"{header}\na,s,r1,q,yes\na,s,r1,q,no\nb,s,r1,q,yes\nb,s,r1,q,yes\n")
    arguments = ["agreement", "--input", str(files / "r.csv"), "--format", "json"]
    with pytest.raises(CommandError, match="one answer to q by r1"):
        run(*arguments)
    rows = json.loads(run(*arguments, "--repeated", "separate"))
    agreed = next(row for row in rows if row["statistic"] == "pairwise_agreement")
    assert (agreed["value"], agreed["units"], agreed["raters"]) == (0.5, 2, 2)
    assert "2 rows answered a question again" in capsys.readouterr().err


def test_exit_codes_reach_the_shell(files):
    for arguments in (
        ["metaeval"],
        ["agreement", "--input", str(files / "none.csv")],
        ["agreement", "--scale", "x"],
    ):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, capture_output=True, check=False, timeout=240
        )
        assert done.returncode == 2
        assert done.stdout == b""


def test_scores_of_other_summaries_are_left_out_and_counted(files, capsys):
    scores = files / "more.jsonl"
    others = '{"id": "other-1", "scores": {"general": 1}}\n{"id": "other-2", "scores": {"general": 2}}\n'
    scores.write_text((files / "rouge.jsonl").read_text() + others)
    arguments = (
        "metaeval",
        "--input",
        str(files / "examples.jsonl"),
        "--interval",
        "none",
        "--format",
        "csv",
    )
    with pytest.raises(CommandError, match="--only-known leaves others out") as refused:
        run(*arguments, "--scores", str(scores))
    assert refused.value.returncode == 2
    told = run(*arguments, "--scores", str(scores), "--only-known")
    assert capsys.readouterr().err == "more.jsonl: left out 2 rows of summaries that are not examples\n"
    known = run(*arguments, "--scores", str(files / "rouge.jsonl"))
    assert told.replace("more", "rouge") == known


def test_evaluators_and_dimensions_are_selected_by_name(project, files):
    rows = json.loads(
        run("metaeval", "--project", project.slug, "--evaluator", "ROUGE-1", "--question", "coherence",
            "--interval", "none", "--format", "json")
    )  # fmt: skip
    assert [(row["evaluator"], row["dimension"]) for row in rows] == [("ROUGE-1", "coherence")]
    named = ["--input", str(files / "examples.jsonl"), "--scores", str(files / "rouge.jsonl")]
    (row,) = json.loads(run("metaeval", *named, "--evaluator", "rouge", "--format", "json"))
    assert row["evaluator"] == "rouge"
    for arguments in (["--evaluator", "BLEU"], ["--question", "style"]):
        for place in (["--project", project.slug], named):
            with pytest.raises(CommandError, match="expected one of"):
                run("metaeval", *place, *arguments)
