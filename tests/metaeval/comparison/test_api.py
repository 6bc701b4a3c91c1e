"""Comparisons over the API that take longer than a request."""

import time

import pytest

from metaeval.comparison import api
from tests.factories import make_member
from tests.metaeval.comparison_rows import rows_of
from tests.metaeval.conftest import make_compared


@pytest.mark.django_db(transaction=True)
def test_a_long_comparison_goes_on_after_the_request_and_is_kept(client, monkeypatch):
    monkeypatch.setattr(api, "WAITS_S", 0.0)
    project = make_compared(30)
    client.force_login(make_member(project, "researcher"))
    address = f"/api/projects/{project.slug}/comparison/"
    asked = {"test": "perm_both", "level": "article", "resamples": 500}
    first = client.get(address, asked)
    assert first.status_code == 503
    assert first.headers["Retry-After"] == "5"
    assert "still being computed" in first.json()["detail"]
    assert "of 4 done)" in first.json()["detail"]
    until = time.monotonic() + 60
    while (answer := client.get(address, asked)).status_code == 503 and time.monotonic() < until:
        time.sleep(0.05)
    assert answer.status_code == 200
    assert answer.json()["results"] == rows_of(project, **asked)
    assert client.get(address, asked).status_code == 200
    assert client.get(address, {**asked, "resamples": 501}).status_code == 503
