"""Verbs of `manage.py weights` for models that were trained elsewhere: register, rename, remove."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.text import capfirst

from annotation.errors import DomainError
from annotation.management.named_project import named_project
from scoring.contract.evaluator import EvaluatorError
from scoring.errors import InvalidTraining
from scoring.inputs.seen_file import read_seen
from scoring.management.commands.score import parameters
from scoring.training.model_changes import remove_model, rename_model
from scoring.training.model_uses import uses_of
from scoring.training.registering import Registration
from scoring.training.registry import register_now
from scoring.weights.model_files import TRAINED

FAILED, BAD_ARGUMENTS = 1, 2


def add_verbs(verbs: Any) -> None:
    """Add the verbs with their arguments to the command's subparsers."""
    registering = verbs.add_parser("register", help="let a model appear with the trained ones")
    registering.add_argument("name", help="its new name")
    registering.add_argument("source", metavar="FOLDER|ID", help="a folder, or the id of a downloaded model")
    registering.add_argument(
        "--evaluator", default="", help="the evaluator that reads it, unless a card names one"
    )
    registering.add_argument("--dimension", default="", help="the dimension that a SEAHORSE model scores")
    registering.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter that suits the model"
    )
    registering.add_argument("--note", default="", help="a note on its training data")
    registering.add_argument(
        "--seen",
        type=Path,
        metavar="FILE",
        help="a line for each article that it has seen: an id, a text digest, or a row of an examples file",
    )
    registering.add_argument(
        "--project",
        metavar="SLUG",
        help="the project that may use the model and has the ids; default: all projects may use it",
    )
    renaming = verbs.add_parser("rename", help="give a registered or imported model another name")
    renaming.add_argument("name")
    renaming.add_argument("new_name", metavar="NEW_NAME")
    removing = verbs.add_parser("remove", help="delete a registered or imported model")
    removing.add_argument("name")
    removing.add_argument("--no-input", action="store_true", help="do not ask for confirmation")


def sentence(error: Exception) -> str:
    """Return the error's message, with a capital and a full stop."""
    text = capfirst(str(error))
    return text if text.endswith((".", ")", "?")) else f"{text}."


def _register(options: dict[str, Any]) -> str:
    project = named_project(options["project"]) if options["project"] else None
    stated = {name: options[name] for name in ("name", "source", "evaluator", "dimension", "note")}
    try:
        seen = {}
        if options["seen"]:
            with options["seen"].open(encoding="utf-8-sig") as lines:
                seen = read_seen(lines, project)
        registration = Registration(**stated, params=parameters(options["set"]), seen=seen)
        model = register_now(registration, project)
    except (InvalidTraining, EvaluatorError) as error:
        raise CommandError(sentence(error), returncode=BAD_ARGUMENTS) from error
    except OSError as error:
        raise CommandError(f"Nothing was registered: {error}", returncode=FAILED) from error
    return f"The model is registered as {model.model}: {model.card.title}."


def _rename(options: dict[str, Any]) -> str:
    try:
        rename_model(options["name"], options["new_name"])
    except DomainError as error:
        raise CommandError(sentence(error), returncode=BAD_ARGUMENTS) from error
    return f"The model is now {TRAINED}/{options['new_name']}."


def _remove(options: dict[str, Any]) -> str:
    name, uses = options["name"], uses_of(options["name"])
    question = (
        f"{len(uses.setups):,} evaluators have scored with {name}, and {len(uses.trainings):,} trainings "
        "have begun with it. Their scores and models stay. Delete it? [y/N] "
    )
    if not options["no_input"] and input(question).strip().lower() not in ("y", "yes"):
        raise CommandError("Nothing was deleted.", returncode=FAILED)
    try:
        remove_model(name)
    except DomainError as error:
        raise CommandError(sentence(error), returncode=BAD_ARGUMENTS) from error
    return f"The model {name} is deleted."


VERBS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "register": _register,
    "rename": _rename,
    "remove": _remove,
}
"""Verb -> what does it and returns what was done."""
