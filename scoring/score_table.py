"""Scores as rows of a spreadsheet."""

from collections.abc import Iterator

from annotation.spreadsheet import plain_cell
from scoring.items import item_id
from scoring.models import EvaluatorSetup

HEADER = ("id", "article_id", "system", "dimension", "value", "reason", "explanation")


def score_rows(setup: EvaluatorSetup) -> Iterator[tuple[str, str, str, str, float | None, str, str]]:
    """All scores of a setup, from whichever run, under `HEADER`; None with a reason where there is none.

    The explanation says what stands behind a score: a model's reply, how much of a long text was read.
    Texts that a spreadsheet would run as a formula get an apostrophe in front.
    """
    rows = (
        setup.scores.order_by("summary__article", "summary", "dimension")
        .values_list(
            "summary__article__external_id",
            "summary__system__name",
            "dimension",
            "value",
            "reason",
            "explanation",
        )
        .iterator()
    )
    for article, system, dimension, value, reason, explanation in rows:
        yield (
            plain_cell(item_id(article, system)),
            plain_cell(article),
            plain_cell(system),
            plain_cell(dimension),
            value,
            plain_cell(reason),
            plain_cell(explanation),
        )
