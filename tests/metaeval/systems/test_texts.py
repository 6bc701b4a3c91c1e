"""Length, overlap with the article and copied beginnings, by system."""

import numpy as np
import pytest
from rouge_score_rs import RougeScorer

from annotation import protocol
from annotation.models import Article, Project, ProjectChange, Rating
from annotation.models.changes import Changed
from metaeval.live.background import LONG
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.systems.texts import NO_SUMMARY, measured_texts, system_texts, texts_key
from tests.factories import make_project, make_rater
from tests.metaeval.rated_projects import RATED_AT, make_summaries

ARTICLE = "The harbour froze over. Ships waited for two weeks until the ice broke."
TEXTS = {
    "copier": ["The harbour froze over.", "The harbour", " "],
    "writer": ["Ice!", "Ships wait for ice.", "Ж"],
}


def written() -> Project:
    """Return a project with three summaries of the same text by each of two systems."""
    project = make_project(protocol.SUMMEVAL)
    summaries = make_summaries(project, ["x", "y", "z"], list(TEXTS))
    Article.objects.filter(project=project).update(text=ARTICLE)
    for place, summary in enumerate(summaries):
        summary.text = TEXTS[summary.system.name][place // 2]
        summary.save()
    project.bump_revision()
    return project


def systems_of(project):
    snapshot = snapshot_of(project)
    everything = np.ones(len(snapshot.summaries), bool)
    return {
        each.system: each
        for each in system_texts(snapshot.summaries, measured_texts(project, snapshot, None), everything)
    }


def test_each_system_has_its_median_length_its_overlap_and_its_copies(db):
    copier, writer = systems_of(written()).values()
    assert (copier.n_summaries, copier.measured["length"].value, writer.measured["length"].value) == (
        3,
        11,
        4,
    )
    assert copier.measured["copied"].value == 1
    assert writer.measured["copied"].value == 0
    scorer = RougeScorer(["rougeL"])
    by_package = [scorer.score(ARTICLE, text)["rougeL"].fmeasure for text in TEXTS["copier"][:2]]
    assert copier.measured["rouge"].value == pytest.approx(np.mean(by_package))


def test_what_could_not_be_measured_is_left_out_with_its_reason(db):
    copier = systems_of(written())["copier"]
    assert copier.measured["rouge"].left_out == copier.measured["copied"].left_out == {"empty summary": 1}
    assert copier.counted == {"length": 3, "rouge": 2, "copied": 2}
    project = written()
    Article.objects.filter(project=project).update(text="")
    project.bump_revision()
    without = systems_of(project)["writer"]
    assert np.isnan(without.measured["rouge"].value)
    assert without.measured["rouge"].reason == NO_SUMMARY
    assert without.measured["copied"].left_out == {"no article": 3}
    assert not without.measured["length"].reason


@pytest.mark.django_db(transaction=True)
def test_ratings_do_not_measure_texts_anew():
    project = written()
    first = measured_texts(project, snapshot_of(project), None)
    rating = Rating.objects.create(
        summary=project.summaries.first(),
        rater=make_rater(project),
        created_at=RATED_AT,
        completed_at=RATED_AT,
    )
    project.bump_revision(Changed(ProjectChange.Kind.RATING, rating.pk))
    later = snapshot_of(project)
    assert measured_texts(project, later, 0) is first
    assert LONG.progress(texts_key(project, later.revision)) is None
    assert later.n_ratings == 1
