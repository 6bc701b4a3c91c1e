"""Correlation levels: pooled, per article and per system."""

import json
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS, article_mean, pooled, system, system_mean
from metaeval.stats.rows import Rows

NAN = np.nan
CORRELATIONS = ["pearson", "spearman", "kendall_b"]
PEARSON, KENDALL_B, ROC_AUC = (COEFFICIENTS[name] for name in ("pearson", "kendall_b", "roc_auc"))
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall_b": scipy.stats.kendalltau,
}

# Three articles by three systems.
LABELS = [1, 2, 3, 3, 2, 1, 1, 1, 1]
SCORES = [1, 2, 3, 1, 3, 2, 4, 5, 6]
ARTICLES = [0, 0, 0, 1, 1, 1, 2, 2, 2]
SYSTEMS = [0, 1, 2, 0, 1, 2, 0, 1, 2]


def test_pooled_level_uses_all_summaries_at_once():
    estimate = pooled(KENDALL_B, Rows(LABELS, SCORES, ARTICLES, SYSTEMS))
    assert estimate.value == pytest.approx(scipy.stats.kendalltau(LABELS, SCORES)[0], abs=1e-12)
    assert (estimate.n, estimate.articles, estimate.systems) == (9, 3, 3)
    assert estimate.left_out == {}
    assert estimate.reason == ""


# By hand: tau-b is 1 in the first article, (1 - 2) / 3 in the second, undefined in the third.
def test_article_mean_counts_articles_with_equal_labels_as_left_out():
    estimate = article_mean(KENDALL_B, Rows(LABELS, SCORES, ARTICLES, SYSTEMS))
    assert estimate.value == pytest.approx((1 - 1 / 3) / 2, abs=1e-12)
    assert (estimate.n, estimate.articles, estimate.systems) == (6, 2, 3)
    assert estimate.left_out == {"articles with all labels equal": 1}


# By hand: mean labels 5/3, 5/3, 5/3; mean scores 2, 10/3, 11/3.
def test_system_level_with_equal_means_is_undefined():
    estimate = system(KENDALL_B, Rows(LABELS, SCORES, ARTICLES, SYSTEMS))
    assert math.isnan(estimate.value)
    assert estimate.reason == "over the systems' means: all labels equal"
    assert (estimate.n, estimate.articles, estimate.systems) == (9, 3, 3)


# By hand: without its unscored summary, system 2 has the means (2, 2.5), beside (5/3, 2) and (5/3, 10/3):
# one concordant pair, one discordant, one tied in the labels. With all labels it would be undefined.
def test_system_means_use_only_summaries_with_label_and_score():
    scores = [*SCORES[:8], NAN]
    estimate = system(KENDALL_B, Rows(LABELS, scores, ARTICLES, SYSTEMS))
    assert estimate.value == 0
    assert estimate.left_out == {"summaries without a score": 1}
    assert (estimate.n, estimate.systems) == (8, 3)


def test_system_means_that_differ_by_rounding_are_tied():
    labels = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.9, 0.9, 0.9]
    assert (0.1 + 0.2 + 0.3) / 3 != (0.3 + 0.2 + 0.1) / 3
    estimate = system(
        KENDALL_B, Rows(labels, [1, 1, 1, 2, 2, 2, 3, 3, 3], [0] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    )
    assert estimate.value == pytest.approx(2 / math.sqrt(6), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_missing_labels_and_missing_scores_are_counted_separately(level):
    labels = [NAN, NAN, 3, 3, 2, 1, 1, 2, 3]
    scores = [NAN, 2, 3, NAN, 3, 2, 4, 5, 7]
    estimate = LEVELS[level].estimate(PEARSON, Rows(labels, scores, ARTICLES, SYSTEMS))
    assert estimate.left_out["summaries without a label"] == 2
    assert estimate.left_out["summaries without a score"] == 1


def test_none_is_a_missing_label():
    estimate = pooled(PEARSON, Rows([1, None, 3], [1, 2, 3], [0, 1, 2], [0, 0, 0]))
    assert estimate.n == 2
    assert estimate.left_out == {"summaries without a label": 1}


def test_used_and_left_out_articles_add_up_to_all():
    labels = [1, 2, NAN, NAN, 1, 2, 1, 1, 1, 2]
    scores = [1, 2, 1, 2, 3, NAN, 1, 2, 1, 1]
    articles = [5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    estimate = article_mean(PEARSON, Rows(labels, scores, articles, [0, 1] * 5))
    assert estimate.left_out == {
        "summaries without a label": 2,
        "summaries without a score": 1,
        "articles with fewer than two pairs of label and score": 2,
        "articles with all labels equal": 1,
        "articles with all scores equal": 1,
    }
    assert (estimate.articles, estimate.n) == (1, 2)


def test_a_system_without_pairs_is_counted_as_left_out():
    estimate = system(PEARSON, Rows([1, 2, NAN], [1, 2, 3], [0, 0, 0], [0, 1, 2]))
    assert estimate.systems == 2
    assert estimate.left_out == {
        "summaries without a label": 1,
        "systems without any pair of label and score": 1,
    }


def test_unknown_articles_or_systems_are_left_out_only_where_needed():
    articles, systems = [0, 0, 0, -1], [0, 1, -1, 2]
    rows = Rows([1, 2, 3, 4], [1, 3, 2, 5], articles, systems)
    assert pooled(PEARSON, rows).n == 4
    assert pooled(PEARSON, rows).articles is None
    assert pooled(PEARSON, rows).systems is None
    assert article_mean(PEARSON, rows).left_out == {"summaries whose article is not known": 1}
    assert article_mean(PEARSON, rows).systems is None
    assert system(PEARSON, rows).left_out == {"summaries whose system is not known": 1}


def test_an_undefined_article_mean_gives_the_reason_of_each_article():
    estimate = article_mean(PEARSON, Rows([1, 1, 2], [1, 2, 3], [0, 0, 1], [0, 1, 0]))
    assert math.isnan(estimate.value)
    assert (estimate.n, estimate.articles) == (0, 0)
    assert estimate.reason == (
        "no article in which it is defined (articles with fewer than two pairs of label and score: 1,"
        " articles with all labels equal: 1)"
    )


def test_an_article_mean_without_known_articles_says_so():
    estimate = article_mean(PEARSON, Rows([1, 2], [1, 2], [-1, -1], [0, 1]))
    assert estimate.reason == "no article in which it is defined (no article is known)"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_empty_rows_are_undefined_without_an_error(level, name):
    nothing = np.array([], dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = LEVELS[level].estimate(COEFFICIENTS[name], Rows([], [], nothing, nothing, yes_no=True))
    assert math.isnan(estimate.value)
    assert estimate.reason
    assert estimate.n == 0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_the_definition_names_coefficient_level_and_formula(level, name):
    coefficient = COEFFICIENTS[name]
    definition = (
        LEVELS[level].estimate(coefficient, Rows([0, 1], [0, 1], [0, 0], [0, 1], yes_no=True)).definition
    )
    assert definition.startswith(coefficient.label)
    words = {
        "pooled": "pooled",
        "article": "mean over articles",
        "system": "system level",
        "within_system": "mean over systems",
    }
    assert words[level] in definition
    assert coefficient.definition in definition


def test_roc_auc_uses_majority_answers_and_leaves_out_ties():
    estimate = pooled(
        ROC_AUC, Rows([1, 2 / 3, 0.5, 1 / 3, 0], [5, 2, 9, 3, 1], range(5), [0] * 5, yes_no=True)
    )
    assert estimate.value == 3 / 4
    assert estimate.n == 4
    assert estimate.left_out == {"summaries whose label is tied between yes and no": 1}


def test_other_coefficients_keep_tied_labels():
    assert pooled(PEARSON, Rows([1, 0.5, 0], [1, 2, 3], [0] * 3, [0] * 3, yes_no=True)).n == 3


def test_article_mean_of_roc_auc_leaves_out_articles_of_one_class():
    estimate = article_mean(
        ROC_AUC, Rows([1, 0, 1, 1], [2, 1, 1, 2], [0, 0, 1, 1], [0, 1, 0, 1], yes_no=True)
    )
    assert estimate.value == 1
    assert estimate.left_out == {"articles with only yes or only no among the labels": 1}


@pytest.mark.parametrize("level", LEVELS)
def test_roc_auc_needs_a_yes_no_question(level):
    estimate = LEVELS[level].estimate(ROC_AUC, Rows([1, 2, 5, 4], [1, 2, 3, 4], [0] * 4, range(4)))
    assert math.isnan(estimate.value)
    assert estimate.reason == "ROC AUC needs a yes/no question"


def test_roc_auc_is_undefined_for_systems():
    estimate = system(ROC_AUC, Rows([1, 0], [1, 2], [0, 0], [0, 1], yes_no=True))
    assert estimate.reason == "ROC AUC compares yes with no, and a system's mean label is neither"


@pytest.mark.parametrize("level", LEVELS)
def test_rows_with_several_evaluators_are_refused(level):
    with pytest.raises(ValueError, match="not of shape"):
        LEVELS[level].estimate(PEARSON, Rows([1, 2], [[1, 2]], [0, 0], [0, 1]))


@pytest.mark.parametrize("level", ["pooled", "article"])
def test_roc_auc_refuses_yes_no_labels_outside_0_to_1(level):
    with pytest.raises(ValueError, match=r"labels\[1\] is 3\.0.*between 0 and 1"):
        LEVELS[level].estimate(ROC_AUC, Rows([1, 3], [1, 2], [0, 0], [0, 1], yes_no=True))


@st.composite
def summaries(draw):
    """Draw shuffled columns of summaries with missing numbers, ties and uneven articles."""
    number = st.one_of(st.just(NAN), st.integers(0, 3).map(float))
    row = st.tuples(number, number, st.integers(0, 6), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=60))
    labels, scores, articles, systems = zip(*rows, strict=True)
    return np.array(labels), np.array(scores), np.array(articles), np.array(systems)


@given(summaries())
@pytest.mark.parametrize("name", CORRELATIONS)
def test_article_mean_equals_a_loop_over_scipy(name, columns):
    labels, scores, articles, _ = columns
    both = ~np.isnan(labels) & ~np.isnan(scores)
    expected = []
    for article in np.unique(articles):
        z, x = labels[both & (articles == article)], scores[both & (articles == article)]
        if len(set(z)) > 1 and len(set(x)) > 1:
            expected.append(SCIPY[name](z, x)[0])

    estimate = article_mean(COEFFICIENTS[name], Rows(*columns))

    assert estimate.articles == len(expected)
    if expected:
        assert estimate.value == pytest.approx(np.mean(expected), abs=1e-9)
    else:
        assert math.isnan(estimate.value)
    left_out = sum(count for why, count in estimate.left_out.items() if why.startswith("articles"))
    assert estimate.articles + left_out == len(set(articles))


@given(summaries(), st.randoms(use_true_random=False))
@pytest.mark.parametrize("level", LEVELS)
def test_the_order_of_the_summaries_does_not_matter(level, columns, random):
    order = list(range(len(columns[0])))
    random.shuffle(order)
    given_order = LEVELS[level].estimate(KENDALL_B, Rows(*columns))
    shuffled = LEVELS[level].estimate(KENDALL_B, Rows(*(column[order] for column in columns)))
    assert shuffled.value == pytest.approx(given_order.value, abs=1e-12, nan_ok=True)
    assert (shuffled.n, shuffled.articles, shuffled.systems, shuffled.left_out, shuffled.reason) == (
        given_order.n,
        given_order.articles,
        given_order.systems,
        given_order.left_out,
        given_order.reason,
    )


@given(summaries())
@pytest.mark.parametrize("level", LEVELS)
def test_codes_of_articles_and_systems_do_not_matter(level, columns):
    labels, scores, articles, systems = columns
    renamed = LEVELS[level].estimate(
        KENDALL_B, Rows(labels, scores, 100 - articles, systems * 1_000_000_000_000)
    )
    assert renamed.value == pytest.approx(
        LEVELS[level].estimate(KENDALL_B, Rows(*columns)).value, abs=1e-12, nan_ok=True
    )


@given(summaries())
def test_used_and_left_out_summaries_add_up_to_all_when_pooled(columns):
    estimate = pooled(PEARSON, Rows(*columns))
    assert estimate.n + sum(estimate.left_out.values()) == len(columns[0])


def golden_matrices(shared):
    golden = json.loads((shared / "golden" / "metaeval.json").read_text())
    assert len(golden["levels"]) == 13
    for case in golden["levels"]:
        scores, labels = (np.array(golden["matrices"][case[side]]) for side in "xz")
        articles, systems = np.indices(scores.shape)
        columns = [column.ravel() for column in (labels, scores, articles, systems)]
        yield f"{case['x']} against {case['z']}", columns, case["expected"]


@pytest.mark.parametrize("name", ["acc_eq", "kendall_c", *CORRELATIONS])
def test_every_level_matches_golden_values(shared, name):
    golden_name = {"kendall_b": "kendall_tau_b", "kendall_c": "kendall_tau_c"}.get(name, name)
    for case, columns, expected in golden_matrices(shared):
        for level, golden_level in (("pooled", "pooled"), ("article", "article_mean"), ("system", "system")):
            estimate = LEVELS[level].estimate(COEFFICIENTS[name], Rows(*columns))
            assert estimate.value == pytest.approx(expected[golden_level][golden_name], abs=1e-9), case
            assert estimate.systems == expected["systems"], case
        estimate = article_mean(COEFFICIENTS[name], Rows(*columns))
        varied = expected["article_mean"]["articles_used"]
        used = expected["articles"] if name == "acc_eq" else varied  # acc_eq is defined for equal labels
        assert estimate.articles == used, case
        assert sum(estimate.left_out.values()) == expected["articles"] - used, case


@given(summaries())
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_system_mean_equals_article_mean_with_columns_exchanged(name, columns):
    labels, scores, articles, systems = columns
    labels = labels / 3
    found = system_mean(COEFFICIENTS[name], Rows(labels, scores, articles, systems, yes_no=True))
    expected = article_mean(COEFFICIENTS[name], Rows(labels, scores, systems, articles, yes_no=True))
    assert found.value == pytest.approx(expected.value, abs=1e-12, nan_ok=True)
    assert (found.n, found.systems, found.articles) == (expected.n, expected.articles, expected.systems)
    assert found.reason == expected.reason.replace("article", "system")
    exchanged = {reason.replace("article", "system"): count for reason, count in expected.left_out.items()}
    assert found.left_out == exchanged
    assert "mean over systems" in found.definition


def test_differences_between_systems_do_not_count_within_systems():
    labels, scores = [1, 2, 5, 6], [2, 1, 9, 8]
    rows = Rows(labels, scores, [0, 1, 0, 1], [0, 0, 1, 1])
    assert pooled(KENDALL_B, rows).value > 0
    assert system(KENDALL_B, rows).value == 1
    assert system_mean(KENDALL_B, rows).value == -1


# Table 1 of Jain et al., "Multi-Dimensional Evaluation of Text Summarization with In-Context Learning",
# Findings of ACL 2023, recomputed to four digits from the authors' data; the paper truncates to three.
ICE_TABLE_1 = {
    ("ice_uniform", "coherence"): (0.4769, 0.3888),
    ("ice_uniform", "consistency"): (0.4868, 0.4665),
    ("ice_uniform", "fluency"): (0.3666, 0.3282),
    ("ice_uniform", "relevance"): (0.4679, 0.3842),
    ("ice_stratified", "coherence"): (0.4978, 0.3873),
    ("ice_stratified", "consistency"): (0.2986, 0.2635),
    ("ice_stratified", "fluency"): (0.3978, 0.3487),
    ("ice_stratified", "relevance"): (0.4857, 0.3963),
}
# The same data per article: Spearman, Kendall, articles used.
ICE_PER_ARTICLE = {
    ("ice_uniform", "coherence"): (0.4672, 0.3975, 96),
    ("ice_uniform", "consistency"): (0.5344, 0.5194, 82),
    ("ice_uniform", "fluency"): (0.3961, 0.3645, 94),
    ("ice_uniform", "relevance"): (0.3972, 0.3445, 95),
}


@pytest.fixture(scope="module")
def ice(shared):
    """Return a function from evaluator and dimension to ICE's rows of 96 articles by 16 systems."""
    articles = json.loads((shared / "data" / "ice" / "data_sms.json").read_text()).values()
    given = [
        (summary["scores"], article, place)
        for article, content in enumerate(articles)
        for place, summary in enumerate(content["sys_summs"].values())
    ]

    def rows(evaluator, dimension):
        return Rows(
            [scores[f"human_score_{dimension}"] for scores, _, _ in given],
            [scores[f"{evaluator}_{dimension}"] for scores, _, _ in given],
            [article for _, article, _ in given],
            [place for _, _, place in given],
        )

    return rows


@pytest.mark.parametrize(("evaluator", "dimension"), ICE_TABLE_1)
def test_pooled_values_match_table_1_of_ice(ice, evaluator, dimension):
    rows = ice(evaluator, dimension)
    spearman = pooled(COEFFICIENTS["spearman"], rows)
    kendall = pooled(KENDALL_B, rows)
    assert (spearman.n, spearman.articles, spearman.systems) == (1536, 96, 16)
    assert (round(spearman.value, 4), round(kendall.value, 4)) == ICE_TABLE_1[evaluator, dimension]


@pytest.mark.parametrize(("evaluator", "dimension"), ICE_PER_ARTICLE)
def test_article_means_of_ice_match_recomputed_values(ice, evaluator, dimension):
    rows = ice(evaluator, dimension)
    spearman = article_mean(COEFFICIENTS["spearman"], rows)
    kendall = article_mean(KENDALL_B, rows)
    found = (round(spearman.value, 4), round(kendall.value, 4), kendall.articles)
    assert found == ICE_PER_ARTICLE[evaluator, dimension]


def test_system_level_of_ice_matches_recomputed_values(ice):
    rows = ice("ice_uniform", "coherence")
    assert round(system(KENDALL_B, rows).value, 4) == 0.7113
    assert round(system(COEFFICIENTS["spearman"], rows).value, 4) == 0.8094
