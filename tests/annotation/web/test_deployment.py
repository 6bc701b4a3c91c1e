from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks


@pytest.fixture(autouse=True)
def ready(tmp_path: Path, settings: Any) -> None:
    """Settings of a production in which nothing is wrong."""
    (tmp_path / "staticfiles.json").touch()
    settings.ALLOWED_HOSTS = ["rate.example.org"]
    settings.BASE_DIR = settings.STATIC_ROOT = settings.MEDIA_ROOT = tmp_path
    settings.OIDC_ISSUER = settings.EMAIL_URL = ""


def found() -> list[str]:
    messages = run_checks(tags=["security"], include_deployment_checks=True)
    return [each.msg for each in messages if each.id and each.id.startswith("touchstone.")]


def test_nothing_is_found_where_nothing_is_wrong():
    assert found() == []


def test_hosts_of_any_name(settings):
    settings.ALLOWED_HOSTS = ["rate.example.org", "*"]
    assert found() == ["ALLOWED_HOSTS: found *, so a stranger decides where the links in mails lead."]


def test_static_files_that_are_not_collected(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path / "staticfiles"
    assert found() == ["Styles and scripts are not collected, so every page fails."]


def test_uploads_that_cannot_be_stored(settings, tmp_path):
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file" / "uploads"
    assert found() == [
        f"UPLOAD_DIR: {tmp_path}/file/uploads cannot be written by this user, so imports fail."
    ]


def test_a_folder_of_uploads_that_will_be_made(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "new" / "uploads"
    assert found() == []


def test_a_provider_without_https(settings):
    settings.OIDC_ISSUER = "http://login.example.org"
    assert found() == [
        "OIDC_ISSUER: found http://login.example.org, expected https, or anybody on the way can sign in."
    ]


def test_mails_without_a_sender(settings):
    settings.EMAIL_URL = "smtp://mail.example.org"
    assert found() == ["EMAIL_FROM is not set, and mail servers refuse mails from localhost."]


def test_what_script_up_left(tmp_path):
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "local.env").touch()
    assert found() == [
        "var/local.env is left over from script/up. A command without settings would use local mode."
    ]
