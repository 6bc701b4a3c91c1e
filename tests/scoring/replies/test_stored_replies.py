"""Stored replies: paid for once, reused, and counted."""

import threading
from decimal import Decimal

import pytest

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Reply, Request, Usage
from scoring.endpoints.keys import set_key
from scoring.endpoints.known_models import model_at
from scoring.models import Batch, Reservation, Run, Score, StoredReply
from scoring.prompts.prompt_length import at_most_tokens
from scoring.replies.stored_replies import StoredReplies, is_final
from scoring.runs import worker
from scoring.runs.lifecycle import delete_run, resume_run
from scoring.runs.worker import MOST_ATTEMPTS, work_on_run
from tests.factories import make_member
from tests.scoring.asking_projects import MODEL, asking_project, asking_run, price
from tests.scoring.runs.test_concurrent_workers import in_threads
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

UNCUT_S = 600
USED = (100, 2)


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=USED)) as server:
        yield server
    worker._loaded.clear()


def work(run: Run) -> Run:
    work_on_run(run.pk, slice_s=UNCUT_S)
    run.refresh_from_db()
    return run


def summaries_asked(endpoint: ScriptedEndpoint) -> list[str]:
    return sorted(asked.prompt.rsplit("Summary: ", 1)[1].split("\n")[0] for asked in endpoint.asked)


@pytest.mark.django_db
class TestRuns:
    def test_each_reply_is_stored_with_its_tokens_and_cost(self, endpoint):
        project = asking_project(20)
        price(project, endpoint, "2", "8")
        run = work(asking_run(project, endpoint))
        assert run.status == Run.Status.DONE, run.failure
        rows = StoredReply.objects.filter(project=project, run=run)
        kept = rows.values_list("text", "problem", "model", "prompt_tokens", "completion_tokens", "cost")
        assert set(kept) == {("0.5", "", MODEL, *USED, Decimal("0.000216"))}
        assert len(kept) == len(endpoint.asked) == 20
        assert (run.prompt_tokens, run.completion_tokens) == (2000, 40)
        assert run.spent == 20 * Decimal("0.000216")
        assert not run.reservations.exists()

    def test_replies_without_a_price_count_tokens_but_no_cost(self, endpoint):
        run = work(asking_run(asking_project(3), endpoint))
        assert (run.spent, run.prompt_tokens) == (0, 300)
        assert set(StoredReply.objects.values_list("cost", flat=True)) == {None}

    def test_reply_without_usage_counts_its_upper_bound(self, endpoint):
        endpoint.answer = lambda _: Answer("0.5")
        project = asking_project(1)
        price(project, endpoint, "1", "1")
        run = work(asking_run(project, endpoint))
        reply = StoredReply.objects.get()
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)
        assert reply.cost == run.spent == Decimal(reply.prompt_tokens_at_most + 16) / 1_000_000
        assert (run.prompt_tokens, run.completion_tokens) == (
            reply.prompt_tokens_at_most,
            at_most_tokens("0.5"),
        )

    def test_another_run_reuses_the_replies_and_pays_nothing(self, endpoint):
        project = asking_project(5)
        price(project, endpoint, "2", "8")
        delete_run(work(asking_run(project, endpoint)), make_member(project, "manager"))
        endpoint.asked.clear()
        again = work(asking_run(project, endpoint))
        assert (again.status, again.spent, again.prompt_tokens) == (Run.Status.DONE, 0, 0)
        assert Score.objects.computed().filter(run=again).count() == 5
        assert not endpoint.asked

    def test_stored_replies_need_no_key(self, endpoint, monkeypatch):
        project = asking_project(2)
        delete_run(work(asking_run(project, endpoint)), make_member(project, "manager"))
        monkeypatch.setenv("OPENAI_API_KEY", "two words, which no header can carry")
        assert work(asking_run(project, endpoint)).status == Run.Status.DONE

    def test_another_project_sends_its_own_requests(self, endpoint):
        for _ in range(2):
            project = asking_project(3)
            work(asking_run(project, endpoint))
        assert len(endpoint.asked) == 6
        assert StoredReply.objects.filter(project=project).count() == 3

    def test_only_missing_requests_are_sent_after_an_outage(self, endpoint):
        project = asking_project(12)
        endpoint.answer = lambda asked: (
            Answer(status=503) if "number 7." in asked.prompt else Answer(usage=USED)
        )
        run = work(asking_run(project, endpoint))
        assert run.status == Run.Status.RUNNING
        kept = StoredReply.objects.count()
        assert 0 < kept < 12
        endpoint.answer = lambda _: Answer(usage=USED)
        endpoint.asked.clear()
        Batch.objects.update(not_before=None)
        assert work(run).status == Run.Status.DONE
        assert len(endpoint.asked) == 12 - kept
        assert run.prompt_tokens == 1200

    def test_failing_summary_leaves_the_other_scores(self, endpoint):
        project = asking_project(6)
        endpoint.answer = lambda asked: Answer(status=500 if "number 3." in asked.prompt else 200)
        run = asking_run(project, endpoint)
        for _ in range(MOST_ATTEMPTS):
            work(run)
            Batch.objects.update(not_before=None)
        assert run.status == Run.Status.DONE
        assert Score.objects.computed().filter(run=run).count() == 5
        reason = Score.objects.get(run=run, summary__text="Summary number 3.").reason
        assert "answers 500" in reason
        assert reason.endswith("(5 attempts)")

    @pytest.mark.parametrize(
        "answer",
        [
            Answer(None, refusal="I cannot rate this."),
            pytest.param(Answer("I'm sorry, but I can't help with that."), marks=pytest.mark.thorough),
            pytest.param(Answer("0.9", finish_reason="content_filter"), marks=pytest.mark.thorough),
            pytest.param(Answer("Let me think about", finish_reason="length"), marks=pytest.mark.thorough),
            Answer(status=400, error_code="context_length_exceeded"),
        ],
    )
    def test_reply_without_an_answer_is_requested_again_by_another_run_only(self, endpoint, answer):
        project = asking_project(2)
        endpoint.answer = lambda asked: answer if "number 1." in asked.prompt else Answer("0.5")
        run = work(asking_run(project, endpoint))
        endpoint.answer = lambda _: Answer("0.75")
        endpoint.asked.clear()

        Batch.objects.update(finished_at=None)
        Run.objects.update(status=Run.Status.FAILED)
        resume_run(run, make_member(project, "manager"))
        assert work(run).status == Run.Status.DONE
        assert not endpoint.asked, "the same run keeps its reply"

        assert work(asking_run(project, endpoint)).status == Run.Status.DONE
        assert summaries_asked(endpoint) == ["Summary number 1."]
        assert Score.objects.get(summary__text="Summary number 1.").value == 0.75
        assert StoredReply.objects.count() == 2
        run.refresh_from_db()
        assert run.replies_received == 2, "the replaced reply was received and paid for"

    def test_unreadable_answer_is_final(self):
        assert is_final(StoredReply(text="Good, I would say."))
        assert is_final(StoredReply(text=""))
        assert not is_final(StoredReply(text="I am unable to rate this."))

    def test_projects_key_is_sent_but_never_shown(self, endpoint, caplog):
        project = asking_project(2)
        model = price(project, endpoint, "2", "8")
        key = "sk-very-secret-1"
        set_key(model.endpoint, key, make_member(project, "manager"))
        body = f'{{"error": {{"message": "Incorrect API key provided: {key}", "code": "invalid_api_key"}}}}'
        endpoint.answer = lambda _: Answer(status=401, raw=body.encode())
        run = work(asking_run(project, endpoint))
        assert {asked.key for asked in endpoint.asked} == {f"Bearer {key}"}
        assert run.status == Run.Status.FAILED
        assert "Incorrect API key" in run.failure
        assert key not in run.failure + caplog.text

    def test_characters_that_databases_reject_are_removed(self, endpoint):
        endpoint.answer = lambda _: Answer(
            raw=b'{"choices": [{"message": {"content": "0.5\\u0000 \\ud800"}, "finish_reason": "stop"}]}'
        )
        run = work(asking_run(asking_project(1), endpoint))
        assert run.status == Run.Status.DONE, run.failure
        assert StoredReply.objects.get().text == "0.5 ?"


class Answering:
    """A model that answers at once and records its requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails_after: int | None = None

    def arrivals(self, requests):
        for place, request in enumerate(requests):
            if self.fails_after == place:
                raise EvaluatorError("out of order", permanent=False)
            self.asked.append(request.prompt)
            yield [(place, Reply(f"{threading.get_ident()} says {request.prompt}", usage=Usage(*USED)))]


def asking_for(run: Run, model: Answering, holder: str = "holder") -> StoredReplies:
    address = Address("https://llm.example.org/v1", MODEL, "chat", "SOME_API_KEY")
    row = model_at(run.setup.project_id, address)
    return StoredReplies(row, address, run.pk, holder, lambda _: model, None, len)


@pytest.fixture
def run(endpoint):
    return asking_run(asking_project(1), endpoint)


@pytest.mark.django_db
class TestReplies:
    def test_replies_are_in_order_and_equal_requests_are_sent_once(self, run):
        model = Answering()
        replies = asking_for(run, model).replies([Request(each) for each in "abcab"])
        assert [reply.text[-1] for reply in replies] == list("abcab")
        assert replies[0] == replies[3]
        assert replies[0].usage == Usage(*USED)
        assert model.asked == ["a", "b", "c"]

    def test_probabilities_and_problems_are_stored(self, run):
        reply = Reply("Yes", "truncated", {"Yes": 0.1 + 0.2, "No": 1e-30}, None, "judge-1-2026")

        class Saying(Answering):
            def arrivals(self, requests):
                yield [(place, reply) for place, _ in enumerate(requests)]

        assert asking_for(run, Saying()).replies([Request("a")]) == [reply]

    def test_replies_before_a_failure_are_stored(self, run):
        model = Answering()
        model.fails_after = 2
        asking = asking_for(run, model)
        with pytest.raises(EvaluatorError, match="out of order"):
            asking.replies([Request(each) for each in "abcd"])
        assert StoredReply.objects.count() == 2
        asking.replies([Request(each) for each in "abcd"])
        assert model.asked == ["a", "b", "c", "d"]

    def test_requests_without_a_stored_reply_are_counted_if_the_worker_dies(self, run):
        class Interrupted(Answering):
            def arrivals(self, requests):
                yield next(super().arrivals(requests))
                raise KeyboardInterrupt

        asking = asking_for(run, Interrupted())
        asking.model.endpoint.most_in_flight = 2
        requests = [Request("a"), *(Request("b", sample=sample, temperature=0.7) for sample in range(3))]
        with pytest.raises(KeyboardInterrupt):
            asking.replies(requests)
        left = Reservation.objects.get(run=run)
        assert (left.unanswered, left.at_once) == (3, 2 * 3)

    def test_replies_of_a_run_deleted_meanwhile_are_stored(self, run):
        class Deleting(Answering):
            def arrivals(self, requests):
                Run.objects.filter(pk=run.pk).delete()
                yield from super().arrivals(requests)

        asking_for(run, Deleting()).replies([Request("a")])
        assert StoredReply.objects.get().run is None

    def test_samples_are_stored_separately(self, run):
        model = Answering()
        requests = [Request("a", sample=sample, temperature=0.7) for sample in range(3)]
        asking_for(run, model).replies(requests)
        assert StoredReply.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_the_same_request_store_one_reply_and_return_it(run):
    requests = [Request(f"prompt {number}") for number in range(10)]
    both_looked = threading.Barrier(2)
    given: list[list[str]] = []

    class Late(Answering):
        def arrivals(self, requests):
            both_looked.wait()
            yield from super().arrivals(requests)

    def work_on_it() -> None:
        holder = str(threading.get_ident())
        given.append([reply.text for reply in asking_for(run, Late(), holder).replies(requests)])

    in_threads(work_on_it, 2)
    assert StoredReply.objects.count() == 10
    assert given[0] == given[1]
    run.refresh_from_db()
    assert run.prompt_tokens == 2000, "both workers sent the requests, so both count"
