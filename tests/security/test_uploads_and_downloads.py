"""Formulas in downloads, and names of uploads."""

import csv
import re
from http.cookies import SimpleCookie

import pytest
from django.test import override_settings

from annotation.exports.exporter import exporter_class, open_export
from annotation.exports.formats import EXPORTERS
from annotation.texts.spreadsheet import STARTS_FORMULA
from tests.campaigns import make_campaign
from tests.security.executables import Executables
from tests.security.pages import pages, text_of

pytestmark = pytest.mark.django_db


def test_no_cell_of_a_download_is_a_formula(browser):
    """The campaign's names are formulas."""
    made = make_campaign("=HYPERLINK(1)")
    made.project.imports.update(
        errors=[{"file": "=1+1", "line": 1, "field": "@x", "found": "-2+3", "expected": "\t=1"}]
    )
    for number, article in enumerate(made.project.articles.all()):
        article.external_id = f"+{number}"
        article.save()
    browser.cookies = SimpleCookie()
    browser.force_login(made.users["manager"])
    files = {
        name: text_of(response)
        for name, response in pages(browser, made)
        if response.headers["Content-Type"].startswith("text/csv")
    }
    for name in EXPORTERS:
        if not exporter_class(name).why_not(made.project):
            export = open_export(made.project, name, {})
            if export.content_type.startswith("text/csv"):
                files[f"export {name}"] = b"".join(export.chunks()).decode()
    seen = 0
    for name, text in files.items():
        for cell in (cell for row in csv.reader(text.splitlines()) for cell in row):
            seen += cell.startswith("'")
            assert not cell.startswith(STARTS_FORMULA) or is_number(cell), f"{name}: {cell}"
    assert seen >= 5, "too few formulas in the downloads for a meaningful test"


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-?[0-9.]+(e[+-][0-9]+)?", cell) is not None


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.jsonl",
        "..\\..\\evil.jsonl",
        "/etc/evil.jsonl",
        "C:\\evil.jsonl",
        "%2e%2e%2fevil.jsonl",
        "evil\x00.jsonl",
        "x" * 300 + ".jsonl",
        "ü" * 300 + ".jsonl",
        "..",
        "evil.html",
        "evil.svg",
        "<img src=x onerror=alert(1)>.jsonl",
        "evil\r\nX-Header: 1.jsonl",
    ],
)
def test_an_uploads_name_does_not_choose_its_path(open_as, campaign, tmp_path, name):
    uploads = tmp_path / "a" / "b" / "uploads"
    content = b'{"id": "1", "article": "Ice.", "summary": "Ice.", "language": "en"}\n'
    boundary = b"----boundary"
    parts = [
        b'name="format"\r\n\r\nexamples',
        b'name="dry_run"\r\n\r\non',
        b'name="file"; filename="'
        + name.replace("\r\n", "%0D%0A").encode()
        + b'"\r\nContent-Type: text/html\r\n\r\n'
        + content,
    ]
    body = b"".join(
        b"--" + boundary + b"\r\nContent-Disposition: form-data; " + part + b"\r\n" for part in parts
    )
    client = open_as("manager")
    with override_settings(MEDIA_ROOT=uploads):
        response = client.post(
            f"/projects/{campaign.project.slug}/imports/",
            body + b"--" + boundary + b"--\r\n",
            content_type="multipart/form-data; boundary=----boundary",
        )
        assert response.status_code in (302, 422)
        if response.status_code == 302:
            page = client.get(response["Location"])
            assert page.status_code == 200
            assert Executables(page.content.decode()).found == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(path.parent == uploads / "imports" for path in files)
    assert len(files) <= 1
    assert response.status_code == 422 or len(files) == 1


def test_uploads_are_not_served(open_as, campaign):
    job = campaign.project.imports.get()
    client = open_as("manager")
    for address in (f"/{job.file.name}", f"/media/{job.file.name}", f"/static/{job.file.name}"):
        assert client.get(address).status_code == 404
    for climb in ("/static/../var/local.env", "/static/%2e%2e/var/local.env", "/static/css/../../manage.py"):
        assert client.get(climb).status_code == 404
