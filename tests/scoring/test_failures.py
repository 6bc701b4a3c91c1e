"""Messages of failed runs, imports and trainings, which pages and the API show."""

from pathlib import Path

import pytest
from django.apps import apps

from annotation.models import FailureField
from scoring.models import Run
from scoring.runs.worker import work_on_run
from tests.scoring.claims import make_run


@pytest.mark.django_db
@pytest.mark.parametrize("error", [FileNotFoundError, OSError, ValueError])
def test_no_folder_of_the_server_is_stored(monkeypatch, tmp_path, error):
    run = make_run(monkeypatch)
    lost = tmp_path / "models" / "bert.bin"

    def fail(*_: object) -> None:
        raise error(f"cannot read '{lost}', which is no file")

    monkeypatch.setattr("scoring.runs.worker.score_items", fail)
    work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert f"{error.__name__}: cannot read '.../bert.bin', which is no file" in run.failure
    assert str(tmp_path) not in run.failure


@pytest.mark.parametrize(
    "message",
    [
        "https://api.example.org/v1/chat/completions answers 404: no route /v1/chat/completions",
        "Choose 0.5/0.5 and/or lower it.",
        f"{Path('tmp/models')} is relative",
    ],
)
def test_addresses_and_fractions_stay(message):
    assert FailureField().get_prep_value(message) == message


def test_every_failure_is_stored_without_folders():
    fields = [
        field
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.name.endswith("failure") and model.__module__.startswith(("annotation", "scoring"))
    ]
    assert len(fields) >= 8
    assert all(isinstance(field, FailureField) for field in fields)
