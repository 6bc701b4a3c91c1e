"""A client of Touchstone's API for Python 3.11 or later. It needs nothing but this file.

    client = Touchstone("https://touchstone.example.org", token)
    for row in client.rows("projects/demo/labels/", language="de"):
        print(row["article"], row["system"], row["labels"])

Addresses and parameters are those of Touchstone's docs/api.md, without `/api/` in front.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

JSON = dict[str, Any]

BUSY = (429, 502, 503, 504)
"""Statuses of a server that answers later."""


class TouchstoneError(Exception):
    """A refused request, or a server that could not be reached within `patience_s` (status 0)."""

    def __init__(self, status: int, detail: str, questions: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.questions = dict(questions or {})
        """Key of a question to what is wrong with its answer."""
        super().__init__(detail)


class DataChanged(TouchstoneError):
    """The project's data changed while a list was read, so its pages do not belong together."""


class WebhookRefused(ValueError):
    """A request that Touchstone has not sent to this webhook, or not just now."""


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes, tolerance: float = 300) -> JSON:
    """Return the event in a webhook's request: `id`, `kind`, `project`, `at` and `data`.

    `secret` was shown when the webhook was added. `body` must be the bytes as they came. Raises
    WebhookRefused if the signature is not by the secret, or is more than `tolerance` seconds old. An event
    may come twice: compare its `id` with those that you have.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        uid, sent_at = found["webhook-id"], found["webhook-timestamp"]
        signatures, age_s = found["webhook-signature"].split(), time.time() - int(sent_at)
    except (KeyError, ValueError):
        raise WebhookRefused("The request lacks a valid header of webhooks.") from None
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{uid}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}".encode()
    if not any(hmac.compare_digest(expected, each.encode()) for each in signatures):
        raise WebhookRefused("The signature is not by this webhook's secret.")
    if abs(age_s) > tolerance:
        raise WebhookRefused(f"The request was signed {abs(age_s):.0f} seconds from now.")
    event: JSON = json.loads(body)
    return event


class Touchstone:
    """Touchstone as the owner of a token may use it.

    A request that finds the server busy, computing or away is repeated for up to `patience_s` seconds, and
    stores nothing twice: what creates something carries an idempotency key.
    """

    def __init__(self, address: str, token: str, patience_s: float = 120, timeout_s: float = 60) -> None:
        self.base = f"{address.rstrip('/')}/api/"
        self.token = token
        self.patience_s = patience_s
        self.timeout_s = timeout_s

    # ---- reading

    def get(self, path: str, **parameters: Any) -> JSON:
        """Return the JSON at this address. A list repeats its parameter. Raises TouchstoneError."""
        return self._json("GET", self._address(path, parameters))

    def rows(self, path: str, **parameters: Any) -> Iterator[JSON]:
        """Iterate over all rows of a list, page by page. Raises TouchstoneError and DataChanged."""
        address: str | None = self._address(path, parameters)
        revision = None
        while address:
            page = self._json("GET", address)
            if revision is not None and page.get("revision") != revision:
                raise DataChanged(409, "The project's data changed meanwhile. Read the list again.")
            revision = page.get("revision")
            yield from page["results"]
            address = page["next"]

    def download(self, path: str, file: Path, **parameters: Any) -> None:
        """Write an export to `file`, which is there only if all of it came. Raises TouchstoneError."""
        part = file.with_name(f"{file.name}.part")

        def write(answer: Any) -> None:
            with part.open("wb") as out:
                while block := answer.read(1 << 20):
                    out.write(block)

        self._send("GET", self._address(path, parameters), None, write)
        part.replace(file)

    # ---- managing, with a token that manages

    def create_project(self, name: str, questionnaire: str, **fields: Any) -> JSON:
        """Create a project and return it. Fields are `slug` and `redundancy`. Raises TouchstoneError."""
        body = {"name": name, "questionnaire": questionnaire, **fields}
        return self._create("projects/", body)

    def update_project(self, project: str, **settings: Any) -> JSON:
        """Change these settings of the project and return all of them. Raises TouchstoneError."""
        return self._json("PATCH", self._address(f"projects/{project}/"), settings)

    def invite(self, project: str, role: str, languages: Sequence[str] = (), **fields: Any) -> JSON:
        """Invite one person and return the invitation, whose `link` is shown only now.

        An annotator needs languages. Fields are `email` and `note`. Raises TouchstoneError.
        """
        body = {"role": role, "languages": list(languages), **fields}
        return self._create(f"projects/{project}/invitations/", body)

    def add_rater(self, project: str, username: str, languages: list[str], **fields: Any) -> JSON:
        """Create an account that rates in the project; return its pseudonym and `token`.

        Fields are `qualified` and `days`. Raises TouchstoneError.
        """
        body = {"username": username, "languages": languages, **fields}
        return self._create(f"projects/{project}/raters/", body)

    def import_file(
        self, project: str, file: Path, kind: str, second_file: Path | None = None, **options: Any
    ) -> JSON:
        """Import a file of the format `kind`, and return the import once it has ended.

        Options are those of the format, `dry_run` and `skip_bad`. Raises TouchstoneError with the first
        problem of a file that was not imported.
        """
        files = {"file": file} | ({"second_file": second_file} if second_file else {})
        content, content_type = _form({"format": kind, **options}, files)
        path = f"projects/{project}/imports/"
        job: JSON = self._send("POST", self._address(path), (content, content_type), json.load, _new_key())
        while job["status"] in ("queued", "running"):
            time.sleep(1)
            job = self.get(f"{path}{job['id']}/")
        if job["status"] != "done":
            raise TouchstoneError(400, _why_not(job))
        return job

    def start_run(self, project: str, evaluator: str, **fields: Any) -> JSON:
        """Start a run of an evaluator and return it, at once. Raises TouchstoneError.

        Fields are `params`, `languages`, `rated_only`, `budget` and `delivery`.
        """
        return self._create(f"projects/{project}/runs/", {"evaluator": evaluator, **fields})

    def wait_for_run(self, project: str, run_id: int) -> JSON:
        """Return the run once it is done. Raises TouchstoneError if it paused, failed or was cancelled."""
        path = f"projects/{project}/runs/{run_id}/"
        run = self.get(path)
        while run["status"] in ("queued", "running"):
            time.sleep(2)
            run = self.get(path)
        if run["status"] != "done":
            raise TouchstoneError(400, run["failure"] or f"The run was {run['status']}.")
        return run

    # ---- rating, with a token that rates

    def guidelines(self, project: str) -> list[JSON]:
        """Return the guidelines that the rater follows, each with its `text`. Raises TouchstoneError."""
        return self.get(f"projects/{project}/rating/guidelines/")["versions"]

    def confirm_guidelines(self, project: str) -> None:
        """Confirm that the rater has read their guidelines. Raises TouchstoneError."""
        versions = [each["id"] for each in self.guidelines(project) if not each["confirmed_at"]]
        if versions:
            self._json(
                "POST", self._address(f"projects/{project}/rating/guidelines/"), {"versions": versions}
            )

    def start_round(self, project: str) -> JSON:
        """Start a gold round and return its first summary. Raises TouchstoneError."""
        return self._json("POST", self._address(f"projects/{project}/rating/rounds/"), {})["item"]

    def next_item(self, project: str, language: str = "") -> JSON | None:
        """Return the rater's next summary at its open stage, None if there is none for now.

        Raters of several languages name one once. Raises TouchstoneError.
        """
        body = {"language": language} if language else {}
        return self._json("POST", self._address(f"projects/{project}/rating/next/"), body)["item"]

    def submit(
        self,
        project: str,
        item: Mapping[str, Any],
        answers: Mapping[str, str],
        comments: Mapping[str, str] | None = None,
        *,
        keep_contradictions: bool = False,
    ) -> JSON | None:
        """Submit the item's open stage. Return the item at its next stage, None if the rating is finished.

        `answers` and `comments` map keys of questions to texts. Raises TouchstoneError, with `questions` for
        answers that are invalid (400) or contradict each other (409).
        """
        comments = comments or {}
        given = {key: {"value": value, "comment": comments.get(key, "")} for key, value in answers.items()}
        path = f"projects/{project}/rating/{item['assignment']}/stages/{item['stage']}/"
        body = {"answers": given, "keep_contradictions": keep_contradictions}
        return self._json("PUT", self._address(path), body)["item"]

    def skip(self, project: str, item: Mapping[str, Any], reason: str) -> None:
        """Skip the summary for good. Raises TouchstoneError.

        `reason` is language, text, hard, content or other.
        """
        path = f"projects/{project}/rating/{item['assignment']}/skip/"
        content = json.dumps({"reason": reason}).encode(), "application/json"
        self._send("POST", self._address(path), content, lambda answer: answer.read())

    # ---- requests

    def _address(self, path: str, parameters: Mapping[str, Any] | None = None) -> str:
        query = urlencode(parameters or {}, doseq=True)
        return f"{self.base}{path}{'?' if query else ''}{query}"

    def _json(self, method: str, address: str, body: JSON | None = None) -> JSON:
        content = None if body is None else (json.dumps(body).encode(), "application/json")
        return self._send(method, address, content, json.load)

    def _create(self, path: str, body: JSON) -> JSON:
        content = (json.dumps(body).encode(), "application/json")
        return self._send("POST", self._address(path), content, json.load, _new_key())

    def _send(
        self,
        method: str,
        address: str,
        content: tuple[bytes, str] | None,
        read: Callable[[Any], Any],
        further_headers: Mapping[str, str] | None = None,
    ) -> Any:
        if not address.startswith(self.base):
            raise TouchstoneError(
                0, f"{address} is not an address of {self.base}, so it does not get the token."
            )
        sent, kind = content or (None, "application/json")
        headers = {"Content-Type": kind, **(further_headers or {})}
        request = Request(address, sent, headers, method=method)  # noqa: S310 - the address is checked above
        request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        until = time.monotonic() + self.patience_s
        pause_s = 1.0
        while True:
            try:
                with urlopen(request, timeout=self.timeout_s) as answer:  # noqa: S310
                    return read(answer)
            except HTTPError as refusal:
                found = _error_of(refusal)
                wait_s = float(refusal.headers.get("Retry-After") or pause_s)
                if refusal.code not in BUSY and "Retry-After" not in refusal.headers:
                    raise found from None
            except (OSError, HTTPException) as error:
                found, wait_s = TouchstoneError(0, f"{self.base} could not be reached: {error}"), pause_s
            if time.monotonic() + wait_s > until:
                raise found
            time.sleep(wait_s)
            pause_s = min(2 * pause_s, 15.0)


def _new_key() -> dict[str, str]:
    """Return the header that lets a request be repeated without creating anything twice."""
    return {"Idempotency-Key": secrets.token_urlsafe(16)}


def _form(fields: Mapping[str, Any], files: Mapping[str, Path]) -> tuple[bytes, str]:
    """Return a multipart form and its content type."""
    boundary = secrets.token_hex(16)
    begin = f"--{boundary}\r\nContent-Disposition: form-data; name="
    parts: list[bytes] = []
    for name, value in fields.items():
        parts.append(f'{begin}"{name}"\r\n\r\n{value}\r\n'.encode())
    for name, file in files.items():
        head = f'{begin}"{name}"; filename="{quote(file.name)}"\r\n\r\n'
        parts += [head.encode(), file.read_bytes(), b"\r\n"]
    return b"".join([*parts, f"--{boundary}--\r\n".encode()]), f"multipart/form-data; boundary={boundary}"


def _why_not(job: JSON) -> str:
    """Return why an import has not stored its file."""
    if not job["problems"]:
        return job["failure"] or f"The import was {job['status']}."
    first = job["problems"][0]
    return (
        f"{first['file']}, line {first['line']}, {first['field']}: found {first['found']}, expected "
        f"{first['expected']} ({job['problem_count']} problems)"
    )


def _error_of(refusal: HTTPError) -> TouchstoneError:
    try:
        told = json.load(refusal)
    except ValueError:
        told = {}
    detail = told.get("detail") or f"The server answered {refusal.code} {refusal.reason}."
    return TouchstoneError(refusal.code, detail, told.get("questions"))
