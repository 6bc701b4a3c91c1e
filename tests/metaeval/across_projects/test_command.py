"""manage.py metaeval with several projects."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation import protocol
from tests.metaeval.across_projects.conftest import make_data_set

pytestmark = pytest.mark.django_db
BOTH = ("--project", "news", "--project", "stories")


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command("metaeval", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_projects_stand_side_by_side_with_their_mean(data_sets):
    printed, said = run(*BOTH, "--question", "coherence", "--coefficient", "pearson", "--format", "json")
    rows = json.loads(printed)
    alone = {
        slug: json.loads(run("--project", slug, "--coefficient", "pearson", "--format", "json")[0])
        for slug in ("news", "stories")
    }

    assert [row["data_set"] for row in rows] == ["News", "Stories", "mean"] * 2
    for row in rows:
        if row["data_set"] != "mean":
            [own] = [
                each
                for each in alone[row["project"]]
                if (each["evaluator"], each["dimension"]) == (row["evaluator"], "coherence")
            ]
            assert row["value"] == own["value"]
    assert "Stories: ratings still come in" in said


def test_each_common_question_has_a_table(data_sets):
    printed, _ = run(*BOTH)

    heads = [line for line in printed.splitlines() if "Stories" in line and "mean" in line]
    assert [line.split()[0] for line in heads[:4]] == ["coherence", "consistency", "fluency", "relevance"]


def test_questions_of_different_projects_share_a_table(data_sets):
    votes = make_data_set("Votes", 3, protocol.SEAHORSE)
    key = protocol.SEAHORSE.questions[0].key
    chosen = ("--question", "news:coherence", "--question", f"votes:{key}")

    printed, _ = run("--project", "news", "--project", votes.slug, *chosen, "--format", "json")

    assert {row["dimension"] for row in json.loads(printed)} == {
        f"coherence / {protocol.SEAHORSE.questions[0].dimension}"
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--test", "none"), "--test goes with one --project only"),
        (("--evaluator", "Good"), "--evaluator goes with one --project only"),
        (("--question", "beauty"), "question: found 'beauty', but news asks"),
        (("--project", "nowhere"), "nowhere"),
        (("--scores", "rouge.jsonl"), "--scores and --only-known need --input"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(data_sets, arguments, words):
    with pytest.raises(CommandError, match=words) as refused:
        run(*BOTH, *arguments)
    assert refused.value.returncode == 2


def test_projects_without_a_question_in_common_need_one_each(data_sets):
    make_data_set("Votes", 3, protocol.SEAHORSE)

    with pytest.raises(CommandError, match="ask no question of the same key; name one for each: --question"):
        run("--project", "news", "--project", "votes")


def test_columns_of_one_project_cannot_be_chosen(data_sets):
    with pytest.raises(CommandError, match="--by goes with several --project only"):
        run("--project", "news", "--by", "dataset")
