"""Tables that are downloaded as CSV while they are written."""

import csv
from collections.abc import Iterable, Sequence

from django.http import StreamingHttpResponse

from annotation.texts.spreadsheet import plain_row


def csv_download(name: str, rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    """Return a response that sends the rows as the CSV file `name`, one at a time.

    Texts that a spreadsheet would run as formulas are escaped.
    """
    lines = map(csv.writer(_Echo()).writerow, map(plain_row, rows))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class _Echo:
    """A file that returns what is written to it, so that rows are streamed."""

    def write(self, line: str) -> str:
        return line
