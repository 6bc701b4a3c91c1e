"""manage.py score and manage.py evaluators, in this process and in one of their own."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from scoring.management.commands import score as score_command
from scoring.models import Run, SeenArticle
from scoring.runs.lifecycle import cancel_run, fail_run
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from scoring.workers.presence import sign
from tests.factories import make_member, make_summary
from tests.metaeval.rated_projects import make_setup, score
from tests.scoring.asking_projects import asking_project, price
from tests.scoring.processes import database_url
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.tiny_models import tiny_model

ROOT = Path(__file__).resolve().parents[3]


def run_command(*arguments: str, **options: object) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output, **options)
    return output.getvalue()


def refused(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        run_command(*arguments)
    return caught.value


class Worker(threading.Thread):
    """A thread that does `work` with the first queued run that it finds."""

    def __init__(self, work) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._stop_looking = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_looking.set()
        self.join()

    def run(self) -> None:
        try:
            while not self._stop_looking.wait(0.02):
                found = Run.objects.filter(status=Run.Status.QUEUED).select_related("setup__project").first()
                if found is not None:
                    self._work(found)
                    return
        finally:
            connection.close()


@pytest.mark.django_db(transaction=True)
class TestScoreProject:
    def test_command_follows_the_run_until_it_is_done(self, project, capsys):
        for _ in range(3):
            make_summary(project)
        with Worker(lambda run: work_on_run(run.pk)):
            output = run_command("score", "length", "--project", project.slug, "--set", "unit=characters")
        assert Run.objects.get().setup.params == {"unit": "characters"}
        assert "length|unit:characters|v:1" in output
        assert "3 of 3 summaries have a score on every dimension." in output
        assert "3 of 3 summaries" in capsys.readouterr().err

    def test_unscored_summaries_are_listed_by_reason_and_the_exit_code_is_1(self, project):
        make_summary(project)
        output = io.StringIO()
        with Worker(lambda run: work_on_run(run.pk)), pytest.raises(CommandError) as caught:
            call_command("score", "rouge", "--project", project.slug, stdout=output)
        assert caught.value.returncode == 1
        assert "0 of 1 summaries" in output.getvalue()
        assert "1  no reference" in output.getvalue()

    def test_summary_seen_on_one_dimension_still_lacks_a_score_on_another(self, project):
        first, second = make_summary(project), make_summary(project)
        one, two = make_setup(project, "One"), make_setup(project, "Two")
        for dimension in ("coherence", "fluency"):
            score(one, {first: 1.0, second: 1.0}, dimension)
        score(two, {first: "reply cut", second: 1.0}, "coherence")
        score(two, {first: 1.0, second: 1.0}, "fluency")
        SeenArticle.objects.create(setup=one, article=first.article, dimension="fluency", role="example")
        output, given = io.StringIO(), ("--project", project.slug, "--set", "members=One,Two")
        with Worker(lambda run: work_on_run(run.pk)), pytest.raises(CommandError) as caught:
            call_command("score", "jury", *given, stdout=output)
        assert str(caught.value) == "1 summary lacks a score."
        assert "1  a member has learnt from this article" in output.getvalue()
        assert "1  no score by Two" in output.getvalue()

    def test_existing_scores_are_reused(self, project):
        make_summary(project)
        with Worker(lambda run: work_on_run(run.pk)):
            run_command("score", "length", "--project", project.slug)
        output = run_command("score", "length", "--project", project.slug)
        assert "1 summaries had these scores already." in output

    def test_failed_run_ends_with_its_message_and_exit_code_1(self, project):
        make_summary(project)
        with Worker(lambda run: fail_run(run.pk, "wrong key")):
            error = refused("score", "length", "--project", project.slug)
        assert error.returncode == 1
        assert "wrong key" in str(error)

    def test_cancelled_run_ends_with_exit_code_1(self, project):
        make_summary(project)
        manager = make_member(project, "manager")
        with Worker(lambda run: cancel_run(run, manager)):
            error = refused("score", "length", "--project", project.slug)
        assert error.returncode == 1
        assert "Finished scores are kept" in str(error)

    def test_deleted_run_ends_with_exit_code_1(self, project):
        make_summary(project)
        with Worker(lambda run: run.delete()):
            error = refused("score", "length", "--project", project.slug)
        assert (error.returncode, str(error)) == (1, "The run was deleted.")

    @pytest.mark.parametrize(
        ("queues", "warning"),
        [([], "no worker for cpu is running"), (["cpu"], "all workers have been busy")],
    )
    def test_command_says_once_that_the_run_waits(self, project, monkeypatch, queues, warning):
        make_summary(project)
        sign("worker", queues)
        monkeypatch.setattr(score_command, "PATIENCE_S", 0.3)
        errors = io.StringIO()
        manager = make_member(project, "manager")

        def late(run: Run) -> None:
            while not errors.getvalue():
                time.sleep(0.05)
            time.sleep(4 * 0.3)  # long enough for a second warning
            cancel_run(run, manager)

        with Worker(late), pytest.raises(CommandError):
            call_command("score", "length", "--project", project.slug, stderr=errors, stdout=io.StringIO())
        assert errors.getvalue().count("The run is queued") == 1
        assert warning in errors.getvalue()

    def test_without_a_worker_the_command_scores_here(self, project):
        for _ in range(3):
            make_summary(project)
        output = run_command("score", "length", "--project", project.slug, "--here")
        assert "3 of 3 summaries have a score on every dimension." in output

    def test_scoring_here_goes_on_with_the_queued_run(self, project):
        make_summary(project)
        queued = plan_run(project, "length", {})
        assert f"Run {queued.pk}:" in run_command("score", "length", "--project", project.slug, "--here")
        assert Run.objects.get().status == Run.Status.DONE

    def test_scoring_here_can_be_interrupted_and_taken_up_at_once(self, project, monkeypatch, capsys):
        make_summary(project)
        arguments = ("score", "length", "--project", project.slug, "--here")

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("scoring.runs.worker.score_items", interrupted)
            with pytest.raises(SystemExit) as ended:
                run_command(*arguments)
        assert ended.value.code == score_command.INTERRUPTED
        assert "this command can go on with the run" in capsys.readouterr().err
        assert "1 of 1 summaries" in run_command(*arguments)
        assert Run.objects.get().status == Run.Status.DONE

    def test_requests_of_a_batch_are_not_sent_here(self, project):
        error = refused("score", "length", "--project", project.slug, "--here", "--batch")
        assert (error.returncode, str(error)) == (2, "--batch needs a worker. Leave out --here.")

    def test_command_scores_only_the_chosen_language(self, project):
        make_summary(project, language="en")
        german = make_summary(project, language="de")
        with Worker(lambda run: work_on_run(run.pk)):
            run_command("score", "length", "--project", project.slug, "--language", "de")
        assert Run.objects.get().batches.get().summary_ids == [german.pk]


ASKING = ("model=judge-1", "dimensions=attribution", "examples=1", "pool_articles=1")


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2))) as server:
        yield server


def asking(endpoint, *more):
    settings = [*ASKING, f"base_url={endpoint.base_url}"]
    return ["score", "ice", *(part for each in settings for part in ("--set", each)), *more]


@pytest.mark.django_db(transaction=True)
class TestAskingModels:
    def test_command_ends_with_tokens_and_cost(self, endpoint):
        project = asking_project(3)
        price(project, endpoint, "100", "0")
        with Worker(lambda run: work_on_run(run.pk)):
            output = run_command(*asking(endpoint, "--project", project.slug))
        assert "300 tokens sent, 6 received, $0.03." in output

    def test_paused_run_ends_with_its_reason_and_exit_code_1(self, endpoint):
        project = asking_project(9)
        price(project, endpoint, "100", "0")
        with Worker(lambda run: work_on_run(run.pk)):
            error = refused(*asking(endpoint, "--project", project.slug, "--budget", "0.05"))
        assert error.returncode == 1
        assert str(error).startswith("The run is paused: $0.0")
        assert page_of(Run.objects.get()) in str(error)


@pytest.mark.django_db
class TestAskingModelsWithoutARun:
    def test_dry_run_shows_three_prompts_and_the_cost_and_sends_nothing(self, endpoint):
        project = asking_project(5)
        price(project, endpoint, "100", "0")
        output = run_command(*asking(endpoint, "--project", project.slug, "--dry-run"))
        assert "Summary: Summary number 0." in output
        assert output.count("--- system") == output.count("--- prompt") == 3
        assert "Requests: 5." in output
        assert "Cost: about $0." in output
        assert output.endswith("Nothing was sent.\n")
        assert not endpoint.asked
        assert not Run.objects.exists()

    def test_dry_run_of_a_file_has_no_price(self, endpoint, tmp_path):
        texts = [*range(199), 198]
        rows = [
            {"id": f"s{number}", "summary": f"Summary {text}.", "article": f"Text {text}."}
            | ({"labels": {"attribution": 1}, "split": "train"} if number == 0 else {})
            for number, text in enumerate(texts)
        ]
        file = tmp_path / "examples.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        output = run_command(*asking(endpoint, "--input", str(file), "--dry-run"))
        assert "Requests: about " in output
        assert "Extrapolated from 120 of 200 summaries." in output
        assert "Same text as another summary of the same article: 1." in output
        assert "Cost: unknown. Prices are set in projects." in output
        assert not endpoint.asked

    def test_invalid_budgets_are_refused(self, endpoint):
        arguments = asking(endpoint, "--project", asking_project(1).slug, "--budget")
        assert "found 'much', expected US dollars" in str(refused(*arguments, "much"))
        unpriced = refused(*arguments, "1")
        assert unpriced.returncode == 2
        assert "a budget needs a price for judge-1" in str(unpriced)

    def test_dry_run_is_refused_for_evaluators_without_a_language_model(self, project):
        make_summary(project)
        error = refused("score", "length", "--project", project.slug, "--dry-run")
        assert error.returncode == 2
        assert "asks a language model" in str(error)


@pytest.mark.django_db
class TestScoreProjectRefusals:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("rogue",), "did you mean rouge"),
            (("rouge", "--set", "varient=L"), "did you mean variant"),
            (("rouge", "--set", "variant"), "expected KEY=VALUE"),
            (("rouge", "--set", "=L"), "expected KEY=VALUE"),
            (("rouge", "--set", "variant=9"), "expected one of"),
            (("majority",), "has no labels"),
            (("rouge", "--output", "scores.jsonl"), "--output needs --input"),
            (("rouge", "--label-scale", "1", "5"), "--label-scale needs --input"),
        ],
    )
    def test_bad_arguments_are_named_with_exit_code_2(self, project, arguments, message):
        error = refused("score", *arguments, "--project", project.slug)
        assert error.returncode == 2
        assert message in str(error)
        assert not Run.objects.exists()

    def test_unknown_project_is_refused_with_similar_names(self, project):
        error = refused("score", "length", "--project", project.slug + "x")
        assert error.returncode == 2
        assert f"did you mean {project.slug}?" in str(error)

    def test_run_in_progress_is_not_started_again(self, project):
        make_summary(project)
        plan_run(project, "length", {})
        error = refused("score", "length", "--project", project.slug)
        assert error.returncode == 1
        assert " of Length is in progress. Wait until it ends." in str(error)


def manage(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py where no database and no broker can be reached."""
    environment = {
        **os.environ,
        "DATABASE_URL": "sqlite:////no/such/folder/touchstone.sqlite3",
        "BROKER_URL": "sqlite:////no/such/folder/broker.sqlite3",
        **variables,
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


class TestScoreFile:
    @pytest.fixture
    def examples(self, tmp_path: Path) -> Path:
        path = tmp_path / "examples.jsonl"
        rows = [
            {"id": "a", "summary": "two words"},
            {"id": "b", "summary": "three more words", "references": ["three more words"]},
        ]
        path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        return path

    def test_scoring_a_file_needs_neither_database_nor_broker(self, tmp_path, examples):
        done = manage(tmp_path, "score", "length", "--input", str(examples), "--output", "scores.jsonl")
        assert done.returncode == 0, done.stderr
        assert "length|unit:words|v:1" in done.stdout
        assert "2 of 2 summaries" in done.stderr
        scores = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
        assert scores == [{"id": "a", "scores": {"general": 2.0}}, {"id": "b", "scores": {"general": 3.0}}]

    def test_unscored_lines_are_listed_and_the_exit_code_is_1(self, tmp_path, examples):
        output, scores = io.StringIO(), tmp_path / "scores.jsonl"
        with pytest.raises(CommandError) as caught:
            call_command("score", "rouge", "--input", str(examples), "--output", str(scores), stdout=output)
        assert caught.value.returncode == 1
        assert "1  no reference" in output.getvalue()
        assert scores.exists()

    def test_model_of_the_wrong_kind_is_named_and_nothing_is_written(self, tmp_path, examples):
        model, scores = f"model={tiny_model('bart')}", tmp_path / "scores.jsonl"
        error = refused(
            "score", "similarity", "--set", model, "--input", str(examples), "--output", str(scores)
        )
        assert error.returncode == 1
        assert "is of the kind bart, an encoder with a decoder" in str(error)
        assert not scores.exists()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("length", "--input", "examples.jsonl"), "--input needs --output"),
            (("length", "--input", "absent.jsonl", "--output", "s.jsonl"), "absent.jsonl"),
            (("length", "--input", "examples.jsonl", "--output", "no/such/folder/s.jsonl"), "no folder"),
            (("rogue", "--input", "examples.jsonl", "--output", "s.jsonl"), "did you mean rouge"),
            (
                ("length", "--set", "unit=x", "--input", "examples.jsonl", "--output", "s.jsonl"),
                "expected one",
            ),
            (("length", "--here", "--input", "e", "--output", "s"), "--here needs --project"),
            (("length", "--rated-only", "--input", "e", "--output", "s"), "--rated-only needs --project"),
        ],
    )
    def test_bad_arguments_are_named_with_exit_code_2_and_nothing_is_written(
        self, tmp_path, monkeypatch, examples, arguments, message
    ):
        monkeypatch.chdir(tmp_path)
        error = refused("score", *arguments)
        assert error.returncode == 2
        assert message in str(error)
        assert list(tmp_path.iterdir()) == [examples]

    def test_project_and_file_cannot_be_combined(self):
        error = refused("score", "length", "--project", "p", "--input", "e")
        assert "not allowed with argument" in str(error)

    def test_faulty_file_is_refused_with_every_fault(self, tmp_path, examples):
        examples.write_text('{"id": "a"}\n{"id": "b", "summary": 3}\n', encoding="utf-8")
        error = refused("score", "length", "--input", str(examples), "--output", str(tmp_path / "s.jsonl"))
        assert error.returncode == 2
        assert "line 1, summary" in str(error)
        assert "line 2, summary" in str(error)

    def test_articles_in_the_labelled_pool_are_listed_without_a_failure(self, tmp_path):
        examples, scores = tmp_path / "examples.jsonl", tmp_path / "scores.jsonl"
        rows = [
            {"id": "a", "summary": "s", "article_id": "1", "split": "train", "labels": {"fluency": 1}},
            {"id": "b", "summary": "s", "article_id": "2"},
        ]
        examples.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        output = run_command("score", "majority", "--input", str(examples), "--output", str(scores))
        assert "1 of 2 summaries have a score on every dimension." in output
        assert "1  article is in the labelled pool" in output

    def test_evaluator_that_cannot_be_fitted_writes_nothing(self, tmp_path, examples):
        error = refused("score", "majority", "--input", str(examples), "--output", str(tmp_path / "s.jsonl"))
        assert error.returncode == 1
        assert "has no labels" in str(error)
        assert list(tmp_path.iterdir()) == [examples]


class TestEvaluators:
    def test_command_describes_all_or_one_without_a_database(self):
        """pytest-django raises where a test without its mark uses the database."""
        assert run_command("evaluators") == (ROOT / "docs" / "evaluators.md").read_text("utf-8")
        [described] = json.loads(run_command("evaluators", "rouge", "--json"))
        assert described["name"] == "rouge"
        assert described["parameters"][0]["default"] == "L"

    def test_unknown_evaluator_is_refused_with_similar_names(self):
        error = refused("evaluators", "rogue")
        assert error.returncode == 2
        assert "did you mean rouge" in str(error)


@pytest.mark.django_db(transaction=True)
def test_run_continues_after_ctrl_c(project, tmp_path):
    """The command runs in its own process on this test's database, without a worker."""
    make_summary(project)
    command = [sys.executable, "-u", str(ROOT / "manage.py"), "score", "length", "--project", project.slug]
    surroundings = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "BROKER_URL": f"sqlite:///{tmp_path / 'broker.sqlite3'}",
    }
    process = subprocess.Popen(
        command,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Shells disable Ctrl-C for background processes and their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    assert "0 of 1 summaries" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 130
    run = Run.objects.get()
    assert run.status == Run.Status.QUEUED
    assert f"The run continues without this command. Its page shows the progress: {page_of(run)}" in errors


def page_of(run: Run) -> str:
    return reverse("run", args=[run.setup.project.slug, run.pk])
