"""The rules that combine ratings into human labels."""

import numpy as np
import pytest

from annotation import protocol
from annotation.adjudication.decisions import DecidedAnswer, decide_answers, withdraw_decision
from metaeval.snapshot.arrays import (
    NO_DECISIONS,
    Decisions,
    HumanRatings,
    QuestionRatings,
    answer_codes,
    answers_as_numbers,
)
from metaeval.snapshot.label_rules import LABEL_RULES, labels_by
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import rate

GRAMMAR = protocol.SEAHORSE.question("grammar")
COHERENCE = protocol.SUMMEVAL.question("coherence")


def label(rule, question, rows, group="", groups=("a", "a", "b", "b", "b"), decisions=NO_DECISIONS):
    """Label three summaries; rows are (summary, rater, answer)."""
    values, answers = answer_codes(
        question.scale, answers_as_numbers(question.scale, [answer for _, _, answer in rows])
    )
    ratings = QuestionRatings(
        question=question,
        values=values,
        summaries=np.array([summary for summary, _, _ in rows], dtype=np.int64),
        raters=np.array([rater for _, rater, _ in rows], dtype=np.int64),
        answers=answers,
    )
    human = HumanRatings(
        (ratings,),
        groups,
        "ratings",
        guideline="Questionnaire q, wording 01234567.",
        decisions={question.key: decisions},
    )
    return labels_by(rule, human, ratings, 3, group)


def rows_of(summary, *answers):
    return [(summary, rater, answer) for rater, answer in enumerate(answers)]


@pytest.mark.parametrize(
    ("answers", "mean", "majority"),
    [
        (("yes", "yes", "no"), 2 / 3, 1.0),
        (("yes", "no"), 0.5, np.nan),
        (("no", "unsure", "unsure"), 0.0, 0.0),
        (("yes", "no", "unsure"), 0.5, np.nan),
        (("unsure",), np.nan, np.nan),
        ((), np.nan, np.nan),
    ],
)
def test_unsure_answers_are_left_out_and_ties_have_no_majority(answers, mean, majority):
    rows = [*rows_of(0, *answers), *rows_of(1, "yes", "no", "no")]
    for rule, expected in (("mean", mean), ("majority", majority)):
        labels = label(rule, GRAMMAR, rows)
        assert labels.values[:2] == pytest.approx(
            [expected, {"mean": 1 / 3, "majority": 0.0}[rule]], nan_ok=True
        )
        assert np.isnan(labels.values[2])
        assert labels.is_yes_no


def test_the_majority_of_points_is_the_most_frequent_one():
    labels = label("majority", COHERENCE, [*rows_of(0, "1", "5", "5", "2"), *rows_of(1, "1", "1", "3", "3")])
    assert labels.values == pytest.approx([5.0, np.nan, np.nan], nan_ok=True)
    assert "a tie gives no label (1 of 2 rated summaries)" in labels.definition


@pytest.mark.parametrize(("rule", "undecided"), [("adjudicated", 2 / 3), ("adjudicated_majority", 1.0)])
def test_a_decision_replaces_the_raters_answers_and_unsure_removes_the_label(rule, undecided):
    rows = [row for summary in range(3) for row in rows_of(summary, "yes", "yes", "no")]
    decided = Decisions(np.array([0, 2]), np.array([0.0, np.nan]))
    labels = label(rule, GRAMMAR, rows, decisions=decided)
    assert labels.values == pytest.approx([0.0, undecided, np.nan], nan_ok=True)
    assert (
        "the adjudicated or gold answer where there is one (2 summaries), and else the" in labels.definition
    )
    without = {"adjudicated": "mean", "adjudicated_majority": "majority"}[rule]
    assert label(without, GRAMMAR, rows, decisions=decided).values == pytest.approx([undecided] * 3)


def test_dawid_skene_gives_the_probability_of_yes():
    """Rater 4 always contradicts the others and so confirms them."""
    rows = [row for s in range(3) for row in rows_of(s, "yes", "yes", "yes", "yes", "no")]
    rows[10:] = rows_of(2, "no", "no", "no", "no", "yes")
    labels = label("dawid_skene", GRAMMAR, rows)
    assert labels.values == pytest.approx([1.0, 1.0, 0.0], abs=1e-6)
    assert "Dawid and Skene (1979)" in labels.definition


def test_dawid_skene_gives_the_expected_point():
    labels = label("dawid_skene", COHERENCE, [*rows_of(0, "2", "2", "2"), *rows_of(1, "4", "4", "4")])
    assert labels.values == pytest.approx([2.0, 4.0, np.nan], abs=1e-6, nan_ok=True)


def test_dawid_skene_gives_no_labels_on_an_interval_scale():
    scale = protocol.Scale(protocol.ScaleKind.INTERVAL, low=0, high=1)
    question = protocol.Question("q", "q", "Q", "?", 1, scale)
    labels = label("dawid_skene", question, rows_of(0, "0.1", "0.2"))
    assert np.isnan(labels.values).all()
    assert "none, because" in labels.definition


@pytest.mark.parametrize("rule", LABEL_RULES)
def test_definitions_name_the_group_the_coding_and_the_wording(rule):
    definition = label(rule, GRAMMAR, rows_of(0, "yes", "no", "yes"), group="a").definition
    assert "raters of the group a" in definition
    assert "yes counts 1, no counts 0, unsure is left out." in definition
    assert definition.endswith("Questionnaire q, wording 01234567.")


@pytest.mark.parametrize("rule", LABEL_RULES)
def test_labels_can_use_a_single_group(rule):
    rows = rows_of(0, "yes", "yes", "no", "no", "no")
    assert label(rule, GRAMMAR, rows, group="a").values[0] == pytest.approx(1.0, abs=1e-6)
    assert label(rule, GRAMMAR, rows, group="b").values[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("rule", LABEL_RULES)
def test_no_ratings_give_no_labels(rule):
    assert np.isnan(label(rule, GRAMMAR, []).values).all()


@pytest.mark.parametrize("rule", LABEL_RULES)
def test_a_project_has_labels_by_each_rule_with_the_wording(db, rule):
    project = make_project(protocol.SUMMEVAL)
    summary = make_summary(project)
    for answer in ("2", "2", "4"):
        rate(summary, make_rater(project), coherence=answer)
    coherence = snapshot_of(project).labels(rule=rule)[0]
    expected = {"mean": 8 / 3, "majority": 2.0, "adjudicated": 8 / 3, "adjudicated_majority": 2.0}.get(rule)
    if expected is not None:
        assert coherence.values.tolist() == [expected]
    assert 2.0 <= coherence.values[0] <= 4.0
    fingerprint = protocol.wording_fingerprint(protocol.SUMMEVAL)
    assert coherence.definition.endswith(f"Questionnaire summeval, wording {fingerprint}.")


def test_a_decision_reaches_the_labels_and_no_other_figure(db):
    project = make_project(protocol.SUMMEVAL)
    summary, manager = make_summary(project), make_member(project, "manager")
    for answer in ("2", "5"):
        rate(summary, make_rater(project), coherence=answer)
    before = snapshot_of(project)
    decide_answers(project, manager, summary.pk, {"coherence": DecidedAnswer("4")})
    after = snapshot_of(project)
    assert after.revision > before.revision
    assert after.labels(rule="adjudicated")[0].values.tolist() == [4.0]
    assert after.labels()[0].values.tolist() == [3.5]
    assert after.n_ratings == 2
    assert len(after.human.on("coherence").answers) == 2
    withdraw_decision(project, manager, summary.pk, "coherence")
    assert snapshot_of(project).labels(rule="adjudicated")[0].values.tolist() == [3.5]


def test_labels_are_computed_once_per_snapshot(db):
    project = make_project(protocol.SUMMEVAL)
    summary = make_summary(project)
    rate(summary, make_rater(project), coherence="2")
    snapshot = snapshot_of(project)
    assert snapshot.labels(rule="majority") is snapshot.labels(rule="majority")
    assert snapshot.labels(rule="majority") is not snapshot.labels(rule="mean")
    for _ in range(2):
        rate(summary, make_rater(project), coherence="5")
    assert snapshot_of(project).labels(rule="majority")[0].values.tolist() == [5.0]
