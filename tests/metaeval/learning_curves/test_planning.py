"""What a learning curve trains, and what it refuses before it starts."""

import pytest

from annotation.errors import NotAllowed
from annotation.models import Article
from metaeval.learning_curves.planning import plan_learning_curve, start_learning_curve
from scoring.errors import InvalidLearningCurve, InvalidTraining
from scoring.models import CurveModel, LearningCurve, Training
from scoring.training.items import pool_of, training_items
from scoring.training.planning import trainer_of
from tests.factories import make_rater
from tests.metaeval.learning_curves.curve_projects import make_curve, wanted

pytestmark = pytest.mark.django_db


def seen_by(model: CurveModel) -> dict[str, set[str]]:
    """Return the digests that the model's training sees."""
    training = model.training
    trainer = trainer_of(training.method, training.params)
    data = trainer.prepare(training_items(pool_of(training)))
    return {split: set(digests) for split, digests in data.articles.items()}


def test_shares_are_nested_within_a_seed_and_no_training_sees_a_test_article(counted):
    curve = make_curve(counted, seeds=6)
    tested = set(Article.objects.filter(project=counted, split="test").values_list("text_digest", flat=True))
    assert set(curve.test_articles) == tested
    seen = {(each.share, each.seed): seen_by(each) for each in curve.models.all()}
    assert all(not tested & (each["train"] | each["validation"]) for each in seen.values())
    for seed in range(6):
        quarter, whole = seen[0.25, seed], seen[1.0, seed]
        assert (len(quarter["train"]), len(whole["train"])) == (2, 8)
        assert quarter["train"] < whole["train"]
        assert quarter["validation"] == whole["validation"]
    assert len({frozenset(seen[0.25, seed]["train"]) for seed in range(6)}) > 1


def test_a_plan_counts_examples_and_writes_nothing(counted):
    planned = plan_learning_curve(counted, wanted())
    assert [(share, [each.examples for each in models]) for share, models in planned.by_share] == [
        ("25%", [2, 2]),
        ("100%", [8, 8]),
    ]
    assert (planned.rated_test_articles, planned.validation_examples) == (3, 1)
    assert planned.has_few_test_articles
    assert not LearningCurve.objects.exists()


def test_trainings_share_the_labels_of_the_start_and_only_the_first_wakes_a_worker(
    counted, starter, sent, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        curve = start_learning_curve(plan_learning_curve(counted, wanted()), starter)
    first = Training.objects.order_by("pk").first()
    [message] = sent("cpu")
    assert message["args"][0] == first.pk
    assert first.name == "mine-25-percent-seed-0"
    assert first.pool == {}
    assert pool_of(first) == {int(pk): labels for pk, labels in curve.pool.items()}
    assert {each.params["share_seed"] for each in Training.objects.all()} == {0, 1}
    assert "seed" not in curve.params


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        (
            {"params": {"dimension": "grammar"}},
            InvalidTraining,
            "25% of the articles, seed 0: No summary",
        ),
        ({"params": {"seed": 1}}, InvalidTraining, "parameter 'seed': the learning curve sets it"),
        ({"params": {"steps": "0"}}, InvalidTraining, "parameter 'steps'"),
        ({"seeds": 0}, InvalidLearningCurve, "seeds: found 0, expected 1 to 10"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_the_reason(counted, changes, kind, words):
    with pytest.raises(kind, match=words):
        plan_learning_curve(counted, wanted(**changes))


def test_without_a_rated_test_article_it_is_refused(counted):
    Article.objects.filter(project=counted, split="test").update(split="train")
    with pytest.raises(InvalidLearningCurve, match="No test article has a rated summary"):
        plan_learning_curve(counted, wanted(params={"test_share": 0}))


def test_a_taken_name_starts_nothing(counted):
    make_curve(counted)
    with pytest.raises(InvalidLearningCurve, match="already has a learning curve called 'Mine'"):
        make_curve(counted, name=" Mine ")
    assert Training.objects.count() == 4
    assert make_curve(counted, name="mine").models.first().training.name.startswith("mine-2-")


def test_only_those_who_manage_runs_start_one(counted):
    planned = plan_learning_curve(counted, wanted())
    with pytest.raises(NotAllowed):
        start_learning_curve(planned, make_rater(counted).user)
    assert not Training.objects.exists()
