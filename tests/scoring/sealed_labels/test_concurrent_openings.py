"""Several people try and open one version at the same moment, in threads with their own connections."""

import pytest

from metaeval.judges.trials import open_sealed, try_version
from scoring.errors import InvalidRun, RunBusy
from scoring.models import SealedOpening, Trial
from tests.metaeval.judges.labelled_projects import finish, make_judge, make_labelled, split
from tests.scoring.runs.test_concurrent_workers import in_threads
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint


@pytest.mark.django_db(transaction=True)
def test_concurrent_attempts_give_one_trial_and_one_counted_opening(monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings.LLM_ENDPOINTS = ["*", "loopback"]
    with ScriptedEndpoint(lambda _: Answer("0.5")) as endpoint:
        project, user = make_labelled(articles=12)
        split(project, user)
        version = make_judge(project, user, endpoint)
        refused: list[Exception] = []

        def act_concurrently(act):
            def work():
                try:
                    act(version, user)
                except (InvalidRun, RunBusy) as error:
                    refused.append(error)

            in_threads(work, 4)

        act_concurrently(try_version)
        assert len(refused) == 3
        finish(Trial.objects.get().run)
        act_concurrently(open_sealed)
        assert len(refused) == 6
        finish(SealedOpening.objects.get().run)
        act_concurrently(open_sealed)
        assert len(refused) == 10
        assert SealedOpening.objects.count() == 1
