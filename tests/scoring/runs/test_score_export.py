import pytest

from annotation.declared.settings import SettingsRefused
from annotation.exports.exporter import open_export
from scoring.models import Run, Score, Setup
from tests.annotation.exports.exporting_steps import csv_rows
from tests.factories import make_article, make_project, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    """Return a project with two setups, of which one has no score for the second summary."""
    project = make_project()
    first, second, _unscored = (
        make_summary(project, article=make_article(project, external_id=name)) for name in ("+1", "b", "c")
    )
    rouge, judge = (
        Setup.objects.create(project=project, evaluator="imported", label=label, fingerprint=label)
        for label in ("ROUGE", "Judge")
    )
    for setup, summary, dimension, value in (
        (rouge, first, "overlap", 0.25),
        (rouge, second, "overlap", 0.5),
        (judge, first, "focus", -1.0),
        (judge, second, "focus", None),
    ):
        run = Run.objects.get_or_create(setup=setup, status=Run.Status.DONE)[0]
        reason = "" if value is not None else "=refused"
        Score.objects.create(
            setup=setup, run=run, summary=summary, dimension=dimension, value=value, reason=reason
        )
    return project


def test_each_setup_has_a_column_and_a_missing_score_is_empty(project):
    rows = csv_rows(project, "scores")
    assert [(row["id"], row["Judge: focus"], row["ROUGE: overlap"]) for row in rows] == [
        ("'+1/system-a", "-1.0", "0.25"),
        ("b/system-a", "", "0.5"),
    ]


def test_reasons_stand_beside_their_scores_when_asked_for(project):
    rows = csv_rows(project, "scores", reasons=True, setup=["Judge"])
    assert [row["Judge: focus, reason"] for row in rows] == ["", "'=refused"]
    assert "ROUGE: overlap" not in rows[0]


def test_setups_of_the_same_name_keep_their_own_columns(project):
    Setup.objects.update(label="Same")
    names = [name for name in csv_rows(project, "scores")[0] if name.startswith("Same")]
    assert len(names) == 2


def test_an_unknown_setup_is_refused(project):
    with pytest.raises(SettingsRefused, match="found 'Judges'; did you mean Judge"):
        open_export(project, "scores", {"setup": ["Judges"]})
