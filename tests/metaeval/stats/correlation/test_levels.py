"""Correlation pooled, per article and per system."""

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


def test_pooled_is_one_coefficient_over_all_summaries():
    estimate = pooled(KENDALL_B, LABELS, SCORES, ARTICLES, SYSTEMS)
    assert estimate.value == pytest.approx(scipy.stats.kendalltau(LABELS, SCORES)[0], abs=1e-12)
    assert (estimate.n, estimate.articles, estimate.systems) == (9, 3, 3)
    assert estimate.left_out == {}
    assert estimate.reason == ""


# By hand: tau-b is 1 in the first article, (1 - 2) / 3 in the second, undefined in the third.
def test_article_mean_leaves_out_and_counts_articles_of_equal_labels():
    estimate = article_mean(KENDALL_B, LABELS, SCORES, ARTICLES, SYSTEMS)
    assert estimate.value == pytest.approx((1 - 1 / 3) / 2, abs=1e-12)
    assert (estimate.n, estimate.articles, estimate.systems) == (6, 2, 3)
    assert estimate.left_out == {"articles with all labels equal": 1}


# By hand: mean labels 5/3, 5/3, 5/3; mean scores 2, 10/3, 11/3.
def test_system_level_of_equal_means_is_undefined():
    estimate = system(KENDALL_B, LABELS, SCORES, ARTICLES, SYSTEMS)
    assert math.isnan(estimate.value)
    assert estimate.reason == "over the systems' means: all labels equal"
    assert (estimate.n, estimate.articles, estimate.systems) == (9, 3, 3)


# By hand: without its unscored summary system 2 has the means 2 and 2.5, beside (5/3, 2) and (5/3, 10/3):
# one concordant pair, one discordant, one tied in the labels. With all labels it would be undefined.
def test_system_level_takes_both_means_over_the_summaries_with_both_numbers():
    scores = [*SCORES[:8], NAN]
    estimate = system(KENDALL_B, LABELS, scores, ARTICLES, SYSTEMS)
    assert estimate.value == 0
    assert estimate.left_out == {"summaries without a score": 1}
    assert (estimate.n, estimate.systems) == (8, 3)


def test_system_means_that_differ_by_floating_noise_are_a_tie():
    labels = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.9, 0.9, 0.9]
    assert (0.1 + 0.2 + 0.3) / 3 != (0.3 + 0.2 + 0.1) / 3
    estimate = system(KENDALL_B, labels, [1, 1, 1, 2, 2, 2, 3, 3, 3], [0] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert estimate.value == pytest.approx(2 / math.sqrt(6), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_a_missing_label_and_a_missing_score_are_counted_apart(level):
    labels = [NAN, NAN, 3, 3, 2, 1, 1, 2, 3]
    scores = [NAN, 2, 3, NAN, 3, 2, 4, 5, 7]
    estimate = LEVELS[level].estimate(PEARSON, labels, scores, ARTICLES, SYSTEMS)
    assert estimate.left_out["summaries without a label"] == 2
    assert estimate.left_out["summaries without a score"] == 1


def test_none_is_a_missing_number_too():
    estimate = pooled(PEARSON, [1, None, 3], [1, 2, 3], [0, 1, 2], [0, 0, 0])
    assert estimate.n == 2
    assert estimate.left_out == {"summaries without a label": 1}


def test_articles_used_and_left_out_add_up_to_all_articles():
    labels = [1, 2, NAN, NAN, 1, 2, 1, 1, 1, 2]
    scores = [1, 2, 1, 2, 3, NAN, 1, 2, 1, 1]
    articles = [5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    estimate = article_mean(PEARSON, labels, scores, articles, [0, 1] * 5)
    assert estimate.left_out == {
        "summaries without a label": 2,
        "summaries without a score": 1,
        "articles with fewer than two pairs of label and score": 2,
        "articles with all labels equal": 1,
        "articles with all scores equal": 1,
    }
    assert (estimate.articles, estimate.n) == (1, 2)


def test_a_system_without_any_pair_is_counted():
    estimate = system(PEARSON, [1, 2, NAN], [1, 2, 3], [0, 0, 0], [0, 1, 2])
    assert estimate.systems == 2
    assert estimate.left_out == {
        "summaries without a label": 1,
        "systems without any pair of label and score": 1,
    }


def test_an_unknown_article_or_system_is_left_out_only_where_it_is_needed():
    articles, systems = [0, 0, 0, -1], [0, 1, -1, 2]
    arguments = ([1, 2, 3, 4], [1, 3, 2, 5], articles, systems)
    assert pooled(PEARSON, *arguments).n == 4
    assert pooled(PEARSON, *arguments).articles is None
    assert pooled(PEARSON, *arguments).systems is None
    assert article_mean(PEARSON, *arguments).left_out == {"summaries whose article is not known": 1}
    assert article_mean(PEARSON, *arguments).systems is None
    assert system(PEARSON, *arguments).left_out == {"summaries whose system is not known": 1}


def test_an_undefined_article_mean_says_why_in_every_article():
    estimate = article_mean(PEARSON, [1, 1, 2], [1, 2, 3], [0, 0, 1], [0, 1, 0])
    assert math.isnan(estimate.value)
    assert (estimate.n, estimate.articles) == (0, 0)
    assert estimate.reason == (
        "no article in which it is defined (articles with fewer than two pairs of label and score: 1,"
        " articles with all labels equal: 1)"
    )


def test_without_known_articles_the_article_mean_says_so():
    estimate = article_mean(PEARSON, [1, 2], [1, 2], [-1, -1], [0, 1])
    assert estimate.reason == "no article in which it is defined (no article is known)"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_nothing_given_is_undefined_not_an_error(level, name):
    nothing = np.array([], dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = LEVELS[level].estimate(COEFFICIENTS[name], [], [], nothing, nothing, yes_no=True)
    assert math.isnan(estimate.value)
    assert estimate.reason
    assert estimate.n == 0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_the_definition_names_coefficient_and_level_and_gives_the_formula(level, name):
    coefficient = COEFFICIENTS[name]
    definition = LEVELS[level].estimate(coefficient, [0, 1], [0, 1], [0, 0], [0, 1], yes_no=True).definition
    assert definition.startswith(coefficient.label)
    words = {
        "pooled": "pooled",
        "article": "mean over articles",
        "system": "system level",
        "within_system": "mean over systems",
    }
    assert words[level] in definition
    assert coefficient.definition in definition


def test_roc_auc_takes_the_majority_answer_and_leaves_out_ties():
    estimate = pooled(ROC_AUC, [1, 2 / 3, 0.5, 1 / 3, 0], [5, 2, 9, 3, 1], range(5), [0] * 5, yes_no=True)
    assert estimate.value == 3 / 4
    assert estimate.n == 4
    assert estimate.left_out == {"summaries whose label is tied between yes and no": 1}


def test_other_coefficients_keep_a_label_of_a_half():
    assert pooled(PEARSON, [1, 0.5, 0], [1, 2, 3], [0] * 3, [0] * 3, yes_no=True).n == 3


def test_roc_auc_per_article_leaves_out_articles_of_one_class():
    estimate = article_mean(ROC_AUC, [1, 0, 1, 1], [2, 1, 1, 2], [0, 0, 1, 1], [0, 1, 0, 1], yes_no=True)
    assert estimate.value == 1
    assert estimate.left_out == {"articles with only yes or only no among the labels": 1}


@pytest.mark.parametrize("level", LEVELS)
def test_roc_auc_needs_a_yes_no_question(level):
    estimate = LEVELS[level].estimate(ROC_AUC, [1, 2, 5, 4], [1, 2, 3, 4], [0] * 4, range(4))
    assert math.isnan(estimate.value)
    assert estimate.reason == "ROC AUC needs a yes/no question"


def test_roc_auc_is_undefined_for_systems():
    estimate = system(ROC_AUC, [1, 0], [1, 2], [0, 0], [0, 1], yes_no=True)
    assert estimate.reason == "ROC AUC compares yes with no, and a system's mean label is neither"


@pytest.mark.parametrize("level", LEVELS)
def test_unequal_lengths_are_refused_with_every_length(level):
    with pytest.raises(ValueError, match="labels 3, scores 2, articles 3, systems 3"):
        LEVELS[level].estimate(PEARSON, [1, 2, 3], [1, 2], [0] * 3, [0] * 3)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [1, math.inf]}, r"scores\[1\] is inf"),
        ({"labels": [-math.inf, 1]}, r"labels\[0\] is -inf"),
        ({"labels": ["good", "bad"]}, "labels must be numbers.*good"),
        ({"labels": [[1, 2]]}, r"labels must be a 1-D array, not one of shape \(1, 2\)"),
        ({"articles": [0.0, 1.0]}, "articles must be whole-number codes, not float64"),
        ({"systems": [[0], [1]]}, r"systems must be a 1-D array, not one of shape \(2, 1\)"),
    ],
)
def test_wrong_input_is_refused_and_named(level, changed, message):
    arguments = {"labels": [1, 2], "scores": [1, 2], "articles": [0, 0], "systems": [0, 1]} | changed
    with pytest.raises(ValueError, match=message):
        LEVELS[level].estimate(PEARSON, **arguments)


@pytest.mark.parametrize("level", ["pooled", "article"])
def test_a_yes_no_label_outside_0_to_1_is_refused_for_roc_auc(level):
    with pytest.raises(ValueError, match=r"labels\[1\] is 3\.0.*between 0 and 1"):
        LEVELS[level].estimate(ROC_AUC, [1, 3], [1, 2], [0, 0], [0, 1], yes_no=True)


@st.composite
def summaries(draw):
    """Columns of summaries in any order, with missing numbers, many ties and uneven articles."""
    number = st.one_of(st.just(NAN), st.integers(0, 3).map(float))
    row = st.tuples(number, number, st.integers(0, 6), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=60))
    labels, scores, articles, systems = zip(*rows, strict=True)
    return np.array(labels), np.array(scores), np.array(articles), np.array(systems)


@given(summaries())
@pytest.mark.parametrize("name", CORRELATIONS)
def test_article_mean_equals_a_plain_loop_with_scipy(name, columns):
    labels, scores, articles, _ = columns
    both = ~np.isnan(labels) & ~np.isnan(scores)
    expected = []
    for article in np.unique(articles):
        z, x = labels[both & (articles == article)], scores[both & (articles == article)]
        if len(set(z)) > 1 and len(set(x)) > 1:
            expected.append(SCIPY[name](z, x)[0])

    estimate = article_mean(COEFFICIENTS[name], *columns)

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
    given_order = LEVELS[level].estimate(KENDALL_B, *columns)
    shuffled = LEVELS[level].estimate(KENDALL_B, *(column[order] for column in columns))
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
def test_renaming_articles_and_systems_does_not_matter(level, columns):
    labels, scores, articles, systems = columns
    renamed = LEVELS[level].estimate(KENDALL_B, labels, scores, 100 - articles, systems * 1_000_000_000_000)
    assert renamed.value == pytest.approx(
        LEVELS[level].estimate(KENDALL_B, *columns).value, abs=1e-12, nan_ok=True
    )


@given(summaries())
def test_n_and_the_summaries_left_out_add_up_when_pooled(columns):
    estimate = pooled(PEARSON, *columns)
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
def test_golden_values_of_every_level(shared, name):
    golden_name = {"kendall_b": "kendall_tau_b", "kendall_c": "kendall_tau_c"}.get(name, name)
    for case, columns, expected in golden_matrices(shared):
        for level, golden_level in (("pooled", "pooled"), ("article", "article_mean"), ("system", "system")):
            estimate = LEVELS[level].estimate(COEFFICIENTS[name], *columns)
            assert estimate.value == pytest.approx(expected[golden_level][golden_name], abs=1e-9), case
            assert estimate.systems == expected["systems"], case
        estimate = article_mean(COEFFICIENTS[name], *columns)
        varied = expected["article_mean"]["articles_used"]
        used = expected["articles"] if name == "acc_eq" else varied  # which equal labels leave defined
        assert estimate.articles == used, case
        assert sum(estimate.left_out.values()) == expected["articles"] - used, case


@given(summaries())
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_the_mean_over_systems_is_that_over_articles_with_the_two_exchanged(name, columns):
    labels, scores, articles, systems = columns
    labels = labels / 3
    found = system_mean(COEFFICIENTS[name], labels, scores, articles, systems, yes_no=True)
    expected = article_mean(COEFFICIENTS[name], labels, scores, systems, articles, yes_no=True)
    assert found.value == pytest.approx(expected.value, abs=1e-12, nan_ok=True)
    assert (found.n, found.systems, found.articles) == (expected.n, expected.articles, expected.systems)
    assert found.reason == expected.reason.replace("article", "system")
    exchanged = {reason.replace("article", "system"): count for reason, count in expected.left_out.items()}
    assert found.left_out == exchanged
    assert "mean over systems" in found.definition


def test_systems_that_differ_only_between_them_do_not_agree_within():
    labels, scores = [1, 2, 5, 6], [2, 1, 9, 8]
    arguments = (KENDALL_B, labels, scores, [0, 1, 0, 1], [0, 0, 1, 1])
    assert pooled(*arguments).value > 0
    assert system(*arguments).value == 1
    assert system_mean(*arguments).value == -1


# Table 1 of Jain et al., "Multi-Dimensional Evaluation of Text Summarization with In-Context Learning",
# Findings of ACL 2023, recomputed to four digits from the authors' data; the paper cuts after the third.
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
    """ICE's 96 articles by 16 systems: evaluator and dimension -> labels, scores, articles, systems."""
    articles = json.loads((shared / "data" / "ice" / "data_sms.json").read_text()).values()
    rows = [
        (summary["scores"], article, place)
        for article, content in enumerate(articles)
        for place, summary in enumerate(content["sys_summs"].values())
    ]

    def columns(evaluator, dimension):
        return (
            [scores[f"human_score_{dimension}"] for scores, _, _ in rows],
            [scores[f"{evaluator}_{dimension}"] for scores, _, _ in rows],
            [article for _, article, _ in rows],
            [place for _, _, place in rows],
        )

    return columns


@pytest.mark.parametrize(("evaluator", "dimension"), ICE_TABLE_1)
def test_ice_table_1_is_pooled(ice, evaluator, dimension):
    columns = ice(evaluator, dimension)
    spearman = pooled(COEFFICIENTS["spearman"], *columns)
    kendall = pooled(KENDALL_B, *columns)
    assert (spearman.n, spearman.articles, spearman.systems) == (1536, 96, 16)
    assert (round(spearman.value, 4), round(kendall.value, 4)) == ICE_TABLE_1[evaluator, dimension]


@pytest.mark.parametrize(("evaluator", "dimension"), ICE_PER_ARTICLE)
def test_ice_per_article_is_another_number(ice, evaluator, dimension):
    columns = ice(evaluator, dimension)
    spearman = article_mean(COEFFICIENTS["spearman"], *columns)
    kendall = article_mean(KENDALL_B, *columns)
    found = (round(spearman.value, 4), round(kendall.value, 4), kendall.articles)
    assert found == ICE_PER_ARTICLE[evaluator, dimension]


def test_ice_system_means_are_tied_after_rounding(ice):
    columns = ice("ice_uniform", "coherence")
    assert round(system(KENDALL_B, *columns).value, 4) == 0.7113
    assert round(system(COEFFICIENTS["spearman"], *columns).value, 4) == 0.8094
