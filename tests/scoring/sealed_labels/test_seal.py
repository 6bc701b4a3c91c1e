"""Runs that would reveal an unopened version's scores on sealed labels are refused or counted."""

import re

import pytest

from annotation.models import Article, Summary
from metaeval.judges.trials import open_sealed, try_version
from metaeval.judges.versions import add_version
from scoring.errors import InvalidRun, RunBusy
from scoring.inputs.items import Selection
from scoring.runs.lifecycle import cancel_run, resume_run
from scoring.runs.planning import plan_run
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.seal import openings_of
from tests.metaeval.judges.labelled_projects import articles_of, finish, make_judge, make_labelled, split
from tests.scoring.scripted_endpoint import Answer as Reply
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db

SAME = {
    "unchanged": {},
    "a longer timeout": {"timeout_s": 99},
    "another key": {"api_key_env": "OTHER_API_KEY"},
    "another address of the model": {"base_url": "http://localhost:9/v1"},
    "another seed": {"seed": 9},
    "fewer examples": {"examples": 3},
    "another draw of examples": {"sampling": "stratified"},
    "a longer reply": {"max_tokens": 17},
    "visible text of another dimension": {"sees": "fluency=article"},
    "all dimensions of the pool": {"dimensions": ""},
    "other marks": {"marks": "1-5"},
}
ANOTHER = {
    "another model": {"model": "other"},
    "another form of the prompt": {"prompt": "described"},
    "another mode": {"mode": "samples", "samples": 2},
    "other visible text": {"sees": "coherence=article"},
}


@pytest.fixture
def endpoint(monkeypatch, settings):
    for name in ("OPENAI_API_KEY", "OTHER_API_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings.LLM_ENDPOINTS = ["*", "loopback"]
    with ScriptedEndpoint(lambda _: Reply("0.5")) as server:
        yield server


@pytest.fixture
def labelled(db):
    project, user = make_labelled()
    Article.objects.filter(project=project).update(text="An article.")
    return project, user


@pytest.fixture
def version(labelled, endpoint):
    split(*labelled)
    return make_judge(*labelled, endpoint)


def run(project, user, version, changed, **options):
    return plan_run(project, "ice", {**version.params, **changed}, user, **options)


def opened(project):
    return [(str(each.version), each.how, each.run) for each in openings_of(project)]


@pytest.mark.parametrize("changed", SAME.values(), ids=SAME)
def test_same_judge_cannot_score_sealed_articles_before_its_version_is_opened(labelled, version, changed):
    project, user = labelled
    with pytest.raises(InvalidRun, match=re.escape("the same judge as Coherence v1, and some")):
        run(project, user, version, changed)
    tuning = Selection(articles=articles_of(project, LabelPart.TUNING))
    assert run(project, user, version, changed, selection=tuning).total
    assert not openings_of(project).exists()


@pytest.mark.parametrize("changed", ANOTHER.values(), ids=ANOTHER)
def test_another_judge_may_score_sealed_articles(labelled, version, changed):
    assert run(*labelled, version, changed).total == 40


def test_version_with_all_dimensions_is_the_same_judge_on_each(labelled, endpoint):
    project, user = labelled
    split(project, user)
    version = make_judge(project, user, endpoint, dimensions="")
    with pytest.raises(InvalidRun, match="the same judge as Coherence v1"):
        run(project, user, version, {"dimensions": "coherence"})


def test_additional_dimension_does_not_make_another_judge(labelled, endpoint):
    project, user = labelled
    split(project, user)
    version = make_judge(project, user, endpoint, prompt="described", examples=0)
    with pytest.raises(InvalidRun, match="the same judge as Coherence v1"):
        run(project, user, version, {"dimensions": "fluency,coherence"})
    assert run(project, user, version, {"dimensions": "fluency"}).total
    assert run(project, user, version, {"descriptions": "coherence=Does it hang together?"}).total


def test_operator_is_refused_too(labelled, version):
    project, _ = labelled
    with pytest.raises(InvalidRun, match="the same judge as Coherence v1"):
        run(project, None, version, {"seed": 9})


def test_opened_version_is_no_longer_protected_but_later_versions_are(labelled, version):
    project, user = labelled
    finish(try_version(version, user).run)
    finish(open_sealed(version, user).run)
    assert run(project, user, version, {"seed": 9}).total, "no version is left to protect"
    add_version(version, user, {**version.params, "seed": 3})
    with pytest.raises(InvalidRun, match="the same judge as Coherence v2"):
        run(project, user, version, {"seed": 4})
    assert run(project, user, version, {}), "its opening was counted"


def test_each_version_of_a_judge_is_opened_separately(labelled, version):
    project, user = labelled
    second = add_version(version, user, {**version.params, "seed": 3})
    for each in (version, second):
        finish(try_version(each, user).run)
    finish(open_sealed(version, user).run)
    assert [each.version for each in openings_of(project)] == [version]
    finish(open_sealed(second, user).run)
    third = add_version(version, user, {**version.params, "seed": 4})
    finish(try_version(third, user).run)
    assert [each.version for each in openings_of(project)] == [version, second], "none is counted twice"


@pytest.mark.parametrize(
    "changed", [{}, {"seed": 9, "timeout_s": 99}], ids=["unchanged", "other seed and timeout"]
)
def test_earlier_ordinary_run_counts_as_an_opening_once(labelled, endpoint, changed):
    project, user = labelled
    given = {"model": "scripted", "dimensions": "coherence", "base_url": endpoint.base_url}
    earlier = finish(plan_run(project, "ice", {**given, **changed}, user))
    split(project, user)
    version = make_judge(project, user, endpoint)
    try_version(version, user)
    [opening] = openings_of(project)
    assert (opening.how, opening.run, opening.opened_by, opening.version) == ("run", earlier, user, version)
    assert opening.opened_at == earlier.started_at
    try_version(add_version(version, user, {**version.params, "seed": 5}), user)
    assert opened(project) == [("Coherence v1", "run", earlier)]


@pytest.mark.parametrize("stopped", [False, True])
def test_trial_is_refused_while_a_run_may_still_reveal_sealed_labels(labelled, endpoint, stopped):
    project, user = labelled
    given = {"model": "scripted", "dimensions": "coherence", "base_url": endpoint.base_url, "seed": 9}
    earlier = plan_run(project, "ice", given, user)
    if stopped:
        cancel_run(earlier, user)
    split(project, user)
    version = make_judge(project, user, endpoint)
    state = "cancelled" if stopped else "waiting"
    with pytest.raises(RunBusy, match=rf"Run {earlier.pk} .* is {state} and has sealed summaries left"):
        try_version(version, user)
    if stopped:
        resume_run(earlier, user)
    finish(earlier)
    finish(try_version(version, user).run)
    assert opened(project) == [("Coherence v1", "run", earlier)]


def test_unfinished_opening_does_not_block_other_versions(labelled, version):
    _, user = labelled
    finish(try_version(version, user).run)
    open_sealed(version, user)
    assert try_version(add_version(version, user, {**version.params, "seed": 3}), user)


def test_ordinary_run_of_another_judge_or_other_articles_is_not_an_opening(labelled, endpoint):
    project, user = labelled
    split(project, user)
    given = {"model": "scripted", "dimensions": "coherence", "base_url": endpoint.base_url}
    finish(plan_run(project, "ice", {**given, "model": "other"}, user))
    tuning = Selection(articles=articles_of(project, LabelPart.TUNING))
    finish(plan_run(project, "ice", {**given, "seed": 9}, user, tuning))
    try_version(make_judge(project, user, endpoint), user)
    assert not openings_of(project).exists()


def test_copy_of_an_opened_version_in_another_judge_counts_too(labelled, version, endpoint):
    project, user = labelled
    finish(try_version(version, user).run)
    first = open_sealed(version, user)
    finish(first.run)
    copy = make_judge(project, user, endpoint, name="Copy")
    try_version(copy, user)
    assert opened(project) == [("Coherence v1", "confirmed", first.run), ("Copy v1", "run", first.run)]


def test_later_summaries_of_a_sealed_article_are_sealed(labelled, version):
    project, user = labelled
    sealed = Article.objects.filter(pk__in=articles_of(project, LabelPart.SEALED)).first()
    made = Summary.objects.filter(article=sealed).first()
    made.pk, made.system = None, project.systems.create(name="later")
    made.save()
    with pytest.raises(InvalidRun, match="the same judge"):
        run(project, user, version, {"seed": 9}, selection=Selection(articles={sealed.pk}))
