"""Reading the audit log: its filters, and its rows for pages and files."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

from django.db.models import QuerySet

from annotation.audit.actions import Action
from annotation.models import AuditEntry, Project

COMMAND = "command"
"""The actor of entries without a person, on pages, in files and in filters."""
COLUMNS = ("at", "actor", "action", "object", "reason", "details")


def find_entries(
    project: Project,
    action: str = "",
    actor: str = "",
    since: date | None = None,
    until: date | None = None,
) -> QuerySet[AuditEntry]:
    """Return the project's entries, the latest first. `until` is the last day, and both days are whole.

    Days begin as TIME_ZONE has it.
    """
    found = AuditEntry.objects.filter(project=project)
    if action:
        found = found.filter(action=action)
    if actor:
        found = found.filter(actor_name="" if actor == COMMAND else actor)
    if since is not None:
        found = found.filter(at__date__gte=since)
    if until is not None:
        found = found.filter(at__date__lte=until)
    return found


def actors_of(project: Project) -> list[str]:
    """Return the names of those who have entries, in order."""
    names = AuditEntry.objects.filter(project=project).order_by("actor_name")
    return [name or COMMAND for name in names.values_list("actor_name", flat=True).distinct()]


def action_title(action: str) -> str:
    """Return an action as pages show it; its stored value if this version does not know it."""
    return Action(action).label if action in Action.values else action


def details_in_words(details: dict[str, Any]) -> str:
    """Return details in one line, without those that are empty."""
    return "; ".join(
        f"{name}: {_in_words(value)}" for name, value in details.items() if value not in ("", [], {})
    )


def _in_words(value: Any) -> str:
    match value:
        case {"before": before, "after": after}:
            return f"{_in_words(before)} → {_in_words(after)}"
        case dict():
            return ", ".join(f"{name} {_in_words(each)}" for name, each in value.items()) or "none"
        case list():
            return ", ".join(map(_in_words, value)) or "none"
        case bool():
            return "yes" if value else "no"
        case "" | None:
            return "none"
    return str(value)


def entry_rows(entries: QuerySet[AuditEntry]) -> Iterator[list[str]]:
    """Yield `COLUMNS` of each entry for a CSV file."""
    for entry in entries.iterator():
        yield [
            entry.at.isoformat(),
            entry.actor_name or COMMAND,
            entry.action,
            entry.object,
            entry.reason,
            json.dumps(entry.details, ensure_ascii=False) if entry.details else "",
        ]
