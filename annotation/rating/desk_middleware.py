"""Middleware that finds the session, the person and their desk by one statement instead of six."""

from collections.abc import Callable
from typing import Any, cast

from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from annotation.rating.desk import desk_in_session
from annotation.sessions import SessionStore, mark_seen


def reads_desk(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view of `slug` and `assignment_id` that takes the request's `found_desk` where there is one."""
    view.reads_desk = True  # type: ignore[attr-defined]
    return view


class DeskMiddleware(MiddlewareMixin):
    """Must come before the middleware that asks who is signed in.

    It serves the steps of a rating, which htmx sends. Where it finds nothing or a session that does not
    vouch for its user, the request goes the way of all others, which says why.
    """

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., Any],
        args: tuple[object, ...],  # noqa: ARG002
        kwargs: dict[str, Any],
    ) -> None:
        session = cast(SessionStore, request.session)
        key = session.session_key
        if not (key and getattr(view, "reads_desk", False) and "HX-Request" in request.headers):
            return
        found = desk_in_session(key, kwargs["slug"], kwargs["assignment_id"])
        if found is None:
            return
        session.take(found.session)
        mark_seen(found.session)
        if session.vouches_for(found.user):
            setattr(request, "_cached_user", found.user)  # noqa: B010 - where Django looks for `request.user`
            setattr(request, "found_desk", found)  # noqa: B010 - HttpRequest declares no such attribute
