"""A project with three summaries, and a researcher who may start runs in it."""

import pytest

from tests.factories import make_member, make_project, make_summary


@pytest.fixture
def project():
    project = make_project()
    for _ in range(3):
        make_summary(project)
    return project


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")
