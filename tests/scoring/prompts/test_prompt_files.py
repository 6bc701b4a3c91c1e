"""Prompt texts never change once scores depend on them; a change is a file with a new number."""

import hashlib

from scoring.prompts.dimensions import PROMPTS

WRITTEN = {
    "described_chat_1_to_5_v1.txt": "4647ca2eef050d3c",
    "described_chat_json_1_to_5_v1.txt": "26660c2650305eaf",
    "described_chat_json_v1.txt": "eca549d21f9c7452",
    "described_chat_json_yes_no_v1.txt": "adb2353e93a48393",
    "described_chat_no_examples_v1.txt": "1166c706ae57a4c3",
    "described_chat_v1.txt": "fe2ff40ddce9a325",
    "described_chat_yes_no_v1.txt": "26eaaa3f98852525",
    "described_entry_v1.txt": "1dbe8de972718c4a",
    "described_entry_yes_no_v1.txt": "76b9e99fb3f73703",
    "described_task_1_to_5_v1.txt": "4e9ea602bb905590",
    "described_task_v1.txt": "7934c9cde5e9a52d",
    "described_task_yes_no_v1.txt": "d4aa655680e2812e",
    "descriptions_v1.txt": "ab8ef1dca3af71ff",
    "ice_chat_1_to_5_v1.txt": "0d2f6f3511342f1e",
    "ice_chat_v1.txt": "a2ad8dd8c5b01597",
    "ice_chat_yes_no_v1.txt": "2e3bee9b5d395c73",
    "ice_v1.txt": "2838291dcff3f62f",
}
"""File -> the first 16 hex digits of its SHA-256."""


def test_prompt_files_are_unchanged_and_listed():
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in PROMPTS.iterdir()
        if path.is_file()
    }
    assert found == WRITTEN
