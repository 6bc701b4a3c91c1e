"""Settings of a fresh checkout, and the server and commands of production."""

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from celery.beat import Service
from environ import ImproperlyConfigured

from touchstone.celery import app
from touchstone.settings import MAY_BE_FILES

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "TOUCHSTONE_MODE": "production",
    "SECRET_KEY": "k9$Vw2" * 12,
    "ALLOWED_HOSTS": "touchstone.example.org",
}
Load = Callable[..., dict[str, Any]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Return a function that loads the settings of a fresh checkout in `tmp_path` in an environment."""
    (tmp_path / "touchstone").mkdir()
    copy = shutil.copy(ROOT / "touchstone" / "settings.py", tmp_path / "touchstone")

    def load(**environment: str) -> dict[str, Any]:
        with monkeypatch.context() as patched:
            for name in {*PRODUCTION, *MAY_BE_FILES, "DEBUG", "VAR_DIR", "BACKUP_DIR"}:
                patched.setenv(name, "")  # so that what the settings set is undone
                patched.delenv(name)
            for name, value in environment.items():
                patched.setenv(name, value)
            return runpy.run_path(copy)

    return load


@pytest.fixture
def left_over(tmp_path: Path) -> None:
    """Leave the local mode of `script/up` in the fresh checkout."""
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "local.env").write_text("TOUCHSTONE_MODE=local\nSECRET_KEY=left-over\n")


def test_production_is_secure_by_default(load):
    found = load(**PRODUCTION)
    expected = {
        "DEBUG": False,
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "ALLOWED_HOSTS": ["touchstone.example.org"],
        "CELERY_ACCEPT_CONTENT": ["json"],
    }
    assert {name: found[name] for name in expected} == expected


def test_production_does_not_start_without_a_secret_key(load):
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        load(TOUCHSTONE_MODE="production")


@pytest.mark.parametrize("name", ["SECRET_KEY", "ENDPOINT_KEYS_SECRET"])
@pytest.mark.parametrize("guessed", ["k9$Vw2" * 8, "ab" * 30, "django-insecure-" + "k9$Vw2" * 12])
def test_production_refuses_a_secret_that_can_be_guessed(load, name, guessed):
    with pytest.raises(ImproperlyConfigured, match=f"{name}: production needs at least 50 random characters"):
        load(**{**PRODUCTION, name: guessed})


def test_production_refuses_to_show_tracebacks(load):
    with pytest.raises(ImproperlyConfigured, match=r"DEBUG: .* needs TOUCHSTONE_MODE=local"):
        load(**PRODUCTION, DEBUG="true")


def test_an_unknown_mode_is_refused(load):
    with pytest.raises(ImproperlyConfigured, match="expected 'production' or 'local'"):
        load(**{**PRODUCTION, "TOUCHSTONE_MODE": "staging"})


def test_an_unknown_demand_for_two_factor_authentication_is_refused(load):
    with pytest.raises(ImproperlyConfigured, match=r"TWO_FACTOR: found 'raters', expected 'offered'"):
        load(**PRODUCTION, TWO_FACTOR="raters")


def test_an_unknown_format_of_the_log_is_refused(load):
    with pytest.raises(ImproperlyConfigured, match=r"LOG_FORMAT: found 'xml', expected 'line' or 'json'"):
        load(**PRODUCTION, LOG_FORMAT="xml")


@pytest.mark.usefixtures("left_over")
def test_a_key_in_the_environment_means_production_whatever_script_up_left(load):
    found = load(SECRET_KEY=PRODUCTION["SECRET_KEY"])
    assert found["MODE"] == "production"
    assert found["SECRET_KEY"] == PRODUCTION["SECRET_KEY"]
    assert found["SESSION_COOKIE_SECURE"]


@pytest.mark.usefixtures("left_over")
def test_a_command_without_settings_uses_what_script_up_left(load):
    found = load()
    assert (found["MODE"], found["SECRET_KEY"]) == ("local", "left-over")


FROM_FILES = {
    "SECRET_KEY": "k9$Vw2" * 12,
    "ENDPOINT_KEYS_SECRET": "p3#Xy7" * 12,
    "DATABASE_URL": "postgres://somebody:word@host/name",
    "BROKER_URL": "redis://host:6379/0",
    "EMAIL_URL": "smtp+tls://somebody:word@mail.example.org:587",
    "OIDC_CLIENT_SECRET": "of the provider",
}


@pytest.mark.usefixtures("left_over")
def test_secrets_are_read_from_files_and_stay_out_of_the_environment(load, tmp_path):
    assert set(FROM_FILES) == set(MAY_BE_FILES)
    for name, text in FROM_FILES.items():
        (tmp_path / name).write_text(f"{text}\n")
    found = load(**{f"{name}_FILE": str(tmp_path / name) for name in FROM_FILES})
    database = found["DATABASES"]["default"]
    assert found["MODE"] == "production"
    assert found["SECRET_KEY"] == FROM_FILES["SECRET_KEY"]
    assert found["ENDPOINT_KEYS_SECRET"] == FROM_FILES["ENDPOINT_KEYS_SECRET"]
    assert (database["HOST"], database["NAME"], database["PASSWORD"]) == ("host", "name", "word")
    assert found["CELERY_BROKER_URL"] == FROM_FILES["BROKER_URL"]
    assert (found["EMAIL_HOST"], found["EMAIL_HOST_PASSWORD"]) == ("mail.example.org", "word")
    assert found["OIDC_RP_CLIENT_SECRET"] == "of the provider"
    assert os.environ.get("SECRET_KEY") != FROM_FILES["SECRET_KEY"]


def test_a_secret_in_a_file_that_can_be_guessed_is_refused(load, tmp_path):
    (tmp_path / "key").write_text("short\n")
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY: production needs"):
        load(SECRET_KEY_FILE=str(tmp_path / "key"))


@pytest.mark.parametrize("name", FROM_FILES)
def test_a_secret_whose_file_cannot_be_read_is_named(load, tmp_path, name):
    others = {each: text for each, text in PRODUCTION.items() if each != name}
    with pytest.raises(ImproperlyConfigured, match=rf"{name}_FILE: .*missing.* Set it to a text file"):
        load(**others, **{f"{name}_FILE": str(tmp_path / "missing")})


def test_a_secret_is_given_once(load, tmp_path):
    (tmp_path / "key").write_text(PRODUCTION["SECRET_KEY"])
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY_FILE: SECRET_KEY is set, too"):
        load(**PRODUCTION, SECRET_KEY_FILE=str(tmp_path / "key"))


def test_the_folder_of_the_embedded_defaults_is_made_for_its_owner_alone(load, tmp_path):
    found = load(**PRODUCTION)
    database = Path(found["DATABASES"]["default"]["NAME"])
    assert database.parent == tmp_path / "var"
    assert database.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_named(load, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ImproperlyConfigured, match=r"VAR_DIR: .*file/var.* Set it to a folder"):
        load(**PRODUCTION, VAR_DIR=str(tmp_path / "file" / "var"))


def test_daily_copies_go_to_a_folder_that_is_made(load, tmp_path):
    assert load(**PRODUCTION)["BACKUP_DIR"] is None
    made = load(**PRODUCTION, BACKUP_DIR=str(tmp_path / "new" / "copies"))["BACKUP_DIR"]
    assert made == tmp_path / "new" / "copies"
    assert made.stat().st_mode & 0o777 == 0o700


def test_daily_copies_that_cannot_be_made_are_refused(load, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ImproperlyConfigured, match=r"BACKUP_DIR: .*file/copies.* Set it to a folder"):
        load(**PRODUCTION, BACKUP_DIR=str(tmp_path / "file" / "copies"))


def test_daily_copies_of_postgresql_are_refused(load, tmp_path):
    elsewhere = {"DATABASE_URL": "postgres://somebody@host/name", "BACKUP_DIR": str(tmp_path)}
    with pytest.raises(ImproperlyConfigured, match="BACKUP_DIR: only SQLite"):
        load(**PRODUCTION, **elsewhere)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_server_without_settings_does_not_start_on_what_script_up_left():
    done = run("-c", "import touchstone.wsgi")
    assert done.returncode != 0
    assert "SECRET_KEY" in done.stderr


def test_commands_of_production(tmp_path):
    """One process makes the checks that must find nothing, and refuses the demo."""
    (tmp_path / "staticfiles.json").touch()
    done = run(
        *("manage.py", "shell", "--no-imports", "-c"),
        f"""
from pathlib import Path
from django.conf import settings
from django.core.management import CommandError, call_command
settings.STATIC_ROOT = settings.BASE_DIR = Path({str(tmp_path)!r})
call_command("check", deploy=True, fail_level="WARNING")
try:
    call_command("load_demo")
except CommandError as error:
    print(error)
""",
        **PRODUCTION,
        VAR_DIR=str(tmp_path / "fresh" / "var"),
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
    assert "load_demo makes accounts that anybody at this machine may enter" in done.stdout


def test_the_clock_writes_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clock = Service(app, scheduler_cls=app.Beat().scheduler_cls)
    clock.scheduler.tick()
    clock.sync()
    assert "sweep" in clock.scheduler.schedule
    assert list(tmp_path.iterdir()) == []
