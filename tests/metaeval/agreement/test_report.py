"""The rows of the agreement report, shared by page, CSV, command and API."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import protocol
from annotation.errors import DomainError
from annotation.models import Rater
from annotation.people.members import reinstate_rater, remove_rater
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.ratings_per_unit import answer_totals, ratings_per_unit
from metaeval.agreement.report import agreement_report, agreement_rows
from metaeval.agreement.statistics import STATISTICS
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, Summaries
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_project, make_rater, make_summary
from tests.metaeval.rated_projects import DIMENSIONS, load_summeval_ratings, rate

ALPHA, PAIRWISE, ALL_AGREE = "krippendorff_alpha", "pairwise_agreement", "all_agree_share"


def row_of(rows, question, statistic=ALPHA, language="all"):
    (row,) = (
        row
        for row in rows
        if (row["question"], row["statistic"], row["language"]) == (question, statistic, language)
    )
    return row


@pytest.fixture
def raters(project):
    return [make_rater(project) for _ in range(3)]


def rate_all(summary, raters, question, *answers):
    for rater, answer in zip(raters, answers, strict=False):
        rate(summary, rater, **{question: answer})


def test_every_question_has_every_statistic_per_language_and_overall(project, raters):
    for language in ("en", "de"):
        rate_all(make_summary(project, language=language), raters, "grammar", "yes", "yes")
    rows = agreement_rows(project)
    assert len(rows) == 6 * 3 * len(STATISTICS)
    assert {row["language"] for row in rows} == {"all", "de", "en"}
    assert {row["statistic"] for row in rows} == set(STATISTICS)
    assert {row["question"] for row in rows} == {question.key for question in protocol.SEAHORSE.questions}


def test_a_row_has_the_fields_of_the_contract(project, raters):
    rate_all(make_summary(project), raters, "grammar", "yes", "no")
    row = row_of(agreement_rows(project), "grammar", PAIRWISE)
    assert set(row) == {
        "question", "language", "statistic", "scale", "value", "low", "high",
        "units", "ratings", "raters", "left_out", "definition", "interval_reason",
    }  # fmt: skip
    assert (row["value"], row["low"], row["high"]) == (0.0, None, None)
    assert (row["units"], row["ratings"], row["raters"]) == (1, 2, 2)


def test_values_match_a_worked_example(project, raters):
    """Three summaries: yes yes, no no, yes no. o_yn = 2, n_y = n_n = 3: 1 - (2/6) / (18/30) = 4/9."""
    for answers in (("yes", "yes"), ("no", "no"), ("yes", "no")):
        rate_all(make_summary(project), raters, "grammar", *answers)
    rows = agreement_rows(project)
    assert row_of(rows, "grammar")["value"] == pytest.approx(4 / 9, abs=1e-12)
    assert row_of(rows, "grammar", PAIRWISE)["value"] == pytest.approx(2 / 3, abs=1e-12)
    assert row_of(rows, "grammar", ALL_AGREE)["value"] == pytest.approx(2 / 3, abs=1e-12)


def test_unsure_counts_as_an_answer_and_the_definition_says_so(project, raters):
    rate_all(make_summary(project), raters, "grammar", "unsure", "unsure")
    rate_all(make_summary(project), raters, "grammar", "unsure", "yes")
    row = row_of(agreement_rows(project), "grammar", PAIRWISE)
    assert row["value"] == 0.5
    assert "Unsure counts as an answer" in row["definition"]


def test_an_unasked_question_is_missing_rather_than_a_disagreement(project, raters):
    summary = make_summary(project)
    rate(summary, raters[0], comprehensibility="no")
    rate(summary, raters[1], comprehensibility="yes", grammar="yes")
    rows = agreement_rows(project)
    assert row_of(rows, "comprehensibility", PAIRWISE)["units"] == 1
    grammar = row_of(rows, "grammar", PAIRWISE)
    assert (grammar["units"], grammar["value"]) == (0, None)
    assert grammar["reason"] == "no summary has two ratings or more"


def test_summaries_with_one_rating_are_counted_as_left_out(project, raters):
    rate_all(make_summary(project), raters, "grammar", "yes", "no")
    for _ in range(4):
        rate_all(make_summary(project), raters, "grammar", "yes")
    row = row_of(agreement_rows(project), "grammar")
    assert row["units"] == 1
    assert row["left_out"] == {"summaries with fewer than two ratings": 4}


def test_only_raters_of_included_summaries_are_counted(project, raters):
    rate_all(make_summary(project), raters[:2], "grammar", "yes", "no")
    rate(make_summary(project), raters[2], grammar="yes")
    assert row_of(agreement_rows(project), "grammar")["raters"] == 2


def test_alpha_of_constant_answers_is_undefined_with_a_reason(project, raters):
    rate_all(make_summary(project), raters, "grammar", "yes", "yes")
    rows = agreement_rows(project)
    assert row_of(rows, "grammar")["value"] is None
    assert "same answer" in row_of(rows, "grammar")["reason"]
    assert row_of(rows, "grammar", PAIRWISE)["value"] == 1.0


def test_a_project_without_ratings_has_undefined_rows(project):
    rows = agreement_rows(project)
    assert {row["value"] for row in rows} == {None}
    assert all(row["reason"] for row in rows)


def test_languages_are_reported_separately(project, raters):
    rate_all(make_summary(project, language="de"), raters, "grammar", "yes", "yes")
    rate_all(make_summary(project, language="en"), raters, "grammar", "yes", "no")
    rows = agreement_rows(project)
    assert row_of(rows, "grammar", PAIRWISE, "de")["value"] == 1.0
    assert row_of(rows, "grammar", PAIRWISE, "en")["value"] == 0.0
    assert row_of(rows, "grammar", PAIRWISE, "all")["value"] == 0.5
    assert {row["language"] for row in agreement_rows(project, language="de")} == {"de"}


def test_a_group_filter_keeps_only_its_ratings(project):
    summary = make_summary(project)
    for group, answers in (("expert", ("yes", "yes")), ("crowd", ("yes", "no"))):
        for answer in answers:
            rate(summary, make_rater(project, group=group), grammar=answer)
    assert row_of(agreement_rows(project, group="expert"), "grammar", PAIRWISE)["value"] == 1.0
    crowd = row_of(agreement_rows(project, group="crowd"), "grammar", PAIRWISE)
    assert (crowd["value"], crowd["raters"]) == (0.0, 2)
    assert "of the group crowd" in crowd["definition"]


def test_removing_a_rater_changes_values_and_reinstating_restores_them(project, raters):
    for answers in (("yes", "yes", "no"), ("no", "yes", "no"), ("yes", "yes", "yes"), ("no", "no", "yes")):
        rate_all(make_summary(project), raters, "grammar", *answers)
    before = agreement_rows(project)
    remove_rater(raters[2])
    without = agreement_rows(project)
    assert row_of(without, "grammar")["raters"] == 2
    assert row_of(without, "grammar")["value"] != row_of(before, "grammar")["value"]
    reinstate_rater(raters[2])
    assert agreement_rows(project) == before


def test_the_scale_defaults_to_the_questions_own(db):
    project = make_project(protocol.SUMMEVAL)
    raters = [make_rater(project) for _ in range(2)]
    for answers in (("1", "2"), ("4", "4"), ("5", "3"), ("2", "2")):
        rate_all(make_summary(project), raters, "coherence", *answers)
    own = row_of(agreement_rows(project), "coherence")
    assert own["scale"] == "ordinal"
    values = {
        scale: row_of(agreement_rows(project, method=AgreementMethod(scale)), "coherence")["value"]
        for scale in ("nominal", "ordinal", "interval")
    }
    assert values["ordinal"] == own["value"]
    assert len(set(values.values())) == 3


def test_unordered_answers_have_no_ordinal_alpha(project, raters):
    rate_all(make_summary(project), raters, "grammar", "yes", "no")
    row = row_of(agreement_rows(project, method=AgreementMethod("ordinal")), "grammar")
    assert row["value"] is None
    assert "no order" in row["reason"]


@pytest.mark.parametrize("wrong", [{"language": "xx"}, {"group": "nobody"}, {"group": "expert"}])
def test_unknown_choices_are_refused_with_the_valid_ones(project, wrong):
    with pytest.raises(DomainError, match="expected one of"):
        agreement_rows(project, **wrong)


def naive_alpha(units, distance):
    """Return Krippendorff's alpha by its definition, pair by pair."""
    units = [unit for unit in units if len(unit) > 1]
    ratings = [answer for unit in units for answer in unit]
    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(distance(a, b) for i, a in enumerate(ratings) for j, b in enumerate(ratings) if i != j) / (
        len(ratings) - 1
    )
    return 1 - observed / expected if expected else None


@given(st.lists(st.lists(st.integers(1, 5), max_size=4), min_size=1, max_size=8))
def test_alpha_equals_its_definition(units):
    rows = [(unit, answer - 1) for unit, answers in enumerate(units) for answer in answers]
    n = len(rows)
    ratings = QuestionRatings(
        question=protocol.SUMMEVAL.questions[0],
        values=("1", "2", "3", "4", "5"),
        summaries=np.array([unit for unit, _ in rows], dtype=np.int64),
        raters=np.arange(n) % 4,
        answers=np.array([answer for _, answer in rows], dtype=np.int64),
    )
    zeros = np.zeros(len(units), dtype=np.int64)
    summaries = Summaries(zeros, zeros, zeros, zeros, ("s",), ("en",), ("d",))
    human = HumanRatings((ratings,), ("", "", "", ""), "ratings", guideline="")
    (alpha, *_) = agreement_report(
        summaries, human, language="all", method=AgreementMethod("interval", "none")
    )
    expected = naive_alpha(units, lambda a, b: (a - b) ** 2)
    if expected is None:
        assert np.isnan(alpha.agreement.value)
    else:
        assert alpha.agreement.value == pytest.approx(expected, abs=1e-9)


def test_the_pair_table_counts_each_pair_in_both_directions(project, raters):
    rate_all(make_summary(project), raters, "grammar", "yes", "yes", "no")
    rate_all(make_summary(project), raters, "grammar", "no")
    snapshot = snapshot_of(project)
    grammar = next(each for each in snapshot.human.questions if each.question.key == "grammar")
    twice = ratings_per_unit(snapshot.summaries, snapshot.human, grammar).in_language("all")
    assert twice.pairs.tolist() == [[2, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert twice.totals.tolist() == [2, 1, 0]
    assert answer_totals(snapshot.summaries, snapshot.human, grammar, "all").tolist() == [2, 2, 0]


# krippendorff 0.9.0 (PyPI) on the same 1,200 x 3 and 1,200 x 5 ratings, in the order of DIMENSIONS.
BY_KRIPPENDORFF = {
    ("expert", "nominal"): (
        0.160707771068,
        0.536275677224,
        0.406778747685,
        0.138875854924,
    ),
    ("expert", "ordinal"): (0.574386494950, 0.814564271883, 0.612295498249, 0.447255115934),
    ("expert", "interval"): (0.575579604395, 0.898860560901, 0.737533950335, 0.493491418676),
    ("crowd", "nominal"): (0.454266249501, 0.456280626001, 0.453423655473, 0.445944994157),
    ("crowd", "ordinal"): (0.459371857185, 0.451926641820, 0.451853035254, 0.438150563982),
    ("crowd", "interval"): (0.453009848026, 0.435904027700, 0.443682284287, 0.435147608285),
}


@pytest.mark.thorough
def test_agreement_on_summeval_equals_krippendorffs(shared, db):
    project = load_summeval_ratings(shared)
    for (group, scale), expected in BY_KRIPPENDORFF.items():
        rows = agreement_rows(project, language="all", group=group, method=AgreementMethod(scale, "none"))
        for dimension, value in zip(DIMENSIONS, expected, strict=True):
            row = row_of(rows, dimension)
            assert row["value"] == pytest.approx(value, abs=1e-9)
            raters = {"expert": 3, "crowd": 5}[group]
            assert (row["units"], row["ratings"], row["raters"]) == (1200, 1200 * raters, raters)
    before = agreement_rows(project, group="expert")
    rater = Rater.objects.get(project=project, pseudonym="expert-1")
    remove_rater(rater)
    assert row_of(agreement_rows(project, group="expert"), "coherence")["raters"] == 2
    reinstate_rater(rater)
    assert agreement_rows(project, group="expert") == before
