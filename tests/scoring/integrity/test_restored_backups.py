"""A backup that was made while people rated is restored elsewhere, and is sound there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
from django.core.management import call_command
from django.db import connection

from annotation.models import Project, Rating
from metaeval.tasks import sweep
from tests.campaigns import finish_rating
from tests.conftest import ROOT
from tests.factories import make_rater, make_summary
from tests.scoring.integrity.sound_campaign import make_sound_campaign

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
def _separate_upload_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"


def rate_until(stop: Event, project: Project) -> None:
    rater = make_rater(project)
    while not stop.is_set():
        make_summary(project)
        finish_rating(rater)
    connection.close()


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


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is backed up by pg_dump")
def test_a_copy_made_while_people_rate(settings, tmp_path):
    campaign = make_sound_campaign()
    before = Rating.objects.count()
    stop = Event()
    writer = Thread(target=rate_until, args=(stop, campaign.project))
    writer.start()
    try:
        while Rating.objects.count() < before + 5:
            pass
        call_command("backup", str(tmp_path / "copy.sqlite3"))
        copied_at = Rating.objects.count()
        while Rating.objects.count() < copied_at + 5:
            pass
    finally:
        stop.set()
        writer.join()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(tmp_path / "copy.sqlite3", elsewhere / "touchstone.sqlite3")
    shutil.copytree(settings.MEDIA_ROOT, elsewhere / "uploads")
    assert "Sound: 26 checks" in check_restored(VAR_DIR=str(elsewhere))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is backed up by pg_dump")
def test_the_sweep_makes_the_daily_copy(settings, tmp_path):
    settings.BACKUP_DIR = tmp_path / "copies"
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
