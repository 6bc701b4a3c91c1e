"""Evaluators of evaluators in a project and over a file: who is a member, and what members' scores do."""

from collections.abc import Iterator

import pytest

from annotation.models import Project, Summary
from scoring import working
from scoring.alignment.parts import Part
from scoring.alignment.split import articles_in
from scoring.contract import GENERAL
from scoring.errors import InvalidRun
from scoring.evaluators.jury import Jury
from scoring.forms.run_form import RunForm
from scoring.models import EvaluatorSetup, LabelSplit, Run, Score, SeenArticle
from scoring.planning import plan, plan_run
from tests.factories import make_article, make_project, make_summary, make_system
from tests.scoring.test_planning import finished, rate
from tests.scoring.test_score_file import row
from tests.scoring.test_score_file import run as score_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    working._loaded.clear()
    yield
    working._loaded.clear()


@pytest.fixture
def project() -> Project:
    """Twelve rated summaries of six articles."""
    made = make_project()
    articles = [make_article(made) for _ in range(6)]
    for number in range(12):
        words = " ".join(["word"] * (number + 1))
        system = make_system(made, f"system-{number % 2}")
        summary = make_summary(made, article=articles[number // 2], system=system, text=words)
        rate(summary, grammar="yes" if number % 3 else "no")
    return made


def member(project: Project, name: str = "length", **params: str) -> EvaluatorSetup:
    return finished(plan_run(project, name, params)).setup


def values(setup: EvaluatorSetup, dimension: str = GENERAL) -> dict[int, float | None]:
    return dict(setup.scores.filter(dimension=dimension).values_list("summary", "value"))


def test_a_jury_of_stored_scores(project):
    one, two = member(project), member(project, "copy_rate")
    run = finished(plan_run(project, "jury", {"members": f"{one.label},{two.fingerprint[:8]}"}))
    expected = {pk: (values(one)[pk] + values(two)[pk]) / 2 for pk in values(one)}
    assert values(run.setup) == pytest.approx(expected)
    assert (
        run.setup.label == f"Jury (members {' + '.join(sorted((one.label, two.label), key=_by(one, two)))})"
    )


def _by(*setups: EvaluatorSetup):
    return {each.label: each.fingerprint for each in setups}.get


def test_the_order_of_members_makes_no_other_jury(project):
    one, two = member(project), member(project, "copy_rate")
    first, second = (
        plan(project, "jury", {"members": members})
        for members in ([one.label, two.label], [two.label, one.label])
    )
    assert first.fingerprint == second.fingerprint


def test_a_changed_score_of_a_member_is_judged_anew_and_others_are_not(project):
    one, two = member(project), member(project, "copy_rate")
    members = {"members": [one.label, two.label]}
    setup = finished(plan_run(project, "jury", members)).setup
    assert plan(project, "jury", members).to_score == ()
    changed = Score.objects.filter(setup=one).first()
    Score.objects.filter(pk=changed.pk).update(value=1000.0)
    assert plan(project, "jury", members).to_score == (changed.summary_id,)
    finished(plan_run(project, "jury", members))
    assert values(setup)[changed.summary_id] > 499


def test_a_standardised_jury_of_other_scores_is_another_setup(project):
    one, two = member(project), member(project, "copy_rate")
    given = {"members": [one.label, two.label], "standardised": True}
    setup = finished(plan_run(project, "jury", given)).setup
    assert sum(values(setup).values()) == pytest.approx(0, abs=1e-9)
    Score.objects.filter(pk=Score.objects.filter(setup=one).first().pk).update(value=1000.0)
    assert plan(project, "jury", given).fingerprint != setup.fingerprint


def test_what_a_member_has_not_scored_is_known_before(project):
    one, two = member(project), member(project, "copy_rate")
    gone = Summary.objects.filter(project=project).first()
    Score.objects.filter(setup=two, summary=gone).delete()
    planned = plan(project, "jury", {"members": [one.label, two.label]})
    assert planned.foreseen == {f"no score by {two.label}": 1}


def test_articles_that_a_member_has_seen_are_seen_by_the_jury(project):
    one, two = member(project), member(project, "copy_rate")
    seen = Summary.objects.filter(project=project).first().article
    SeenArticle.objects.create(setup=two, article=seen, role="in-context example")
    run = finished(plan_run(project, "jury", {"members": [one.label, two.label]}))
    assert list(run.setup.seen_articles.all()) == [seen]
    reasons = run.setup.scores.filter(summary__article=seen).values_list("reason", flat=True)
    assert set(reasons) == {Jury.seen_reason}


def test_a_calibrated_evaluator_bars_none_of_the_articles_it_has_learnt_from(project):
    one = member(project)
    given = {"member": one.label, "folds": 3, "fewest_labels": 4}
    run = finished(plan_run(project, "calibrated", given))
    assert run.setup.label == f"Calibrated (member {one.label}, folds 3, fewest_labels 4)"
    assert not run.setup.seen_articles.exists()
    assert len(run.setup.pool) == 12  # its labels are recorded
    found = values(run.setup, "grammar")
    assert len(found) == 12
    assert all(value is not None and 0 <= value <= 1 for value in found.values())
    assert plan(project, "calibrated", given).to_score == ()


def test_a_calibration_is_not_calibrated_again_nor_through_a_jury(project):
    """Its scores of other articles would carry an article's own labels into its value."""
    one = member(project)
    given = {"folds": 3, "fewest_labels": 4}
    calibrated = finished(plan_run(project, "calibrated", {"member": one.label, **given})).setup
    with pytest.raises(InvalidRun, match=r"is calibrated already, or joins scores that are\. .* behind it"):
        plan(project, "calibrated", {"member": calibrated.fingerprint, **given})
    two = finished(plan_run(project, "calibrated", {"member": one.label, **given, "seed": 1})).setup
    jury = finished(plan_run(project, "jury", {"members": [calibrated.fingerprint, two.fingerprint]})).setup
    calibrated.delete()
    with pytest.raises(InvalidRun, match=r"is calibrated already, or joins scores that are"):
        plan(project, "calibrated", {"member": jury.fingerprint, **given})


def test_sealed_labels_teach_a_calibration_nothing(project):
    one = member(project)
    split = LabelSplit(project=project, pool_share=0.3, tuning_share=0.4)
    for split.seed in range(100):
        open_articles = articles_in(split, [Part.POOL, Part.TUNING])
        if len(open_articles) == 4:
            break
    split.save()
    given = {"member": one.label, "folds": 2, "fewest_labels": 2}
    setup = finished(plan_run(project, "calibrated", given)).setup
    learnt_from = Summary.objects.filter(pk__in=setup.pool).values_list("article", flat=True)
    assert set(learnt_from) == open_articles
    assert len(values(setup, "grammar")) == 12  # sealed ones are judged all the same


def test_a_member_whose_scores_changed_before_the_worker_came_stops_a_calibration(project):
    one = member(project)
    run = plan_run(project, "calibrated", {"member": one.label, "folds": 3, "fewest_labels": 4})
    Score.objects.filter(pk=Score.objects.filter(setup=one).first().pk).update(value=1000.0)
    working.work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert "Start a new run" in run.failure


def test_a_deleted_member_stops_a_jury(project):
    one, two = member(project), member(project, "copy_rate")
    run = plan_run(project, "jury", {"members": [one.label, two.label]})
    two.delete()
    working.work_on_run(run.pk)
    run.refresh_from_db()
    assert "was deleted" in run.failure


def test_members_that_are_not_there_or_not_ready_are_refused(project):
    with pytest.raises(InvalidRun, match=r"'member': found 'x', expected an evaluator .* There are: none"):
        plan(project, "calibrated", {"member": "x"})
    one = member(project)
    with pytest.raises(InvalidRun, match=rf"There are: {one.label}"):
        plan(project, "calibrated", {"member": "x"})
    busy = plan_run(project, "copy_rate", {})
    with pytest.raises(InvalidRun, match=rf"is being computed. Wait until run {busy.pk} has ended"):
        plan(project, "calibrated", {"member": busy.setup.label})
    Score.objects.filter(setup=one).update(value=None, reason="lost")
    with pytest.raises(InvalidRun, match="has no score yet"):
        plan(project, "calibrated", {"member": one.label})


def test_a_setup_of_another_project_is_no_member(project):
    one = member(project)
    with pytest.raises(InvalidRun, match="expected an evaluator that has scored this project"):
        plan(make_project(), "calibrated", {"member": one.fingerprint})


def test_the_form_offers_the_projects_evaluators(project):
    one, two = member(project), member(project, "copy_rate")
    names = [one.fingerprint[:12], two.fingerprint[:12]]
    data = {"param_members": names, "param_how": "mean", "param_quorum": 0, "param_threshold": 0.5}
    form = RunForm(project, Jury, data)
    assert {label for _, label in form.fields["param_members"].choices} == {one.label, two.label}
    assert form.is_valid(), form.errors
    assert plan(project, "jury", form.given).to_score
    assert not RunForm(project, Jury, {**data, "param_members": names[:1]}).is_valid()


def test_over_a_file_the_members_scores_stand_in_it(tmp_path):
    rows = [
        row(1, scores={"one": {"fluency": 0.25}, "two": {"fluency": 0.75}}),
        row(2, scores={"one": {"fluency": 1}}),
    ]
    _, written = score_rows(tmp_path, "jury", rows, {"members": "one,two"})
    assert written["s1"]["scores"] == {"fluency": 0.5}
    assert written["s2"]["reasons"] == {"fluency": "no score by two"}


def test_a_file_without_a_members_scores_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'members': found 'two', expected .* there are one"):
        score_rows(tmp_path, "jury", [row(1, scores={"one": {"fluency": 1}})], {"members": "one,two"})


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (3, "scores: found 3, expected an object with the scores of each evaluator"),
        ({"one": 3}, "scores.one: found 3, expected an object with a number for each dimension"),
        ({"one": {"fluency": "high"}}, "scores.one.fluency: found high, expected a number from"),
    ],
)
def test_faulty_scores_in_a_file_are_named(tmp_path, scores, message):
    with pytest.raises(ValueError, match=message):
        score_rows(tmp_path, "jury", [row(1, scores=scores)], {"members": "one,two"})


def test_over_a_file_a_calibration_learns_from_its_labels(tmp_path):
    rows = [
        row(number, scores={"judge": {"fluency": number % 7}}, labels={"fluency": number % 7 / 6})
        for number in range(30)
    ]
    _, written = score_rows(tmp_path, "calibrated", rows, {"member": "judge"})
    values = [written[f"s{number}"]["scores"]["fluency"] for number in range(30)]
    assert values == pytest.approx([number % 7 / 6 for number in range(30)])
