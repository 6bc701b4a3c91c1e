"""The mean labels of all questions in one table."""

import csv

import numpy as np
import pytest

from annotation import protocol
from annotation.models import Article
from metaeval.answers.question_means import ALL_SYSTEMS, BY_PLACE, n_places, question_means
from metaeval.answers.report import COMPLETE, SUMMARISED
from metaeval.answers.unasked import unasked_as_no
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.label_rules import labels_by
from metaeval.snapshot.snapshot import snapshot_of
from tests.annotation.imports.importing_steps import load
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate

ASKED = ("yes", "yes"), ("no", ""), ("yes", "no"), ("yes", "yes"), ("yes", "no"), ("no", "")


@pytest.fixture
def project(db):
    """Return two German articles of mlsum and a Turkish one, by systems a and b, and a German one by a."""
    project = make_project(protocol.SEAHORSE)
    *summaries, last = make_summaries(project, ["d1", "d2", "t1", "d3"], ["a", "b"])
    last.delete()
    Article.objects.filter(project=project).update(language="de", dataset="mlsum")
    Article.objects.filter(external_id="t1").update(language="tr", dataset="wiki")
    rater = make_rater(project)
    for summary, (first, second) in zip([*summaries[:5], summaries[6]], ASKED, strict=True):
        rate(summary, rater, comprehensibility=first, **({"repetition": second} if second else {}))
    return project


def values(snapshot, labels=None, **chosen):
    """Return the first two questions' means by row."""
    everything = np.ones(len(snapshot.summaries), bool)
    found = question_means(snapshot.summaries, labels or snapshot.labels(), everything, **chosen)
    return {row.name: [each and each.estimate.value for each in row.means[:2]] for row in found}


def test_each_system_has_its_share_of_yes_on_every_question(project):
    # a: d1 yes yes, d2 yes no, t1 yes no, d3 no; b: d1 no, d2 yes yes
    assert values(snapshot_of(project)) == {
        "a": [0.75, pytest.approx(1 / 3)],
        "b": [0.5, 1.0],
        ALL_SYSTEMS: [pytest.approx(4 / 6), 0.5],
    }


def test_places_have_systems_and_totals(project):
    snapshot = snapshot_of(project)
    found = values(snapshot, rows=BY_PLACE)
    assert n_places(snapshot.summaries) == 2
    assert list(found) == [
        "de mlsum a",
        "de mlsum b",
        "de mlsum all systems",
        "tr wiki a",
        "tr wiki all systems",
        "all systems",
    ]
    assert found["tr wiki a"] == [1.0, 0.0]
    assert found["de mlsum a"] == [pytest.approx(2 / 3), 0.5]


def test_a_language_of_two_datasets_has_a_total(project):
    Article.objects.filter(external_id="d2").update(dataset="wiki")
    project.bump_revision()
    found = values(snapshot_of(project), rows=BY_PLACE)
    assert {"de mlsum all systems", "de wiki all systems"} <= set(found)
    assert found["de all systems"] == [0.6, pytest.approx(2 / 3)]


def test_articles_that_all_systems_summarised_count_whether_rated_or_not(project):
    snapshot = snapshot_of(project)
    # Both wrote on d1, d2 and t1, but b's summary of t1 has no rating, and that of d1 no second answer.
    assert values(snapshot, articles=SUMMARISED)["a"] == [1.0, pytest.approx(1 / 3)]
    assert values(snapshot, articles=COMPLETE)["a"] == [1.0, 0.0]
    everything = np.ones(len(snapshot.summaries), bool)
    row, *_ = question_means(snapshot.summaries, snapshot.labels(), everything, articles=SUMMARISED)
    assert row.means[0].left_out == {"articles without a summary by each system of their language": 1}
    assert (row.as_json()[0]["row"], row.as_json()[0]["dataset"]) == ("a", ALL)


def test_shares_of_yes_are_those_of_the_released_file(shared, tmp_path, db):
    path = shared / "data/seahorse/validation_excerpt.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    project = make_project(protocol.SEAHORSE)
    load(project, "seahorse", path)
    snapshot = snapshot_of(project)
    human = unasked_as_no(snapshot.human)
    labels = [labels_by("mean", human, each, len(snapshot.summaries)) for each in human.questions]
    everything = np.ones(len(snapshot.summaries), bool)
    found = {row.system: row for row in question_means(snapshot.summaries, labels, everything)}
    for system in ("reference", "finetuned", "1shot"):
        for place, mean in enumerate(found[system].means, start=1):
            said = [row[f"question{place}"] for row in rows if row["model"] == system]
            counted = [answer for answer in said if answer != "Unsure"]
            assert mean.estimate.value == pytest.approx(counted.count("Yes") / len(counted)), (system, place)
