"""Juries and calibrations in a project and over a file: their members and the members' scores."""

from collections.abc import Iterator

import pytest

from annotation.imports.reading.records import FileRefused
from annotation.models import Project, Summary
from scoring.contract.evaluator import GENERAL
from scoring.errors import InvalidRun
from scoring.evaluators.jury import Jury
from scoring.models import LabelSplit, Run, Score, SeenArticle, Setup
from scoring.runs import worker
from scoring.runs.forms import RunForm
from scoring.runs.planning import plan, plan_run
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.split import articles_in
from tests.factories import make_article, make_project, make_summary, make_system
from tests.scoring.files.test_score_file import row
from tests.scoring.files.test_score_file import run as score_rows
from tests.scoring.runs.test_planning import finished, rate

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forget_evaluators() -> Iterator[None]:
    worker._loaded.clear()
    yield
    worker._loaded.clear()


@pytest.fixture
def project() -> Project:
    """Create a project with twelve rated summaries of six articles."""
    made = make_project()
    articles = [make_article(made) for _ in range(6)]
    for number in range(12):
        words = " ".join(["word"] * (number + 1))
        system = make_system(made, f"system-{number % 2}")
        summary = make_summary(made, article=articles[number // 2], system=system, text=words)
        rate(summary, grammar="yes" if number % 3 else "no")
    return made


def member(project: Project, name: str = "length", **params: str) -> Setup:
    return finished(plan_run(project, name, params)).setup


def values(setup: Setup, dimension: str = GENERAL) -> dict[int, float | None]:
    return dict(setup.scores.filter(dimension=dimension).values_list("summary", "value"))


def test_jury_combines_stored_scores(project):
    one, two = member(project), member(project, "copy_rate")
    run = finished(plan_run(project, "jury", {"members": f"{one.label},{two.fingerprint[:8]}"}))
    expected = {pk: (values(one)[pk] + values(two)[pk]) / 2 for pk in values(one)}
    assert values(run.setup) == pytest.approx(expected)
    assert run.setup.label == f"Jury of {' + '.join(sorted((one.label, two.label), key=_by(one, two)))}"


def _by(*setups: Setup):
    return {each.label: each.fingerprint for each in setups}.get


def test_order_of_members_does_not_change_the_jury(project):
    one, two = member(project), member(project, "copy_rate")
    first, second = (
        plan(project, "jury", {"members": members})
        for members in ([one.label, two.label], [two.label, one.label])
    )
    assert first.fingerprint == second.fingerprint


def test_only_summaries_with_a_changed_member_score_are_scored_again(project):
    one, two = member(project), member(project, "copy_rate")
    members = {"members": [one.label, two.label]}
    setup = finished(plan_run(project, "jury", members)).setup
    assert plan(project, "jury", members).to_score == ()
    changed = Score.objects.filter(setup=one).first()
    Score.objects.filter(pk=changed.pk).update(value=1000.0)
    assert plan(project, "jury", members).to_score == (changed.summary_id,)
    finished(plan_run(project, "jury", members))
    assert values(setup)[changed.summary_id] > 499


def test_standardised_jury_of_other_scores_is_another_setup(project):
    one, two = member(project), member(project, "copy_rate")
    given = {"members": [one.label, two.label], "standardised": True}
    setup = finished(plan_run(project, "jury", given)).setup
    assert sum(values(setup).values()) == pytest.approx(0, abs=1e-9)
    Score.objects.filter(pk=Score.objects.filter(setup=one).first().pk).update(value=1000.0)
    assert plan(project, "jury", given).fingerprint != setup.fingerprint


def test_missing_scores_of_members_are_known_when_planning(project):
    one, two = member(project), member(project, "copy_rate")
    gone = Summary.objects.filter(project=project).first()
    Score.objects.filter(setup=two, summary=gone).delete()
    planned = plan(project, "jury", {"members": [one.label, two.label]})
    assert planned.foreseen == {f"no score by {two.label}": 1}


def test_jury_excludes_articles_seen_by_a_member(project):
    one, two = member(project), member(project, "copy_rate")
    seen = Summary.objects.filter(project=project).first().article
    SeenArticle.objects.create(setup=two, article=seen, role="in-context example")
    run = finished(plan_run(project, "jury", {"members": [one.label, two.label]}))
    assert list(run.setup.seen_articles.all()) == [seen]
    reasons = run.setup.scores.filter(summary__article=seen).values_list("reason", flat=True)
    assert set(reasons) == {Jury.seen_reason}


def test_calibration_does_not_exclude_articles_it_learnt_from(project):
    one = member(project)
    given = {"member": one.label, "folds": 3, "fewest_labels": 4}
    run = finished(plan_run(project, "calibrated", given))
    assert run.setup.label == f"Calibrated {one.label}, 3 folds, 4 labels at least"
    assert not run.setup.seen_articles.exists()
    assert len(run.setup.pool) == 12  # its labels are recorded
    found = values(run.setup, "grammar")
    assert len(found) == 12
    assert all(value is not None and 0 <= value <= 1 for value in found.values())
    assert plan(project, "calibrated", given).to_score == ()


def test_calibration_cannot_be_calibrated_again_even_through_a_jury(project):
    """Its scores of other articles would carry an article's own labels into that article's value."""
    one = member(project)
    given = {"folds": 3, "fewest_labels": 4}
    calibrated = finished(plan_run(project, "calibrated", {"member": one.label, **given})).setup
    with pytest.raises(
        InvalidRun, match=r"is already calibrated, or combines scores that are\. .* original evaluator"
    ):
        plan(project, "calibrated", {"member": calibrated.fingerprint, **given})
    two = finished(plan_run(project, "calibrated", {"member": one.label, **given, "seed": 1})).setup
    jury = finished(plan_run(project, "jury", {"members": [calibrated.fingerprint, two.fingerprint]})).setup
    calibrated.delete()
    with pytest.raises(InvalidRun, match=r"is already calibrated, or combines scores that are"):
        plan(project, "calibrated", {"member": jury.fingerprint, **given})


def test_calibration_does_not_learn_from_sealed_labels(project):
    one = member(project)
    split = LabelSplit(project=project, pool_share=0.3, tuning_share=0.4)
    for split.seed in range(100):
        open_articles = articles_in(split, [LabelPart.POOL, LabelPart.TUNING])
        if len(open_articles) == 4:
            break
    split.save()
    given = {"member": one.label, "folds": 2, "fewest_labels": 2}
    setup = finished(plan_run(project, "calibrated", given)).setup
    learnt_from = Summary.objects.filter(pk__in=setup.pool).values_list("article", flat=True)
    assert set(learnt_from) == open_articles
    assert len(values(setup, "grammar")) == 12  # sealed summaries are scored too


def test_calibration_fails_if_a_members_scores_changed_before_it_ran(project):
    one = member(project)
    run = plan_run(project, "calibrated", {"member": one.label, "folds": 3, "fewest_labels": 4})
    Score.objects.filter(pk=Score.objects.filter(setup=one).first().pk).update(value=1000.0)
    worker.work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert "Start a new run" in run.failure


def test_jury_fails_if_a_member_was_deleted(project):
    one, two = member(project), member(project, "copy_rate")
    run = plan_run(project, "jury", {"members": [one.label, two.label]})
    two.delete()
    worker.work_on_run(run.pk)
    run.refresh_from_db()
    assert "was deleted" in run.failure


def test_missing_or_unfinished_members_are_refused(project):
    with pytest.raises(InvalidRun, match=r"'member': found 'x', expected an evaluator .* Available: none"):
        plan(project, "calibrated", {"member": "x"})
    one = member(project)
    with pytest.raises(InvalidRun, match=rf"Available: {one.label}"):
        plan(project, "calibrated", {"member": "x"})
    busy = plan_run(project, "copy_rate", {})
    with pytest.raises(InvalidRun, match=rf"whose run {busy.pk} is in progress"):
        plan(project, "calibrated", {"member": busy.setup.label})
    Score.objects.filter(setup=one).update(value=None, reason="lost")
    with pytest.raises(InvalidRun, match="has no score yet"):
        plan(project, "calibrated", {"member": one.label})


def test_setup_of_another_project_cannot_be_a_member(project):
    one = member(project)
    with pytest.raises(InvalidRun, match="expected an evaluator that has scored this project"):
        plan(make_project(), "calibrated", {"member": one.fingerprint})


def test_form_offers_the_projects_evaluators(project):
    one, two = member(project), member(project, "copy_rate")
    names = [one.fingerprint[:12], two.fingerprint[:12]]
    data = {"param_members": names, "param_how": "mean", "param_quorum": 0, "param_threshold": 0.5}
    form = RunForm(project, Jury, data)
    assert {label for _, label in form.fields["param_members"].choices} == {one.label, two.label}
    assert form.is_valid(), form.errors
    assert plan(project, "jury", form.given).to_score
    assert not RunForm(project, Jury, {**data, "param_members": names[:1]}).is_valid()


def test_jury_over_a_file_reads_members_scores_from_it(tmp_path):
    rows = [
        row(1, scores={"one": {"fluency": 0.25}, "two": {"fluency": 0.75}}),
        row(2, scores={"one": {"fluency": 1}}),
    ]
    _, written = score_rows(tmp_path, "jury", rows, {"members": "one,two"})
    assert written["s1"]["scores"] == {"fluency": 0.5}
    assert written["s2"]["reasons"] == {"fluency": "no score by two"}


def test_file_without_a_members_scores_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'members': found 'two', expected .* there are one"):
        score_rows(tmp_path, "jury", [row(1, scores={"one": {"fluency": 1}})], {"members": "one,two"})


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (3, "scores: found 3, expected an object"),
        ({"one": 3}, "scores.one: found 3, expected an object"),
        ({"one": {"fluency": "high"}}, "scores.one.fluency: found 'high', expected a number"),
    ],
)
def test_faulty_scores_in_a_file_are_named(tmp_path, scores, message):
    with pytest.raises(FileRefused, match=message):
        score_rows(tmp_path, "jury", [row(1, scores=scores)], {"members": "one,two"})


def test_calibration_over_a_file_learns_from_its_labels(tmp_path):
    rows = [
        row(number, scores={"judge": {"fluency": number % 7}}, labels={"fluency": number % 7 / 6})
        for number in range(30)
    ]
    _, written = score_rows(tmp_path, "calibrated", rows, {"member": "judge"})
    values = [written[f"s{number}"]["scores"]["fluency"] for number in range(30)]
    assert values == pytest.approx([number % 7 / 6 for number in range(30)])
