"""Runs that would show how an unopened version does on sealed labels are refused, or were counted."""

import re

import pytest

from annotation.models import Article, Summary
from scoring.alignment.judges import add_version
from scoring.alignment.parts import Part
from scoring.alignment.seal import openings_of
from scoring.alignment.trials import open_sealed, try_version
from scoring.errors import InvalidRun, RunBusy
from scoring.items import Selection
from scoring.planning import plan_run
from scoring.runs import cancel_run, resume_run
from tests.scoring.alignment.aligned import articles_of, finish, make_judge, make_labelled, split
from tests.scoring.scripted_endpoint import Answer as Reply
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db

SAME = {
    "as it is": {},
    "a longer timeout": {"timeout_s": 99},
    "another key": {"api_key_env": "OTHER_API_KEY"},
    "another address of the model": {"base_url": "http://localhost:9/v1"},
    "another seed": {"seed": 9},
    "fewer examples": {"examples": 3},
    "another draw of examples": {"sampling": "stratified"},
    "a longer reply": {"max_tokens": 17},
    "words on what is not scored": {"sees": "fluency=article"},
    "all dimensions of the pool": {"dimensions": ""},
    "marks written otherwise": {"marks": "1-5"},
}
ANOTHER = {
    "another model": {"model": "other"},
    "another form of the prompt": {"prompt": "described"},
    "another mode": {"mode": "samples", "samples": 2},
    "other words": {"sees": "coherence=article"},
}


@pytest.fixture
def endpoint(monkeypatch, settings):
    for name in ("OPENAI_API_KEY", "OTHER_API_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings.LLM_ENDPOINTS = ["*"]
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
def test_the_same_judge_may_not_score_sealed_articles_before_its_version_is_opened(
    labelled, version, changed
):
    project, user = labelled
    with pytest.raises(InvalidRun, match=re.escape("the same judge as Coherence v1, by its model")):
        run(project, user, version, changed)
    tuning = Selection(articles=articles_of(project, Part.TUNING))
    assert run(project, user, version, changed, selection=tuning).total
    assert not openings_of(project).exists()


@pytest.mark.parametrize("changed", ANOTHER.values(), ids=ANOTHER)
def test_another_judge_is_not_held_back(labelled, version, changed):
    assert run(*labelled, version, changed).total == 40


def test_a_version_that_takes_all_dimensions_is_the_same_judge_on_each(labelled, endpoint):
    project, user = labelled
    split(project, user)
    version = make_judge(project, user, endpoint, dimensions="")
    with pytest.raises(InvalidRun, match="the same judge as Coherence v1"):
        run(project, user, version, {"dimensions": "coherence"})


def test_another_dimension_beside_it_makes_no_other_judge(labelled, endpoint):
    project, user = labelled
    split(project, user)
    version = make_judge(project, user, endpoint, prompt="described", examples=0)
    with pytest.raises(InvalidRun, match="the same judge as Coherence v1"):
        run(project, user, version, {"dimensions": "fluency,coherence"})
    assert run(project, user, version, {"dimensions": "fluency"}).total
    assert run(project, user, version, {"descriptions": "coherence=Does it hang together?"}).total


def test_the_operator_is_held_back_too(labelled, version):
    project, _ = labelled
    with pytest.raises(InvalidRun, match="the same judge as Coherence v1"):
        run(project, None, version, {"seed": 9})


def test_what_was_opened_is_held_back_no_more_but_its_sisters_are(labelled, version):
    project, user = labelled
    finish(try_version(version, user).run)
    finish(open_sealed(version, user).run)
    assert run(project, user, version, {"seed": 9}).total, "no version is left to protect"
    add_version(version, user, {**version.params, "seed": 3})
    with pytest.raises(InvalidRun, match="the same judge as Coherence v2"):
        run(project, user, version, {"seed": 4})
    assert run(project, user, version, {}), "what it shows was counted"


def test_versions_of_one_judge_are_opened_one_by_one(labelled, version):
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


@pytest.mark.parametrize("changed", [{}, {"seed": 9, "timeout_s": 99}], ids=["as it is", "nearly so"])
def test_an_ordinary_run_that_went_before_counts_as_an_opening_once(labelled, endpoint, changed):
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
def test_no_version_is_tried_beside_a_run_that_would_yet_show_sealed_labels(labelled, endpoint, stopped):
    project, user = labelled
    given = {"model": "scripted", "dimensions": "coherence", "base_url": endpoint.base_url, "seed": 9}
    earlier = plan_run(project, "ice", given, user)
    if stopped:
        cancel_run(earlier, user)
    split(project, user)
    version = make_judge(project, user, endpoint)
    state = "cancelled" if stopped else "waiting"
    with pytest.raises(RunBusy, match=rf"Run {earlier.pk} .* is {state}, and has sealed summaries left"):
        try_version(version, user)
    if stopped:
        resume_run(earlier, user)
    finish(earlier)
    finish(try_version(version, user).run)
    assert opened(project) == [("Coherence v1", "run", earlier)]


def test_an_opening_that_is_under_way_stops_no_other_version(labelled, version):
    _, user = labelled
    finish(try_version(version, user).run)
    open_sealed(version, user)
    assert try_version(add_version(version, user, {**version.params, "seed": 3}), user)


def test_an_ordinary_run_of_another_judge_or_of_other_articles_is_no_opening(labelled, endpoint):
    project, user = labelled
    split(project, user)
    given = {"model": "scripted", "dimensions": "coherence", "base_url": endpoint.base_url}
    finish(plan_run(project, "ice", {**given, "model": "other"}, user))
    tuning = Selection(articles=articles_of(project, Part.TUNING))
    finish(plan_run(project, "ice", {**given, "seed": 9}, user, tuning))
    try_version(make_judge(project, user, endpoint), user)
    assert not openings_of(project).exists()


def test_a_copy_of_an_opened_version_in_another_judge_counts_too(labelled, version, endpoint):
    project, user = labelled
    finish(try_version(version, user).run)
    first = open_sealed(version, user)
    finish(first.run)
    copy = make_judge(project, user, endpoint, name="Copy")
    try_version(copy, user)
    assert opened(project) == [("Coherence v1", "confirmed", first.run), ("Copy v1", "run", first.run)]


def test_summaries_that_came_later_are_sealed_by_their_article(labelled, version):
    project, user = labelled
    sealed = Article.objects.filter(pk__in=articles_of(project, Part.SEALED)).first()
    made = Summary.objects.filter(article=sealed).first()
    made.pk, made.system = None, project.systems.create(name="later")
    made.save()
    with pytest.raises(InvalidRun, match="the same judge"):
        run(project, user, version, {"seed": 9}, selection=Selection(articles={sealed.pk}))
