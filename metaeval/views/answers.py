"""What the pages with results have in common: news since a revision, changing parts alone, downloads.

Each page asks every 1.5 seconds for what has changed since it was made; mostly the answer is 204. It says by
its `stamp` what it shows: the revision, and for how many results from the background it still waits. The
stamp stands in the hidden input `revision` of templates/metaeval/_status.html.
"""

from collections.abc import Collection, Mapping, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.models import Project
from annotation.signed_in import HtmxRequest
from metaeval.background import Key, is_pending
from metaeval.export.formats import Row, as_csv, written

TABLE_FILES = {
    "csv": ("csv", "text/csv; charset=utf-8"),
    "tex": ("latex", "application/x-tex; charset=utf-8"),
    "md": ("markdown", "text/markdown; charset=utf-8"),
}
"""End of a file's name -> name of the format, type of the content."""


def stamp(revision: int, *, waits: int = 0) -> str:
    """What a page of this revision sends along when it asks for news."""
    return f"{revision}-{waits:d}" if waits else str(revision)


def shows(request: HttpRequest, project: Project, waits_for: Collection[Key] = ()) -> bool:
    """Whether this is the page asking for news, and there are none.

    For a page that still waits there are news once fewer of `waits_for` are pending in this process than it
    waits for; one that another process had begun for it is then begun here.
    """
    given = request.GET.get("revision")
    pending = sum(is_pending(key) for key in waits_for)
    return given in {stamp(project.revision, waits=waits) for waits in range(pending + 1)}


def answer(request: HtmxRequest, template: str, context: Mapping[str, object]) -> HttpResponse:
    """The page, or for htmx its changing parts; going back in the history needs the page."""
    parts = bool(request.htmx) and not request.htmx.history_restore_request
    return render(request, f"{template}#changing" if parts else template, dict(context))


def download(rows: Sequence[Row], name: str) -> HttpResponse:
    response = HttpResponse(as_csv(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def table_file(
    rows: Sequence[Row],
    name: str,
    kind: str,
    *,
    down: str,
    across: Sequence[str],
    n: str,
    titles: Mapping[str, str],
) -> HttpResponse:
    """The rows as a file `name`.`kind`, one of TABLE_FILES. Raises Http404 for another kind."""
    if kind not in TABLE_FILES:
        raise Http404(f"no table as .{kind}")
    format_name, content_type = TABLE_FILES[kind]
    text = written(rows, format_name, down=down, across=across, n=n, titles=titles)
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response
