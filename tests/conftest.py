"""What every test may ask for."""

from pathlib import Path

import hypothesis
import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and golden numbers beside the checkout; users do not have it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/ beside the checkout: real ratings and golden numbers")
    return folder


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put SQLite's test database on disk, as in use: threads and processes then meet in one database."""
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"]:
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "_django_db_helper"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & DATABASE_FIXTURES or any(map(item.get_closest_marker, ("django_db", "browser"))):
            item.add_marker(pytest.mark.database)


def pytest_configure() -> None:
    # How long an example takes depends on what else the machine does, and tells nothing about a law.
    hypothesis.settings.register_profile("laws", deadline=None)
    hypothesis.settings.load_profile("laws")
    settings.WHITENOISE_AUTOREFRESH = True  # or each test client would look through all static files
    # Users are made in nearly every test, and a slow hash protects nothing here.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
