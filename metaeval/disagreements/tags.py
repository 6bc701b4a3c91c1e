"""Tagging disagreements between people and evaluators."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.errors import DomainError, NotFound
from annotation.lookups import one_of
from annotation.models import Project, Question, Summary
from annotation.permissions import Permission, require
from metaeval.models import DisagreementTag
from scoring.models import Setup

LONGEST_NOTE = 500  # characters


def tag_disagreement(
    project: Project,
    user: User,
    setup_id: int,
    question_key: str,
    summary_id: int,
    verdict: str,
    note: str = "",
) -> DisagreementTag:
    """Tag who is wrong about a summary, and return the tag. It replaces a different one.

    Raises NotAllowed or NotFound unless `user` may tag and all three are the project's, and DomainError for
    an unknown verdict or a note that is too long.
    """
    require(user, project, Permission.TAG_DISAGREEMENTS)
    if verdict not in DisagreementTag.Verdict:
        expected = ", ".join(DisagreementTag.Verdict.values)
        raise DomainError(f"verdict: found {verdict!r}, expected one of {expected}")
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise DomainError(f"note: found {len(note)} characters, expected at most {LONGEST_NOTE}")
    with transaction.atomic():
        setup, question, summary = _locked(project, setup_id, question_key, summary_id)
        current = _current(setup, question, summary)
        if current is not None and (current.verdict, current.note) == (verdict, note):
            return current
        now = timezone.now()
        if current is not None:
            DisagreementTag.objects.filter(pk=current.pk).update(ended_at=now, ended_by=user)
        return DisagreementTag.objects.create(
            setup=setup,
            question=question,
            summary=summary,
            verdict=verdict,
            note=note,
            created_by=user,
            created_at=now,
        )


def untag_disagreement(
    project: Project, user: User, setup_id: int, question_key: str, summary_id: int
) -> DisagreementTag | None:
    """Remove the summary's tag and return it, or None. Raises as `tag_disagreement`."""
    require(user, project, Permission.TAG_DISAGREEMENTS)
    with transaction.atomic():
        setup, question, summary = _locked(project, setup_id, question_key, summary_id)
        current = _current(setup, question, summary)
        if current is not None:
            current.ended_at, current.ended_by = timezone.now(), user
            current.save(update_fields=["ended_at", "ended_by"])
        return current


def _locked(
    project: Project, setup_id: int, question_key: str, summary_id: int
) -> tuple[Setup, Question, Summary]:
    """Return the objects of a tag. Locks the setup, so that tags of one evaluator do not overlap."""
    setups = Setup.objects.select_for_update(of=("self",), no_key=True)
    setup = one_of(setups.filter(project=project), setup_id, "evaluator")
    question = project.questionnaire.questions.filter(key=question_key).first()
    if question is None:
        raise NotFound("This project has no such question.")
    summary = one_of(Summary.objects.filter(project=project), summary_id, "summary")
    return setup, question, summary


def _current(setup: Setup, question: Question, summary: Summary) -> DisagreementTag | None:
    rows = DisagreementTag.objects.current()
    return rows.filter(setup=setup, question=question, summary=summary).first()
