"""Trials use only the pool and tuning parts; opening the sealed part is explicit and counted."""

import pytest

from annotation.errors import DomainError, NotAllowed
from annotation.models import Answer, Article, Summary
from annotation.texts.text_digests import text_digest
from metaeval.judges.trials import CHOSE_THE_PROMPT, open_sealed, plan_of, try_version
from metaeval.judges.versions import add_version
from scoring.errors import InvalidRun, RunBusy
from scoring.inputs.seen_articles import mark_seen_articles
from scoring.models import Score, SealedOpening, SeenArticle
from scoring.runs.lifecycle import delete_run
from scoring.sealed_labels.label_parts import LabelPart, Shares
from scoring.sealed_labels.seal import openings_of
from scoring.sealed_labels.split import articles_in, counts_of, is_fixed, set_split, split_of
from tests.factories import make_article, make_rater
from tests.metaeval.judges.labelled_projects import (
    SHARES,
    articles_of,
    finish,
    make_judge,
    make_labelled,
    split,
)
from tests.metaeval.rated_projects import rate
from tests.scoring.scripted_endpoint import Answer as Reply
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings.LLM_ENDPOINTS = ["*", "loopback"]
    with ScriptedEndpoint(lambda _: Reply("0.5")) as server:
        yield server


@pytest.fixture
def labelled(db):
    return make_labelled()


@pytest.fixture
def version(labelled, endpoint):
    project, user = labelled
    split(project, user)
    return make_judge(project, user, endpoint)


def scored_articles(setup):
    return set(Score.objects.computed().filter(setup=setup).values_list("summary__article", flat=True))


def drawn_articles(setup):
    drawn = SeenArticle.objects.filter(setup=setup).exclude(role=CHOSE_THE_PROMPT)
    return set(drawn.values_list("article", flat=True))


def test_split_counts_articles_and_labels_per_part(labelled):
    project, user = labelled
    counts = counts_of(project, SHARES)
    assert [each.part for each in counts] == list(LabelPart)
    assert sum(each.articles for each in counts) == 20
    assert all(each.labels == 2 * each.labelled_articles == 2 * each.articles for each in counts)
    assert all(each.labels for each in counts)
    assert [len(articles_in(split(project, user), [each.part])) for each in counts] == [
        each.articles for each in counts
    ]


def test_trial_scores_the_tuning_part_with_examples_from_the_pool(labelled, version):
    project, user = labelled
    trial = try_version(version, user)
    finish(trial.run)
    assert scored_articles(trial.setup) == articles_of(project, LabelPart.TUNING)
    assert len(drawn_articles(trial.setup)) == 4
    assert drawn_articles(trial.setup) <= articles_of(project, LabelPart.POOL)
    trial.setup.refresh_from_db()
    assert trial.setup.label == "Coherence v1"


def test_pool_and_tuning_articles_count_as_seen(labelled, version):
    project, user = labelled
    trial = try_version(version, user)
    seen = SeenArticle.objects.filter(setup=trial.setup)
    assert set(seen.values_list("article", flat=True)) == articles_of(
        project, LabelPart.POOL, LabelPart.TUNING
    )
    assert set(seen.values_list("role", flat=True)) == {CHOSE_THE_PROMPT, "article is in the in-context pool"}


def test_the_same_text_under_another_id_is_not_sealed(labelled, version):
    project, _ = labelled
    tuned = Article.objects.get(pk=min(articles_of(project, LabelPart.TUNING)))
    Article.objects.filter(pk=tuned.pk).update(text_digest=text_digest(tuned.text))
    copies = [make_article(project, external_id=f"copy-{number}", text=tuned.text) for number in range(8)]
    parts = {SHARES.part_of(each.external_id) for each in copies}
    assert parts == set(LabelPart), "the ids alone would be in every part"
    assert {each.pk for each in copies} | {tuned.pk} <= articles_of(project, LabelPart.POOL)


def test_a_tuning_article_imported_later_under_another_id_counts_as_seen(labelled, version):
    project, user = labelled
    tuned = Article.objects.get(pk=min(articles_of(project, LabelPart.TUNING)))
    Article.objects.filter(pk=tuned.pk).update(text_digest=text_digest(tuned.text))
    setup = try_version(version, user).setup
    later = make_article(project, external_id="later", text=tuned.text)
    mark_seen_articles(project)
    assert SeenArticle.objects.get(setup=setup, article=later).role == CHOSE_THE_PROMPT


def test_trial_sends_no_sealed_summary(labelled, version, endpoint):
    project, user = labelled
    Summary.objects.filter(article__in=articles_of(project, LabelPart.SEALED)).update(text="It is sealed.")
    finish(try_version(version, user).run)
    assert endpoint.asked
    assert not [asked for asked in endpoint.asked if "It is sealed." in asked.prompt]
    assert not openings_of(project).exists()


def test_split_cannot_change_after_the_first_trial(labelled, version):
    project, user = labelled
    other = set_split(project, user, Shares(5, 0.2, 0.2))
    assert (other.seed, is_fixed(project)) == (5, False)
    trial = try_version(version, user)
    finish(trial.run)
    delete_run(trial.run, user)
    assert is_fixed(project), "the labels were used, even though the run is deleted"
    with pytest.raises(DomainError, match="can no longer be changed"):
        set_split(project, user, SHARES)
    assert split_of(project).seed == 5


def test_version_keeps_the_examples_of_its_first_trial(labelled, version):
    project, user = labelled
    first = finish(try_version(version, user).run)
    unused = articles_of(project, LabelPart.POOL) - drawn_articles(first.setup)
    Article.objects.filter(pk__in=unused).first().summaries.all().delete()
    assert plan_of(version, LabelPart.TUNING).fingerprint == first.setup.fingerprint


def test_version_tried_again_after_an_upgrade_gets_its_own_label(labelled, version):
    _, user = labelled
    first = finish(try_version(version, user).run).setup
    first.fingerprint = "0" * 64  # as if from an earlier evaluator
    first.save()
    again = try_version(version, user).setup
    first.refresh_from_db()
    again.refresh_from_db()
    assert (first.label, again.label) == ("Coherence v1", "Coherence v1 · 2")


def test_changed_labels_of_examples_require_a_new_version(labelled, version):
    _, user = labelled
    first = finish(try_version(version, user).run)
    drawn = Article.objects.get(pk=min(drawn_articles(first.setup)))
    Answer.objects.filter(rating__summary__article=drawn).update(value="0.99")
    with pytest.raises(InvalidRun, match="labels of the examples of Coherence v1 have changed"):
        try_version(version, user)
    with pytest.raises(InvalidRun, match="labels of the examples"):
        open_sealed(version, user)
    assert not SealedOpening.objects.exists()
    anew = add_version(version, user, {**version.params, "seed": 3})
    assert plan_of(anew, LabelPart.TUNING).to_score


def test_opening_scores_the_sealed_part_with_the_same_setup_and_is_counted(labelled, version):
    project, user = labelled
    trial = try_version(version, user)
    with pytest.raises(RunBusy, match="waiting"):
        open_sealed(version, user)
    finish(trial.run)
    opening = open_sealed(version, user)
    finish(opening.run)
    assert opening.run.setup == trial.setup
    assert scored_articles(trial.setup) == articles_of(project, LabelPart.TUNING, LabelPart.SEALED)
    assert [(each.version, each.opened_by, each.how) for each in openings_of(project)] == [
        (version, user, "confirmed")
    ]
    with pytest.raises(InvalidRun, match="already open for Coherence v1"):
        open_sealed(version, user)
    delete_run(opening.run, user)
    assert openings_of(project).count() == 1, "deleting the run does not delete the opening"
    entries = project.audit_entries.filter(action__in=["sealed_labels_opened", "run_deleted"])
    assert list(entries.values_list("action", "object")) == [
        ("run_deleted", f"run {opening.run_id}"),
        ("sealed_labels_opened", str(version)),
    ]


def test_new_sealed_labels_can_be_opened_again(labelled, version):
    project, user = labelled
    finish(try_version(version, user).run)
    finish(open_sealed(version, user).run)
    article = Article.objects.get(pk=min(articles_of(project, LabelPart.SEALED)))
    made = article.summaries.first()
    made.pk, made.system = None, make_system_named(project, "later")
    made.save()
    rate(made, make_rater(project), coherence="0.5")
    finish(open_sealed(version, user).run)
    assert openings_of(project).count() == 2


def make_system_named(project, name):
    return project.systems.create(name=name)


def test_version_without_a_trial_cannot_be_opened(labelled, version):
    with pytest.raises(InvalidRun, match="has no trial yet"):
        open_sealed(version, labelled[1])


def test_trials_need_a_split_a_permission_and_labels(labelled, endpoint):
    project, user = labelled
    version = make_judge(project, user, endpoint)
    with pytest.raises(InvalidRun, match="Split the project's labels"):
        try_version(version, user)
    split(project, user)
    with pytest.raises(NotAllowed):
        try_version(version, make_rater(project).user)
    with pytest.raises(NotAllowed):
        open_sealed(version, make_rater(project).user)
    with pytest.raises(NotAllowed):
        set_split(project, make_rater(project).user, SHARES)
    Answer.objects.filter(rating__summary__article__in=articles_of(project, LabelPart.TUNING)).delete()
    for summary in project.summaries.filter(article__in=articles_of(project, LabelPart.TUNING)):
        summary.ratings.all().delete()
    with pytest.raises(InvalidRun, match="No summary in the tuning part has a label"):
        try_version(version, user)
