"""Planning a run: its summaries, its evaluator, and expected gaps."""

import pytest
from django.utils import timezone

from annotation.database import wake_ups
from annotation.errors import NotAllowed, NotFound
from annotation.models import Answer, Project, Question, Rating, Summary
from scoring.errors import InvalidRun, RunBusy
from scoring.inputs.items import Selection
from scoring.models import Run, Setup
from scoring.runs.lifecycle import cancel_run
from scoring.runs.planning import plan, plan_run
from scoring.runs.worker import work_on_run
from tests.factories import (
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
    make_user,
)
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

ICE = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1", "dimensions": "attribution", "examples": "2"}


def rate(summary: Summary, **answers: str) -> Rating:
    now = timezone.now()
    rating = Rating.objects.create(
        summary=summary, rater=make_rater(summary.project), created_at=now, completed_at=now
    )
    for key, value in answers.items():
        question = Question.objects.get(questionnaire=summary.project.questionnaire, key=key)
        Answer.objects.create(rating=rating, question=question, value=value, created_at=now)
    return rating


def add_reference(summary: Summary, name: str = "people", text: str = "A harbour froze over.") -> Summary:
    system = make_system(summary.project, name, is_reference=True)
    return make_summary(summary.project, article=summary.article, system=system, text=text, ratings_wanted=0)


def finished(run: Run) -> Run:
    work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE, run.failure
    return run


def chosen(project: Project, selection: Selection) -> set[int]:
    return set(plan(project, "length", {}, selection).to_score)


def test_run_takes_summaries_to_rate_and_rated_ones():
    project = make_project()
    wanted = make_summary(project, ratings_wanted=2)
    rated = make_summary(project, ratings_wanted=0)
    rate(rated, grammar="yes")
    add_reference(wanted)
    make_gold(project)
    make_summary(make_project())
    assert set(plan(project, "length", {}).to_score) == {wanted.pk, rated.pk}


def test_run_takes_a_rated_reference_like_any_system():
    project = make_project()
    people = make_system(project, "people", is_reference=True)
    rated_reference = make_summary(project, system=people)
    assert plan(project, "length", {}).to_score == (rated_reference.pk,)


def test_run_can_be_limited_to_languages_or_rated_summaries():
    project = make_project()
    english, german = make_summary(project, language="en"), make_summary(project, language="de")
    rate(german, grammar="yes")
    assert chosen(project, Selection()) == {english.pk, german.pk}
    assert chosen(project, Selection(languages=("en",))) == {english.pk}
    assert chosen(project, Selection(rated_only=True)) == {german.pk}
    assert chosen(project, Selection(languages=("en",), rated_only=True)) == set()


def test_summary_rated_only_by_a_removed_rater_does_not_count_as_rated():
    project = make_project()
    rating = rate(make_summary(project), grammar="yes")
    rating.rater.status = "removed"
    rating.rater.save()
    assert chosen(project, Selection(rated_only=True)) == set()


def test_planning_writes_nothing():
    project = make_project()
    make_summary(project)
    plan(project, "length", {})
    assert not Setup.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("evaluator", "params", "message"),
    [
        ("rogue", {}, "did you mean rouge"),
        ("rouge", {"varient": "L"}, "did you mean variant"),
        ("rouge", {"variant": "3"}, "expected one of 1, 2, L, Lsum"),
        ("rouge", {"stem": "yes", "tokens": "unicode"}, "'stem'"),
        ("ice", {}, "parameter 'model': ice requires it"),
        ("ice", ICE, "the pool has 0"),
        ("majority", {}, "has no labels"),
    ],
)
def test_invalid_settings_are_refused(evaluator, params, message):
    project = make_project()
    make_summary(project)
    with pytest.raises(InvalidRun, match=message):
        plan_run(project, evaluator, params)
    assert not Run.objects.exists()


def test_batches_keep_the_summaries_of_an_article_together(monkeypatch):
    monkeypatch.setattr("scoring.evaluators.length.Length.batch_size", 2)
    project = make_project()
    first, second = make_article(project), make_article(project)
    summaries = [
        make_summary(project, article=article, system=make_system(project, name))
        for name in ("a", "b")
        for article in (first, second)
    ] + [make_summary(project)]
    run = plan_run(project, "length", {})
    batches = [batch.summary_ids for batch in run.batches.all()]
    assert batches == [
        [summaries[0].pk, summaries[2].pk],
        [summaries[1].pk, summaries[3].pk],
        [summaries[4].pk],
    ]
    assert [batch.size for batch in run.batches.all()] == [2, 2, 1]
    assert run.total == 5


def test_plan_counts_summaries_that_will_have_no_score():
    project = make_project()
    add_reference(make_summary(project))
    make_summary(project)
    add_reference(make_summary(project), text="")
    make_summary(project, article=make_article(project, text=""))
    assert plan(project, "rouge", {}).foreseen == {"no reference": 3}
    assert plan(project, "rouge", {"against": "article"}).foreseen == {"no article": 1}
    assert plan(project, "length", {}).foreseen == {}


def test_summary_is_not_its_own_reference():
    project = make_project()
    make_summary(project, system=make_system(project, "people", is_reference=True))
    assert plan(project, "rouge", {}).foreseen == {"no reference": 1}


def test_unsupported_languages_are_planned_as_unscored_and_left_unscored(monkeypatch):
    monkeypatch.setattr("scoring.evaluators.length.Length.languages", frozenset({"de", "fr"}))
    project = make_project()
    german, turkish = make_summary(project, language="de"), make_summary(project, language="tr")
    assert plan(project, "length", {}).foreseen == {"language tr is none of de, fr": 1}
    finished(plan_run(project, "length", {}))
    assert german.scores.get().value == len(german.text.split())
    assert turkish.scores.get().value is None
    assert turkish.scores.get().reason == "language tr is none of de, fr"


def test_label_shortens_a_long_model_name_to_show_every_parameter(monkeypatch, tmp_path):
    project = make_project()
    make_summary(project)
    name = "owner/a-model-with-a-name-that-would-fill-a-label-on-its-own-if-it-were-shown-in-full-base-v2"
    (tmp_path / "owner").mkdir()
    (tmp_path / name).symlink_to(tiny_model("bert"), target_is_directory=True)
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    setup = plan_run(project, "similarity", {"model": name, "against": "article"}).setup
    assert setup.label == (
        "Embedding similarity, a-model-with-a-name-that-would…it-were-shown-in-full-base-v2, "
        "against the article"
    )


def test_label_names_an_endpoint_by_its_host():
    project = make_project()
    make_summary(project)
    without_examples = ICE | {"examples": "0", "prompt": "described"}
    setup = plan_run(project, "ice", without_examples).setup
    assert setup.label.startswith(
        "ICE, no examples, tiny, at 127.0.0.1:9, described dimensions, attribution only"
    )


def test_plan_names_dimensions_without_a_question(monkeypatch):
    weights = tiny_model("t5")
    monkeypatch.setenv("WEIGHTS_DIR", str(weights.parent))
    project = make_project()
    fluency = {"model": weights.name, "dimensions": "fluency"}
    assert plan(project, "unieval", fluency).unasked == ("fluency", "overall")
    assert plan(project, "seahorse", {"model": weights.name}).unasked == ()
    assert plan(project, "length", {}).unasked == ()


def test_setup_records_its_parameters_signature_and_fingerprint():
    project = make_project()
    make_summary(project)
    setup = plan_run(project, "length", {"unit": "characters"}).setup
    assert setup.evaluator == "length"
    assert setup.label == "Length, in characters"
    assert setup.signature == "length|unit:characters|v:1"
    assert setup.params == {"unit": "characters"}
    assert setup.provenance["params"] == {"unit": "characters"}
    assert len(setup.fingerprint) == 64


def test_setup_is_reused_exactly_if_its_parameters_are_equal():
    project = make_project()
    make_summary(project)
    words = finished(plan_run(project, "length", {}))
    characters = finished(plan_run(project, "length", {"unit": "characters"}))
    again = plan_run(project, "length", {"unit": "words"})
    assert words.setup != characters.setup
    assert again.setup == words.setup


def test_scores_with_the_same_fingerprint_and_texts_are_reused():
    project = make_project()
    make_summary(project)
    finished(plan_run(project, "length", {}))
    new = make_summary(project)
    planned = plan(project, "length", {})
    assert (planned.to_score, planned.reused) == ((new.pk,), 1)


def test_run_without_summaries_to_score_is_done_at_once():
    project = make_project()
    make_summary(project)
    finished(plan_run(project, "length", {}))
    run = plan_run(project, "length", {})
    assert (run.status, run.total, run.reused) == (Run.Status.DONE, 0, 1)
    assert not run.batches.exists()
    assert run.finished_at is not None


def test_summaries_with_a_reason_are_scored_again():
    project = make_project()
    summary = make_summary(project)
    finished(plan_run(project, "rouge", {}))
    assert summary.scores.get().reason == "no reference"
    add_reference(summary, text=summary.text)
    finished(plan_run(project, "rouge", {}))
    score = summary.scores.get()
    assert (score.value, score.reason) == (1.0, "")


def test_score_is_computed_again_after_a_text_has_changed():
    project = make_project()
    summary = make_summary(project)
    add_reference(summary, text="Nothing in common.")
    finished(plan_run(project, "rouge", {}))
    assert summary.scores.get().value == 0.0
    add_reference(summary, name="other people", text=summary.text)
    assert plan(project, "rouge", {}).to_score == (summary.pk,)
    finished(plan_run(project, "rouge", {}))
    assert summary.scores.get().value == 1.0
    assert plan(project, "rouge", {}).reused == 1


def test_second_run_of_a_setup_is_refused_while_one_is_unfinished():
    project = make_project()
    make_summary(project)
    run = plan_run(project, "length", {})
    with pytest.raises(RunBusy, match=f"Run {run.pk} of Length is in progress"):
        plan_run(project, "length", {})
    cancel_run(run, make_member(project, "researcher"))
    assert plan_run(project, "length", {}).status == Run.Status.QUEUED


def test_other_projects_do_not_share_scores():
    first, second = make_project(), make_project()
    make_summary(first)
    summary = make_summary(second)
    finished(plan_run(first, "length", {}))
    assert plan(second, "length", {}).to_score == (summary.pk,)


def test_drawn_examples_are_recorded_and_exclude_their_articles():
    project = make_project()
    for value in ("yes", "no", "yes", "no", "yes"):
        rate(make_summary(project), attribution=value)
    planned = plan(project, "ice", ICE)
    run = plan_run(project, "ice", ICE)
    seen = set(run.setup.seen_articles.values_list("external_id", flat=True))
    assert len(seen) == 2
    assert seen == planned.evaluator.seen.all_article_ids
    assert planned.foreseen == {"article is in the in-context pool": 2}
    assert set(run.setup.pool) == {
        str(pk) for pk in Summary.objects.filter(article__external_id__in=seen).values_list("pk", flat=True)
    }


def test_pool_is_the_training_split_if_there_is_one():
    project = make_project()
    train = [make_summary(project, article=make_article(project, split="train")) for _ in range(2)]
    test = [make_summary(project, article=make_article(project, split="test")) for _ in range(3)]
    for summary in (*train, *test):
        rate(summary, attribution="yes")
    planned = plan(project, "majority", {})
    assert set(planned.pool) == {summary.pk for summary in train}
    assert planned.foreseen == {"article is in the labelled pool": 2}


def test_gold_summaries_and_removed_raters_are_not_in_the_pool():
    project = make_project()
    rate(make_gold(project).summary, attribution="yes")
    removed = rate(make_summary(project), attribution="yes")
    removed.rater.status = "removed"
    removed.rater.save()
    with pytest.raises(InvalidRun, match="no label"):
        plan(project, "majority", {})


def test_labels_given_after_planning_do_not_change_the_run():
    project = make_project()
    for value in ("yes", "yes", "no"):
        rate(make_summary(project, article=make_article(project, split="train")), attribution=value)
    judged = make_summary(project)
    run = plan_run(project, "majority", {})
    for summary in Summary.objects.exclude(pk=judged.pk):
        for _ in range(3):
            rate(summary, attribution="no")
    finished(run)
    assert judged.scores.get().value == 1.0
    assert plan(project, "majority", {}).reused == 0, "the later labels are another pool"


def test_setups_with_the_same_name_get_distinct_labels():
    project = make_project()
    rate(make_summary(project, article=make_article(project, split="train")), attribution="yes")
    make_summary(project)
    first = finished(plan_run(project, "majority", {}))
    rate(make_summary(project, article=make_article(project, split="train")), attribution="no")
    second = plan_run(project, "majority", {})
    digest = second.setup.provenance["pool"]["sha256"]
    assert first.setup.label == "Majority class"
    assert second.setup.label == f"Majority class, labels {digest[:6]}"


def test_only_managers_and_researchers_start_runs():
    project = make_project()
    make_summary(project)
    with pytest.raises(NotAllowed):
        plan_run(project, "length", {}, make_rater(project).user)
    with pytest.raises(NotFound):
        plan_run(project, "length", {}, make_user())
    with pytest.raises(NotFound):
        plan_run(project, "length", {}, make_member(make_project(), "manager"))
    assert not Run.objects.exists()
    researcher = make_member(project, "researcher")
    assert plan_run(project, "length", {}, researcher).created_by == researcher


def test_run_wakes_a_worker_of_the_evaluators_queue(sent, django_capture_on_commit_callbacks):
    project = make_project()
    for value in ("yes", "no", "yes"):
        rate(make_summary(project), attribution=value)
    with django_capture_on_commit_callbacks(execute=True):
        length = plan_run(project, "length", {})
        ice = plan_run(project, "ice", ICE)
        assert sent("cpu") == [], "no message is sent before the commit"
    [message] = sent("cpu")
    assert (message["task"], message["args"]) == ("scoring.tasks.work_on_run", [length.pk])
    assert [message["args"] for message in sent("llm")] == [[ice.pk]]


def test_run_is_not_lost_if_the_broker_is_down(monkeypatch, django_capture_on_commit_callbacks):
    from touchstone.celery import app

    def refuse_connection(*args, **kwargs):
        raise ConnectionRefusedError

    monkeypatch.setattr(wake_ups, "_failed_at", wake_ups._failed_at)  # restored afterwards
    monkeypatch.setattr(app, "send_task", refuse_connection)
    project = make_project()
    make_summary(project)
    with django_capture_on_commit_callbacks(execute=True):
        run = plan_run(project, "length", {})
    assert Run.objects.get(pk=run.pk).status == Run.Status.QUEUED


def test_number_of_queries_does_not_grow_with_summaries(django_assert_max_num_queries):
    counts = []
    for number in (10, 20):
        project = make_project()
        for _ in range(number):
            add_reference(make_summary(project))
        with django_assert_max_num_queries(30) as counted:
            plan_run(project, "rouge", {})
        counts.append(len(counted))
    assert counts[0] == counts[1]
