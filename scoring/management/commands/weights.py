"""manage.py weights: list the models on this machine; download, convert, register, move and delete them."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import suggestion
from annotation.management.own_command import OwnCommand
from scoring.contract.evaluator import EvaluatorError
from scoring.errors import InvalidTraining
from scoring.management.progress_bar import ProgressBar
from scoring.management.registry_verbs import BAD_ARGUMENTS, FAILED, VERBS, add_verbs, sentence
from scoring.training.registry import install_model
from scoring.weights.hub import UnknownModel, fetch
from scoring.weights.installed import Installed, installed, source_of
from scoring.weights.model_archives import packed
from scoring.weights.model_files import TRAINED, MissingWeights, digest, size
from scoring.weights.trained_models import trained_model, trained_models


class Command(OwnCommand):
    help = (
        "List the models on this machine, download one from the Hugging Face hub, convert a pickled "
        "checkpoint to safetensors, register a model that was trained elsewhere, or take a trained model to "
        "another Touchstone. Scoring never downloads anything. "
        "Exit code 0: done; 1: failed; 2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="list installed models, with size and SHA-256")
        listing.add_argument("--json", action="store_true", help="print JSON for programs")
        fetching = verbs.add_parser("fetch", help="download a model from the Hugging Face hub")
        fetching.add_argument("model", metavar="OWNER/NAME[@REVISION]")
        fetching.add_argument(
            "--pickled", action="store_true", help="also download pickled weights, which need converting"
        )
        converting = verbs.add_parser("convert", help="write a pickled checkpoint as safetensors")
        converting.add_argument(
            "source", help="a file; or a folder, by path, by name in WEIGHTS_DIR or by hub id"
        )
        converting.add_argument(
            "--to", type=Path, required=True, metavar="FOLDER", help="a new or empty folder"
        )
        converting.add_argument(
            "--configuration",
            metavar="FOLDER",
            help="folder with config.json and vocabulary, if not beside the weights; given like SOURCE",
        )
        converting.add_argument(
            "--part",
            action="append",
            default=[],
            metavar="BEGINNING=FILE",
            help="write tensors with this prefix to FILE.safetensors, without the prefix; can be repeated",
        )

        add_verbs(verbs)

        exporting = verbs.add_parser("export", help="write a trained model as one file")
        exporting.add_argument("name", help="name of a model in WEIGHTS_DIR/trained")
        exporting.add_argument("--to", type=Path, required=True, metavar="FILE.tar")
        importing = verbs.add_parser("import", help="install a trained model from such a file")
        importing.add_argument("file", type=Path, metavar="FILE.tar")
        importing.add_argument("--name", default="", help="the model's name (default: the file's)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] in VERBS:
            self.stdout.write(VERBS[options["verb"]](options))
        else:
            getattr(self, f"_{options['verb']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        found = list(installed())
        if options["json"]:
            self.stdout.write(json.dumps([_described(each) for each in found], indent=2))
            return
        for each in found:
            self.stdout.write(f"{each.model}\n    {_state(each)}\n    {each.folder}")
        if not found:
            self.stdout.write("No models yet. Download one with manage.py weights fetch OWNER/NAME.")

    def _fetch(self, options: dict[str, Any]) -> None:
        model = options["model"]
        with ProgressBar(sys.stderr, unit="bytes") as bar:
            try:
                folder = fetch(
                    model,
                    pickled=options["pickled"],
                    progress=None if sys.stderr.isatty() else bar,
                )
            except UnknownModel as error:
                raise CommandError(sentence(error), returncode=BAD_ARGUMENTS) from error
            except EvaluatorError as error:
                raise CommandError(str(error), returncode=FAILED) from error
        self.stdout.write(f"{model} is in {folder}: {_in_words(size(folder))}, {digest(folder)}")

    def _export(self, options: dict[str, Any]) -> None:
        model = trained_model(options["name"])
        if model is None:
            names = [each.name for each in trained_models()]
            raise CommandError(
                f"There is no trained model {options['name']!r}; {suggestion(options['name'], names)}.",
                returncode=BAD_ARGUMENTS,
            )
        try:
            with options["to"].open("wb") as file:
                file.writelines(packed(model))
        except OSError as error:
            raise CommandError(f"The file could not be written: {error}", returncode=FAILED) from error
        self.stdout.write(f"{model.model} is in {options['to']}: {_in_words(options['to'].stat().st_size)}")

    def _import(self, options: dict[str, Any]) -> None:
        try:
            with options["file"].open("rb") as file:
                name = install_model(file, options["file"].name, sys.maxsize, options["name"])
        except (InvalidTraining, OSError) as error:
            raise CommandError(sentence(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(f"The model is installed as {TRAINED}/{name}.")

    def _convert(self, options: dict[str, Any]) -> None:
        from scoring.neural.conversion import NotConvertible, convert

        try:
            done = convert(
                source_of(options["source"]),
                options["to"],
                configuration=source_of(options["configuration"]) if options["configuration"] else None,
                parts=_parts(options["part"]),
            )
        except (MissingWeights, NotConvertible) as error:
            raise CommandError(sentence(error), returncode=BAD_ARGUMENTS) from error
        except OSError as error:
            raise CommandError(f"Nothing was written: {error}", returncode=FAILED) from error
        for name, tensors in done.tensors.items():
            self.stdout.write(f"{name}: {tensors:,} tensors, read back and equal")
        self.stdout.write(f"Copied: {', '.join(done.copied)}")
        if done.left_out:
            shown = ", ".join(done.left_out[:5]) + (", ..." if len(done.left_out) > 5 else "")
            self.stdout.write(f"Left out, since no --part has them: {len(done.left_out):,} tensors: {shown}")
        self.stdout.write(f"{done.folder}: {_in_words(size(done.folder))}, {digest(done.folder)}")


def _state(found: Installed) -> str:
    if found.is_usable:
        return f"{_in_words(size(found.folder))}, {digest(found.folder)}"
    return "pickled only: manage.py weights convert" if found.is_pickled else "incomplete: fetch it again"


def _described(found: Installed) -> dict[str, Any]:
    return {
        "model": found.model,
        "folder": str(found.folder),
        "bytes": size(found.folder),
        "sha256": digest(found.folder) if found.is_usable else None,
    }


def _parts(given: list[str]) -> dict[str, str]:
    parts = {}
    for each in given:
        beginning, equals, name = each.partition("=")
        if not equals or not name or Path(name).name != name:
            raise CommandError(f"--part: found {each!r}, expected BEGINNING=FILE", returncode=BAD_ARGUMENTS)
        parts[beginning] = name
    return parts


def _in_words(size_in_bytes: int) -> str:
    """Return a size such as "1.4 GB", in decimal units as on the hub."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_in_bytes >= factor:
            return f"{size_in_bytes / factor:.1f} {unit}"
    return f"{size_in_bytes} bytes"
