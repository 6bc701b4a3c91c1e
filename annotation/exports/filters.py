"""Filters of exports: which summaries and raters a file has."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.db.models import Q

from annotation.declared.settings import SettingsRefused, setting
from annotation.models import Project, Rater, Rating
from annotation.models.ratings import RatingQuerySet

articles_option = partial(setting, False, label="Article texts", help="Include the texts of articles.")


@dataclass(frozen=True)
class SummaryFilters:
    """Options that every export has. An empty filter lets everything through."""

    language: tuple[str, ...] = setting((), label="Languages", help="Only articles in these languages.")
    dataset: tuple[str, ...] = setting((), label="Datasets", help="Only articles from these datasets.")
    system: tuple[str, ...] = setting((), label="Systems", help="Only summaries by these systems.")

    def summaries(self, place: str = "") -> Q:
        """Return the condition on summaries. `place` is the path to them, such as summary__."""
        chosen = {
            f"{place}article__language__in": self.language,
            f"{place}article__dataset__in": self.dataset,
            f"{place}system__name__in": self.system,
        }
        return Q(**{name: values for name, values in chosen.items() if values})


@dataclass(frozen=True)
class RatingFilters(SummaryFilters):
    """Options of exports with ratings."""

    rater_status: tuple[str, ...] = setting(
        (), label="Rater status", help="Only raters with these; with none, all but removed raters."
    )

    def ratings(self, project: Project) -> RatingQuerySet:
        """Return the finished ratings, without removed raters' unless their status is chosen."""
        found = Rating.objects.countable()
        if self.rater_status:
            found = Rating.objects.finished().filter(rater__status__in=self.rater_status)
        return found.filter(self.summaries("summary__"), summary__project=project)


def filter_choices(project: Project) -> dict[str, Sequence[str]]:
    """Return the values that the project has, by the filter's name."""
    articles = project.articles.order_by()
    return {
        "language": sorted(articles.values_list("language", flat=True).distinct()),
        "dataset": sorted(filter(None, articles.values_list("dataset", flat=True).distinct())),
        "system": list(project.systems.values_list("name", flat=True)),
        "rater_status": [status.value for status in Rater.Status],
    }


def check_filters(project: Project, filters: SummaryFilters) -> None:
    """Raise SettingsRefused for values that the project does not have."""
    refused = {}
    for name, known in filter_choices(project).items():
        unknown = [each for each in getattr(filters, name, ()) if each not in known]
        if unknown:
            expected = f"one of {', '.join(known)}" if known else "none, because the project has no values"
            refused[name] = f"found {unknown[0]!r}, expected {expected}"
    if refused:
        raise SettingsRefused(refused)
