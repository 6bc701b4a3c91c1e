"""Writing the audit log, and who acts."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from annotation.audit.actions import Action
from annotation.models import AuditEntry, Project
from annotation.permissions import Person

_who_acts: ContextVar[Callable[[], Person | None]] = ContextVar("_who_acts", default=lambda: None)

LONGEST_OBJECT = 200
LONGEST_REASON = 500


@contextmanager
def acting_as(who: Callable[[], Person | None]) -> Iterator[None]:
    """Record what happens in this block as done by the person whom `who` returns at that moment.

    The middleware does this for each request, and a worker for whoever started its work.
    """
    before = _who_acts.set(who)
    try:
        yield
    finally:
        _who_acts.reset(before)


def record(
    action: Action,
    project: Project | None,
    what: object = "",
    *,
    reason: str = "",
    details: Mapping[str, object] | None = None,
) -> None:
    """Write an entry; call it in the transaction of the action.

    `project` is None for what concerns an account only. `what` names what it was done to. `details` are JSON
    values without secrets, texts of the project, or answers.
    """
    person = _who_acts.get()()
    known = person is not None and person.is_authenticated
    AuditEntry.objects.create(
        actor_id=person.pk if person is not None and known else None,
        actor_name=person.get_username() if person is not None and known else "",
        project=project,
        action=action,
        object=str(what)[:LONGEST_OBJECT],
        reason=reason[:LONGEST_REASON],
        details=dict(details or {}),
    )
