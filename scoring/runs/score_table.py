"""Scores as rows of a spreadsheet."""

from collections.abc import Iterator

from scoring.inputs.items import item_id
from scoring.models import Setup

HEADER = ("id", "article_id", "system", "dimension", "value", "reason", "explanation")


def score_rows(setup: Setup) -> Iterator[list[str | float | None]]:
    """Yield all scores of a setup, from all its runs, as rows under `HEADER`; a missing value has a reason.

    The explanation is a model's reply, or how much of a long text was read.
    """
    columns = ("summary__article__external_id", "summary__system__name", *HEADER[3:])
    rows = setup.scores.order_by("summary__article", "summary", "dimension").values_list(*columns)
    for article, system, *rest in rows.iterator():
        yield [item_id(article, system), article, system, *rest]
