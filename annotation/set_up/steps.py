"""The seven steps from a new project to its first rating, each with what is there and what is missing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from annotation.gold.coverage import gold_coverage
from annotation.guidelines.following import current_guidelines
from annotation.models import Project, Rater, Role, Summary
from annotation.progress.progress import Group, overall_progress
from annotation.templatetags.figures import noun
from annotation.templatetags.texts import language_name, percent


class StepState(StrEnum):
    DONE = "done"
    MISSING = "missing"
    OPTIONAL = "optional"
    """Nothing there, and nothing needed."""


@dataclass(frozen=True)
class Step:
    """A step with sentences about it. `url_name` is the page where it is done, and `action` its link."""

    key: str
    title: str
    url_name: str
    action: str
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    """Things that are worth doing, but not needed."""

    @property
    def state(self) -> StepState:
        if self.missing:
            return StepState.MISSING
        return StepState.DONE if self.found else StepState.OPTIONAL


@dataclass(frozen=True)
class SetUp:
    """A project's steps before the launch, and how many of its ratings are given."""

    steps: tuple[Step, ...]
    progress: Group

    @property
    def missing(self) -> list[Step]:
        return [step for step in self.steps if step.missing]

    @property
    def done(self) -> int:
        """The number of complete steps, of which the launch is the last."""
        return len(self.steps) - len(self.missing) + (not self.missing)


def set_up_of(project: Project) -> SetUp:
    """Return the steps of a project, in a number of queries that does not grow with it."""
    languages = languages_to_rate(project)
    progress = overall_progress([project])[project.pk]
    steps = (
        _texts(progress, languages),
        _questionnaire(project),
        _guidelines(project, languages),
        _gold_set(project, languages),
        _people(project, languages),
        _settings(project),
    )
    return SetUp(steps, progress)


def languages_to_rate(project: Project) -> tuple[str, ...]:
    """Return the languages of the summaries that people rate, by code."""
    rateable = Summary.objects.filter(project=project).rateable().order_by()
    return tuple(sorted(rateable.values_list("article__language", flat=True).distinct()))


def _most_wanted(project: Project) -> int:
    """Return how many raters some summary needs."""
    return max(project.redundancy, project.extra_redundancy if project.extra_share else 0)


def _texts(progress: Group, languages: Iterable[str]) -> Step:
    found, missing = [], []
    if progress.summaries:
        found.append(f"{noun(progress.summaries, 'summary,summaries')} to rate in {_names(languages)}.")
    else:
        missing.append("There are no summaries to rate. Import articles with their summaries.")
    if progress.blocked:
        missing.append(
            f"{noun(progress.blocked, 'rating,ratings')} cannot be given, because the article has no text. "
            "Import the articles."
        )
    return Step("texts", "Texts", "imports", "Import", tuple(found), tuple(missing))


def _questionnaire(project: Project) -> Step:
    asked = project.questionnaire.protocol
    questions, stages = len(asked.questions), len(asked.stage_titles)
    found = (
        f"{asked.title}: {noun(questions, 'question,questions')} in {noun(stages, 'stage,stages')}.",
        "A project keeps its questionnaire. To ask other questions, create another project.",
    )
    return Step("questionnaire", "Questionnaire", "set_up_preview", "Preview", found)


def _guidelines(project: Project, languages: Iterable[str]) -> Step:
    current = current_guidelines(project)
    published = sorted(current.by_language)
    found = (f"Published in {_names(published)}.",) if published else ()
    without = [language for language in languages if current.version_for(language) is None]
    advice = []
    if not published:
        advice.append("Raters confirm the rules and examples before they rate.")
    elif without:
        advice.append(f"Raters of {_names(without)} have none, nor any in the default language.")
    return Step("guidelines", "Guidelines", "guidelines_settings", "Write", found, (), tuple(advice))


def _gold_set(project: Project, languages: tuple[str, ...]) -> Step:
    coverage = [each for each in gold_coverage(project) if each.language in languages]
    there = {each.language: each.summaries for each in coverage if each.summaries}
    lacking = {each.language: each.missing for each in coverage if each.missing}
    found = (f"Gold summaries: {_counts(there)}.",) if there else ()
    missing: tuple[str, ...] = ()
    if lacking:
        missing = (
            f"Add gold summaries: {_counts(lacking)}. A first round takes {project.gold_round_size} in a "
            f"rater's language, and a retry {project.gold_retry_size} more.",
            "Or make rounds smaller in Settings, or qualify raters yourself.",
        )
    elif not coverage:
        missing = ("Raters qualify on summaries with agreed answers. Import the texts first.",)
    return Step("gold", "Gold set", "gold_set", "Add", found, missing)


def _people(project: Project, languages: tuple[str, ...]) -> Step:
    active = project.raters.filter(
        user__isnull=False, status__in=[Rater.Status.TRAINING, Rater.Status.QUALIFIED]
    )
    invited = project.invitations.open().filter(role=Role.ANNOTATOR)
    raters = Counter(language for each in active.values_list("languages", flat=True) for language in each)
    coming = Counter(language for each in invited.values_list("languages", flat=True) for language in each)
    found = [f"Raters: {_counts(raters)}."] if raters else []
    if coming:
        found.append(f"Open invitations: {_counts(coming)}.")
    needed = _most_wanted(project)
    lacking = {each: needed - raters[each] - coming[each] for each in languages}
    lacking = {language: lack for language, lack in lacking.items() if lack > 0}
    missing: tuple[str, ...] = ()
    if lacking:
        missing = (
            f"Invite raters: {_counts(lacking)}. A summary needs up to {noun(needed, 'rater,raters')}.",
        )
    elif not languages and not found:
        missing = ("Nobody has been invited.",)
    return Step("people", "People", "people", "Invite", tuple(found), missing)


def _settings(project: Project) -> Step:
    wanted = f"{noun(project.redundancy, 'rating,ratings')} for each summary"
    if project.extra_share:
        wanted += f", {project.extra_redundancy} for {percent(project.extra_share)} of them"
    found = [f"{wanted}.", f"Daily goal: {noun(project.daily_goal, 'rating,ratings')}."]
    advice = []
    if _most_wanted(project) < 2:
        advice.append("Agreement between raters needs summaries with two ratings or more.")
    return Step("settings", "Settings", "project_settings", "Change", tuple(found), (), tuple(advice))


def _counts(by_language: Mapping[str, int]) -> str:
    """Return the counts as words, such as "German 4, Turkish 6"."""
    return ", ".join(
        f"{language_name(language)} {by_language[language]:,}" for language in sorted(by_language)
    )


def _names(languages: Iterable[str]) -> str:
    *first, last = map(language_name, languages)
    return f"{', '.join(first)} and {last}" if first else last
