"""The questionnaire of a file: the project's, or one proposed for the file."""

from dataclasses import dataclass

from annotation import protocol
from annotation.errors import DomainError
from annotation.imports.reading.importer import Importer
from annotation.imports.reading.proposal import Survey
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
    the file's answers. Raises CannotPropose if none does, and FileRefused if the file cannot be read.
    """
    own = project.questionnaire.protocol
    if importer.answers is not None:
        return _fixed(project, own, importer.answers)
    if not importer.proposes:
        return Choice(own)
    reader = SheetReader(own)
    wanted = getattr(importer.options, "create_questionnaire", False)
    names = None if wanted else importer.question_names()
    if names is not None and all(reader.question(name) for name in set(names)):
        return Choice(own)
    survey, fits = _survey(importer, reader, scales=wanted)
    if fits:
        return Choice(own)
    lacking = [name for name in survey.questions if reader.question(name) is None]
    proposal = survey.propose(interval=importer.proposes == "interval")
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


def _survey(importer: Importer, own: SheetReader, *, scales: bool) -> tuple[Survey, bool]:
    """Return the file's questions, and whether the project's own questionnaire has them all.

    With `scales`, it must also admit their answers. Raises CannotPropose as soon as neither it nor any other
    can.
    """
    survey, fits = Survey(), True
    for entry in limited(importer.entries(), left_out=True):
        for rating in entry.ratings if isinstance(entry, Entry) else ():
            survey.add(rating.answers)
            for name, answer in rating.answers.items():
                question = own.question(name)
                if question is None or (scales and value_on_scale(question.scale, answer.value) is None):
                    fits = False
                if not fits:
                    survey.refuse_free_text(name, interval=importer.proposes == "interval")
    return survey, fits


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
