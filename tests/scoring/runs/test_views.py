"""Pages of evaluators and runs."""

import csv
import io
import math

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Project
from scoring.contract.evaluator import GENERAL
from scoring.contract.scores import Scored
from scoring.models import Batch, Run, Score, Setup
from scoring.runs.claims import postpone_batch
from scoring.runs.lifecycle import cancel_run, fail_run
from scoring.runs.planning import plan_run
from scoring.runs.worker import record_scores
from scoring.workers.presence import sign, sign_off
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.factories import (
    make_article,
    make_member,
    make_project,
    make_rater,
    make_summary,
    make_system,
    make_user,
)
from tests.scoring.claims import claimed, make_run, record

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(project) -> Client:
    return signed_in(make_member(project, "researcher"))


def rows_of(client: Client, project: Project, run: Run) -> list[list[str]]:
    response = client.get(address("run_scores", project, run.pk))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    content = b"".join(response.streaming_content).decode()
    return list(csv.reader(io.StringIO(content)))


def test_table_has_every_score_and_reason(monkeypatch, project, researcher):
    run = make_run(monkeypatch, batches=2, size=1, project=project)
    first, second = claimed(run), claimed(run)
    record(first, value=0.1 + 0.2)
    without_a_score(second, "no reference")
    header, *rows = rows_of(researcher, project, run)
    assert header == ["id", "article_id", "system", "dimension", "value", "reason", "explanation"]
    article = project.summaries.get(pk=first.summary_ids[0]).article.external_id
    assert rows[0] == [f"{article}/system-a", article, "system-a", "general", "0.30000000000000004", "", ""]
    assert rows[1][4:] == ["", "no reference", ""]


def test_texts_cannot_act_as_formulas(project, researcher):
    article = make_article(project, external_id="=HYPERLINK(1)")
    make_summary(project, article=article, system=make_system(project, "@system"))
    run = plan_run(project, "length", {})
    record(claimed(run), value=-1.5)
    [_, row] = rows_of(researcher, project, run)
    assert row == ["'=HYPERLINK(1)/@system", "'=HYPERLINK(1)", "'@system", "general", "-1.5", "", ""]


def test_table_includes_scores_of_other_runs_of_the_setup(monkeypatch, project, researcher):
    first = make_run(monkeypatch, batches=1, project=project)
    record(claimed(first))
    again = plan_run(project, "length", {})
    assert again.total == 0
    assert len(rows_of(researcher, project, again)) == 3


HTMX = {"headers": {"hx-request": "true"}}


def address(name: str, project: Project, *args: object) -> str:
    return reverse(name, args=[project.slug, *args])


def without_a_score(claim: Batch, reason: str) -> None:
    scored = Scored({GENERAL: math.nan}, {GENERAL: reason})
    assert record_scores(claim, dict.fromkeys(claim.summary_ids, scored), {})


class TestRoles:
    PAGES = ("run", "run_delete", "run_scores")

    @pytest.mark.parametrize("role", ["manager", "researcher"])
    def test_managers_and_researchers_see_all_pages(self, monkeypatch, project, role):
        run = make_run(monkeypatch, project=project)
        client = signed_in(make_member(project, role))
        addresses = [address("runs", project), address("run_new", project)]
        addresses += [address(name, project, run.pk) for name in self.PAGES]
        assert [client.get(each).status_code for each in addresses] == [200] * 5

    @pytest.mark.parametrize(
        ("person", "status"),
        [
            (lambda project: make_rater(project).user, 403),
            (lambda _: make_user(), 404),
            (lambda _: make_member(make_project(), "manager"), 404),
        ],
        ids=["rater", "stranger", "manager of another project"],
    )
    def test_raters_and_strangers_cannot_open_any_page(self, monkeypatch, project, person, status):
        run = make_run(monkeypatch, project=project)
        client = signed_in(person(project))
        got = [client.get(address(name, project)) for name in ("runs", "run_new")]
        got += [client.get(address(name, project, run.pk)) for name in self.PAGES]
        got += [client.get(address("run", project, run.pk), **HTMX)]
        got += [client.post(address("run_new", project), {"evaluator": "length", "action": "start"})]
        got += [
            client.post(address(name, project, run.pk)) for name in ("run_cancel", "run_resume", "run_delete")
        ]
        assert [response.status_code for response in got] == [status] * len(got)
        assert Run.objects.get().status == Run.Status.QUEUED

    def test_anonymous_visitors_are_sent_to_the_sign_in_page(self, monkeypatch, project):
        run = make_run(monkeypatch, project=project)
        for name in ("run", "run_delete", "run_scores"):
            response = Client().get(address(name, project, run.pk))
            assert response.status_code == 302
            assert "/sign-in/" in response["Location"]

    def test_run_of_another_project_is_not_found(self, monkeypatch, project, researcher):
        elsewhere = make_run(monkeypatch)
        for name in self.PAGES:
            assert researcher.get(address(name, project, elsewhere.pk)).status_code == 404
        assert researcher.post(address("run_cancel", project, elsewhere.pk)).status_code == 404

    @pytest.mark.parametrize("name", ["run_cancel", "run_resume"])
    def test_actions_cannot_be_called_by_get(self, monkeypatch, project, researcher, name):
        run = make_run(monkeypatch, project=project)
        assert researcher.get(address(name, project, run.pk)).status_code == 405


class TestPagesOfEvaluators:
    @pytest.mark.parametrize("name", ["runs", "trainings", "judges", "rechecks", "dimensions", "endpoints"])
    def test_tabs_link_to_every_page_and_mark_the_current_one(self, project, researcher, name):
        page = text_of(researcher.get(address(name, project)))
        tabs = page[page.index('<nav class="tabs"') :].partition("</nav>")[0]
        assert tabs.count("<a ") == 6
        assert tabs.count("aria-current") == 1
        assert f'<a href="{address(name, project)}" aria-current="page">' in tabs


class TestList:
    def test_empty_list_says_how_to_begin(self, project, researcher):
        page = text_of(researcher.get(address("runs", project)))
        assert "No runs yet" in page
        assert f"manage.py score rouge --project {project.slug}" in page

    def test_list_shows_the_progress_of_each_run(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        record(claimed(run))
        without_a_score(claimed(run), "no reference")
        page = text_of(researcher.get(address("runs", project)))
        assert "<b>4</b> of 6 summaries" in page
        assert "2 without a score" in page
        assert "running" in page
        assert "hx-trigger" in page

    def test_list_stops_polling_when_all_runs_have_ended(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, batches=1, project=project)
        record(claimed(run))
        response = researcher.get(address("runs", project), **HTMX)
        assert "hx-trigger" not in text_of(response)
        assert "<html" not in text_of(response)

    def test_imported_scores_are_listed_as_a_complete_run(self, project, researcher):
        summaries = [make_summary(project) for _ in range(3)]
        setup = Setup.objects.create(
            project=project,
            evaluator="imported",
            label="BLEURT",
            signature="imported|BLEURT",
            fingerprint="x",
        )
        run = Run.objects.create(setup=setup, status=Run.Status.DONE, total=3)
        Score.objects.create(setup=setup, run=run, summary=summaries[0], dimension="g", value=0.5)
        Score.objects.create(
            setup=setup, run=run, summary=summaries[1], dimension="g", reason="not in the file"
        )
        page = text_of(researcher.get(address("runs", project)))
        assert "<b>3</b> of 3 summaries" in page
        assert "1 without a score" in page
        page = text_of(researcher.get(address("run", project, run.pk)))
        assert "Imported scores" in page
        assert "not in the file" in page
        assert "Compare with human labels" in page


class TestNewRun:
    def test_page_offers_every_evaluator_with_its_needs(self, project, researcher):
        page = text_of(researcher.get(address("run_new", project)))
        for name, need in (("rouge", "references"), ("ice", "human labels"), ("length", "the summary alone")):
            assert f"?evaluator={name}" in page
            assert need in page
        assert "Lin 2004" in page

    def test_unknown_evaluator_is_not_found(self, project, researcher):
        response = researcher.get(address("run_new", project) + "?evaluator=rogue")
        assert response.status_code == 404
        assert "did you mean rouge" in text_of(response)

    def test_form_has_every_parameter_with_default_and_help(self, project, researcher):
        page = text_of(researcher.get(address("run_new", project) + "?evaluator=rouge"))
        for name in ("variant", "measure", "against", "references", "tokens", "stem", "sentences"):
            assert f'name="param_{name}"' in page
        assert '<option value="L" selected>' in page
        assert "longest common subsequence" in page

    def test_preview_counts_scored_and_unscored_summaries(self, project, researcher):
        for number in range(3):
            make_summary(project, article=make_article(project, text="" if number else "A text."))
        form = {"evaluator": "rouge", "param_against": "article", "action": "preview"}
        response = researcher.post(address("run_new", project), {**DEFAULTS, **form})
        assert response.status_code == 200
        page = text_of(response)
        assert "<b>3</b> summaries" in page
        assert "<b>2</b> <span>no article</span>" in page
        assert not Run.objects.exists()

    def test_htmx_request_gets_only_the_preview(self, project, researcher):
        make_summary(project)
        response = researcher.post(address("run_new", project), {"evaluator": "length"}, **HTMX)
        assert response.status_code == 200
        assert "<html" not in text_of(response)
        assert "<b>1</b> summary" in text_of(response)

    def test_starting_queues_the_run_and_opens_its_page(self, project, researcher):
        make_summary(project)
        form = {"evaluator": "length", "param_unit": "characters", "action": "start"}
        response = researcher.post(address("run_new", project), form)
        run = Run.objects.get()
        assert response.status_code == 302
        assert response["Location"] == address("run", project, run.pk)
        assert run.setup.params == {"unit": "characters"}
        assert run.created_by is not None

    def test_only_the_chosen_summaries_are_scored(self, project, researcher):
        make_summary(project, language="en")
        german = make_summary(project, language="de")
        form = {"evaluator": "length", "languages": ["de"], "action": "start"}
        researcher.post(address("run_new", project), form)
        assert Run.objects.get().batches.get().summary_ids == [german.pk]

    @pytest.mark.parametrize(
        ("form", "message"),
        [
            ({"evaluator": "copy_rate", "param_share": "3"}, "less than or equal to 1"),
            ({"evaluator": "copy_rate", "param_share": "much"}, "Enter a number"),
            ({"evaluator": "length", "param_unit": "letters"}, "Select a valid choice"),
            ({"evaluator": "ice"}, "This field is required"),
            ({"evaluator": "ice", "param_model": "m", "param_base_url": "ftp://x"}, "expected an http"),
            (
                {"evaluator": "ice", "param_model": "m", "param_api_key_env": "HOME"},
                "expected a name such as",
            ),
            ({"evaluator": "majority"}, "has no labels"),
        ],
    )
    def test_errors_are_shown_on_the_form_and_no_run_starts(self, project, researcher, form, message):
        make_summary(project)
        response = researcher.post(address("run_new", project), {**form, "action": "start"})
        assert response.status_code == 422
        assert message in text_of(response)
        assert not Run.objects.exists()

    def test_invalid_combination_is_shown_beside_its_field(self, project, researcher):
        form = {**DEFAULTS, "evaluator": "rouge", "param_tokens": "unicode", "param_stem": "on"}
        response = researcher.post(address("run_new", project), {**form, "action": "start"})
        assert "param_stem" in response.context["form"].errors

    def test_empty_parameter_keeps_its_default(self, project, researcher):
        make_summary(project)
        form = {"evaluator": "copy_rate", "param_share": "", "action": "start"}
        researcher.post(address("run_new", project), form)
        assert Run.objects.get().setup.params == {"share": 0.2}

    def test_second_start_says_that_the_first_run_is_in_progress(self, project, researcher):
        make_summary(project)
        form = {"evaluator": "length", "action": "start"}
        researcher.post(address("run_new", project), form)
        response = researcher.post(address("run_new", project), form)
        assert response.status_code == 422
        assert f"Run {Run.objects.get().pk} of Length is in progress" in text_of(response)
        assert Run.objects.count() == 1


DEFAULTS = {
    "param_variant": "L",
    "param_measure": "f1",
    "param_against": "references",
    "param_references": "max",
    "param_tokens": "rouge_score",
    "param_sentences": "newline",
}


class TestRun:
    def test_page_shows_signature_fingerprint_and_provenance(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        page = text_of(researcher.get(address("run", project, run.pk)))
        assert run.setup.fingerprint in page
        assert "length|<wbr>unit:words|<wbr>v:1" in page
        assert "&quot;version&quot;: 1" in page

    def test_fragment_updates_and_stops_polling_when_the_run_has_ended(
        self, monkeypatch, project, researcher
    ):
        run = make_run(monkeypatch, batches=2, project=project)
        here = address("run", project, run.pk)
        record(claimed(run))
        fragment = text_of(researcher.get(here, **HTMX))
        assert "<b>2</b> of 4 summaries" in fragment
        assert "a second" in fragment
        assert "hx-trigger" in fragment
        assert "<html" not in fragment
        record(claimed(run))
        fragment = text_of(researcher.get(here, **HTMX))
        assert "hx-trigger" not in fragment
        assert "done" in fragment
        assert "hx-trigger" not in text_of(researcher.get(here))

    def test_page_lists_reasons_for_missing_scores(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, batches=3, project=project)
        without_a_score(claimed(run), "no reference")
        without_a_score(claimed(run), "no reference")
        without_a_score(claimed(run), "<b>odd</b>")
        page = text_of(researcher.get(address("run", project, run.pk)))
        assert "<b>4</b> <span>no reference</span>" in page
        assert "<b>2</b> <span>&lt;b&gt;odd&lt;/b&gt;</span>" in page
        assert "<b>0</b> scored · <b>6</b> without a score" in page

    def test_page_says_at_once_that_no_worker_is_running(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        there_is_none = "No worker for this evaluator is running"
        assert there_is_none in text_of(researcher.get(address("run", project, run.pk), **HTMX))
        sign("worker", ["cpu"])
        page = text_of(researcher.get(address("run", project, run.pk), **HTMX))
        assert there_is_none not in page
        assert "Waiting for a worker." in page
        sign_off("worker")
        claimed(run)  # by a command that scores in its own process
        assert there_is_none not in text_of(researcher.get(address("run", project, run.pk), **HTMX))

    def test_page_says_how_many_batches_will_be_retried(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        postpone_batch(claimed(run))
        assert "1 batch will be retried" in text_of(researcher.get(address("run", project, run.pk)))

    def test_failed_run_shows_its_reason_and_can_be_resumed(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        fail_run(run.pk, "wrong key")
        page = text_of(researcher.get(address("run", project, run.pk)))
        assert "Wrong key" in page
        assert address("run_resume", project, run.pk) in page
        response = researcher.post(address("run_resume", project, run.pk), follow=True)
        assert "Run resumed" in text_of(response)
        assert Run.objects.get().status == Run.Status.QUEUED

    def test_cancelling_returns_to_the_runs_page(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        response = researcher.post(address("run_cancel", project, run.pk), follow=True)
        assert "Its scores are kept" in text_of(response)
        assert Run.objects.get().status == Run.Status.CANCELLED

    def test_cancelling_a_run_that_has_just_ended_says_so(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, batches=1, project=project)
        record(claimed(run))
        response = researcher.post(address("run_cancel", project, run.pk), follow=True)
        assert "cannot be cancelled: it is done" in text_of(response)

    def test_deleting_needs_a_confirmation(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, batches=1, project=project)
        record(claimed(run))
        here = address("run_delete", project, run.pk)
        assert "2 scores are deleted with it" in text_of(researcher.get(here))
        assert Score.objects.count() == 2
        response = researcher.post(here, follow=True)
        assert f"Run {run.pk} of Length and its scores deleted." in text_of(response)
        assert not Score.objects.exists()
        assert not Run.objects.exists()

    def test_unfinished_run_cannot_be_deleted(self, monkeypatch, project, researcher):
        run = make_run(monkeypatch, project=project)
        here = address("run_delete", project, run.pk)
        assert "Cancel it first" in text_of(researcher.get(here))
        assert researcher.post(here).status_code == 409
        assert Run.objects.exists()


def test_cancelled_run_can_be_resumed_from_its_page(monkeypatch, project, researcher):
    run = make_run(monkeypatch, project=project)
    cancel_run(run, make_member(project, "manager"))
    page = text_of(researcher.get(address("run", project, run.pk)))
    assert address("run_resume", project, run.pk) in page
    assert address("run_delete", project, run.pk) in page
    assert address("run_cancel", project, run.pk) not in page
