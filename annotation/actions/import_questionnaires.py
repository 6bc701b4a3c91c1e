"""Which questionnaire the ratings of a file answer: the project's, or one proposed for the file."""

from dataclasses import dataclass

from annotation import protocol
from annotation.actions.projects import store_questionnaire
from annotation.errors import DomainError
from annotation.importers.importer import Importer
from annotation.importers.proposal import CannotPropose, Survey
from annotation.importers.records import Entry
from annotation.importers.sheets import SheetReader, value_on_scale
from annotation.models import Assignment, GoldRating, Project, Rating


@dataclass(frozen=True)
class Choice:
    """`refusal` says why the file cannot be loaded as things stand; empty where it can."""

    questionnaire: protocol.Questionnaire
    proposed: bool = False
    refusal: str = ""


def choose_questionnaire(project: Project, importer: Importer) -> Choice:
    """The project's questionnaire where it has the file's questions, else a proposal.

    With the option create_questionnaire a proposal also replaces a questionnaire whose scales do not admit
    the file's answers. Raises FileRefused where the file cannot be read.
    """
    own = project.questionnaire.protocol
    if importer.answers is not None:
        return _fixed(project, own, importer.answers)
    if not importer.proposes:
        return Choice(own)
    survey, off_scale = Survey(), False
    reader = SheetReader(own)
    for entry in importer.entries():
        for rating in entry.ratings if isinstance(entry, Entry) else ():
            survey.add(rating.answers)
            for name, answer in rating.answers.items():
                question = reader.question(name)
                off_scale = off_scale or (
                    question is not None and value_on_scale(question.scale, answer.value) is None
                )
    lacking = [name for name in survey.questions if reader.question(name) is None]
    wanted = importer.set.get("create_questionnaire", False)
    if not lacking and not (off_scale and wanted):
        return Choice(own)
    try:
        proposal = survey.propose(interval=importer.proposes == "interval")
    except CannotPropose as error:
        return Choice(own, refusal=f"No questionnaire can be made for this file: {error}.")
    if project_is_in_use(project):
        asks = f"does not ask {', '.join(lacking)}" if lacking else "has other scales than the file"
        return Choice(proposal, True, f"{project.name} {asks}, and {IN_USE}")
    if not wanted:
        return Choice(proposal, True, _confirm(project, lacking))
    return Choice(proposal, True)


IN_USE = (
    "it has ratings, gold answers or summaries being rated under its own questionnaire. Import into another "
    "project."
)


def _confirm(project: Project, lacking: list[str]) -> str:
    return (
        f"{project.name} does not ask {', '.join(lacking)}. The import can make a questionnaire for this "
        "file; look at the proposal and confirm it (in a command: --create-questionnaire)."
    )


def _fixed(project: Project, own: protocol.Questionnaire, needed: protocol.Questionnaire) -> Choice:
    keys = {question.key for question in own.questions}
    lacking = [question.key for question in needed.questions if question.key not in keys]
    if not lacking:
        return Choice(own)
    return Choice(
        own,
        refusal=f"{project.name} does not ask {', '.join(lacking)}. Import this file into a project with the "
        f"questionnaire {needed.key!r}.",
    )


def project_is_in_use(project: Project) -> bool:
    """Whether anything depends on the project's questionnaire by now."""
    return (
        Rating.objects.filter(rater__project=project).exists()
        or GoldRating.objects.filter(summary__project=project).exists()
        or Assignment.objects.filter(rater__project=project).exists()
    )


def adopt_questionnaire(project: Project, questionnaire: protocol.Questionnaire) -> None:
    """Make `questionnaire` the project's, whose row the caller holds. Raises DomainError if it is in use."""
    if project_is_in_use(project):
        raise DomainError(f"{project.name} cannot change its questionnaire: {IN_USE}")
    project.questionnaire = store_questionnaire(questionnaire)
    project.gold_thresholds = {}
    project.save(update_fields=["questionnaire", "gold_thresholds"])
