"""Fixtures and settings of all tests."""

import fcntl
import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from annotation.models import Project, Rater
from tests.costs import Costs
from tests.factories import make_member, make_project, make_rater
from tests.scoring.processes import RabbitMQ

# Each test process has one core; more threads of a model would only wait for other processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data and golden numbers beside the checkout; skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/ beside the checkout: real ratings and golden numbers")
    return folder


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create an SQLite file with all tables and no rows, once for all processes, which copy it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / "migrated" / "touchstone.sqlite3"
    with (folder / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.parent.mkdir()
            environment = {**os.environ, "VAR_DIR": str(path.parent), "DATABASE_URL": f"sqlite:///{path}"}
            command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return path


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest) -> bool:
    """Keep SQLite's test database, which is a copy that has its tables."""
    return "sqlite" in settings.DATABASES["default"]["ENGINE"] or bool(request.config.option.reuse_db)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Put SQLite's test database on disk, so that threads and processes share it.

    On PostgreSQL each test process has its own database, named with a suffix.
    """
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"]:
        copy = shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path_factory.mktemp("database"))
        database.setdefault("TEST", {})["NAME"] = str(copy)


@pytest.fixture
def project(db: None) -> Project:
    """Return an empty project with SEAHORSE's questions, and below whoever has a role in it."""
    return make_project()


@pytest.fixture
def manager(project: Project) -> User:
    return make_member(project, "manager")


@pytest.fixture
def researcher(project: Project) -> User:
    return make_member(project, "researcher")


@pytest.fixture
def rater(project: Project) -> Rater:
    return make_rater(project)


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    """Return a virtual host of these tests."""
    server = RabbitMQ()
    try:
        server.start()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs a running RabbitMQ and the rights of rabbitmqctl: {error}")
    yield server
    server.kill()


@pytest.fixture(autouse=True)
def no_stranger_asked_before() -> None:
    """Forget what strangers asked of published results in earlier tests, which have the same address."""
    if strangers := sys.modules.get("metaeval.live.strangers"):
        vars(strangers.ANSWERS).update(vars(strangers.AnswersToStrangers()))


@pytest.fixture(autouse=True)
def no_change_counted_before() -> None:
    """Forget the changes through the API of earlier tests, whose users have the same ids."""
    cache.clear()


DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "_django_db_helper"}
SAME_ON_EVERY_DATABASE = (
    "tests/browser/",
    "tests/security/",
    "tests/metaeval/across_projects/",
    "tests/metaeval/agreement/",
    "tests/metaeval/answers/",
    "tests/metaeval/card/",
    "tests/metaeval/charts/",
    "tests/metaeval/comparison/",
    "tests/metaeval/live/",
    "tests/metaeval/systems/",
)
PAGES = re.compile(r".*/test_\w*(views|pages?|api|forms|exporter)\.py")
"""Tests in these files and in those above use a database only through rooms that are tested on both.

They look at pages, files to download, and results that are computed from a snapshot. On PostgreSQL, the
access matrix opens every address, and further values are tried in these files too.
"""
WAITING = (
    "tests/browser/",
    "tests/scoring/llm/test_client.py",
    "tests/scoring/management/test_import_killed.py",
    "tests/scoring/runs/test_real_worker.py",
    "tests/script/",
    "tests/touchstone/test_web_server.py",
)
"""Tests that mostly wait for servers, workers and browsers. They share one process."""
LONGEST = (
    "tests/browser/",
    "tests/test_access_matrix.py",
    "tests/scoring/trainers/",
    "tests/annotation/rating/test_concealment.py",
    "tests/scoring/files/test_bounded_memory.py",
    "tests/scoring/neural/test_causal_lm.py",
)
"""These start first, in this order, so that no process waits for another at the end."""
STACK_WORDS = 2**16
"""For the test loop's frame; the piece of stack that holds it has as much again for all tests."""
LOW_PRIORITY = 10
"""As of the command nice; an ordinary process has 0."""


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark tests that use the database before -m selects, then put the longest tests first."""
    if not is_thorough(config):
        further = {item for item in items if item.get_closest_marker("thorough")}
        config.hook.pytest_deselected(items=list(further))
        items[:] = [item for item in items if item not in further]
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        uses_it = fixtures & DATABASE_FIXTURES or any(map(item.get_closest_marker, ("django_db", "browser")))
        if uses_it and not is_same_on_every_database(item):
            item.add_marker(pytest.mark.database)
    yield
    items.sort(key=place_in_run)


def is_same_on_every_database(item: pytest.Item) -> bool:
    is_listed = item.nodeid.startswith(SAME_ON_EVERY_DATABASE) or PAGES.match(item.nodeid)
    return bool(is_listed or item.get_closest_marker("sqlite_suffices"))


def is_thorough(config: pytest.Config) -> bool:
    """Return whether this is a run of script/test --thorough."""
    return config.getoption("--hypothesis-profile") == "thorough"


def place_in_run(item: pytest.Item) -> int:
    """Return the item's place in LONGEST, or the place behind it."""
    return next((place for place, path in enumerate(LONGEST) if item.nodeid.startswith(path)), len(LONGEST))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> object:
    """Run the tests on top of a frame that is larger than the interpreter's usual piece of stack."""
    plugins = session.config.pluginmanager
    others = plugins.subset_hook_caller("pytest_runtestloop", [plugins.get_plugin(__file__)])
    return others(session=session)


# CPython takes frames from pieces of 16 KiB, and gives a piece back as soon as it is empty. A loop whose
# calls cross an edge maps and unmaps memory at each call, which took a quarter of the time of tests that open
# pages. The piece for a large frame is large, and all that is called from it stays inside.
pytest_runtestloop.__code__ = pytest_runtestloop.__code__.replace(co_stacksize=STACK_WORDS)


def pytest_collection_finish() -> None:
    """Hide what lives to the end from the garbage collector, which took a tenth of the time."""
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def hide_libraries_from_garbage_collector() -> None:
    """Hide what earlier files imported too: each training collects garbage, as transformers' Trainer does."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def let_waiting_tests_go_first(request: pytest.FixtureRequest) -> None:
    """Lower the priority of the processes that compute."""
    if "PYTEST_XDIST_WORKER" in os.environ and not request.node.nodeid.startswith(WAITING):
        os.nice(max(0, LOW_PRIORITY - os.nice(0)))


class ByFile(LoadScopeScheduling):
    """A schedule that runs a file's tests in one process with shared fixtures.

    All tests that wait share one process, and so one platform and one browser. It does nothing else: it is
    one more than there are cores, so computing in it would slow down the others.
    """

    SHARED = "tests that wait"

    def _split_scope(self, nodeid: str) -> str:
        return self.SHARED if nodeid.startswith(WAITING) else nodeid.split("::")[0]

    def _reschedule(self, node: WorkerController) -> None:
        if self.SHARED in self.assigned_work[node] and len(self.nodes) > 1:
            if not node.shutting_down:
                node.shutdown()  # after the tests that it has
        else:
            super()._reschedule(node)


def give_each_process_its_broker() -> None:
    """Give each test process its own Redis database, counting up from the one in BROKER_URL."""
    address, _, number = settings.CELERY_BROKER_URL.rpartition("/")
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    if address.startswith("redis:") and number.isdigit():
        os.environ["BROKER_URL"] = settings.CELERY_BROKER_URL = f"{address}/{int(number) + int(process)}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    config.option.loadscopereorder = False  # the number of tests says little about their time
    return ByFile(config, log)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs())
    gc.disable()  # until all tests are collected, because nearly everything imported until then stays
    give_each_process_its_broker()
    # The same examples in every run, and no deadline: a failure comes from a change, not from luck or load.
    hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
    hypothesis.settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=100)
    hypothesis.settings.load_profile("quick")  # --hypothesis-profile overrides it
    settings.WHITENOISE_AUTOREFRESH = True  # otherwise each test client scans all static files
    # Nearly every test creates users, and a slow hash protects nothing here.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
