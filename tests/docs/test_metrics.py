"""The table of metrics in docs/operators.md and the dashboard name exactly the metrics of the code."""

import json
import re
from itertools import chain

import pytest
from django.utils import timezone
from prometheus_client import Metric

from scoring.metrics.requests import OWN
from scoring.metrics.state import read_figures
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db

NAME = re.compile(r"\btouchstone_\w+")


def families() -> list[Metric]:
    return [*read_figures(timezone.now()), *OWN.collect()]


def series() -> dict[str, str]:
    """Return the metric of each name that a query may use."""
    endings = {"gauge": [""], "counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}
    return {each.name + ending: each.name for each in families() for ending in endings[each.type]}


def expressions() -> list[str]:
    board = json.loads((ROOT / "docs" / "grafana.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def section() -> str:
    return (ROOT / "docs" / "operators.md").read_text().partition("\n## Metrics\n")[2].partition("\n## ")[0]


def test_the_table_has_every_metric():
    rows = re.findall(r"^\| `(touchstone_\w+)` \|", section(), re.MULTILINE)
    assert sorted(rows) == sorted(each.name for each in families())


def test_the_dashboard_shows_every_metric_and_no_other():
    asked = set(chain.from_iterable(map(NAME.findall, expressions())))
    known = series()
    assert asked - known.keys() == set()
    assert {known[name] for name in asked} == set(known.values())


def test_the_dashboard_uses_only_labels_that_exist():
    labels = {"le", *(label for each in families() for sample in each.samples for label in sample.labels)}
    labels |= {"method", "status", "view"}
    by = re.findall(r"\bby \(([^)]*)\)", " ".join(expressions()))
    assert len(by) > 5
    assert {label.strip() for group in by for label in group.split(",")} <= labels


def test_the_alerts_name_only_metrics_that_exist():
    asked = re.findall(r"expr: .*?\b(touchstone_\w+)\{", section())
    assert len(asked) == 2
    assert set(asked) <= series().keys()
