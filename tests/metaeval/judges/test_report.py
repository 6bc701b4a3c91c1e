"""Reports on a judge's versions: the tuning part, and the sealed part once it is opened."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.errors import DomainError
from metaeval.comparison.comparison import compare
from metaeval.judges.report import JudgeChoices, judge_report
from metaeval.judges.views import judge_page
from metaeval.snapshot.snapshot import snapshot_of
from scoring.sealed_labels.label_parts import LabelPart
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.judges.judge_trials import next_version, open_with, summaries_of, try_with
from tests.metaeval.judges.labelled_projects import make_judge, make_labelled, split
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, rate_all, score

pytestmark = pytest.mark.django_db
RNG = np.random.default_rng(5)


@pytest.fixture
def labelled(db):
    project, user = make_labelled(articles=60)
    split(project, user)
    return project, user


@pytest.fixture
def first(labelled):
    return make_judge(*labelled)


def labels_of(project, *parts):
    found = snapshot_of(project)
    (labels,) = (each for each in found.labels() if each.key == "coherence")
    by_id = dict(zip(found.summary_ids.tolist(), labels.values.tolist(), strict=True))
    return {summary: by_id[summary.pk] for summary in summaries_of(project, *parts)}


def add_noise(labels, noise):
    return {summary: float(label + noise * RNG.normal()) for summary, label in labels.items()}


def report_of(version, **choices):
    project = version.judge.project
    return judge_report(project, snapshot_of(project), version.judge, JudgeChoices(**choices))


def test_a_version_is_measured_on_the_tuning_labels(labelled, first):
    project, _ = labelled
    labels = labels_of(project, LabelPart.TUNING)
    values = add_noise(labels, 0.2)
    try_with(first, values)
    [row] = report_of(first).rows
    by_scipy = spearmanr([values[each] for each in labels], list(labels.values()))[0]
    assert row.tuning.value == pytest.approx(by_scipy)
    assert (row.tuning.n, row.labelled) == (len(labels), len(labels))
    assert row.tuning.articles == len(labels) // 2
    assert row.tuning.interval.low < row.tuning.value < row.tuning.interval.high
    assert row.sealed is None


def test_unreadable_replies_are_counted_by_reason(labelled, first):
    project, _ = labelled
    labels = labels_of(project, LabelPart.TUNING)
    values = add_noise(labels, 0.2)
    for summary in list(values)[:3]:
        values[summary] = "unparsable"
    try_with(first, values)
    [row] = report_of(first).rows
    assert row.unscored == {"unparsable": 3}
    assert row.tuning.n == len(labels) - 3


def test_sealed_labels_have_no_effect_before_the_opening(labelled, first):
    project, user = labelled
    tried = try_with(first, add_noise(labels_of(project, LabelPart.TUNING), 0.3))
    before = report_of(first)
    page_before = judge_page(before)
    shown = str(page_before.chart), page_before.definitions, before.rows[0].tuning.value
    for summary in summaries_of(project, LabelPart.SEALED):
        rate(summary, make_rater(project), coherence="0.99")
    after = report_of(first)
    page_after = judge_page(after)
    assert (str(page_after.chart), page_after.definitions, after.rows[0].tuning.value) == shown
    values = add_noise(labels_of(project, LabelPart.SEALED), 0.1)
    open_with(tried, values, user)
    [row] = report_of(first).rows
    assert row.sealed.n == len(values)
    assert row.tuning.value == shown[2]
    sealed = labels_of(project, LabelPart.SEALED)
    assert row.sealed.value == pytest.approx(
        spearmanr([values[each] for each in sealed], list(sealed.values()))[0]
    )


def test_unopened_versions_do_not_take_part_in_comparisons(labelled, first):
    project, user = labelled
    everything = labels_of(project)
    score(make_setup(project, "Other"), add_noise(everything, 0.5), "coherence")
    tried = try_with(first, add_noise(labels_of(project, LabelPart.TUNING), 0.3))
    snapshot = snapshot_of(project)
    assert [each.label for each in snapshot.evaluators] == ["Other"]
    assert compare(snapshot.summaries, snapshot.evaluators).counted.sum() == len(everything)

    open_with(tried, add_noise(labels_of(project, LabelPart.SEALED), 0.3), user)
    snapshot = snapshot_of(project)
    assert [each.label for each in snapshot.evaluators] == ["Coherence v1", "Other"]
    compared = compare(snapshot.summaries, snapshot.evaluators, on="coherence")
    assert compared.counted.sum() == len(labels_of(project, LabelPart.SEALED))


def test_the_best_version_is_named_with_its_selection_bias(labelled, first):
    project, user = labelled
    labels = labels_of(project, LabelPart.TUNING)
    try_with(first, add_noise(labels, 0.6))
    assert np.isnan(report_of(first).best_of_many_bias)
    assert report_of(first).best is None
    second = next_version(first, user, 1)
    try_with(second, add_noise(labels, 0.1))
    untried = next_version(second, user, 2)
    report = report_of(first)
    assert (report.tried, report.best.version) == (2, second)
    assert 0 < report.best_of_many_bias < 0.3
    assert [row.version for row in report.rows] == [first, second, untried]
    assert report.rows[2].tuning is None


def test_too_few_articles_give_no_interval_and_no_selection_bias(db):
    project, user = make_labelled(articles=12)
    split(project, user)
    version = make_judge(project, user)
    labels = labels_of(project, LabelPart.TUNING)
    try_with(version, add_noise(labels, 0.3))
    try_with(next_version(version, user, 1), add_noise(labels, 0.3))
    report = report_of(version)
    assert report.rows[0].tuning.interval.reason == "fewer than 10 articles to draw from"
    assert np.isnan(report.best_of_many_bias)


def test_the_report_includes_baseline_and_ceiling(labelled, first):
    project, _ = labelled
    labels = labels_of(project, LabelPart.TUNING)
    try_with(first, add_noise(labels, 0.3))
    report = report_of(first)
    assert report.measured.ceiling is None, "every summary has one rating"
    other = make_rater(project)
    for summary, label in labels.items():
        summary.text = "word " * (1 + int(20 * label))
        summary.save()
        rate(summary, other, coherence=str(min(1, label + 0.05)))
    report = report_of(first)
    name, length = report.baseline
    assert name == "length in words"
    assert length.value > 0.9
    assert report.measured.ceiling.value > 0.9
    assert "one rater" in str(judge_page(report).chart)


def test_decisions_are_compared_only_on_yes_no_questions(labelled, first):
    project, _ = labelled
    try_with(first, add_noise(labels_of(project, LabelPart.TUNING), 0.3))
    [row] = report_of(first, measure="kappa").rows
    assert row.tuning.reason == "decisions are compared on yes/no questions alone"


def test_decisions_are_compared_with_the_majority_baseline(db):
    project = make_project()
    user, rater = make_member(project, "researcher"), make_rater(project)
    split(project, user)
    made = make_summaries(project, [f"a{n}" for n in range(60)], ["s0"])
    says_yes = {summary.pk: place % 3 > 0 for place, summary in enumerate(made)}
    rate_all((each, rater, {"comprehensibility": "yes" if says_yes[each.pk] else "no"}) for each in made)
    version = make_judge(project, user, dimensions="comprehensibility")
    tuning = summaries_of(project, LabelPart.TUNING)
    wrong = {each.pk for each in tuning[::4]}
    try_with(
        version,
        {each: 0.9 if says_yes[each.pk] != (each.pk in wrong) else 0.1 for each in tuning},
        "comprehensibility",
    )
    report = report_of(version, measure="accuracy")
    assert report.rows[0].tuning.value == pytest.approx(1 - len(wrong) / len(tuning))
    name, majority = report.baseline
    assert name == "always the pool's majority"
    assert majority.value == pytest.approx(np.mean([says_yes[each.pk] for each in tuning]))
    people = [says_yes[each.pk] for each in tuning]
    judged = [says_yes[each.pk] != (each.pk in wrong) for each in tuning]
    by_chance = np.mean(people) * np.mean(judged) + (1 - np.mean(people)) * (1 - np.mean(judged))
    kappa = (np.mean(np.equal(people, judged)) - by_chance) / (1 - by_chance)
    assert report_of(version, measure="kappa").rows[0].tuning.value == pytest.approx(kappa)
    assert report_of(version, measure="kappa").baseline[1].value == 0, "the majority baseline is at chance"
    assert [name for name, _ in report.compared_with] == ["always the pool's majority"], (
        "single ratings have no ceiling"
    )

    second = make_rater(project)
    for place, summary in enumerate(tuning):
        rate(summary, second, comprehensibility="yes" if says_yes[summary.pk] != (place % 5 == 0) else "no")
    one_rater = 1 - len(tuning[::5]) / len(tuning)
    report = report_of(version, measure="accuracy")
    assert [name for name, _ in report.compared_with] == [
        "always the pool's majority",
        "one rater against the others",
    ]
    assert report.compared_with[1][1].value == pytest.approx(one_rater)
    assert f"one rater {one_rater:.3f}" in str(judge_page(report).chart)


def test_unknown_choices_are_refused(labelled, first):
    try_with(first, add_noise(labels_of(labelled[0], LabelPart.TUNING), 0.3))
    with pytest.raises(DomainError, match="measure"):
        report_of(first, measure="best_of_many_bias")
    with pytest.raises(DomainError, match="question"):
        report_of(first, question="taste")
