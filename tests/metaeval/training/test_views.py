"""The pages of trainings: list, form with preview, curves, actions."""

import io
import shutil

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.models import RegisteredModel, Training
from scoring.runs.planning import plan_run
from scoring.training.planning import plan_training, start_training
from scoring.training.registration_worker import work_on_registration
from scoring.training.worker import claim_training, work_on_training
from scoring.weights.model_files import weights_dir
from scoring.weights.trained_models import trained_models
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.factories import make_member, make_project
from tests.scoring.runs.test_planning import finished
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

HTMX = {"headers": {"hx-request": "true"}}


@pytest.fixture
def researcher(project) -> Client:
    return signed_in(make_member(project, "researcher"))


@pytest.fixture
def training(project) -> Training:
    return start_training(plan_training(project, "counting", {}), None, "mine")


def address(name: str, project, *ids: object) -> str:
    return reverse(name, args=[project.slug, *ids])


class TestForm:
    FORM = {"method": "counting", "param_steps": "4", "param_dimension": "attribution", "param_epochs": "2"}

    def test_shows_parameters_by_group(self, project, researcher):
        text = text_of(researcher.get(address("training_new", project) + "?method=counting"))
        assert "New training of Counting" in text
        assert "It learns nothing, and saves a tiny encoder." in text
        assert text.index("<summary>Method</summary>") < text.index("<summary>Counting</summary>")

    def test_preview_counts_what_it_learns_from(self, project, researcher):
        response = researcher.post(address("training_new", project), self.FORM, **HTMX)
        assert "<dt>Training examples</dt><dd>3</dd>" in text_of(response)
        assert "<dt>Share for training</dt><dd>60.0%</dd>" in text_of(response)
        assert "warning" not in text_of(response)
        assert not Training.objects.exists()

    def test_preview_warns_of_doubtful_data(self, project, researcher):
        response = researcher.post(
            address("training_new", project), {**self.FORM, "param_steps": "1"}, **HTMX
        )
        assert '<p class="message warning">One step shows little.</p>' in text_of(response)

    def test_preview_and_start_warn_of_what_rarely_trains(self, project, researcher):
        shutil.copytree(tiny_model("bert"), weights_dir() / "tiny")
        form = {
            "method": "seahorse",
            "param_model": "tiny",
            "param_dimensions": ["attribution"],
            "param_learning_rate": "1",
        }
        here = address("training_new", project)
        assert "Learning rate 1 is unusual." in text_of(researcher.post(here, form, **HTMX))
        started = researcher.post(here, {**form, "action": "start"}, follow=True)
        assert "Learning rate 1 is unusual." in text_of(started)

    def test_starts(self, project, researcher):
        response = researcher.post(
            address("training_new", project), {**self.FORM, "name": "mine", "action": "start"}
        )
        training = Training.objects.get()
        assert response.url == address("training", project, training.pk)
        assert (training.name, training.params["steps"]) == ("mine", 4)

    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"name": "A b"}, "name", "Found 'A b'"),
            ({"param_dimension": "grammar"}, None, "No summary has a label on grammar"),
            ({"param_steps": "0"}, "param_steps", "greater than or equal to 1"),
        ],
    )
    def test_names_what_is_wrong(self, project, researcher, change, field, words):
        response = researcher.post(
            address("training_new", project), {**self.FORM, **change, "action": "start"}
        )
        assert response.status_code == 422
        form = response.context["form"]
        assert words in " ".join(form.errors[field] if field else form.non_field_errors())

    def test_an_unknown_method_is_not_found(self, project, researcher):
        assert researcher.get(address("training_new", project) + "?method=none").status_code == 404


class TestPage:
    def test_polls_while_it_waits_and_while_it_runs(self, project, researcher, training):
        here = address("training", project, training.pk)
        assert "Waiting for a worker" in text_of(researcher.get(here))
        claim_training(training.pk)
        assert f'hx-get="{here}" hx-trigger="every 2s"' in text_of(researcher.get(here, **HTMX))

    def test_shows_curves_data_and_the_model(self, project, researcher, training):
        work_on_training(training.pk)
        response = researcher.get(address("training", project, training.pk))
        text = text_of(response)
        assert "hx-trigger" not in text
        assert "Best after step <b>10</b>: validation loss <b>0.100</b>" in text
        assert "[0.050, 0.200]" in text
        assert "95% intervals from resamples of the 2 validation articles" in text
        training.refresh_from_db()
        training.intervals = {}
        training.save()
        text = text_of(researcher.get(address("training", project, training.pk)))
        assert "fewer than 10 validation articles (2)" in text
        assert "training loss: 2 at step 1, 0.2 at step 10." in text
        assert "validation loss: 0.2 at step 5, 0.1 at step 10." in text
        assert "3 in training, 2 in validation" in text
        assert "style=" not in text

    def test_the_model_keeps_the_warnings_of_its_data(self, project, researcher):
        training = start_training(plan_training(project, "counting", {"steps": "1"}), None, "brief")
        work_on_training(training.pk)
        for here in (address("training", project, training.pk), address("model", project, "brief")):
            assert "One step shows little." in text_of(researcher.get(here))

    def test_offers_a_run_with_the_model_filled_in(self, project, researcher, training):
        work_on_training(training.pk)
        page = researcher.get(address("training", project, training.pk)).context["page"]
        form = researcher.get(page.run_address).context["form"]
        assert form["param_model"].value() == "trained/mine"
        assert form["param_against"].value() == "article"

    def test_leads_to_the_comparison_once_the_model_has_scored(self, project, researcher, training):
        work_on_training(training.pk)
        here = address("training", project, training.pk)
        assert "Compare on unseen articles" not in text_of(researcher.get(here))
        [model] = trained_models()
        finished(plan_run(project, "similarity", {"model": model.model, **model.card.params}))
        assert "Compare on unseen articles" in text_of(researcher.get(here))

    def test_curves_are_files(self, project, researcher, training):
        work_on_training(training.pk)
        here = address("training_figure", project, training.pk, "loss", "csv")
        assert here in text_of(researcher.get(address("training", project, training.pk)))
        rows = researcher.get(here).content.decode().splitlines()
        assert rows[0] == "step,epoch,training_loss,validation_loss"
        assert rows[5].startswith("5,1.0,0.4,0.2")

    def test_an_unexpected_failure_is_shown(self, project, researcher, training):
        Training.objects.update(status=Training.Status.FAILED, failure="memory is <too> small")
        text = text_of(researcher.get(address("training", project, training.pk)))
        assert "Memory is &lt;too&gt; small" in text


class TestActions:
    def test_cancel_and_resume(self, project, researcher, training):
        page = address("training", project, training.pk)
        assert researcher.post(address("training_cancel", project, training.pk)).url == page
        training.refresh_from_db()
        assert training.status == Training.Status.CANCELLED
        researcher.post(address("training_resume", project, training.pk))
        training.refresh_from_db()
        assert training.status == Training.Status.QUEUED

    def test_deleting_asks_first_and_says_what_goes(self, project, researcher, training):
        work_on_training(training.pk)
        [model] = trained_models()
        run = plan_run(project, "similarity", {"model": model.model, **model.card.params})
        here = address("training_delete", project, training.pk)
        in_progress = "A run with mine is in progress. Cancel it or wait until it ends."
        assert in_progress in text_of(researcher.get(here))
        assert in_progress in text_of(researcher.post(here, follow=True))
        finished(run)
        text = text_of(researcher.get(here))
        assert in_progress not in text
        assert "its model trained/mine for everybody in this project." in text
        assert "1 evaluator scored with the model" in text
        assert researcher.post(here).url == address("trainings", project)
        assert not Training.objects.exists()

    def test_one_in_progress_is_not_deleted(self, project, researcher, training):
        here = address("training_delete", project, training.pk)
        assert "Cancel it first" in text_of(researcher.get(here))
        researcher.post(here)
        assert Training.objects.exists()


class TestList:
    def test_is_empty_at_first(self, project, researcher):
        text = text_of(researcher.get(address("trainings", project)))
        assert "No trainings yet" in text
        assert "No trained models yet." in text

    def test_shows_trainings_and_models(self, project, researcher, training):
        work_on_training(training.pk)
        text = text_of(researcher.get(address("trainings", project)))
        assert address("training", project, training.pk) in text
        assert "<dt>Articles seen</dt><dd>5</dd>" in text
        assert "Score with this model" in text

    def test_polls_while_one_is_unfinished(self, project, researcher, training):
        here = address("trainings", project)
        assert "every 2s" in text_of(researcher.get(here))
        work_on_training(training.pk)
        assert "every 2s" not in text_of(researcher.get(here, **HTMX))


class TestModels:
    def test_a_model_is_downloaded_and_imported_elsewhere(self, project, researcher, training):
        work_on_training(training.pk)
        here = address("model_archive", project, "mine")
        assert here in text_of(researcher.get(address("trainings", project)))
        response = researcher.get(here)
        assert response["Content-Disposition"] == 'attachment; filename="mine.tar"'
        file = io.BytesIO(b"".join(response.streaming_content))
        file.name = "copy.tar"
        page = researcher.post(address("model_import", project), {"file": file}, follow=True)
        assert "Model copy imported." in text_of(page)
        assert [each.name for each in trained_models()] == ["copy", "mine"]

    def test_what_is_no_model_is_refused_with_the_reason(self, project, researcher):
        file = io.BytesIO(b"no archive")
        file.name = "copy.tar"
        page = researcher.post(address("model_import", project), {"file": file}, follow=True)
        assert "This is no archive of a model" in text_of(page)
        assert list(trained_models()) == []

    def test_too_large_uploads_are_refused(self, project, researcher, settings):
        settings.UPLOAD_MAX_BYTES = 100
        file = io.BytesIO(bytes(4000))
        file.name = "copy.tar"
        page = researcher.post(address("model_import", project), {"file": file}, follow=True)
        assert "The file is larger than" in text_of(page)

    def test_a_model_is_registered_watched_renamed_and_deleted(
        self, project, researcher, django_capture_on_commit_callbacks
    ):
        shutil.copytree(tiny_model("bert"), weights_dir() / "plain")
        seen = SimpleUploadedFile("seen.jsonl", b'{"article": "It was seen."}')
        form = {"name": "mine", "source": "plain", "evaluator": "similarity", "params": "against=article"}
        here = address("model", project, "mine")
        sent = researcher.post(
            address("model_register", project), {**form, "seen": seen, "note": "Old <news>"}
        )
        assert sent.url == here
        assert "Waiting for a worker" in text_of(researcher.get(here))
        assert f'href="{here}"' in text_of(researcher.get(address("trainings", project)))
        work_on_registration(RegisteredModel.objects.get().pk)
        text = text_of(researcher.get(here, **HTMX))
        assert "hx-trigger" not in text
        assert "1 in training. The comparison leaves them out." in text
        assert "Old &lt;news&gt;" in text
        assert "param_against=article" in text
        text = text_of(
            researcher.post(address("model_rename", project, "mine"), {"name": "A b"}, follow=True)
        )
        assert "Found &#x27;A b&#x27;, expected up to 60" in text
        assert researcher.post(address("model_rename", project, "mine"), {"name": "new"}).url == address(
            "model", project, "new"
        )
        delete = address("model_delete", project, "new")
        assert "the files that it was registered from stay" in text_of(researcher.get(delete))
        with django_capture_on_commit_callbacks(execute=True):
            researcher.post(delete)
        assert list(trained_models()) == []
        assert researcher.get(delete).status_code == 404

    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"source": "none"}, "source", "Found 'none', expected the id"),
            ({"params": "x"}, "params", "Found 'x', expected NAME=VALUE"),
            ({"params": "against=x"}, "params", "Parameter 'against': found 'x'"),
            ({"seen": b"\xff"}, "seen", "The file is not text in UTF-8"),
            ({"seen": b"a99"}, "seen", "Line 1: found 'a99'"),
            ({"dimension": "tone"}, "dimension", "Found 'tone', expected none"),
        ],
    )
    def test_what_is_wrong_in_a_registration_is_shown_beside_its_field(
        self, project, researcher, change, field, words
    ):
        shutil.copytree(tiny_model("bert"), weights_dir() / "plain")
        if "seen" in change:
            change = {"seen": SimpleUploadedFile("seen.txt", change["seen"])}
        form = {"name": "mine", "source": "plain", "evaluator": "similarity", **change}
        response = researcher.post(address("model_register", project), form)
        assert response.status_code == 422
        assert words in response.context["form"].errors[field][0]

    def test_a_failed_registration_says_why_and_leads_back_to_the_form(self, project, researcher):
        RegisteredModel.objects.create(
            project=project,
            name="mine",
            source="plain",
            status=RegisteredModel.Status.FAILED,
            failure="weights hold <NaN>",
            finished_at=timezone.now(),
        )
        text = text_of(researcher.get(address("model", project, "mine")))
        assert "Weights hold &lt;NaN&gt;" in text
        again = researcher.get(address("model_register", project) + "?name=mine&source=plain").context["form"]
        assert again["source"].value() == "plain"
        assert "✕ failed" in text_of(researcher.get(address("trainings", project)))

    def test_models_of_other_projects_are_not_found(self, training):
        work_on_training(training.pk)
        other = make_project()
        client = Client()
        client.force_login(make_member(other, "researcher"))
        for name in ("model_archive", "model", "model_delete"):
            assert client.get(address(name, other, "mine")).status_code == 404
