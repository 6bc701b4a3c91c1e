"""The rows of the comparison, shared by page, CSV, command and API."""

import json

import pytest

from annotation import protocol
from annotation.errors import DomainError
from annotation.people.members import reinstate_rater, remove_rater
from metaeval.comparison.report import KEPT_TABLES, point_values_of
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.snapshot import snapshot_of
from scoring.models import SeenArticle
from tests.factories import make_project, make_rater, make_summary, make_system
from tests.metaeval.comparison_rows import rows_of, values_of
from tests.metaeval.rated_projects import (
    DIMENSIONS,
    load_ice,
    make_setup,
    make_summaries,
    rate,
    score,
)


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def summaries(project, rater):
    """Return summaries of two articles by three systems, with coherence 1 2 3 and 2 4 5."""
    made = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    for summary, answer in zip(made, "123245", strict=True):
        rate(summary, rater, coherence=answer)
    return made


def score_all(project, summaries, label, values, dimension="general"):
    setup = make_setup(project, label)
    score(setup, dict(zip(summaries, values, strict=True)), dimension)
    return setup


def rows_by(project, **options):
    return {(row["evaluator"], row["dimension"]): row for row in values_of(project, **options)}


def test_a_row_has_the_fields_of_the_contract(project, summaries):
    score_all(project, summaries, "Length", [1.0, 2.0, 3.0, 2.5, 4.0, 5.0])
    row = rows_by(project)["Length", "coherence"]
    assert set(row) == {
        "evaluator", "fingerprint", "dimension", "level", "coefficient", "value", "low", "high",
        "n", "articles", "systems", "units", "unit", "left_out", "definition",
    }  # fmt: skip
    assert (row["level"], row["coefficient"], row["low"], row["high"]) == ("pooled", "spearman", None, None)
    assert (row["n"], row["articles"], row["systems"], row["left_out"]) == (6, 2, 3, {})
    assert row["definition"].startswith("Spearman's ρ, pooled")
    assert "mean over raters" in row["definition"]


@pytest.mark.parametrize(
    ("level", "coefficient", "value"),
    [  # labels 1 2 3 | 2 4 5, scores 1 3 2 | 2 4 6; system means 1.5 3 4 and 1.5 3.5 4
        ("pooled", "pearson", 12 / (16 * 65 / 6) ** 0.5),
        ("article", "kendall_b", (1 / 3 + 1) / 2),
        ("article", "spearman", (0.5 + 1) / 2),
        ("system", "spearman", 1.0),
    ],
)
def test_values_match_worked_examples(project, summaries, level, coefficient, value):
    score_all(project, summaries, "Metric", [1.0, 3.0, 2.0, 2.0, 4.0, 6.0])
    row = rows_by(project, level=level, coefficient=coefficient)["Metric", "coherence"]
    assert row["value"] == pytest.approx(value, abs=1e-12)


def test_general_scores_are_compared_with_every_dimension(project, summaries, rater):
    other = make_summary(project, system=make_system(project, "d"))
    rate(other, rater, fluency="3")
    score_all(project, [*summaries, other], "Length", range(7))
    assert {dimension for _, dimension in rows_by(project)} == set(DIMENSIONS)


def test_scores_on_a_dimension_are_compared_only_with_its_question(project, summaries):
    score_all(project, summaries, "Coherent", range(6), "coherence")
    assert set(rows_by(project)) == {("Coherent", "coherence")}


def test_scores_are_matched_by_dimension_rather_than_question_key(db):
    question = protocol.Question("q1", "coherence", "Q", "?", 1, protocol.ONE_TO_FIVE)
    project = make_project(protocol.Questionnaire("own", "Own", ("All",), (question,)))
    rater = make_rater(project)
    made = make_summaries(project, ["first"], ["a", "b", "c"])
    for summary, answer in zip(made, "123", strict=True):
        rate(summary, rater, q1=answer)
    score_all(project, made, "Coherent", range(3), "coherence")
    assert rows_by(project)["Coherent", "coherence"]["value"] == 1.0


def test_missing_scores_are_counted_by_reason(project, summaries):
    setup = make_setup(project, "Metric")
    first, second, third, fourth, fifth, _ = summaries
    score(setup, {first: 1.0, second: 2.0, third: "empty summary", fourth: "empty summary", fifth: 5.0})
    row = rows_by(project)["Metric", "coherence"]
    assert row["n"] == 3
    assert row["left_out"] == {
        "summaries without a score: empty summary": 2,
        "summaries without a score: not scored yet": 1,
    }


def test_unrated_summaries_are_counted_as_left_out(project, summaries):
    more = make_summaries(project, ["third"], ["d", "e"])
    score_all(project, [*summaries, *more], "Metric", range(8))
    row = rows_by(project)["Metric", "coherence"]
    assert (row["n"], row["left_out"]) == (6, {"summaries without a label": 2})


def test_missing_scores_never_count_as_0(project, summaries):
    setup = make_setup(project, "Metric")
    score(setup, dict.fromkeys(summaries, "refused by the endpoint"))
    row = rows_by(project)["Metric", "coherence"]
    assert (row["value"], row["n"]) == (None, 0)
    assert row["reason"] == "fewer than two pairs of label and score"


def test_undefined_values_are_null_with_a_reason(project, summaries):
    score_all(project, summaries, "Constant", [7.0] * 6)
    rows = rows_by(project)
    assert rows["Constant", "coherence"]["value"] is None
    assert rows["Constant", "coherence"]["reason"] == "all scores equal"
    assert rows_by(project, coefficient="roc_auc")["Constant", "coherence"]["reason"] == (
        "ROC AUC needs a yes/no question"
    )
    json.dumps(list(rows.values()), allow_nan=False)


def test_roc_auc_uses_the_majority_answer_of_a_yes_no_question(db):
    project = make_project()
    raters = [make_rater(project) for _ in range(3)]
    made = make_summaries(project, ["first"], ["a", "b", "c", "d"])
    for summary, answers in zip(made, ("yyn", "nny", "yyy", "ynu"), strict=True):
        for rater, answer in zip(raters, answers, strict=True):
            rate(summary, rater, grammar={"y": "yes", "n": "no", "u": "unsure"}[answer])
    score_all(project, made, "Metric", [0.3, 0.5, 0.9, 0.1])
    row = rows_by(project, coefficient="roc_auc")["Metric", "grammar"]
    assert row["value"] == 0.5  # yes-no pairs: .3 < .5 and .9 > .5; the fourth label is a tie
    assert row["left_out"] == {"summaries whose label is tied between yes and no": 1}


class TestContaminationGuard:
    def test_an_evaluator_loses_only_the_articles_that_it_has_seen_itself(self, project, summaries):
        score_all(project, summaries, "Length", range(6))
        ice = score_all(project, summaries, "ICE", [1, 3, 2, 5, 4, 6])
        SeenArticle.objects.create(setup=ice, article=summaries[0].article, role="in-context example")
        rows = {row["evaluator"]: row for row in rows_of(project, questions=("coherence",), resamples=20)}
        length, own = rows["Length"], rows["ICE"]
        assert (length["n"], length["articles"], length["left_out"]) == (6, 2, {})
        assert (own["n"], own["articles"], own["left_out"]) == (3, 1, {"articles seen by ICE": 1})
        assert length["differences"][0]["n"] == own["differences"][0]["n"] == 3
        assert own["value"] == 0.5  # labels 2 4 5, scores 5 4 6
        assert length["differences"][0]["difference"] == 0.5
        assert length["is_best"]

    def test_shared_articles_leave_out_for_all_what_one_has_seen(self, project, summaries):
        score_all(project, summaries, "Length", range(6))
        ice = score_all(project, summaries, "ICE", range(6))
        SeenArticle.objects.create(setup=ice, article=summaries[0].article, role="in-context example")
        rows = rows_by(project, items="common")
        for evaluator in ("Length", "ICE"):
            row = rows[evaluator, "coherence"]
            assert (row["n"], row["articles"], row["left_out"]) == (3, 1, {"articles seen by ICE": 1})

    def test_a_judge_of_one_question_takes_no_articles_from_another(self, project, summaries):
        for summary in summaries:
            rate(summary, make_rater(project), fluency="3")
        score_all(project, summaries, "Length", range(6))
        judge = score_all(project, summaries, "Judge", range(6), "coherence")
        SeenArticle.objects.create(setup=judge, article=summaries[0].article, role="example")
        rows = rows_by(project, items="common")
        assert (rows["Length", "coherence"]["n"], rows["Length", "fluency"]["n"]) == (3, 6)

    @pytest.mark.parametrize("scored", ["general", "by dimension"])
    def test_labels_seen_on_one_question_count_on_another(self, project, summaries, scored):
        for summary, answer in zip(summaries, "123451", strict=True):
            rate(summary, make_rater(project), fluency=answer)
        length = score_all(project, summaries, "Length", range(6))
        metric = make_setup(project, "Metric")
        for dimension in ["general"] if scored == "general" else ["coherence", "fluency"]:
            score(metric, dict(zip(summaries, [1.0, 3, 2, 5, 4, 6], strict=True)), dimension)
        article = summaries[0].article
        SeenArticle.objects.create(setup=metric, article=article, dimension="fluency", role="example")
        asked = ("coherence", "fluency")
        rows = {
            (row["evaluator"], row["dimension"]): row
            for row in rows_of(project, questions=asked, resamples=20)
        }
        assert (rows["Metric", "coherence"]["n"], rows["Metric", "coherence"]["left_out"]) == (6, {})
        fluency = rows["Metric", "fluency"]
        assert (fluency["n"], fluency["left_out"]) == (3, {"articles seen by Metric": 1})
        assert [rows["Length", name]["differences"][0]["n"] for name in asked] == [6, 3]
        common = rows_by(project, items="common")
        assert [common["Length", name]["n"] for name in asked] == [6, 3]
        SeenArticle.objects.create(setup=length, article=article, role="example")
        assert rows_by(project, items="common")["Metric", "coherence"]["left_out"] == {
            "articles seen by Length": 1
        }

    def test_an_evaluator_without_scores_takes_nothing_from_others(self, project, summaries):
        score_all(project, summaries, "Length", range(6))
        majority = make_setup(project, "Majority")
        score(majority, dict.fromkeys(summaries, "article is in the labelled pool"))
        for article in {summary.article for summary in summaries}:
            SeenArticle.objects.create(setup=majority, article=article, role="labelled pool")
        for items in ("own", "common"):
            row = rows_by(project, items=items)["Length", "coherence"]
            assert (row["n"], row["value"], row["left_out"]) == (6, pytest.approx(0.899, abs=1e-3), {})

    def test_an_article_seen_by_two_evaluators_is_counted_once(self, project, summaries):
        for label in ("ICE uniform", "ICE stratified"):
            setup = score_all(project, summaries, label, range(6))
            SeenArticle.objects.create(setup=setup, article=summaries[0].article, role="example")
        row = rows_by(project, items="common")["ICE uniform", "coherence"]
        assert row["left_out"] == {"articles seen by ICE stratified, ICE uniform": 1}

    def test_the_reason_names_only_some_of_many_evaluators(self, project, summaries):
        for number in range(5):
            setup = score_all(project, summaries, f"E{number}", range(6))
            SeenArticle.objects.create(setup=setup, article=summaries[0].article, role="example")
        row = rows_by(project, items="common")["E0", "coherence"]
        assert row["left_out"] == {"articles seen by E0, E1, E2 and 2 more": 1}

    def test_articles_seen_by_a_setup_without_scores_are_kept(self, project, summaries):
        score_all(project, summaries, "Length", range(6))
        waiting = make_setup(project, "Waiting")
        SeenArticle.objects.create(setup=waiting, article=summaries[0].article, role="example")
        assert rows_by(project)["Length", "coherence"]["n"] == 6

    def test_missing_scores_of_seen_articles_are_not_counted_twice(self, project, summaries):
        ice = make_setup(project, "ICE")
        pool = "article is in the in-context pool"
        score(ice, {s: pool if s.article_id == summaries[0].article_id else 1.0 * s.pk for s in summaries})
        SeenArticle.objects.create(setup=ice, article=summaries[0].article, role="example")
        assert rows_by(project)["ICE", "coherence"]["left_out"] == {"articles seen by ICE": 1}


def test_a_language_filter_keeps_only_its_summaries(project, rater):
    made = [make_summary(project, language=language) for language in ("de", "de", "de", "en", "en")]
    for summary, answer in zip(made, "12354", strict=True):
        rate(summary, rater, coherence=answer)
    score_all(project, made, "Metric", range(5))
    assert rows_by(project, language="de")["Metric", "coherence"]["value"] == 1.0
    assert rows_by(project, language="en")["Metric", "coherence"]["value"] == -1.0


def test_a_group_filter_keeps_only_its_labels(project):
    expert, worker = make_rater(project, group="expert"), make_rater(project, group="crowd")
    made = make_summaries(project, ["first"], ["a", "b", "c"])
    for summary, given, other in zip(made, "123", "321", strict=True):
        rate(summary, expert, coherence=given)
        rate(summary, worker, coherence=other)
    score_all(project, made, "Metric", range(3))
    assert rows_by(project, group="expert")["Metric", "coherence"]["value"] == 1.0
    assert rows_by(project, group="crowd")["Metric", "coherence"]["value"] == -1.0
    assert rows_by(project)["Metric", "coherence"]["reason"] == "all labels equal"


def test_removing_a_rater_changes_values_and_reinstating_restores_them(project, summaries, rater):
    score_all(project, summaries, "Metric", [3.0, 1.0, 2.0, 5.0, 4.0, 6.0])
    before = values_of(project)
    remove_rater(rater)
    assert rows_by(project)["Metric", "coherence"]["n"] == 0
    reinstate_rater(rater)
    assert values_of(project) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "summary"},
        {"coefficient": "kendall"},
        {"language": "xx"},
        {"group": "experts"},
        {"only": ["99999"]},
        {"dataset": "xx"},
        {"systems": ("nobody",)},
        {"questions": ("q9",)},
        {"labels": "median"},
        {"interval": "jackknife"},
        {"test": "t"},
        {"correction": "bonferroni"},
        {"items": "some"},
        {"resamples": 0},
        {"seed": -1},
    ],
)
def test_unknown_choices_are_refused_with_the_valid_ones(project, summaries, wrong):
    score_all(project, summaries, "Metric", range(6))
    with pytest.raises(DomainError, match="expected"):
        values_of(project, **wrong)


def test_a_project_without_scores_has_no_rows(project, summaries):
    assert values_of(project) == []
    assert len(snapshot_of(project).summaries) == len(summaries)


# Jain et al. 2023, Table 1, in the order of DIMENSIONS, to three digits; .264 is .26347 rounded twice.
ICE_TABLE_1 = {
    ("ICE uniform", "spearman"): (0.477, 0.487, 0.367, 0.468),
    ("ICE uniform", "kendall_b"): (0.389, 0.467, 0.328, 0.384),
    ("ICE stratified", "spearman"): (0.498, 0.299, 0.398, 0.486),
    ("ICE stratified", "kendall_b"): (0.387, 0.264, 0.349, 0.396),
}


@pytest.mark.thorough
def test_values_reproduce_table_1_of_ice(shared, db):
    project = load_ice(shared)
    for coefficient in ("spearman", "kendall_b"):
        rows = rows_by(project, coefficient=coefficient)
        for evaluator in ("ICE uniform", "ICE stratified"):
            for dimension, value in zip(DIMENSIONS, ICE_TABLE_1[evaluator, coefficient], strict=True):
                row = rows[evaluator, dimension]
                assert row["value"] == pytest.approx(value, abs=6e-4)
                assert (row["n"], row["articles"], row["systems"]) == (1536, 96, 16)
                assert row["left_out"] == {}


def test_values_at_every_level_match_nlpstats_and_scipy(shared, db):
    """golden/metaeval.json holds their values on the same scores."""
    golden = json.loads((shared / "golden/metaeval.json").read_text())
    expected = {
        level["x"].removeprefix("ice."): level["expected"]
        for level in golden["levels"]
        if level["x"].startswith("ice.")
    }
    project = load_ice(shared)
    checked = 0
    for coefficient in ("pearson", "spearman", "kendall_b"):
        for level, theirs in (("pooled", "pooled"), ("article", "article_mean"), ("system", "system")):
            rows = rows_by(project, level=level, coefficient=coefficient, constant="left_out")
            for (evaluator, dimension), row in rows.items():
                key = f"{evaluator.lower().replace(' ', '_')}.{dimension}"
                if key in expected:
                    value = expected[key][theirs][coefficient.replace("kendall", "kendall_tau")]
                    assert row["value"] == pytest.approx(value, abs=1e-9), (key, level, coefficient)
                    checked += 1
    assert checked == 2 * 2 * 3 * 3  # evaluators, dimensions, levels, coefficients


@pytest.fixture
def scored(project, summaries):
    score_all(project, summaries, "Metric", [1.0, 2, 3, 3, 4, 5], "coherence")
    return project


def test_values_are_reused_for_another_drawn_figure(scored):
    snapshot = snapshot_of(scored)
    points = point_values_of(snapshot, ComparisonChoices())
    assert point_values_of(snapshot, ComparisonChoices(evaluator="1", question="coherence")) is points


def test_other_choices_are_computed_and_only_the_latest_are_kept(scored):
    snapshot = snapshot_of(scored)
    first = point_values_of(snapshot, ComparisonChoices())
    for coefficient in ("pearson", "kendall_b", "kendall_c")[:KEPT_TABLES]:
        other = point_values_of(snapshot, ComparisonChoices(coefficient=coefficient))
        assert other.table.figures()[0].coefficient == coefficient
    assert point_values_of(snapshot, ComparisonChoices()) is not first


def test_a_new_snapshot_has_its_own_values(scored):
    before = point_values_of(snapshot_of(scored), ComparisonChoices())
    rate(scored.summaries.first(), make_rater(scored), coherence="5")
    after = point_values_of(snapshot_of(scored), ComparisonChoices())
    assert after.table.figures()[0].estimate.value != before.table.figures()[0].estimate.value
