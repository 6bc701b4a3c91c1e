"""Five stops through the sample project, for those who enter the demo."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext_noop

from annotation.demo.accounts import ACCOUNTS
from annotation.demo.sample.load import SLUG
from annotation.models import Membership


@dataclass(frozen=True)
class Stop:
    title: str
    says: str
    url_name: str
    slug: str = SLUG


STOPS = (
    Stop(
        gettext_noop("Progress"),
        gettext_noop("The campaign is halfway. See who rates, how fast, and when it will end."),
        "progress",
    ),
    Stop(
        gettext_noop("Raters"),
        gettext_noop(
            "One rater answered without reading. Hidden checks caught them, and their agreement shows it."
        ),
        "raters",
    ),
    Stop(
        gettext_noop("Agreement"),
        gettext_noop(
            "Raters agree on grammar more than on conciseness. "
            "Select a value to see which answers they confuse."
        ),
        "agreement",
    ),
    Stop(
        gettext_noop("Comparison"),
        gettext_noop(
            "On Concise, a judge agrees with people better than ROUGE does, and the test confirms it. The "
            "intervals hold however often you look."
        ),
        "comparison",
    ),
    Stop(
        gettext_noop("Planning"),
        gettext_noop("Some differences are not settled yet. See how many more ratings they need."),
        "planning",
    ),
)


def tour_of(user: User) -> tuple[Stop, ...]:
    """Return the stops for a demo account that may see the sample's results; none for anybody else."""
    is_demo = user.get_username() in {account.username for account in ACCOUNTS}
    in_sample = is_demo and Membership.objects.filter(user=user, project__slug=SLUG).exists()
    return STOPS if in_sample else ()
