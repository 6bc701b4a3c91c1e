"""Pages of a list whose rows are long."""

from typing import Any, cast

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet


class IdsFirstPaginator(Paginator):
    """Pages of a query that finds the ids of a page first, and then its rows by their ids.

    On the way to a late page, the database then passes over ids instead of texts and joined rows. The
    query's order must be the same each time.
    """

    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        listed = cast(QuerySet[Any], self.object_list)
        ids = list(listed.values_list("pk", flat=True)[start : start + self.per_page])
        rows = listed.in_bulk(ids)
        return Page([rows[pk] for pk in ids if pk in rows], number, self)
