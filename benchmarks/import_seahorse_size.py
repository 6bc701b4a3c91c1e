"""Import of a file of SEAHORSE's size with its articles: `python benchmarks/import_seahorse_size.py`.

Generates a TSV of 96,645 rows in the published layout and an examples file with 60,000 articles, imports
both by the command into a fresh SQLite database, and prints seconds and peak memory of each import and the
medians. A second import of the same files, which changes nothing, is measured after the last. The budget is
60 seconds and 500 MB.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
ROWS, ARTICLES = 96_645, 60_000
BUDGET_S, BUDGET_MB = 60, 500
LETTERS = {
    "de": "abcdefghijklmnoprstuvwzäöüß",
    "en-US": "abcdefghijklmnoprstuvwy",
    "es-ES": "abcdefghijlmnopqrstuvyzáéñ",
    "ru": "абвгдежзийклмнопрстуфхцчшыьэюя",
    "tr": "abcçdefgğhıijklmnoöprsştuüvyz",
    "vi": "abcdđeêghiklmnoôơpqrstuưvxyàáạảã",
}
SYSTEMS = (
    "reference",
    "t5_base",
    "t5_base_250steps",
    "t5_xxl",
    "mt5_small",
    "mt5_small_250steps",
    "mt5_xxl",
    "1shot",
    "finetuned",
)
HEADER = ["gem_id", "worker_lang", "summary", "model", *(f"question{number}" for number in range(1, 7))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--articles", type=int, default=ARTICLES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratings, articles = generate(Path(folder), arguments.rows, arguments.articles)
        sizes = f"{ratings.stat().st_size / 1e6:.0f} MB and {articles.stat().st_size / 1e6:.0f} MB"
        print(f"{arguments.rows:,} rows, {arguments.articles:,} articles: files of {sizes}")
        measured = []
        for repeat in range(arguments.repeats):
            database = Path(folder) / f"{repeat}.sqlite3"
            prepare(database)
            measured.append(import_once(database, ratings, articles))
            print("import: {:.1f} s ({:.1f} s of processor), {:.0f} MB".format(*measured[-1]))
            if repeat < arguments.repeats - 1:
                for file in database.parent.glob(f"{database.name}*"):
                    file.unlink()
        print(
            "again, nothing new: {:.1f} s ({:.1f} s of processor), {:.0f} MB".format(
                *import_once(database, ratings, articles)
            )
        )
        seconds, _, megabytes = (median(column) for column in zip(*measured, strict=True))
        print(
            f"median of {len(measured)}: {seconds:.1f} s (budget {BUDGET_S}), "
            f"{megabytes:.0f} MB (budget {BUDGET_MB})"
        )


def generate(folder: Path, rows: int, articles: int) -> tuple[Path, Path]:
    """Write a ratings file and an articles file, the same on every machine."""
    chance = random.Random(20230217)
    sentences = {
        language: [sentence(chance, letters) for _ in range(400)] for language, letters in LETTERS.items()
    }
    languages = [chance.choice(list(LETTERS)) for _ in range(articles)]
    ids = [f"made_{languages[number][:2]}-validation-{number}" for number in range(articles)]
    examples = folder / "articles.jsonl"
    with examples.open("w", encoding="utf-8") as file:
        for number, language in enumerate(languages):
            text = f"{number}. " + " ".join(chance.choices(sentences[language], k=chance.randint(15, 60)))
            file.write(json.dumps({"id": ids[number], "article": text}, ensure_ascii=False) + "\n")
    ratings = folder / "ratings.tsv"
    with ratings.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(HEADER)
        pairs = (
            (number % articles, SYSTEMS[number // articles]) for number in range(articles * len(SYSTEMS))
        )
        written = 0
        for number, system in pairs:
            language = languages[number]
            text = " ".join(chance.choices(sentences[language], k=chance.randint(1, 3)))
            if chance.random() < 0.1:
                text = f'"{text[:40]}" {text[40:]}'
            for _ in range(min(3 if chance.random() < 0.05 else 1, rows - written)):
                table.writerow([ids[number], language, text, system, *answers(chance)])
                written += 1
            if written == rows:
                break
    return ratings, examples


def sentence(chance: random.Random, letters: str) -> str:
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(chance.randint(6, 16))]
    return " ".join(words).capitalize() + "."


def answers(chance: random.Random) -> list[str]:
    if chance.random() < 0.05:
        return ["No", *[""] * 5]
    return ["Yes", *chance.choices(["Yes", "No", "Unsure"], weights=[70, 28, 2], k=5)]


def environment(database: Path) -> dict[str, str]:
    local = {"TOUCHSTONE_MODE": "local", "SECRET_KEY": "benchmark" * 8}
    return {**os.environ, **local, "DATABASE_URL": f"sqlite:///{database}"}


def prepare(database: Path) -> None:
    for command in (["migrate", "-v0"], ["create_project", "Big", "--questionnaire", "seahorse"]):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment(database),
            check=True,
            stdout=subprocess.DEVNULL,
        )


def import_once(database: Path, ratings: Path, articles: Path) -> tuple[float, float, float]:
    """Return wall seconds, CPU seconds and peak resident megabytes of the command."""
    command = ["import", "seahorse", str(ratings), "--articles", str(articles), "--project", "big"]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment(database),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(errors.decode())
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
