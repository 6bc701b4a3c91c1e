"""Imports of damaged files, each judged: imported completely, refused with a place, or neither."""

import csv
import gzip
import hashlib
import io
import itertools
import json
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models, transaction
from django.db.models.functions import Length

from annotation import protocol
from annotation.declared.settings import SettingsRefused, settings_of
from annotation.exports.exporter import open_export
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import importer_class, open_import
from annotation.imports.reading.lines import LONGEST_LINE
from annotation.imports.reading.records import FileRefused, Problem
from annotation.imports.rejected_rows import rejected_rows_path
from annotation.imports.report import Report
from annotation.models import Answer, Article, GoldRating, Project, Rater, Rating, Summary, System
from annotation.projects.settings import create_project
from scoring.models import Score
from scoring.runs.imported_scores import ImportedScores
from tests.annotation.imports.mutations import TEXTS, mutated, mutated_text
from tests.import_files import workbook

FORMATS = ("seahorse", "summeval", "bartscore", "examples", "ratings", "scores", "gold")
OF_THE_PROJECT = ("does not ask", "has other scales than the file", "No questionnaire fits this file")
"""Refusals that name questions, not rows."""
LANGUAGES = ("de", "pt-BR", "klingon", "", "x" * 50)
SHARE_BY_COMMAND = 0.05
"""Of the cases; the others call what the command calls."""


class Outcome(StrEnum):
    ACCEPTED = "accepted"
    IN_PART = "accepted in part"
    CHECKED = "checked only"
    REFUSED = "refused"
    CRASHED = "crashed"
    HALF = "half imported"
    UNNAMED = "unnamed place"


FAILURES = (Outcome.CRASHED, Outcome.HALF, Outcome.UNNAMED)


@dataclass(frozen=True)
class Original:
    """A valid file with the options and the second file that it needs."""

    format: str
    name: str
    data: bytes
    questionnaire: protocol.Questionnaire = protocol.SEAHORSE
    options: Mapping[str, Any] = field(default_factory=dict)
    companion: bytes | None = None
    needs: tuple["Original", ...] = ()
    """Files that the project must have already."""


@dataclass(frozen=True)
class Result:
    format: str
    outcome: Outcome
    words: str
    """The case, and what is wrong with its outcome."""


class Fuzzer:
    """Imports damaged files into projects of its own. A case leaves nothing in the database."""

    def __init__(self, data: Path, folder: Path) -> None:
        """Take the originals from `data`, the real files, and write the damaged ones into `folder`."""
        self._folder = folder
        self._cases: dict[str, list[tuple[Original, list[Project]]]] = {name: [] for name in FORMATS}
        for original in originals(data):
            projects = [
                create_project(f"Fuzz {Project.objects.count()}", original.questionnaire) for _ in "ab"
            ]
            for project, loaded in zip(projects, (original.needs, (*original.needs, original)), strict=True):
                for each in loaded:
                    self._load(project, each)
            self._cases[original.format].append((original, projects))
            for exported in _exports(projects[1], original):
                self._cases[original.format].append((exported, projects))
        self._before = _digest()

    def _load(self, project: Project, original: Original) -> None:
        path, companion = self._write(original.name, original.data, original.companion)
        importer = open_import(original.format, path, companion=companion, options=original.options)
        report = import_file(project, importer, scores=lambda: ImportedScores(project, importer.file.name))
        if report.refused:
            raise ValueError(f"{original.format} {original.name}: {report.refused} {report.problems[:3]}")
        project.refresh_from_db()

    def _write(self, name: str, data: bytes, companion: bytes | None) -> tuple[Path, Path | None]:
        for old in self._folder.iterdir():
            old.unlink()
        path, second = self._folder / name, self._folder / "companion.jsonl"
        path.write_bytes(data)
        if companion is not None:
            second.write_bytes(companion)
        return path, None if companion is None else second

    def run(self, seed: int) -> Result:
        """Run the case of this seed. Seven seeds in a row have all formats."""
        format_name = FORMATS[seed % len(FORMATS)]
        chance = Random(f"import {seed}")
        original, projects = chance.choice(self._cases[format_name])
        project = chance.choice(projects)
        data, companion = original.data, original.companion
        if companion is None or chance.random() < 0.7:
            data = mutated(data, chance)
        else:
            companion = mutated(companion, chance)
        name = (
            original.name
            if chance.random() < 0.9
            else chance.choice(("x.xlsx", "x.csv", "x.gz", "x" * 200, ".x"))
        )
        path, second = self._write(name, data, companion)
        options = _options(original, chance)
        flags = {"skip_bad": chance.random() < 0.4, "dry_run": chance.random() < 0.1}
        by_command = chance.random() < SHARE_BY_COMMAND
        words = f"{format_name} from {original.name}, {name}, {options}, {flags}, {project.name}"
        with transaction.atomic():
            try:
                found = _Case(project, format_name, path, second, options, flags, self._before).judged(
                    by_command
                )
            except Exception:
                found = Outcome.CRASHED, traceback.format_exc()
            transaction.set_rollback(True)
        return Result(format_name, found[0], f"{words}: {found[1]}")


Judged = tuple[Outcome, str]


@dataclass(frozen=True)
class _Case:
    project: Project
    format: str
    path: Path
    companion: Path | None
    options: Mapping[str, Any]
    flags: Mapping[str, bool]
    before: str

    def judged(self, by_command: bool) -> Judged:
        rows = _rows_of(self.project)
        try:
            report = self._import(dry_run=self.flags["dry_run"])
        except SettingsRefused as refusal:
            named = set(refusal.fields) <= set(self.options)
            return (Outcome.REFUSED if named else Outcome.UNNAMED), str(refusal)
        except FileRefused as refusal:
            return self._refused(refusal.problems, str(refusal))
        fault = _unstorable(report)
        if fault:
            return Outcome.CRASHED, fault
        if report.refused or report.dry_run:
            outcome = (
                self._refused(report.problems, report.refused) if report.refused else (Outcome.CHECKED, "")
            )
            if (
                not report.problems
                and not report.dry_run
                and not any(each in report.refused for each in OF_THE_PROJECT)
            ):
                outcome = Outcome.UNNAMED, report.refused
        else:
            outcome = self._accepted(report, rows)
        if by_command and outcome[0] not in FAILURES:
            return self._agrees(report, outcome, _digest())
        return outcome

    def _import(self, *, dry_run: bool) -> Report:
        project = Project.objects.select_related("questionnaire").get(pk=self.project.pk)
        importer = open_import(
            self.format,
            self.path,
            companion=self.companion,
            options=self.options,
            dimensions=[question.dimension for question in project.questionnaire.protocol.questions],
        )
        return import_file(
            project,
            importer,
            dry_run=dry_run,
            skip_bad=self.flags["skip_bad"],
            rejected_to=rejected_rows_path(self.path),
            scores=lambda: ImportedScores(project, importer.file.name),
            progress=lambda *_: None,
        )

    def _refused(self, problems: Sequence[Problem], words: str) -> Judged:
        if _digest() != self.before:
            return Outcome.HALF, f"rows changed, although: {words}"
        if {self.path, self.companion} - {None} != set(self.path.parent.iterdir()):
            return Outcome.HALF, f"files were left, although: {words}"
        for problem in problems:
            fault = self._fault_of(problem)
            if fault:
                return Outcome.UNNAMED, f"{fault}: {problem}"
        return Outcome.REFUSED, words

    def _fault_of(self, problem: Problem) -> str:
        files = {each.name: each for each in (self.path, self.companion) if each}
        if problem.file not in files:
            return "another file"
        if not (problem.field and problem.found and problem.expected):
            return "nothing said"
        if not 1 <= problem.line <= max(1, _lines_of(files[problem.file])):
            return "no such line"
        return "a long message" if len(str(problem)) > 3000 else ""

    def _accepted(self, report: Report, before: Mapping[str, int]) -> Judged:
        new = {what: tally.new for what, tally in report.counts.items()}
        new["summaries"] = new.get("summaries", 0) + new.pop("references", 0)
        stored = {what: number - before[what] for what, number in _rows_of(self.project).items()}
        if any(new.get(what, 0) != number for what, number in stored.items()):
            return Outcome.HALF, f"reported {new}, stored {stored}"
        long = _too_long()
        if long:
            return Outcome.CRASHED, f"PostgreSQL refuses {long}"
        rejected = rejected_rows_path(self.path)
        listed = rejected.read_bytes().splitlines() if rejected.exists() else []
        if len(listed) != report.rejected or not all(json.loads(line)["problems"] for line in listed):
            return Outcome.HALF, f"{report.rejected} rows rejected, and {len(listed)} written"
        for problem in report.problems:
            fault = self._fault_of(problem)
            if fault:
                return Outcome.UNNAMED, f"{fault}: {problem}"
        after = _digest()
        again = self._import(dry_run=False)
        if again.has_news or (again.refused and not report.rejected) or _digest() != after:
            return Outcome.HALF, f"importing it again: {again.refused} {again.counts} {again.problems[:2]}"
        return (Outcome.IN_PART if report.rejected else Outcome.ACCEPTED), ""

    def _agrees(self, report: Report, outcome: Judged, after: str) -> Judged:
        """Return the outcome, if the command ends as its documentation says and stores the same.

        The rows are there already, so that it stores nothing.
        """
        expected = 2 if report.refused else 1 if report.rejected else 0
        try:
            with redirect_stderr(io.StringIO()):  # for the progress
                call_command("import", *self._arguments(), stdout=io.StringIO())
        except CommandError as error:
            code, words = error.returncode, str(error)
        else:
            code, words = 0, ""
        if code != expected:
            return Outcome.CRASHED, f"exit code {code} instead of {expected}: {words}"
        return outcome if _digest() == after else (Outcome.HALF, f"the command changed rows: {words}")

    def _arguments(self) -> Iterator[str]:
        yield from (self.format, str(self.path), f"--project={self.project.slug}")
        yield from (f"--{name.replace('_', '-')}" for name, given in self.flags.items() if given)
        form = importer_class(self.format)
        if self.companion is not None and form.companion is not None:
            yield f"{form.companion.flag}={self.companion}"
        for option in settings_of(form.Options):
            given = self.options.get(option.name)
            if option.type == "yes/no":
                yield from [option.flag] * bool(given)
            elif option.one_per_line:
                yield from (f"{option.flag}={pair}" for pair in given or ())
            elif given is not None:
                yield f"{option.flag}={','.join(given) if option.type == 'list' else given}"


def _options(original: Original, chance: Random) -> dict[str, Any]:
    options = dict(original.options)
    if chance.random() < 0.75:
        return options
    declared = chance.choice(settings_of(importer_class(original.format).Options))
    if declared.type == "yes/no":
        options[declared.name] = not options.get(declared.name, False)
    elif declared.choices:
        options[declared.name] = chance.choice(list(declared.choices))
    elif declared.name == "language":
        options[declared.name] = chance.choice(LANGUAGES)
    elif declared.one_per_line:
        pairs = list(options.get(declared.name, ()))
        fields = importer_class(original.format).mapped_fields
        pairs.append(
            f"{chance.choice(fields)}{chance.choice(('=', '==', ''))}{chance.choice((*fields, *TEXTS))}"
        )
        options[declared.name] = [_one_line(pair) for pair in pairs[chance.choice((0, 0, 1)) :]]
    elif declared.type == "list":
        options[declared.name] = [_one_line(chance.choice(TEXTS)).replace(",", "") for _ in range(2)]
    else:
        options[declared.name] = _one_line(mutated_text(str(options.get(declared.name, "")), chance))
    return options


def _one_line(text: str) -> str:
    """Return the text as a command line can have it."""
    return text.replace("\x00", "")


def _digest() -> str:
    """Return a digest of all rows of all tables."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(model._meta.db_table)}")
            digest.update("\n".join(sorted(map(repr, cursor.fetchall()))).encode(errors="backslashreplace"))
    return digest.hexdigest()


def _rows_of(project: Project) -> dict[str, int]:
    """Return how many rows there are, by what reports call them."""
    found = {
        "articles": Article.objects.filter(project=project),
        "systems": System.objects.filter(project=project),
        "summaries": Summary.objects.filter(project=project),
        "raters": Rater.objects.filter(project=project),
        "ratings": Rating.objects.filter(rater__project=project),
        "answers": Answer.objects.filter(rating__rater__project=project).current(),
        "gold": GoldRating.objects.filter(summary__project=project),
        "scores": Score.objects.filter(setup__project=project),
    }
    return {what: rows.count() for what, rows in found.items()}


def _too_long() -> str:
    """Return a text that is too long for its column. SQLite stores it all the same."""
    for model in apps.get_models():
        limits = {
            each.name: each.max_length
            for each in model._meta.get_fields()
            if isinstance(each, models.CharField)
        }
        longest = {f"{name}_": models.Max(Length(name)) for name, limit in limits.items() if limit}
        found = model._base_manager.aggregate(**longest) if longest else {}
        for name, length in found.items():
            if length and length > limits[name.removesuffix("_")]:
                return f"{model.__name__}.{name} of {length} characters"
    return ""


def _unstorable(report: Report) -> str:
    """Return why a job could not store the report, or a terminal not show it; empty if they can."""
    shown = [report.as_json(), [each.as_json() for each in report.problems], list(map(str, report.problems))]
    text = json.dumps(shown, ensure_ascii=False)
    if "\\u0000" in text:
        return "a NUL character in the report"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a surrogate pair in the report: {text[error.start - 80 : error.end]!r}"
    return ""


def _lines_of(path: Path) -> int:
    """Return how many lines the file has, or more for one that has rows of another kind."""
    with path.open("rb") as stream:
        head = stream.read(2)
    if head == b"PK":
        return 1_048_576
    try:
        with gzip.open(path) if head == b"\x1f\x8b" else path.open("rb") as stream:
            return sum(1 for _ in iter(lambda: stream.readline(LONGEST_LINE), b"")) + 1
    except (OSError, EOFError, gzip.zlib.error):
        return 1_000_000


def _exports(project: Project, original: Original) -> Iterator[Original]:
    """Yield what the product itself writes of a project, in the format of the original."""
    kinds: dict[str, tuple[dict[str, object], ...]] = {
        "ratings": ({"articles": True}, {"file_type": "jsonl"}),
        **dict.fromkeys(("seahorse", "summeval", "examples"), ({},)),
    }
    for options in kinds.get(original.format, ()):
        export = open_export(project, original.format, options)
        data = b"".join(export.written())
        yield Original(original.format, f"exported.{export.ending}", data, original.questionnaire)


def originals(data: Path) -> Iterator[Original]:
    """Yield valid files: slices of the real ones, and small ones of the other kinds."""
    seahorse = (data / "seahorse/validation_excerpt_2.tsv").read_bytes().splitlines(keepends=True)
    rows = list(csv.reader(io.StringIO(b"".join(seahorse[:9]).decode(), newline=""), delimiter="\t"))
    articles = _jsonl({"id": row[0], "article": f"Text of {row[0]}.", "title": "T"} for row in rows[1:])
    yield Original("seahorse", "seahorse.tsv", b"".join(seahorse[:9]), companion=articles)
    yield Original("seahorse", "seahorse.csv", _csv(rows))
    yield Original("seahorse", "seahorse.xlsx", _xlsx(rows))

    summeval = [
        _shortened(each)
        for each in _first(data / "summeval/model_annotations.aligned.paired.12systems.jsonl.gz", 3)
    ]
    yield Original("summeval", "summeval.jsonl", _jsonl(summeval), protocol.SUMMEVAL)
    bare = [{name: value for name, value in each.items() if name != "text"} for each in summeval]
    articles = _jsonl({"id": each["id"], "article": each["text"]} for each in summeval)
    yield Original(
        "summeval",
        "bare.jsonl.gz",
        gzip.compress(_jsonl(bare), mtime=0),
        protocol.SUMMEVAL,
        companion=articles,
    )

    ice = json.loads((data / "ice/data_sms.json").read_text())
    ice = {name: _shortened(ice[name]) for name in list(ice)[:2]}
    for each in ice.values():
        each["sys_summs"] = dict(itertools.islice(each["sys_summs"].items(), 3))
    labels = {"labels": "human_score_{dimension}", "create_questionnaire": True}
    options = {**labels, "systems": ["M11", "M13", "M1"]}
    yield Original("bartscore", "ice.json", json.dumps(ice, indent=1).encode(), protocol.SUMMEVAL, options)
    means = [_shortened(each) for each in _first(data / "summeval/expert_means.16systems.jsonl.gz", 2)]
    for each in means:
        each["sys_summs"] = dict(itertools.islice(each["sys_summs"].items(), 3))
    yield Original(
        "bartscore", "means.jsonl", _jsonl(means), protocol.SUMMEVAL, {**labels, "labels": "{dimension}"}
    )

    pairs = [_shortened(each) for each in _first(data / "cnndm_llm_summaries/gpt4.train.jsonl.gz", 5)]
    mapped = {"map": ["summary=abstract", "system==gpt-4"]}
    yield Original("examples", "pairs.jsonl", _jsonl(pairs), options=mapped)
    table = [["article", "abstract"], *([each["article"], each["abstract"]] for each in pairs)]
    wide = {"map": ["summary:gpt-4=abstract", "article_id=article_id"]}
    yield Original(
        "examples",
        "wide.csv",
        _csv([["article_id", *table[0]], *([f"a{n}", *row] for n, row in enumerate(table[1:]))]),
        options=wide,
    )
    full = [
        {
            "article_id": f"a{n // 2}",
            "system": f"s{n % 2}",
            "summary": f"Short {n}.",
            "article": f"Long text {n // 2}.",
            "title": "T",
        }
        | {
            "language": "de",
            "dataset": "d",
            "split": "test",
            "references": ["One.", "Two."],
            "labels": {"fluency": n / 2},
        }
        for n in range(6)
    ]
    one_question = {"create_questionnaire": True}
    yield Original("examples", "examples.json", json.dumps(full).encode(), options=one_question)
    small = [
        {name: value for name, value in each.items() if name not in ("references", "labels")} for each in full
    ]
    examples = Original(
        "examples", "examples.xlsx", _xlsx([list(small[0]), *(list(each.values()) for each in small)])
    )
    yield examples

    xsum = (
        (data / "xsum_hallucination/factuality_annotations_xsum_summaries.csv")
        .read_bytes()
        .splitlines(keepends=True)
    )
    columns = ["article_id=bbcid", "rater=worker_id", "value=is_factual", "question==factual"]
    yield Original(
        "ratings", "xsum.csv", b"".join(xsum[:13]), options={"map": columns, "create_questionnaire": True}
    )
    names = [
        "article_id",
        "system",
        "rater",
        "question",
        "value",
        "summary",
        "article",
        "language",
        "comment",
        "rated_at",
    ]
    table = [
        [
            f"a{n // 3}",
            "s",
            f"w{n % 3}",
            "comprehensibility",
            "No",
            f"Short {n // 3}.",
            f"Long {n // 3}.",
            "en",
            "",
            "2024-05-17T09:30:00Z",
        ]
        for n in range(9)
    ]
    yield Original("ratings", "ratings.xlsx", _xlsx([names, *table]))
    yield Original("ratings", "ratings.jsonl", _jsonl(dict(zip(names, row, strict=True)) for row in table))
    bare_table = [[*row[:5]] for row in table]
    articles = _jsonl(
        {"article_id": f"a{n}", "article": f"Long {n}.", "references": ["R."]} for n in range(3)
    )
    stored = Original(
        "examples",
        "stored.jsonl",
        _jsonl({"article_id": f"a{n}", "system": "s", "summary": f"S{n}."} for n in range(3)),
    )
    yield Original(
        "ratings", "bare.tsv", _csv([names[:5], *bare_table], "\t"), companion=articles, needs=(stored,)
    )

    scores = [
        {
            "id": f"a{n}/s",
            "scores": {"coherence": n / 2, "fluency": None},
            "reasons": {"fluency": "no answer"},
        }
        for n in range(3)
    ]
    yield Original("scores", "judge.jsonl", _jsonl(scores), needs=(stored,))
    known = _jsonl({"id": f"x{n}", "article_id": f"a{n}", "system": "s"} for n in range(3))
    yield Original(
        "scores",
        "other.jsonl",
        _jsonl({**each, "id": f"x{n}"} for n, each in enumerate(scores)),
        companion=known,
        needs=(stored,),
    )

    header = ["article_id", "system", "rouge1", "ice_coherence"]
    table = [[f"a{n}", "s", n / 4, ("", "NA", 0.5)[n]] for n in range(3)]
    yield Original("scores", "metrics.csv", _csv([header, *table]), needs=(stored,))
    yield Original("scores", "metrics.xlsx", _xlsx([header, *table]), needs=(stored,))
    flat = [{"id": f"a{n}/s", "rouge1": n / 4, "coherence": (None, "NA", 0.5)[n]} for n in range(3)]
    yield Original("scores", "metrics.json", json.dumps(flat).encode(), needs=(stored,))

    keys = [question.key for question in protocol.SEAHORSE.questions]
    answers = {key: {"value": "yes", "explanation": f"Because of {key}."} for key in keys}
    gold = [
        {
            "article_id": f"g{n}",
            "article": f"Long {n}.",
            "system": "s",
            "summary": f"Short {n}.",
            "answers": answers,
        }
        for n in range(3)
    ]
    yield Original("gold", "gold.jsonl", _jsonl(gold))
    header = ["article_id", "article", "system", "summary", "question", "value", "explanation"]
    table = [[*list(each.values())[:4], key, "yes", "Because."] for each in gold for key in keys]
    yield Original("gold", "gold.csv", _csv([header, *table]))
    yield Original("gold", "gold.xlsx", _xlsx([header, *table[:6]]))


def _first(path: Path, number: int) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in itertools.islice(file, number)]


def _shortened(value: Any) -> Any:
    """Return the value with its texts cut after a few words, so that a case takes milliseconds."""
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    return value[:200] if isinstance(value, str) else value


def _jsonl(rows: Any) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _csv(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


def _xlsx(rows: Sequence[Sequence[object]]) -> bytes:
    written = io.BytesIO()
    workbook(written, *rows)
    return written.getvalue()
