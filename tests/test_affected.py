"""Tests that script/test --affected chooses."""

import pytest

from tests.affected import affected
from tests.imports import ROOT


@pytest.mark.parametrize(
    ("changed", "chosen", "left_out"),
    [
        (
            "annotation/adjudication/decisions.py",
            {"tests/annotation/adjudication", "tests/metaeval/adjudication", "tests/test_names.py"},
            {"tests/metaeval/stats", "tests/browser", "tests/scoring/evaluators"},
        ),
        (
            "annotation/labels.py",
            {"tests/annotation/test_labels.py", "tests/metaeval/snapshot/test_snapshot.py"},
            {"tests/browser"},
        ),
        (
            "templates/annotation/_excerpt.html",
            {"tests/annotation/summaries", "tests/test_access_matrix.py"},
            {"tests/metaeval/stats", "tests/browser"},
        ),
        ("metaeval/comparison/views.py", {"tests/metaeval/comparison", "tests/test_access_matrix.py"}, set()),
        (
            "tests/metaeval/card_projects.py",
            {"tests/metaeval/card/test_evaluator_card.py"},
            {"tests/annotation"},
        ),
        ("static/css/charts.css", {"tests/browser"}, {"tests/annotation"}),
        ("docs/glossary.md", {"tests/docs"}, {"tests/annotation", "tests/script"}),
        ("script/serve.py", {"tests/script"}, {"tests/annotation"}),
        ("requirements.txt", {"tests"}, set()),
        ("annotation/migrations/0001_tables.py", {"tests"}, set()),
    ],
)
def test_a_change_chooses_the_tests_that_it_can_break(changed, chosen, left_out):
    assert (ROOT / changed).exists()
    found = affected([changed])
    assert chosen <= found
    assert not left_out & found


def test_a_changed_test_is_chosen_and_a_deleted_one_is_not():
    assert "tests/annotation/test_labels.py" in affected(["tests/annotation/test_labels.py"])
    assert "tests/annotation/test_gone.py" not in affected(["tests/annotation/test_gone.py"])


def test_no_change_chooses_no_tests():
    assert affected([]) == set()
