"""Agreement statistics of one question, with intervals."""

import numpy as np
import pytest

from annotation import protocol
from annotation.errors import DomainError
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import agreement_report
from metaeval.agreement.statistics import STATISTICS
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, Summaries

COUNTED = [name for name, each in STATISTICS.items() if each.counted]
GRAMMAR = next(each for each in protocol.SEAHORSE.questions if each.key == "grammar")
COHERENCE = protocol.SUMMEVAL.questions[0]


def make_ratings(question=GRAMMAR, n_summaries=120, n_raters=8, seed=0):
    """Return summaries in two languages, two of each article, each rated by two or three raters."""
    rng = np.random.default_rng(seed)
    times = rng.integers(2, 4, n_summaries)
    units = np.repeat(np.arange(n_summaries), times)
    raters = np.concatenate([rng.permutation(n_raters)[:each] for each in times])
    values = question.scale.choices
    truth = rng.integers(0, len(values), n_summaries)[units]
    answers = np.where(rng.random(len(units)) < 0.7, truth, rng.integers(0, len(values), len(units)))
    zeros = np.zeros(n_summaries, dtype=np.int64)
    articles, languages = np.arange(n_summaries) // 2, np.arange(n_summaries) // 2 % 2
    summaries = Summaries(articles, zeros, languages, zeros, ("s",), ("de", "en"), ("d",))
    rated = QuestionRatings(question, values, units, raters, answers)
    return summaries, HumanRatings((rated,), ("",) * n_raters, "made up", "")


def rows(data, **method):
    report = agreement_report(*data, language="all", method=AgreementMethod(**method))
    return {each.statistic: each.as_json() for each in report}


def test_count_based_statistics_have_intervals_around_their_values(subtests):
    for interval in ["always_valid", "articles", "units", "units_bca", "raters"]:
        for question in [GRAMMAR, COHERENCE]:
            with subtests.test(question=question, interval=interval):
                found = rows(make_ratings(question), interval=interval, resamples=200)
                for name in COUNTED:
                    assert found[name]["low"] < found[name]["value"] < found[name]["high"], name
                    is_drawn = "200 resamples, seed 0" in found[name]["definition"]
                    assert is_drawn == (interval != "always_valid")
                for name in set(STATISTICS) - set(COUNTED):
                    assert found[name]["value"] is not None, name
                    assert found[name]["low"] is None
                    assert found[name]["interval_reason"].startswith("the statistic depends on who")


def test_each_interval_method_and_seed_has_its_own_reproducible_draws():
    data = make_ratings()
    alphas = {
        (interval, seed): rows(data, interval=interval, resamples=100, seed=seed)["krippendorff_alpha"]
        for interval in ("articles", "units", "units_bca", "raters")
        for seed in (0, 1)
    }
    assert len({row["low"] for row in alphas.values()}) == len(alphas)
    again = rows(data, interval="units", resamples=100, seed=1)["krippendorff_alpha"]
    assert again == alphas["units", 1]


def test_always_valid_intervals_are_wider_than_those_for_a_single_look():
    data = make_ratings()
    always, single = (rows(data, interval=interval) for interval in ("always_valid", "articles"))
    for name in COUNTED:
        widths = [each[name]["high"] - each[name]["low"] for each in (always, single)]
        assert 1.4 < widths[0] / widths[1] < 1.9, name


def test_a_file_gets_intervals_for_a_single_look():
    assert rows(make_ratings()) == rows(make_ratings(), interval="articles")


def test_many_patterns_of_articles_are_left_out_in_groups(monkeypatch):
    data = make_ratings(COHERENCE, n_summaries=400)
    one_by_one = rows(data, interval="always_valid")
    monkeypatch.setattr("metaeval.agreement.ratings_per_unit.JACKKNIFE_GROUPS", 100)
    grouped = rows(data, interval="always_valid")
    assert "in 100 groups of articles" in grouped["krippendorff_alpha"]["definition"]
    assert "groups" not in one_by_one["krippendorff_alpha"]["definition"]
    for name in COUNTED:
        widths = [each[name]["high"] - each[name]["low"] for each in (one_by_one, grouped)]
        assert widths[0] != widths[1]
        assert widths[0] == pytest.approx(widths[1], rel=0.25), name


def test_an_article_without_which_the_value_is_undefined_leaves_no_interval():
    """Only one article has the answer 'no', so that alpha without it is undefined."""
    summaries, human = make_ratings(n_summaries=60)
    (question,) = human.questions
    answers = np.where((question.summaries == 0) & (question.raters % 2 == 0), 1, 0)
    changed = QuestionRatings(
        question.question, question.values, question.summaries, question.raters, answers
    )
    found = rows(
        (summaries, HumanRatings((changed,), human.rater_groups, "made up", "")), interval="always_valid"
    )
    assert found["krippendorff_alpha"]["low"] is None
    assert found["krippendorff_alpha"]["interval_reason"] == "undefined without one of the articles"
    assert found["pairwise_agreement"]["interval_reason"] == "there is no interval around 0 or 1"


def test_equal_articles_leave_no_interval():
    summaries, human = make_ratings(n_summaries=60)
    (question,) = human.questions
    same = QuestionRatings(
        question.question,
        question.values,
        question.summaries,
        question.raters,
        np.zeros(len(question.answers), dtype=np.int64),
    )
    found = rows(
        (summaries, HumanRatings((same,), human.rater_groups, "made up", "")), interval="always_valid"
    )
    assert found["pairwise_agreement"]["interval_reason"] == "there is no interval around 0 or 1"


def test_rows_without_intervals_do_not_mention_them():
    row = rows(make_ratings(), interval="none")["krippendorff_alpha"]
    assert (row["low"], row["high"]) == (None, None)
    assert "interval_reason" not in row
    assert "Interval" not in row["definition"]


def test_cached_intervals_are_not_reused_for_other_ratings():
    one, other = (rows(make_ratings(seed=seed))["krippendorff_alpha"] for seed in (0, 1))
    assert one["low"] != other["low"]
    assert rows(make_ratings(seed=0))["krippendorff_alpha"] == one


def test_a_language_uses_only_its_own_summaries():
    summaries, human = make_ratings()
    (question,) = human.questions
    german = np.flatnonzero(summaries.languages[question.summaries] == 0)
    alone = QuestionRatings(
        question.question,
        question.values,
        question.summaries[german],
        question.raters[german],
        question.answers[german],
    )
    of_german = HumanRatings((alone,), human.rater_groups, "made up", "")
    within = agreement_report(summaries, human, language="de")
    expected = agreement_report(summaries, of_german, language="all")
    for one, other in zip(within, expected, strict=True):
        assert one.as_json() | {"language": "all"} == other.as_json()


def test_unordered_answers_have_no_statistic_that_needs_an_order():
    found = rows(make_ratings(), scale="ordinal")
    for name, statistic in STATISTICS.items():
        assert (found[name]["value"] is None) == statistic.needs_order, name
        if statistic.needs_order:
            assert "have no order" in found[name]["reason"]


def test_non_numeric_answers_have_no_split_half_correlation():
    kinds = protocol.Question(
        "kind",
        "kind",
        "Kind",
        "",
        1,
        protocol.Scale(protocol.ScaleKind.NOMINAL, ("intrinsic", "extrinsic", "none")),
    )
    found = rows(make_ratings(kinds))
    assert found["split_half"]["reason"] == "its answers have no numeric values"
    assert found["rater_against_rest"]["value"] is not None


def test_a_single_summary_has_values_without_intervals():
    zeros = np.zeros(1, dtype=np.int64)
    summaries = Summaries(zeros, zeros, zeros, zeros, ("s",), ("en",), ("d",))
    question = QuestionRatings(GRAMMAR, GRAMMAR.scale.choices, np.zeros(2, int), np.arange(2), np.arange(2))
    data = summaries, HumanRatings((question,), ("", ""), "made up", "")
    for interval, reason in (
        ("always_valid", "fewer than 10 articles to draw from"),
        ("articles", "fewer than 10 articles to draw from"),
        ("units", "an interval needs two summaries with two ratings or more"),
    ):
        row = rows(data, interval=interval)["pairwise_agreement"]
        assert (row["value"], row["low"]) == (0.0, None)
        assert row["interval_reason"] == reason


def test_many_distinct_values_do_not_need_a_value_by_value_table():
    """A table of 40,000 by 40,000 distinct values would take 13 GB."""
    n = 20_000
    values = tuple(str(number) for number in range(2 * n))
    scale = protocol.Scale(protocol.ScaleKind.INTERVAL)
    zeros = np.zeros(n, dtype=np.int64)
    rng = np.random.default_rng(0)
    question = QuestionRatings(
        protocol.Question("q", "q", "q", "", 1, scale),
        values,
        np.repeat(np.arange(n), 2),
        np.tile([0, 1], n),
        rng.permutation(2 * n),
    )
    summaries = Summaries(zeros, zeros, zeros, zeros, ("s",), ("en",), ("d",))
    human = HumanRatings((question,), ("", ""), "made up", "")
    for scale_name in ("nominal", "ordinal", "interval"):
        found = rows((summaries, human), scale=scale_name, interval="units", resamples=3)
        assert abs(found["krippendorff_alpha"]["value"]) < 0.05


@pytest.mark.parametrize(
    "wrong", [{"scale": "ratio"}, {"interval": "systems"}, {"resamples": 0}, {"seed": -1}]
)
def test_an_invalid_method_is_refused(wrong):
    with pytest.raises(DomainError, match=f"{next(iter(wrong))}: found .*, expected"):
        AgreementMethod(**wrong)
