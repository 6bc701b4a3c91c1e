"""Models that were trained elsewhere: tried, installed beside the trained ones, renamed and deleted."""

import shutil

import pytest

from annotation.errors import NotAllowed, NotFound
from annotation.texts.text_digests import text_digest
from scoring.errors import InvalidTraining, ModelInUse
from scoring.models import RegisteredModel, Run, SeenArticle
from scoring.runs.planning import plan_run
from scoring.training.model_changes import remove_model, rename_model
from scoring.training.model_uses import uses_of
from scoring.training.registering import Registration, card_for, install_registered
from scoring.training.registration_worker import MOST_ATTEMPTS, work_on_registration
from scoring.training.registry import model_of, models_of, register_model, register_now
from scoring.weights.model_card import read_card
from scoring.weights.model_files import TRAINED, weights_digest, weights_dir
from scoring.weights.trained_models import folder_of
from tests.factories import make_article, make_member, make_project, make_rater, make_summary
from tests.scoring.joint_models import tiny_umse
from tests.scoring.runs.test_planning import finished
from tests.scoring.t5_models import label_model
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

AGAINST_ARTICLE = {"against": "article"}


@pytest.fixture
def plain(project):
    """Install an encoder without a card."""
    shutil.copytree(tiny_model("bert"), weights_dir() / "plain")
    return "plain"


@pytest.fixture
def registered(project, researcher, plain) -> RegisteredModel:
    seen = {"train": (text_digest("It was seen."),)}
    registration = Registration("mine", plain, "similarity", params=AGAINST_ARTICLE, note="Some", seen=seen)
    found = register_model(project, researcher, registration)
    work_on_registration(found.pk)
    found.refresh_from_db()
    return found


def test_a_model_is_tried_and_appears_with_its_card(project, registered):
    assert (registered.status, registered.failure) == (RegisteredModel.Status.DONE, "")
    [model] = models_of(project)
    card = model.card
    assert (card.evaluator, card.base_model, card.params) == ("similarity", "plain", AGAINST_ARTICLE)
    assert (card.title, card.data) == ("Embedding similarity, from plain", {"note": "Some"})
    assert card.weights_sha256 == weights_digest(weights_dir() / "plain")
    source, linked = (folder / "model.safetensors" for folder in (weights_dir() / "plain", model.folder))
    assert linked.samefile(source), "it takes no space of its own"
    assert models_of(make_project()) == []


def test_articles_that_it_has_seen_are_left_out(project, registered):
    seen = make_article(project, external_id="seen", text="It was SEEN.")
    make_summary(project, article=seen)
    model = model_of(project, "mine")
    setup = finished(plan_run(project, "similarity", {**model.card.params, "model": model.model})).setup
    assert [each.article for each in SeenArticle.objects.filter(setup=setup)] == [seen]
    assert not setup.scores.computed().filter(summary__article=seen).exists()
    assert setup.scores.computed().exists()


def test_a_model_that_cannot_be_used_fails_with_the_reason_and_leaves_nothing(project, researcher, plain):
    (weights_dir() / plain / "config.json").unlink()
    found = register_model(project, researcher, Registration("broken", plain, "similarity"))
    work_on_registration(found.pk)
    found.refresh_from_db()
    assert found.status == RegisteredModel.Status.FAILED
    assert found.failure.startswith("The ")
    assert "plain" in found.failure
    assert ".arriving" not in found.failure
    assert not list((weights_dir() / TRAINED).glob("*"))
    shutil.copy(tiny_model("bert") / "config.json", weights_dir() / plain)
    again = register_model(project, researcher, Registration("broken", plain, "similarity"))
    work_on_registration(again.pk)
    assert model_of(project, "broken")


def test_a_model_whose_registration_is_deleted_meanwhile_is_not_left_to_all(
    project, researcher, plain, monkeypatch
):
    found = register_model(project, researcher, Registration("late", plain, "similarity"))

    def install_and_delete(*arguments):
        RegisteredModel.objects.all().delete()
        return install_registered(*arguments)

    monkeypatch.setattr("scoring.training.registration_worker.install_registered", install_and_delete)
    work_on_registration(found.pk)
    assert models_of(project) == []


def test_a_worker_that_is_killed_each_time_gives_up(project, researcher, plain):
    found = register_model(project, researcher, Registration("large", plain, "similarity"))
    RegisteredModel.objects.update(attempts=MOST_ATTEMPTS)
    work_on_registration(found.pk)
    found.refresh_from_db()
    assert found.failure.startswith("Given up after 3 attempts")


def test_seahorses_own_models_are_known_by_their_id(monkeypatch, project):
    shutil.copytree(label_model(), weights_dir() / "google/seahorse-large-q3")
    registration = Registration("q3", "google/seahorse-large-q3", "seahorse")
    card = card_for(registration, project)
    assert (card.dimensions, card.params) == (("grammar",), {"question": "q3"})
    with pytest.raises(InvalidTraining, match="dimension: found 'fluency', expected 'grammar'"):
        card_for(Registration("q3", registration.source, "seahorse", "fluency"), project)
    make_summary(project)
    model = register_now(registration, None)
    setup = finished(plan_run(project, "seahorse", {"model": model.model, **card.params})).setup
    assert set(setup.scores.computed().values_list("dimension", flat=True)) == {"grammar"}


def test_a_seahorse_model_of_another_dimension_scores_it(project):
    shutil.copytree(label_model(), weights_dir() / "mine")
    model = register_now(Registration("tone", "mine", "seahorse", "tone"), None)
    make_summary(project)
    setup = finished(plan_run(project, "seahorse", {"model": model.model})).setup
    assert set(setup.scores.computed().values_list("dimension", flat=True)) == {"tone"}


def test_the_authors_umse_keeps_its_form(project):
    shutil.copytree(tiny_umse(), weights_dir() / "umse")
    model = register_now(Registration("authors", "umse", "umse"), None)
    assert model.card.dimensions == ("coherence", "consistency", "fluency", "relevance")


def test_a_folder_with_a_card_keeps_it(project, registered):
    again = register_now(
        Registration("again", "trained/mine", note="Copied", seen={"validation": ("f" * 64,)}), None
    )
    first = model_of(project, "mine").card
    assert again.card.articles == {**first.articles, "validation": ("f" * 64,)}
    assert (again.card.params, again.card.data) == (first.params, {"note": "Copied"})
    assert read_card(folder_of("again")) == again.card
    with pytest.raises(InvalidTraining, match="evaluator: found 'umse', expected 'similarity'"):
        card_for(Registration("again", "trained/mine", "umse"), None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "A b"}, "name: found 'A b'"),
        ({"source": "/etc"}, "source: found '/etc', expected the id of a downloaded model"),
        ({"source": "none"}, "source: found 'none'"),
        ({"evaluator": ""}, "evaluator: the model has no card"),
        ({"evaluator": "rouge"}, "evaluator: rouge reads no weights"),
        (
            {"evaluator": "similarty"},
            "evaluator: no evaluator is called 'similarty'; did you mean similarity",
        ),
        ({"dimension": "tone"}, "dimension: found 'tone', expected none, since Embedding similarity"),
        ({"evaluator": "seahorse"}, "dimension: found none, expected the dimension of the model's question"),
        ({"params": {"against": "x"}}, "parameter 'against': found 'x'"),
    ],
)
def test_what_is_wrong_is_said_before_a_worker_tries(project, researcher, plain, changes, words):
    with pytest.raises(InvalidTraining) as refused:
        register_model(
            project,
            researcher,
            Registration(**{"name": "new", "source": plain, "evaluator": "similarity", **changes}),
        )
    assert words in str(refused.value)
    assert not RegisteredModel.objects.exists()


@pytest.mark.parametrize(
    ("evaluator", "model", "words"),
    [
        ("unieval", lambda: tiny_model("bert"), "is of the kind 'bert', no T5 or mT5"),
        ("similarity", lambda: tiny_model("t5"), "an encoder with a decoder"),
        ("entailment", lambda: tiny_model("bert"), "lack weights"),
    ],
)
def test_models_of_the_wrong_kind_are_refused(project, evaluator, model, words):
    shutil.copytree(model(), weights_dir() / "wrong")
    registration = Registration("wrong-kind", "wrong", evaluator)
    with pytest.raises(InvalidTraining, match=words):
        install_registered("wrong-kind", "wrong", card_for(registration, None))


def test_a_model_is_renamed_until_scores_name_it(
    project, researcher, registered, django_capture_on_commit_callbacks
):
    rename_model("mine", "better", project, researcher)
    assert [each.name for each in models_of(project)] == ["better"]
    make_summary(project)
    run = plan_run(project, "similarity", {"model": "trained/better", **AGAINST_ARTICLE})
    assert [each.pk for each in uses_of("better").setups] == [run.setup_id]
    with pytest.raises(ModelInUse, match="scores or trainings name it"):
        rename_model("better", "other", project, researcher)
    with pytest.raises(ModelInUse, match="A run with better is in progress"):
        remove_model("better", project, researcher)
    Run.objects.update(status=Run.Status.DONE)
    with django_capture_on_commit_callbacks(execute=True):
        remove_model("better", project, researcher)
    assert models_of(project) == []
    assert (weights_dir() / "plain/model.safetensors").exists()
    assert not RegisteredModel.objects.exists()


def test_only_those_who_manage_runs_of_its_project_change_a_model(
    project, researcher, registered, django_capture_on_commit_callbacks
):
    other = make_project()
    stranger = make_member(other, "researcher")
    with pytest.raises(NotFound):
        remove_model("mine", other, stranger)
    with pytest.raises(NotAllowed):
        rename_model("mine", "taken", project, make_rater(project).user)
    with pytest.raises(NotAllowed):
        register_model(project, make_rater(project).user, Registration("new", "plain", "similarity"))
    register_now(Registration("for-all", "plain", "similarity"), None)
    with pytest.raises(ModelInUse, match="Only the server's operator"):
        remove_model("for-all", other, stranger)
    with django_capture_on_commit_callbacks(execute=True):
        remove_model("for-all")
    assert [each.name for each in models_of(project)] == ["mine"]
