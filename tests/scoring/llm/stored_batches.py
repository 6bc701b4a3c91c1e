"""Files and batches in memory, as OpenAI's Batch API stores them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any

Answer = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]


@dataclass
class StoredBatches:
    """A batch is done when its status is requested for the second time.

    `expired` are the lines (from 0) that expire. A cancelled batch answers its first
    `done_before_cancel` lines.
    """

    answer: Answer
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    expired: set[int] = field(default_factory=set)
    done_before_cancel: int = 0

    def get(self, path: str) -> tuple[int, Any]:
        match path.partition("?")[0].removeprefix("/v1/").split("/"):
            case ["batches"]:
                return 200, {"object": "list", "data": [*self.batches.values()][::-1], "has_more": False}
            case ["batches", name] if name in self.batches:
                self._advance(self.batches[name])
                return 200, self.batches[name]
            case ["files", name, "content"] if name in self.files:
                return 200, self.files[name]
        return 404, {"error": {"message": f"no {path}"}}

    def post(self, path: str, kind: str, content: bytes) -> tuple[int, Any]:
        match path.removeprefix("/v1/").split("/"):
            case ["files"]:
                parts = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + content)
                sent = {each.get_param("name", header="content-disposition"): each for each in parts.walk()}
                if sent["purpose"].get_payload(decode=True) != b"batch":
                    return 400, {"error": {"message": "purpose must be batch"}}
                return 200, {"object": "file", **self._kept(sent["file"].get_payload(decode=True))}
            case ["batches"]:
                return self._created(json.loads(content))
            case ["batches", name, "cancel"] if name in self.batches:
                self.batches[name]["status"] = "cancelling"
                return 200, self.batches[name]
        return 404, {"error": {"message": f"no {path}"}}

    def _kept(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return {"id": name, "bytes": len(content), "created_at": 0, "filename": name, "purpose": "batch"}

    def _created(self, wanted: dict[str, Any]) -> tuple[int, Any]:
        rows = [json.loads(line) for line in self.files[wanted["input_file_id"]].splitlines()]
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "created_at": 0,
            "status": "validating",
            **wanted,
            "request_counts": {"total": len(rows), "completed": 0, "failed": 0},
        }
        if len({row["custom_id"] for row in rows}) < len(rows):
            twice = {"code": "duplicate_custom_id", "message": "a custom_id comes twice", "line": 2}
            batch |= {"status": "failed", "errors": {"object": "list", "data": [twice]}}
        self.batches[batch["id"]] = batch
        return 200, batch

    def _advance(self, batch: dict[str, Any]) -> None:
        if batch["status"] == "validating":
            batch["status"] = "in_progress"
        elif batch["status"] == "in_progress":
            self._end(batch, "expired" if self.expired else "completed")
        elif batch["status"] == "cancelling":
            self._end(batch, "cancelled", self.done_before_cancel)

    def _end(self, batch: dict[str, Any], outcome: str, most: int | None = None) -> None:
        good, bad = [], []
        for number, line in enumerate(self.files[batch["input_file_id"]].splitlines()[:most]):
            row = json.loads(line)
            told: dict[str, Any] = {"id": f"line-{number}", "custom_id": row["custom_id"]}
            if number in self.expired:
                late = {"code": "batch_expired", "message": "This request could not be executed in time."}
                bad.append(told | {"response": None, "error": late})
                continue
            status, body = self.answer(row["url"], row["body"])
            (good if status == 200 else bad).append(
                told | {"response": {"status_code": status, "body": body}, "error": None}
            )
        batch["status"] = outcome
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                batch[name] = self._kept(b"".join(json.dumps(line).encode() + b"\n" for line in lines))["id"]
