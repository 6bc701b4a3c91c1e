"""Thirty-two raters at once over HTTP: no place is given twice, and no acknowledged answer is lost."""

import random
import threading
from collections import Counter

import pytest
from django.core.management import call_command

from annotation import protocol
from annotation.models import ApiToken, Rating, Summary
from annotation.people.api_tokens import issue_api_token
from tests.clients.test_python import client_module  # noqa: F401 - a fixture
from tests.factories import make_article, make_project, make_rater, make_summary, make_system

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.thorough]

RATERS, ARTICLES, REDUNDANCY = 32, 48, 3


class AtWork(threading.Thread):
    """A rater who skips, comes back, and repeats requests as if their answers had been lost."""

    def __init__(self, client, slug, chance):
        super().__init__()
        self.client, self.slug, self.chance = client, slug, chance
        self.acknowledged, self.error = Counter(), None

    def run(self):
        try:
            self.rate(skipped=0.05)
        except BaseException as error:
            self.error = error

    def rate(self, skipped):
        """Rate until nothing is left. `skipped` is the probability of skipping."""
        while (item := self.client.next_item(self.slug)) is not None:
            assert item["stage"] == 1
            if self.chance.random() < 0.1:
                assert self.client.next_item(self.slug)["assignment"] == item["assignment"]
            if self.chance.random() < skipped:
                self.client.skip(self.slug, item, "hard")
                continue
            answers = {"quality": self.chance.choice(["yes", "no", "unsure"])}
            for _ in range(2 if self.chance.random() < 0.2 else 1):
                assert self.client.submit(self.slug, item, answers) is None
            self.acknowledged[item["assignment"]] += 1


@pytest.mark.parametrize("pair_evenly", [False, True])
def test_each_summary_gets_as_many_ratings_as_it_needs(client_module, live_server, pair_evenly):  # noqa: F811
    project = make_project(protocol.YES_NO, redundancy=REDUNDANCY, pair_evenly=pair_evenly)
    system = make_system(project)
    for key in range(ARTICLES):
        places = {"ratings_wanted": REDUNDANCY, "open_places": REDUNDANCY}
        make_summary(project, article=make_article(project), system=system, shuffle_key=key, **places)
    seed = random.randrange(2**32)
    at_work = []
    for number in range(RATERS):
        user = make_rater(project).user
        token = issue_api_token(user, "script", scope=ApiToken.Scope.RATE)[1]
        client = client_module.Touchstone(live_server.url, token)
        at_work.append(AtWork(client, project.slug, random.Random(f"{seed} {number}")))
    for each in at_work:
        each.start()
    for each in at_work:
        each.join()
    assert [each.error for each in at_work if each.error] == [], f"seed {seed}"
    for each in at_work:  # what was skipped last is for raters who had left by then
        each.rate(skipped=0)
    stored = Rating.objects.filter(summary__project=project, completed_at__isnull=False)
    acknowledged = sum(len(each.acknowledged) for each in at_work)
    assert stored.count() == acknowledged == ARTICLES * REDUNDANCY, f"seed {seed}"
    assert set(Counter(stored.values_list("summary", flat=True)).values()) == {REDUNDANCY}
    assert not Summary.objects.filter(project=project, open_places__gt=0).exists()
    assert all(set(each.acknowledged.values()) <= {1} for each in at_work)
    call_command("check_integrity")
