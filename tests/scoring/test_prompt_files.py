"""Prompt texts stay as they are once scores were made with them: a change is a file with a new number."""

import hashlib

from scoring.judge.dimensions import PROMPTS

WRITTEN = {
    "described_chat_v1.txt": "fe2ff40ddce9a325",
    "described_entry_v1.txt": "1dbe8de972718c4a",
    "described_task_v1.txt": "7934c9cde5e9a52d",
    "descriptions_v1.txt": "ab8ef1dca3af71ff",
    "ice_chat_v1.txt": "a2ad8dd8c5b01597",
    "ice_v1.txt": "2838291dcff3f62f",
}
"""File -> the first 16 hex digits of its SHA-256."""


def test_no_prompt_was_edited_and_every_one_is_listed():
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in PROMPTS.iterdir()
        if path.is_file()
    }
    assert found == WRITTEN
