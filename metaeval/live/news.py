"""Responses of the results pages: news since a revision, the parts that change, downloads.

A page polls every 1.5 seconds and mostly gets 204. Its `stamp` says what it shows: the revision, and how many
parts of background results it waits for. The stamp is the hidden input `revision` of
templates/metaeval/_status.html.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps

from django.contrib.auth.decorators import login_not_required
from django.contrib.messages import get_messages
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.models import Project
from annotation.people.client_address import client_network
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest
from metaeval.export.chart import Chart
from metaeval.export.chart_files import CHART_FILES, file_name
from metaeval.export.formats import Row, as_csv, written
from metaeval.live.background import Key, progress_of
from metaeval.live.choices import Choices
from metaeval.live.how_computed import how_computed
from metaeval.live.results_page import ResultsPage
from metaeval.live.strangers import ANSWERS, Computed

TABLE_FILES = {
    "csv": ("csv", "text/csv; charset=utf-8"),
    "tex": ("latex", "application/x-tex; charset=utf-8"),
    "md": ("markdown", "text/markdown; charset=utf-8"),
}
"""File extension -> format, content type."""

View = Callable[..., HttpResponse]


def results_view(kind: type[Choices]) -> Callable[[View], View]:
    """Make a page or file of results, which opens without signing in once results are published.

    The decorated view gets the request, the project, the reader's choices of this `kind`, and what else the
    address names.
    """

    def opened(view: View) -> View:
        @login_not_required
        @require_safe
        @wraps(view)
        def of_project(request: HtmxRequest, slug: str, **named: str) -> HttpResponse:
            project = open_project(request, slug, Permission.SEE_RESULTS)
            choices = kind.read(request.GET)
            if project.only_published:
                return _for_stranger(request, project, choices, named, view)
            return view(request, project, choices, **named)

        return of_project

    return opened


class PageResponse(HttpResponse):
    """A page or its changing parts, which may wait for background results."""

    waits = 0


def _for_stranger(
    request: HtmxRequest, project: Project, choices: Choices, named: Mapping[str, str], view: View
) -> HttpResponse:
    """Return the view's response within the limits for strangers.

    A page for somebody who is signed in, or with a message, is for one reader alone.
    """
    if request.htmx and shows(request, project.revision):
        return HttpResponse(status=204)
    address = request.resolver_match.view_name if request.resolver_match else request.path
    asked = (address, choices, *sorted(named.items()), _wants_parts(request), request.user.pk)
    is_private = request.user.is_authenticated or len(get_messages(request)) > 0

    def respond() -> Computed[tuple[int, bytes, dict[str, str]]]:
        response = view(request, project, choices, **named)
        return Computed(
            (response.status_code, response.content, dict(response.items())),
            is_final=response.status_code == 200 and not is_private and not getattr(response, "waits", 0),
            is_news=response.status_code != 204,
        )

    key = Key.of(project, project.revision, *asked)
    status, content, headers = ANSWERS.answer(key, client_network(request), respond)
    return HttpResponse(content, status=status, headers=headers)


def _wants_parts(request: HtmxRequest) -> bool:
    """Return whether the page only replaces its changing parts. Going back in the history needs all of it."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def stamp(revision: int | str, *, waits: int = 0) -> str:
    """Return the text by which a page says what it shows."""
    return f"{revision}-{waits:d}" if waits else str(revision)


def shows(request: HttpRequest, revision: int | str, waits_for: Collection[Key] = ()) -> bool:
    """Return whether the page polls for news since `revision` and there are none.

    A page that waits for results has news as soon as fewer parts of `waits_for` are pending in this process.
    A result that another process had started is then awaited here, too.
    """
    given = request.GET.get("revision")
    pending = sum(progress.left for key in waits_for if (progress := progress_of(key)))
    return given in {stamp(revision, waits=waits) for waits in range(pending + 1)}


def answer(
    request: HtmxRequest,
    project: Project,
    template: str,
    make_page: Callable[[], ResultsPage],
    waits_for: Collection[Key] = (),
    *,
    revision: str = "",
    **others: object,
) -> HttpResponse:
    """Render the page, or for htmx only its changing parts; 204 if it already `shows` all there is.

    `revision` is that of a page that depends on more than the project's.
    """
    if shows(request, revision or project.revision, waits_for):
        return HttpResponse(status=204)
    page = make_page()
    context = {
        "page": page,
        "stamp": stamp(revision or page.snapshot.revision, waits=page.waits),
        "how": how_computed(page, project, timezone.localdate()),
        **others,
    }
    name = f"{template}#changing" if _wants_parts(request) else template
    response = PageResponse(render_to_string(name, context, request))
    response.waits = page.waits
    return response


def attachment(content: str | bytes, name: str, content_type: str) -> HttpResponse:
    """Return a file that the browser saves under this name."""
    disposition = f'attachment; filename="{name}"'
    return HttpResponse(content, content_type=content_type, headers={"Content-Disposition": disposition})


def download(rows: Sequence[Row], name: str) -> HttpResponse:
    """Return the rows as a CSV file."""
    return attachment(as_csv(rows), name, "text/csv; charset=utf-8")


def table_file(
    rows: Sequence[Row],
    name: str,
    kind: str,
    *,
    down: str,
    across: Sequence[str],
    n: str,
    titles: Mapping[str, str] | None = None,
    by: str = "",
    cells: Sequence[Row] | None = None,
) -> HttpResponse:
    """Return the rows as the file `name`.`kind`; the other arguments are those of `written`.

    LaTeX and Markdown are made of `cells`, if given. Raises Http404 if `kind` is not in TABLE_FILES.
    """
    if kind not in TABLE_FILES:
        raise Http404(f"no table as .{kind}")
    format_name, content_type = TABLE_FILES[kind]
    if cells is not None and format_name != "csv":
        rows = cells
    text = written(rows, format_name, down=down, across=across, n=n, titles=titles, by=by)
    return attachment(text, f"{name}.{kind}", content_type)


def chart_file(slug: str, charts: Sequence[Chart], name: str, kind: str) -> HttpResponse:
    """Return the chart with this name as a file. Raises Http404 for an unknown name or kind."""
    chart = next((each for each in charts if each.name == name), None)
    if chart is None or kind not in CHART_FILES:
        raise Http404(f"no figure {name}.{kind} for these choices")
    content_type, content = CHART_FILES[kind]
    return attachment(content(chart), file_name(slug, chart, kind), content_type)
