"""Agreed and given answers of gold summaries, as sheets by summary."""

from collections.abc import Collection, Iterable

from django.db.models import QuerySet

from annotation.models import Answer, GoldAnswer, QualificationRound, Rating, Summary

Sheets = dict[int, dict[str, str]]
"""Summary id -> answers by question key."""


def agreed_sheets(summaries: Iterable[int] | QuerySet[Summary]) -> Sheets:
    """Return the gold answers of these summaries, those of retired ones included."""
    rows = GoldAnswer.objects.filter(gold__summary__in=summaries)
    return _by_summary(rows.values_list("gold__summary", "question__key", "value"))


def given_sheets(ratings: QuerySet[Rating]) -> Sheets:
    """Return the latest answers of these ratings, at most one of each summary."""
    rows = Answer.objects.current().filter(rating__in=ratings)
    return _by_summary(rows.values_list("rating__summary", "question__key", "value"))


def agreed_in_rounds(rounds: Collection[QualificationRound]) -> dict[int, Sheets]:
    """Return the gold answers of each round's summaries by the round's id, those of retired ones included."""
    in_round = "gold__summary__assignments__round"
    rows = GoldAnswer.objects.filter(**{f"{in_round}__in": rounds})
    return _by_round(rows.values_list(in_round, "gold__summary", "question__key", "value"))


def given_in_rounds(rounds: Collection[QualificationRound]) -> dict[int, Sheets]:
    """Return the latest answers in each round by the round's id."""
    rows = Answer.objects.current().filter(rating__round__in=rounds)
    return _by_round(rows.values_list("rating__round", "rating__summary", "question__key", "value"))


def _by_round(rows: Iterable[tuple[int, int, str, str]]) -> dict[int, Sheets]:
    rounds: dict[int, Sheets] = {}
    for round_id, summary_id, key, value in rows:
        rounds.setdefault(round_id, {}).setdefault(summary_id, {})[key] = value
    return rounds


def _by_summary(rows: Iterable[tuple[int, str, str]]) -> Sheets:
    sheets: Sheets = {}
    for summary_id, key, value in rows:
        sheets.setdefault(summary_id, {})[key] = value
    return sheets
