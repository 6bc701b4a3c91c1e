"""Memory needed to score a file: it grows only with its texts and scores."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.scoring.tiny_models import TEXT, tiny_model

ROOT = Path(__file__).resolve().parents[3]
FEW, MANY = 1_000, 10_000
ALLOWED_MIB = 20
"""Allowed growth from FEW to MANY: texts and results take about 13 MiB, stored vectors 17 MiB more."""
WORDS = sorted(set(re.findall("[a-z]{3,}", TEXT)))[:16]

PROGRAM = """
import json, re, sys
from pathlib import Path
from scoring.files.score_file import score_file

folder, model, *sizes = sys.argv[1:]
for size in sizes:
    Path("/proc/self/clear_refs").write_text("5")  # or the peak is the parent's
    result = score_file("similarity", {"model": model}, f"{folder}/{size}.jsonl", f"{folder}/{size}.scores")
    peak_kib = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
    print(json.dumps([result.scored, peak_kib]), flush=True)
"""


def write_examples(path: Path, number: int) -> None:
    """Write texts that the model distinguishes, so that no result is reused from a cache."""
    with path.open("w") as file:
        for index in range(number):
            words = " ".join(WORDS[index // len(WORDS) ** place % len(WORDS)] for place in range(4))
            example = {"id": str(index), "summary": f"The {words}.", "references": [f"It was {words}."]}
            file.write(json.dumps(example) + "\n")


def test_memory_is_bounded_for_many_summaries(tmp_path):
    for number in (FEW, MANY):
        write_examples(tmp_path / f"{number}.jsonl", number)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PROGRAM,
            str(tmp_path),
            str(tiny_model("bert", num_hidden_layers=1)),
            str(FEW),
            str(MANY),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (few_scored, few), (many_scored, many) = map(json.loads, done.stdout.splitlines())
    assert (few_scored, many_scored) == (FEW, MANY)
    assert (many - few) / 1024 < ALLOWED_MIB, (few, many)
