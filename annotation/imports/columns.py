"""Choosing on a page which column of a table holds which field, as values of the option `map`."""

from collections.abc import Collection, Mapping, Sequence

from annotation.errors import InvalidImport
from annotation.imports.reading.importer import Importer, importer_class
from annotation.imports.reading.mapping import read_mapping
from annotation.imports.reading.tables import parts_of
from annotation.models import ImportJob

JOINED = "article_id"
"""The field that several columns may make together."""


def fields_by_column(mapping: Sequence[str], columns: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """Return column -> the field that it holds under this mapping; columns without one are left out."""
    named = _named(mapping)
    mapped = {ours for ours, _ in named}
    found = {name: name for name in columns if name in fields and name not in mapped}
    for ours, theirs in named:
        found |= dict.fromkeys(parts_of(theirs, columns), ours.partition(":")[0])
    return {name: found[name] for name in columns if name in found}


def mapping_of(
    chosen: Mapping[str, str], importer: type[Importer], constants: Sequence[str] = ()
) -> list[str]:
    """Return the mapping by which each column holds its chosen field, beside `constants` (field==value).

    Several columns of an article's id are joined. Several columns of summaries, or one without a column of
    systems, are those of a wide table, each of the system that it is called after. Columns of scores are each
    of the evaluator that it is called after. Raises InvalidImport, whose `fields` are columns.
    """
    columns: dict[str, list[str]] = {}
    for column, ours in chosen.items():
        if ours:
            columns.setdefault(ours, []).append(column)
    constant = {pair.partition("=")[0].strip() for pair in constants}
    problems = {
        column: problem
        for column, ours in chosen.items()
        if (problem := _problem(column, ours, {*columns, *constant}, importer))
    }
    problems |= {
        column: f"The {ours.replace('_', ' ')} is the same for all rows. Choose another field."
        for ours in constant & columns.keys()
        for column in columns[ours]
    }
    has_rows_of_systems = importer.may_be_wide and "system" in {*columns, *constant}
    pairs = [*constants]
    for ours, held in columns.items():
        if ours == importer.several and not has_rows_of_systems:
            pairs += [f"{ours}:{column}={column}" for column in held]
        elif len(held) > 1 and ours != JOINED:
            problems |= dict.fromkeys(
                held[1:], f"{held[0]} is {ours.replace('_', ' ')}, too. Choose one of them."
            )
        elif held != [ours]:
            pairs.append(f"{ours}={'+'.join(held)}")
    if problems:
        raise InvalidImport(problems)
    return pairs


def _problem(column: str, ours: str, held: Collection[str], importer: type[Importer]) -> str:
    """Return why a column cannot hold the chosen field, or none; empty if it can."""
    if not ours and column in importer.mapped_fields and column not in held:
        title = column.replace("_", " ")
        return f"A column of this name is imported as {title}. Choose {title} here or for another column."
    if ours and not column:
        return "This column has no name. Name it in the file."
    if ours and ("=" in column or (ours == JOINED and "+" in column)):
        return "The name of this column has = or +. Rename it in the file."
    return ""


def current_mapping(job: ImportJob) -> list[str]:
    """Return the job's mapping; else that of the project's last such import that fits; else the proposal."""
    table = job.report["table"]
    if job.options.get("map"):
        return list(job.options["map"])
    done = job.project.imports.filter(format=job.format, status=ImportJob.Status.DONE).exclude(pk=job.pk)
    for options in done.order_by("-pk").values_list("options", flat=True)[:20]:
        mapping = options.get("map") or []
        named = [part for _, theirs in _named(mapping) for part in parts_of(theirs, table["columns"])]
        if named and set(named) <= set(table["columns"]):
            return list(mapping)
    return list(table["proposed"])


def constants_of(mapping: Sequence[str]) -> list[str]:
    return [pair for pair in mapping if "==" in pair]


def first_rows(job: ImportJob, mapping: Sequence[str]) -> list[dict[str, object]]:
    """Return the first rows of the job's table under our names. Raises ValueError as `read_mapping` does."""
    table = job.report["table"]
    importer = importer_class(job.format)
    fields = importer.mapped_fields
    mapped = read_mapping(mapping, fields, several=importer.several)
    ours = [mapped.of(dict(zip(table["columns"], row, strict=True))) for row in table["rows"]]
    return [{name: row[name] for name in row if name.partition(":")[0] in fields} for row in ours]


def _named(mapping: Sequence[str]) -> list[tuple[str, str]]:
    """Return the fields with their columns, without constants."""
    pairs = (pair.partition("=") for pair in mapping if "==" not in pair)
    return [(ours.strip(), theirs.strip()) for ours, _, theirs in pairs]
