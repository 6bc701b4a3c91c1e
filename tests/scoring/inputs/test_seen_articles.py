"""An article that a setup has seen is marked under every id that it has in the project."""

import shutil
from dataclasses import replace

import pytest

from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Article, Project
from annotation.texts.text_digests import text_digest
from scoring.inputs.seen_articles import mark_seen_articles
from scoring.models import SeenArticle, Setup
from scoring.runs.imported_scores import ImportedScores
from scoring.runs.planning import plan, plan_run
from scoring.texts.near_duplicates import sketch
from scoring.weights.model_card import ModelCard, read_card, write_card
from tests.factories import make_article, make_project, make_summary
from tests.import_files import jsonl
from tests.scoring.files.test_score_file import row
from tests.scoring.files.test_score_file import run as score_rows
from tests.scoring.runs.test_planning import finished, rate
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

IN_TRAINING = "article, or a near-duplicate, is in its training data"
TEXT = "The harbour froze over. Ships waited for two weeks."
COPY = "The harbour\u00a0froze over.\n\nShips waited for two\u00ad weeks.\n"


@pytest.fixture
def project() -> Project:
    """Create a project with one rated summary of a training article, and one of a test article."""
    made = make_project()
    trained = make_article(made, external_id="trained", text=TEXT, split="train")
    rate(make_summary(made, article=trained), grammar="yes")
    make_summary(made, article=make_article(made, external_id="other", split="test"))
    return made


def seen_ids(setup: Setup) -> set[str]:
    return set(setup.seen_articles.values_list("external_id", flat=True))


def test_same_text_under_another_id_is_seen_and_not_scored(project):
    copied = make_summary(project, article=make_article(project, external_id="copy", text=COPY, split="test"))
    planned = plan(project, "majority", {})
    assert planned.foreseen == {"article is in the labelled pool": 2}
    setup = finished(plan_run(project, "majority", {})).setup
    assert seen_ids(setup) == {"trained", "copy"}
    assert set(setup.scores.filter(summary=copied).values_list("reason", flat=True)) == {
        "article is in the labelled pool"
    }
    assert setup.scores.computed().exists()


def test_article_is_seen_in_the_dimensions_of_its_labels(project):
    whole = make_article(project, external_id="whole", split="train")
    rate(make_summary(project, article=whole), grammar="yes", attribution="yes")
    copied = make_summary(project, article=make_article(project, external_id="copy", text=COPY, split="test"))
    setup = finished(plan_run(project, "majority", {})).setup
    rows = SeenArticle.objects.filter(setup=setup).values_list("article__external_id", "dimension")
    assert set(rows) == {("trained", "grammar"), ("copy", "grammar"), ("whole", "")}
    scores = setup.scores.filter(summary=copied)
    assert scores.get(dimension="grammar").reason == "article is in the labelled pool"
    assert scores.get(dimension="attribution").value == 1


def test_same_text_imported_after_the_run_is_seen(project, tmp_path):
    setup = finished(plan_run(project, "majority", {})).setup
    assert seen_ids(setup) == {"trained"}
    rows = [
        {"article_id": "later", "system": "s", "summary": "It froze.", "article": COPY, "language": "en"},
        {
            "article_id": "new",
            "system": "s",
            "summary": "It thawed.",
            "article": "It thawed.",
            "language": "en",
        },
    ]
    importer = open_import("examples", jsonl(tmp_path / "later.jsonl", *rows))
    report = import_file(project, importer, scores=lambda: ImportedScores(project, "later.jsonl"))
    assert not report.refused
    assert seen_ids(setup) == {"trained", "later"}


def test_text_that_is_completed_later_is_seen(project, tmp_path):
    bare = make_summary(project, article=make_article(project, external_id="bare", text=""))
    setup = finished(plan_run(project, "majority", {})).setup
    row = {"article_id": "bare", "system": bare.system.name, "summary": bare.text, "article": COPY}
    importer = open_import("examples", jsonl(tmp_path / "texts.jsonl", row))
    import_file(project, importer, scores=lambda: ImportedScores(project, "texts.jsonl"))
    assert Article.objects.get(external_id="bare").text_digest == text_digest(TEXT)
    assert seen_ids(setup) == {"trained", "bare"}


def test_texts_seen_in_another_project_are_not_marked_here(project):
    other = make_project()
    make_article(other, external_id="elsewhere", text=TEXT)
    setup = finished(plan_run(project, "majority", {})).setup
    assert seen_ids(setup) == {"trained"}


@pytest.fixture
def trained_model(tmp_path, monkeypatch) -> str:
    """Install a model that was trained on TEXT, and validated on another one."""
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    folder = tmp_path / "trained" / "mine"
    shutil.copytree(tiny_model("bert"), folder)
    articles = {"train": (text_digest(TEXT),), "validation": (text_digest("Validated on this."),)}
    card = ModelCard(
        method="seahorse",
        title="Mine",
        evaluator="similarity",
        dimensions=("general",),
        base_model="tiny",
        weights_sha256="0" * 64,
        articles=articles,
    )
    write_card(folder, card)
    return "trained/mine"


def test_articles_that_a_model_was_trained_on_are_seen(project, trained_model):
    validated = make_article(project, external_id="validated", text="VALIDATED on this.")
    make_summary(project, article=validated)
    settings = {"model": trained_model, "against": "article"}
    assert plan(project, "similarity", settings).foreseen == {IN_TRAINING: 2}
    setup = finished(plan_run(project, "similarity", settings)).setup
    roles = dict(SeenArticle.objects.filter(setup=setup).values_list("article__external_id", "role"))
    assert roles == {"trained": "train", "validated": "validation"}
    scored = setup.scores.computed().values_list("summary__article__external_id", flat=True)
    assert set(scored) == {"other"}


def test_a_jury_leaves_out_what_a_member_was_trained_on(project, trained_model, tmp_path):
    members = [
        finished(plan_run(project, "similarity", {"model": trained_model, "against": "article"})).setup,
        finished(plan_run(project, "length", {})).setup,
    ]
    jury = finished(plan_run(project, "jury", {"members": [each.label for each in members]})).setup
    later = make_article(project, external_id="later", text=COPY)
    assert seen_ids(jury) == {"trained"}
    make_summary(project, article=later)
    mark_seen_articles(project)
    assert seen_ids(jury) == {"trained", "later"}


def test_near_duplicates_of_training_articles_get_no_score(tmp_path, trained_model):
    folder = tmp_path / "trained" / "mine"
    report = " ".join(f"Sentence {number} of the report tells of {number} floods." for number in range(20))
    write_card(folder, replace(read_card(folder), sketches=(sketch(report),)))
    corrected = report.replace("Sentence 7 of the", "Sentence 7 in a")
    rows = [row(1, article=corrected), row(2, article=report.replace("floods", "fires"))]
    settings = {"model": trained_model, "against": "article"}
    result, written = score_rows(tmp_path, "similarity", rows, settings)
    assert result.reasons == {IN_TRAINING: 1}
    assert written["s1"]["scores"] == {"general": None}
    assert written["s2"]["scores"]["general"] is not None


def test_a_file_is_checked_against_the_training_data_too(trained_model, tmp_path):
    rows = [row(1, article=COPY), row(2, article="Another one.")]
    settings = {"model": trained_model, "against": "article"}
    result, written = score_rows(tmp_path, "similarity", rows, settings)
    assert result.reasons == {IN_TRAINING: 1}
    assert written["s1"]["scores"] == {"general": None}
    assert written["s2"]["scores"]["general"] is not None
