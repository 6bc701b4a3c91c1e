"""Pages whose intervals are for a single look say so while ratings come in."""

from django.urls import reverse

from annotation.projects.closing import close_campaign
from tests.factories import make_member

SINGLE = "For a single look:</b> while ratings come in, intervals like these mislead"


def test_a_page_for_a_single_look_warns_until_the_campaign_is_closed(client, compared):
    client.force_login(make_member(compared, "researcher"))
    address = reverse("evaluator_card", args=[compared.slug])

    def shown():
        return " ".join(client.get(address).content.decode().split())

    assert SINGLE in shown()
    assert "Show those that hold at every look" not in shown()
    assert "Intervals and tests are for a single look at the ratings." in shown()
    close_campaign(compared, make_member(compared, "manager"))
    assert SINGLE not in shown()
    assert "Its ratings are final, so intervals are for a single look." in shown()
