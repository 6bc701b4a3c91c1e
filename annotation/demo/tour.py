"""Five stops through the sample project, for those who enter the demo."""

from dataclasses import dataclass

from django.contrib.auth.models import User

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
        "Progress",
        "The campaign is halfway. See who rates, how fast, and when it will end.",
        "progress",
    ),
    Stop(
        "Raters",
        "One rater answered without reading. Hidden checks caught them, and their agreement shows it.",
        "raters",
    ),
    Stop(
        "Agreement",
        "Raters agree on grammar more than on conciseness. Select a value to see which answers they confuse.",
        "agreement",
    ),
    Stop(
        "Comparison",
        "On Concise, a judge agrees with people better than ROUGE does, and the test confirms it. The "
        "intervals hold however often you look.",
        "comparison",
    ),
    Stop(
        "Planning",
        "Some differences are not settled yet. See how many more ratings they need.",
        "planning",
    ),
)


def tour_of(user: User) -> tuple[Stop, ...]:
    """Return the stops for a demo account that may see the sample's results; none for anybody else."""
    is_demo = user.get_username() in {account.username for account in ACCOUNTS}
    in_sample = is_demo and Membership.objects.filter(user=user, project__slug=SLUG).exists()
    return STOPS if in_sample else ()
