"""What a training learns from, and what it refuses before it starts."""

import re
import shutil
from collections import namedtuple

import psutil
import pytest

from annotation.adjudication.decisions import DecidedAnswer, decide_answers
from annotation.errors import NotAllowed, NotFound
from annotation.models import Article, Summary
from scoring.errors import InvalidTraining
from scoring.models import LabelSplit, Training
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.split import articles_in
from scoring.trainers.resources import numbers_in
from scoring.training.items import training_items, training_pool
from scoring.training.planning import plan_training, start_training
from scoring.weights.model_files import weights_dir
from scoring.workers.presence import sign
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
)
from tests.scoring.runs.test_planning import rate
from tests.scoring.tiny_models import tiny_model
from tests.scoring.training.counted_projects import make_counted_project

pytestmark = pytest.mark.django_db


def articles_of(project) -> set[str]:
    return {each.article_id for each in training_items(training_pool(project))}


def test_gold_items_and_articles_without_text_are_left_out(project):
    rate(make_summary(project, article=make_article(project, text="")), attribution="yes")
    make_gold(project)
    assert articles_of(project) == {
        "train-0",
        "train-1",
        "train-2",
        "validation-0",
        "validation-1",
        "test-0",
        "test-1",
    }


def test_sealed_articles_are_left_out(project):
    user = make_member(project, "researcher")
    split = LabelSplit.objects.create(project=project, seed=1, pool_share=0.3, tuning_share=0.3, set_by=user)
    sealed = Article.objects.filter(pk__in=articles_in(split, [LabelPart.SEALED]))
    sealed_ids = set(sealed.values_list("external_id", flat=True))
    assert (
        articles_of(project)
        == {"train-0", "train-1", "train-2", "validation-0", "validation-1", "test-0", "test-1"} - sealed_ids
    )
    assert sealed_ids & {"train-0", "train-1", "train-2", "validation-0", "validation-1", "test-0", "test-1"}


def test_an_item_has_its_texts_labels_and_split(project):
    article = Article.objects.get(project=project, external_id="validation-1")
    people = make_system(project, "people", is_reference=True)
    reference = make_summary(project, article=article, system=people, text="A reference.", ratings_wanted=0)
    items = {each.id: each for each in training_items(training_pool(project))}
    item = items["validation-1/system-a"]
    assert (item.article, item.split, item.language) == (article.text, "validation", "en")
    assert item.labels == {"attribution": 1.0}
    assert item.references == ("A reference.",)
    assert items["validation-1/people"].summary == reference.text
    assert items["validation-1/people"].labels == {}


def test_an_item_has_each_answer_without_its_rater_and_the_decision(project):
    summary = Summary.objects.get(article__external_id="validation-1")
    for answer in ("no", "unsure", "yes"):
        rate(summary, attribution=answer)
    manager = make_member(project, "manager")
    decide_answers(project, manager, summary.pk, {"attribution": DecidedAnswer("yes")})
    decide_answers(project, manager, summary.pk, {"attribution": DecidedAnswer("no")})
    items = {each.id: each for each in training_items(training_pool(project))}
    item = items["validation-1/system-a"]
    assert item.labels == {"attribution": pytest.approx(2 / 3)}
    assert item.answers == {"attribution": [0.0, 1.0, 1.0]}
    assert item.decided == {"attribution": 0.0}
    assert items["train-0/system-a"].decided == {}


def test_a_plan_counts_what_it_learns_from_and_writes_nothing(project):
    planned = plan_training(project, "counting", {"steps": "3"})
    assert planned.data.counts == {
        "Validation articles": 2,
        "Training examples": 3,
        "Validation examples": 2,
        "Share for training": 0.6,
    }
    assert not Training.objects.exists()


class TestWarnings:
    @pytest.fixture
    def warned(self, project):
        shutil.copytree(tiny_model("bert"), weights_dir() / "tiny")

        def warned(**given):
            """Return the warnings, after that of the few ratings."""
            given = {"model": "tiny", "dimensions": "attribution", **given}
            *found, few = plan_training(project, "seahorse", given).warnings
            assert few.startswith("attribution: the validation examples have 1 yes and 1 no.")
            return found

        return warned

    def test_usual_settings_bring_none(self, warned):
        assert warned() == []

    @pytest.mark.parametrize("rate", ["1", "1e-8"])
    def test_a_rate_that_rarely_trains_brings_one_with_the_usual_range(self, warned, rate):
        assert warned(learning_rate=rate) == [
            f"Learning rate {float(rate):g} is unusual. Values from 1e-06 to 0.01 usually work."
        ]

    def test_too_little_memory_brings_one_unless_few_weights_are_trained(self, warned, monkeypatch):
        free = namedtuple("Memory", "available")(numbers_in(weights_dir() / "tiny") * 8)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
        [warning] = warned()
        assert re.search(r"needs at least .* of memory, and .* are free on this server", warning)
        assert warned(lora_rank="4") == []
        sign("worker", ["gpu"])
        assert warned() == []

    def test_damaged_weights_are_refused(self, warned):
        (weights_dir() / "tiny/model.safetensors").write_bytes(b"damaged")
        with pytest.raises(InvalidTraining, match=r"'model': .* cannot be read"):
            warned()


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        ("cuonting", {}, "no trainer is called 'cuonting'; did you mean counting"),
        ("counting", {"steps": "0"}, "parameter 'steps'"),
        ("counting", {"speed": "1"}, "no such parameter"),
        ("counting", {"dimension": "grammar"}, "No summary has a label on grammar"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_the_reason(project, method, given, words):
    with pytest.raises(InvalidTraining, match=words):
        plan_training(project, method, given)


def test_started_training_keeps_parameters_labels_and_counts(project, sent):
    user = make_member(project, "researcher")
    training = start_training(plan_training(project, "counting", {"steps": "3"}), user)
    assert training.name == f"{project.slug}-counting"
    assert training.params["steps"] == 3
    assert sorted(training.pool.values(), key=str) == sorted(
        (
            {"labels": {"attribution": label}, "answers": {"attribution": [label]}}
            for label in (0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
        ),
        key=str,
    )
    assert training.counts == {
        "Validation articles": 2,
        "Training examples": 3,
        "Validation examples": 2,
        "Share for training": 0.6,
    }
    assert training.status == Training.Status.QUEUED


def test_a_worker_is_woken(project, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        training = start_training(plan_training(project, "counting", {}), None)
    [message] = sent("cpu")
    assert (message["task"], message["args"][0]) == ("scoring.tasks.work_on_training", training.pk)


def test_names_are_unique(project):
    planned = plan_training(project, "counting", {})
    start_training(planned, None, "mine")
    refusals = []
    for each in (planned, plan_training(make_counted_project(), "counting", {})):
        with pytest.raises(InvalidTraining, match="name: 'mine' is not available") as refusal:
            start_training(each, None, "mine")
        refusals.append(str(refusal.value))
    assert refusals[0] == refusals[1]  # so it does not tell that another project has the name
    first, second = start_training(planned, None), start_training(planned, None)
    assert second.name == f"{first.name}-2"


@pytest.mark.parametrize("name", ["Mine", "../weights", ".hidden", "a/b", "a" * 61])
def test_names_cannot_leave_their_folder(project, name):
    with pytest.raises(InvalidTraining, match="name: found"):
        start_training(plan_training(project, "counting", {}), None, name)


def test_only_those_who_manage_runs_start_trainings(project):
    planned = plan_training(project, "counting", {})
    with pytest.raises(NotFound):
        start_training(planned, make_member(make_project(), "researcher"))
    with pytest.raises(NotAllowed):
        start_training(planned, make_rater(project).user)
