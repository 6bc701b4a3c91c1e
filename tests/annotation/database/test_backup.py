"""Copies of the SQLite database: by the command, and daily."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from annotation.database import backup
from annotation.database.backup import KEPT_COPIES, back_up_daily

pytestmark = pytest.mark.django_db

sqlite_only = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is backed up by pg_dump")


@pytest.fixture(autouse=True)
def folder(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(backup, "_not_before", 0.0)
    settings.BACKUP_DIR = tmp_path / "copies"
    settings.BACKUP_DIR.mkdir()
    return settings.BACKUP_DIR


def copies(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def today() -> str:
    return f"touchstone-{timezone.localdate()}.sqlite3"


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond a few pages, as on a disk that is nearly full."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@sqlite_only
def test_the_command_writes_a_whole_copy_for_its_owner_alone(folder):
    call_command("backup", str(folder / "copy.sqlite3"))
    assert copies(folder) == ["copy.sqlite3"]
    assert (folder / "copy.sqlite3").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(folder / "copy.sqlite3")) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert copy.execute("SELECT count(*) FROM django_migrations").fetchone() > (10,)


@sqlite_only
def test_the_command_overwrites_nothing(folder):
    (folder / "copy.sqlite3").write_text("mine")
    with pytest.raises(CommandError, match="exists already") as refused:
        call_command("backup", str(folder / "copy.sqlite3"))
    assert refused.value.returncode == 2
    assert (folder / "copy.sqlite3").read_text() == "mine"


@sqlite_only
def test_the_command_leaves_nothing_on_a_full_disk(folder):
    with full_disk(), pytest.raises(CommandError, match="No copy was made") as refused:
        call_command("backup", str(folder / "copy.sqlite3"))
    assert refused.value.returncode == 1
    assert copies(folder) == []


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has copies")
def test_the_command_refuses_postgresql(tmp_path):
    with pytest.raises(CommandError, match="pg_dump"):
        call_command("backup", str(tmp_path / "copy"))


@sqlite_only
def test_one_copy_a_day_and_the_last_seven(folder):
    old = [f"touchstone-2026-01-{day:02}.sqlite3" for day in range(1, 10)]
    for name in [*old, "notes.txt"]:
        (folder / name).touch()
    back_up_daily()
    assert copies(folder) == ["lock", "notes.txt", *old[1 - KEPT_COPIES :], today()]
    made = (folder / today()).stat()
    assert made.st_size > 100_000
    back_up_daily()
    assert (folder / today()).stat().st_mtime_ns == made.st_mtime_ns


@sqlite_only
def test_a_failed_daily_copy_is_an_error_in_the_log_and_tried_again_later(folder, caplog, monkeypatch):
    with full_disk():
        back_up_daily()
    assert copies(folder) == ["lock"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "No backup was made" in caplog.text
    back_up_daily()
    assert copies(folder) == ["lock"]
    monkeypatch.setattr(backup, "_not_before", 0.0)
    back_up_daily()
    assert copies(folder) == ["lock", today()]


@sqlite_only
def test_what_a_killed_process_left_is_replaced(folder):
    (folder / f"{today()}.part").write_text("half")
    back_up_daily()
    assert copies(folder) == ["lock", today()]


def test_no_copies_without_the_setting(settings, folder):
    settings.BACKUP_DIR = None
    back_up_daily()
    assert copies(folder) == []
