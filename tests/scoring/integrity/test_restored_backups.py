"""A backup that was made while people rated is restored elsewhere, and is sound there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from django.core.management import call_command
from django.db import connection

from annotation.models import Project, Rating
from metaeval.tasks import sweep
from scoring.integrity.checks import check_results
from tests.campaigns import finish_rating
from tests.conftest import ROOT
from tests.factories import make_rater, make_summary
from tests.scoring.integrity.sound_campaign import make_sound_campaign

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
def _separate_upload_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"


@contextmanager
def people_rating(project: Project) -> Iterator[Callable[[], None]]:
    """Let a rater rate during the block, which gets a function that waits for five more ratings."""
    stop = Event()

    def rate() -> None:
        rater = make_rater(project)
        while not stop.is_set():
            make_summary(project)
            finish_rating(rater)
        connection.close()

    def wait() -> None:
        enough = Rating.objects.count() + 5
        while Rating.objects.count() < enough:
            assert writer.is_alive()

    writer = Thread(target=rate)
    writer.start()
    try:
        yield wait
    finally:
        stop.set()
        writer.join()


def check_restored(**environment: str) -> str:
    """Run check_integrity as on another machine, and return what it prints."""
    others = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "UPLOAD_DIR")}
    local = {"TOUCHSTONE_MODE": "local", "SECRET_KEY": "restored" * 8}
    command = [sys.executable, "manage.py", "check_integrity"]
    done = subprocess.run(
        command, cwd=ROOT, env={**others, **local, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_checks_neither_mistake_nor_stop_people_who_rate():
    campaign = make_sound_campaign()
    with people_rating(campaign.project) as wait:
        for _ in range(5):
            wait()
            assert [each.check.name for each in check_results() if each.broken] == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is backed up by pg_dump")
def test_a_copy_made_while_people_rate(settings, tmp_path):
    campaign = make_sound_campaign()
    with people_rating(campaign.project) as wait:
        wait()
        call_command("backup", str(tmp_path / "copy.sqlite3"))
        wait()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(tmp_path / "copy.sqlite3", elsewhere / "touchstone.sqlite3")
    shutil.copytree(settings.MEDIA_ROOT, elsewhere / "uploads")
    assert "Sound: 26 checks" in check_restored(VAR_DIR=str(elsewhere))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is backed up by pg_dump")
def test_the_sweep_makes_the_daily_copy(settings, tmp_path):
    settings.BACKUP_DIR = tmp_path / "copies"
    settings.BACKUP_DIR.mkdir()
    sweep()
    assert len(list(settings.BACKUP_DIR.glob("*.sqlite3"))) == 1


@pytest.mark.thorough
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has a command of its own")
@pytest.mark.skipif(not shutil.which("pg_dump") or not shutil.which("pg_restore"), reason="needs pg_dump")
def test_a_dump_of_postgresql(settings, tmp_path):
    make_sound_campaign()
    database = connection.settings_dict
    server = f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}"
    name, dump = f"{database['NAME']}_restored", Path(tmp_path / "touchstone.dump")
    environment = {**os.environ, "PGPASSWORD": database["PASSWORD"]}

    def run(*command: str) -> None:
        subprocess.run(command, check=True, env=environment)

    run("pg_dump", "--format=custom", f"--file={dump}", f"{server}/{database['NAME']}")
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}"')
    try:
        run("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={server}/{name}", str(dump))
        restored = {"DATABASE_URL": f"{server}/{name}", "UPLOAD_DIR": str(settings.MEDIA_ROOT)}
        printed = check_restored(**restored, VAR_DIR=str(tmp_path), PGPASSWORD=database["PASSWORD"])
        assert "Sound: 24 checks" in printed
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}"')
