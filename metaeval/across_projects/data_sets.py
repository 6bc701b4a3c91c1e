"""The data sets that a reader chose: projects, or their datasets, with the question that counts in each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from annotation.errors import DomainError
from annotation.models import Project
from annotation.permissions import Permission, Person, projects_for
from metaeval.across_projects.data_set_figures import DataSetFigures, measured
from metaeval.across_projects.report import DataSet
from metaeval.live.background import LONG, Key
from metaeval.live.choices import Choices
from metaeval.snapshot.arrays import ALL, Labels, Summaries
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.check_choice import check_choice
from metaeval.stats.method import NONE, Method

BY = {"project": "projects", "dataset": "datasets, where every article names one"}
"""The columns of the table."""
MOST_PROJECTS = 20


@dataclass(frozen=True)
class AcrossChoices(Choices):
    other: tuple[str, ...] = ()
    """Slugs of the projects beside the page's own."""
    question: tuple[str, ...] = ()
    """The key of the question that counts in every project, and 'slug:key' where it is another."""
    level: str = "pooled"
    coefficient: str = "spearman"
    constant: str = Method.constant
    labels: str = "mean"
    by: str = "project"
    evaluator: str = ""
    """Identity of the evaluator in the chart."""

    def method(self) -> Method:
        """Return the method of a coefficient. Raises DomainError for an unknown name."""
        return Method(self.level, self.coefficient, interval=NONE, test=NONE, constant=self.constant)


@dataclass(frozen=True, eq=False)
class ChosenProject:
    """A project among those chosen."""

    project: Project
    snapshot: Snapshot = field(repr=False)
    question: str
    """The key of the question that counts; empty if none was chosen."""

    @property
    def questions(self) -> list[tuple[str, str]]:
        """The keys and titles of its questions."""
        asked = (ratings.question for ratings in self.snapshot.human.questions)
        return [(each.key, each.title) for each in asked]


class ChosenDataSet(NamedTuple):
    """A data set and where its figures come from."""

    data_set: DataSet
    project: Project
    snapshot: Snapshot
    labels: Labels
    dataset: str
    """The dataset within the project; ALL for the whole project."""


def others_for(reader: Person, project: Project) -> list[Project]:
    """Return the other projects whose results `reader` may see as a member, by name."""
    return list(projects_for(reader, Permission.SEE_RESULTS).exclude(pk=project.pk).order_by("name", "pk"))


def chosen_projects(reader: Person, project: Project, others: Sequence[str]) -> list[Project]:
    """Return the project and those with the slugs `others`.

    Raises DomainError for one whose results `reader` may not see as a member, and for too many.
    """
    offered = {each.slug: each for each in others_for(reader, project)}
    for slug in others:
        if slug not in offered:
            raise DomainError(f"other: found '{slug}', which is no other project whose results you may see")
    if len(others) >= MOST_PROJECTS:
        raise DomainError(f"other: found {len(others)} projects, expected fewer than {MOST_PROJECTS}")
    return [project, *(offered[slug] for slug in dict.fromkeys(others))]


def with_questions(projects: Sequence[Project], questions: Sequence[str]) -> list[ChosenProject]:
    """Return the projects with the question that counts in each.

    `questions` are keys and 'slug:key', as in AcrossChoices. A project without one takes the first project's,
    or else the first question that all ask; if it does not ask that, no question counts. Raises DomainError
    for a question that a project does not ask.
    """
    snapshots = {each.slug: snapshot_of(each) for each in projects}
    keys = {slug: _keys(snapshot) for slug, snapshot in snapshots.items()}
    counts: dict[str, str] = {}
    for words in questions:
        slug, colon, key = words.rpartition(":")
        if not colon:
            for each, asked in keys.items():
                _check_question(each, key, asked)
            counts = dict.fromkeys(keys, key)
        elif slug in keys:  # that of a project no longer chosen stays in the address
            _check_question(slug, key, keys[slug])
            counts[slug] = key
    usual = counts.get(projects[0].slug) or next(iter(common_keys(list(keys.values()))), "")
    for slug, asked in keys.items():
        counts.setdefault(slug, usual if usual in asked else "")
    return [ChosenProject(each, snapshots[each.slug], counts[each.slug]) for each in projects]


def common_keys(asked: Sequence[Sequence[str]]) -> list[str]:
    """Return the keys of the questions that all projects ask, in the order of the first."""
    first, *others = asked
    return [key for key in first if all(key in each for each in others)]


def parts_of(chosen: Sequence[ChosenProject], by: str, labels: str) -> list[ChosenDataSet]:
    """Return the data sets of the projects that have a question that counts.

    With `by` 'dataset', a project is split into its datasets if it has several and every article names one.
    Projects of the same name are told apart by their slugs. Raises DomainError for an unknown name.
    """
    check_choice("by", by, tuple(BY))
    times = Counter(each.project.name for each in chosen)
    return [
        part
        for each in chosen
        if each.question
        for part in _parts(each, labels, is_split=by == "dataset", has_namesake=times[each.project.name] > 1)
    ]


def _parts(chosen: ChosenProject, rule: str, *, is_split: bool, has_namesake: bool) -> list[ChosenDataSet]:
    project, snapshot = chosen.project, chosen.snapshot
    labels = next(each for each in snapshot.labels("", rule) if each.key == chosen.question)
    names = _datasets(snapshot.summaries) if is_split else ()
    project_name = f"{project.name} ({project.slug})" if has_namesake else project.name
    return [
        ChosenDataSet(
            DataSet(
                project_name if name == ALL else f"{project_name}, {name}",
                project.slug,
                chosen.question,
                labels.definition,
                labels.warning,
            ),
            project,
            snapshot,
            labels,
            name,
        )
        for name in names or (ALL,)
    ]


def _datasets(summaries: Summaries) -> Sequence[str]:
    names = summaries.dataset_names
    return names if len(names) > 1 and bool((summaries.datasets >= 0).all()) else ()


def figures_key(part: ChosenDataSet, method: Method) -> Key:
    """Return the key of a data set's figures among the background results."""
    asked = (method.level, method.coefficient, method.constant, part.labels.rule)
    return Key.of(part.project, part.snapshot.revision, "across", part.labels.key, part.dataset, *asked)


def figures_of(part: ChosenDataSet, method: Method, wait_s: float | None) -> DataSetFigures | None:
    """Return the figures of a data set, or None while they are computed; never None if `wait_s` is."""
    snapshot = part.snapshot
    compute = partial(measured, snapshot.summaries, snapshot.evaluators, part.labels, part.dataset, method)
    return LONG.result(figures_key(part, method), compute, wait_s)


def title_of(chosen: Sequence[ChosenProject]) -> str:
    """Return the titles of the questions that count, each once."""
    titles = [dict(each.questions)[each.question] for each in chosen if each.question]
    return " / ".join(dict.fromkeys(titles))


def dimension_of(parts: Sequence[ChosenDataSet]) -> str:
    """Return the dimensions of the questions that count, each once."""
    return " / ".join(dict.fromkeys(part.labels.dimension for part in parts))


def asked_keys(chosen: Sequence[ChosenProject]) -> Mapping[str, str]:
    """Return the keys and titles of the questions that all projects ask."""
    common = common_keys([_keys(each.snapshot) for each in chosen])
    return {key: dict(chosen[0].questions)[key] for key in common}


def _keys(snapshot: Snapshot) -> list[str]:
    return [ratings.question.key for ratings in snapshot.human.questions]


def _check_question(slug: str, key: str, asked: Sequence[str]) -> None:
    if key not in asked:
        raise DomainError(f"question: found '{key}', but {slug} asks {', '.join(asked)}")
