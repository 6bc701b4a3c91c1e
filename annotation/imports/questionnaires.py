"""The questionnaire of a file: the project's, or one proposed for the file."""

from dataclasses import dataclass

from annotation import protocol
from annotation.errors import DomainError
from annotation.imports.reading.importer import Importer
from annotation.imports.reading.proposal import CannotPropose, Survey
from annotation.imports.reading.records import Entry, listed
from annotation.imports.reading.sheets import SheetReader, value_on_scale
from annotation.imports.reading.wrong_rows import limited
from annotation.models import Assignment, GoldRating, Project, Rating
from annotation.projects.settings import store_questionnaire


@dataclass(frozen=True)
class Choice:
    """A questionnaire for a file. `refusal` says why it cannot be imported; empty if it can."""

    questionnaire: protocol.Questionnaire
    proposed: bool = False
    refusal: str = ""


def choose_questionnaire(project: Project, importer: Importer) -> Choice:
    """Return the project's questionnaire if it has the file's questions, or else a proposal.

    With the option create_questionnaire, a proposal also replaces a questionnaire whose scales do not admit
    the file's answers. Raises FileRefused if the file cannot be read.
    """
    own = project.questionnaire.protocol
    if importer.answers is not None:
        return _fixed(project, own, importer.answers)
    if not importer.proposes:
        return Choice(own)
    reader = SheetReader(own)
    try:
        wanted = getattr(importer.options, "create_questionnaire", False)
        names = None if wanted else importer.question_names()
        if names is not None and all(reader.question(name) for name in set(names)):
            return Choice(own)
        survey, off_scale = _survey(importer, reader if wanted else None)
        lacking = [name for name in survey.questions if reader.question(name) is None]
        if not lacking and not off_scale:
            return Choice(own)
        proposal = survey.propose(interval=importer.proposes == "interval")
    except CannotPropose as error:
        return Choice(own, refusal=f"No questionnaire fits this file: {error}.")
    if project_is_in_use(project):
        asks = f"does not ask {listed(lacking)}" if lacking else "has other scales than the file"
        return Choice(proposal, True, f"{project.name} {asks}, and {IN_USE}")
    if not wanted:
        refusal = (
            f"{project.name} does not ask {listed(lacking)}. The import can create a questionnaire for this "
            "file. Check the proposal and confirm it (on the command line: --create-questionnaire)."
        )
        return Choice(proposal, True, refusal)
    return Choice(proposal, True)


def _survey(importer: Importer, reader: SheetReader | None) -> tuple[Survey, bool]:
    """Return the file's questions, and whether any answer is off its question's scale in `reader`."""
    survey, off_scale = Survey(), False
    for entry in limited(importer.entries(), left_out=True):
        for rating in entry.ratings if isinstance(entry, Entry) else ():
            survey.add(rating.answers)
            if reader is None:
                continue
            for name, answer in rating.answers.items():
                question = reader.question(name)
                off_scale = off_scale or (
                    question is not None and value_on_scale(question.scale, answer.value) is None
                )
    return survey, off_scale


IN_USE = (
    "it already has ratings, gold answers or summaries in progress. Import the file into another project."
)


def _fixed(project: Project, own: protocol.Questionnaire, needed: protocol.Questionnaire) -> Choice:
    keys = {question.key for question in own.questions}
    lacking = [question.key for question in needed.questions if question.key not in keys]
    if not lacking:
        return Choice(own)
    return Choice(
        own,
        refusal=f"{project.name} does not ask {listed(lacking)}. Import this file into a project with the "
        f"questionnaire {needed.key!r}.",
    )


def project_is_in_use(project: Project) -> bool:
    """Return whether anything depends on the project's questionnaire."""
    return (
        Rating.objects.filter(rater__project=project).exists()
        or GoldRating.objects.filter(summary__project=project).exists()
        or Assignment.objects.filter(rater__project=project).exists()
    )


def adopt_questionnaire(project: Project, questionnaire: protocol.Questionnaire) -> None:
    """Give a locked project another questionnaire. Raises DomainError if its own is in use."""
    if project_is_in_use(project):
        raise DomainError(f"{project.name} cannot change its questionnaire: {IN_USE}")
    project.questionnaire = store_questionnaire(questionnaire)
    project.gold_thresholds = {}
    project.save(update_fields=["questionnaire", "gold_thresholds"])
