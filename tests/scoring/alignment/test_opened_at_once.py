"""Several people try and open one version at the same moment, in threads with connections of their own."""

import pytest

from scoring.alignment.trials import open_sealed, try_version
from scoring.errors import InvalidRun, RunBusy
from scoring.models import SealedOpening, Trial
from tests.scoring.alignment.aligned import finish, make_judge, make_labelled, split
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.test_workers_at_once import in_threads


@pytest.mark.django_db(transaction=True)
def test_a_version_is_tried_once_and_its_opening_counted_once(monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    settings.LLM_ENDPOINTS = ["*"]
    with ScriptedEndpoint(lambda _: Answer("0.5")) as endpoint:
        project, user = make_labelled(articles=12)
        split(project, user)
        version = make_judge(project, user, endpoint)
        refused: list[Exception] = []

        def at_once(act):
            def work():
                try:
                    act(version, user)
                except (InvalidRun, RunBusy) as error:
                    refused.append(error)

            in_threads(work, 4)

        at_once(try_version)
        assert len(refused) == 3
        finish(Trial.objects.get().run)
        at_once(open_sealed)
        assert len(refused) == 6
        finish(SealedOpening.objects.get().run)
        at_once(open_sealed)
        assert len(refused) == 10
        assert SealedOpening.objects.count() == 1
