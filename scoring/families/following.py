"""How far the runs of a family are, and what people do with all of them at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import RunBusy
from scoring.models import EvaluatorSetup, FamilyMember, Run, RunFamily
from scoring.progress import RunProgress, progress_of_runs
from scoring.runs import RESUMABLE, cancel_run, resume_run


@dataclass(frozen=True)
class MemberRun:
    """One setup of a family, with its latest run, whoever started it."""

    label: str
    setup: EvaluatorSetup
    run: Run | None
    progress: RunProgress | None

    @property
    def is_done(self) -> bool:
        """Whether it is in the figures."""
        return self.run is not None and self.run.status == Run.Status.DONE

    @property
    def is_unfinished(self) -> bool:
        return self.run is not None and self.run.is_unfinished

    @property
    def is_stopped(self) -> bool:
        return self.run is not None and self.run.status in RESUMABLE


@dataclass(frozen=True)
class Followed:
    """A family and its members, in their order."""

    family: RunFamily
    members: Sequence[MemberRun]

    @property
    def n_done(self) -> int:
        return sum(member.is_done for member in self.members)

    @property
    def n_unfinished(self) -> int:
        return sum(member.is_unfinished for member in self.members)

    @property
    def n_stopped(self) -> int:
        return sum(member.is_stopped for member in self.members)

    @property
    def progress(self) -> RunProgress:
        """Of all its runs together."""
        each = [member.progress for member in self.members if member.progress]
        return RunProgress(
            sum(progress.total for progress in each),
            sum(progress.done for progress in each),
            sum(progress.unscored for progress in each),
        )


def families_of(project: Project) -> list[Followed]:
    """The project's families, the latest first."""
    families = list(RunFamily.objects.filter(project=project).select_related("created_by"))
    return _followed(families)


def family_of(project: Project, family_id: int) -> Followed:
    """The project's family with this id. Raises NotFound."""
    found = RunFamily.objects.select_related("created_by").filter(pk=family_id, project=project).first()
    if found is None:
        raise NotFound("There is no such experiment in this project; it may have been deleted.")
    return _followed([found])[0]


def cancel_all(followed: Followed, user: User) -> int:
    """Stop every unfinished run; returns how many. What they have scored stays."""
    require(user, followed.family.project, Permission.MANAGE_RUNS)
    return _on_each(cancel_run, (member.run for member in followed.members if member.is_unfinished), user)


def resume_all(followed: Followed, user: User) -> int:
    """Take up every run that was stopped; returns how many."""
    require(user, followed.family.project, Permission.MANAGE_RUNS)
    return _on_each(resume_run, (member.run for member in followed.members if member.is_stopped), user)


def delete_family(followed: Followed, user: User) -> None:
    """The runs and their scores stay."""
    require(user, followed.family.project, Permission.MANAGE_RUNS)
    followed.family.delete()


def _followed(families: Sequence[RunFamily]) -> list[Followed]:
    members = list(
        FamilyMember.objects.filter(family__in=families)
        .select_related("setup__project")
        .defer("setup__provenance", "setup__pool", "setup__corpus")
    )
    runs = Run.objects.filter(setup__in={member.setup_id for member in members}).order_by("created_at", "pk")
    latest = {run.setup_id: run for run in runs}
    progress = progress_of_runs(latest.values())
    by_family: dict[int, list[MemberRun]] = {family.pk: [] for family in families}
    for member in members:
        run = latest.get(member.setup_id)
        if run:
            run.setup = member.setup
        found = MemberRun(member.label, member.setup, run, progress[run.pk] if run else None)
        by_family[member.family_id].append(found)
    return [Followed(family, by_family[family.pk]) for family in families]


def _on_each(act: Callable[[Run, User], None], runs: Iterable[Run | None], user: User) -> int:
    done = 0
    for run in runs:
        if run is None:
            continue
        try:
            act(run, user)
            done += 1
        except RunBusy:  # the page was behind this run
            pass
    return done
