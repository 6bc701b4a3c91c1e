"""The card of an exported dataset: README.md with a header that Hugging Face reads."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils import timezone

from annotation.exports.filters import RatingFilters
from annotation.models import Answer, Project, QualificationRound, Rater, Rating
from annotation.models.ratings import RatingQuerySet
from annotation.protocol import Question
from annotation.templatetags.texts import language_name
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import AgreementFigure, agreement_report
from metaeval.dataset_card.layout import data_file, features, split_name, splits_of
from metaeval.export.formats import markdown_text
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.templatetags.results import NO_INTERVAL, short_figure


@dataclass(frozen=True)
class Share:
    """The share of the dataset in one language or by one system."""

    name: str
    articles: int
    summaries: int
    ratings: int
    raters: int


@dataclass(frozen=True)
class DatasetCounts:
    whole: Share
    languages: Sequence[Share]
    datasets: Sequence[Share]
    systems: Sequence[Share]
    raters: Sequence[tuple[str, str, int]]
    """Pseudonym, group and number of ratings."""
    answers: dict[str, dict[str, int]]
    """Question key -> value -> current answers."""
    rated_once: int
    """Summaries with one rating."""
    imported: int
    """Ratings made elsewhere."""
    corrected_late: int
    """Current answers that were given after a later stage had been shown."""
    passed_gold: int
    """Raters of the dataset who passed a gold round."""
    removed_ratings: int
    """Ratings that are left out because their raters were removed."""


def dataset_counts(project: Project, filters: RatingFilters) -> DatasetCounts:
    ratings = filters.ratings(project)
    current = Answer.objects.current().filter(rating__in=ratings)
    times = ratings.order_by().values("summary").annotate(times=Count("pk"))
    answers: dict[str, dict[str, int]] = {}
    for key, value, count in (
        current.order_by().values_list("question__key", "value").annotate(count=Count("pk"))
    ):
        answers.setdefault(key, {})[value] = count
    passed = QualificationRound.objects.filter(passed=True, rater__in=ratings.values("rater"))
    return DatasetCounts(
        whole=_whole(ratings),
        languages=_shares(ratings, "summary__article__language"),
        datasets=_shares(ratings, "summary__article__dataset"),
        systems=_shares(ratings, "summary__system__name"),
        raters=list(
            ratings.order_by("rater__pseudonym")
            .values_list("rater__pseudonym", "rater__group")
            .annotate(count=Count("pk"))
        ),
        answers=answers,
        rated_once=times.filter(times=1).count(),
        imported=ratings.filter(assignment__isnull=True).count(),
        corrected_late=current.filter(after_reveal=True).count(),
        passed_gold=passed.values("rater").distinct().count(),
        removed_ratings=_removed(project, filters),
    )


_COUNTS = {
    "articles": Count("summary__article", distinct=True),
    "summaries": Count("summary", distinct=True),
    "ratings": Count("pk"),
    "raters": Count("rater", distinct=True),
}


def _whole(ratings: RatingQuerySet) -> Share:
    return Share("All", **ratings.order_by().aggregate(**_COUNTS))


def _shares(ratings: RatingQuerySet, place: str) -> list[Share]:
    rows = ratings.order_by(place).values(place).annotate(**_COUNTS)
    return [Share(row.pop(place), **row) for row in rows]


def _removed(project: Project, filters: RatingFilters) -> int:
    if filters.rater_status:
        return 0
    removed = Rating.objects.finished().filter(rater__status=Rater.Status.REMOVED)
    return removed.filter(filters.summaries("summary__"), summary__project=project).count()


HEADING = re.compile(r"^(#{1,3})(?= )", re.MULTILINE)
HEADING_ATTRIBUTES = re.compile(r"^(#.*?) *\{[^{}\n]*\}$", re.MULTILINE)
LINK_WITHIN_GUIDELINES = re.compile(r"\[([^\[\]]*)\]\(#[^()\s]*\)")
MARKUP_AS_TEXT = str.maketrans({"<": "&lt;", "[": "&#91;"})
"""The beginnings of HTML, links and images. A backslash could be undone by one before it."""


def guidelines(project: Project) -> str:
    """Return the guidelines under which the answers that count were given, as Markdown.

    Each of their versions is quoted in full, its headings below the card's own.
    """
    answers = Answer.objects.current().filter(
        rating__in=Rating.objects.countable().filter(rater__project=project)
    )
    counts = dict(answers.order_by().values_list("guidelines").annotate(Count("pk")))
    before = counts.pop(None, 0)
    if not counts:
        return (
            f"Raters of {markdown_text(project.name)} were given the wording of the questions above, and no "
            "further guidelines."
        )
    parts = [f"{before:,} answers were given without guidelines, or imported."] if before else []
    for version in project.guidelines.filter(pk__in=counts).order_by("language", "number"):
        parts += [
            f"### Version {version.number} in {markdown_text(language_name(version.language))}",
            f"{counts[version.pk]:,} answers were given under this version.",
            _quoted(version.text),
        ]
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    """Return Markdown as a quotation, in which HTML, links and images are only text.

    The quotation ends whatever the text leaves open, such as a block of code.
    """
    text = "\n".join(text.strip().splitlines())
    text = LINK_WITHIN_GUIDELINES.sub(r"\1", HEADING_ATTRIBUTES.sub(r"\1", text))
    lines = HEADING.sub(r"##\1", text).translate(MARKUP_AS_TEXT).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


STATISTIC = "krippendorff_alpha"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"
NO_LICENCE = (
    "No licence was stated, so nobody can know how they may use the ratings. State one here and in the "
    "header before you publish."
)
LICENCES_WITHOUT_NAME = {
    "": NO_LICENCE,
    "unknown": NO_LICENCE,
    "other": "The ratings have a licence of their own. Name it here before you publish.",
}


def dataset_card(
    project: Project, filters: RatingFilters, *, licence: str, articles: bool, comments: bool
) -> str:
    """Return the card of the ratings that `filters` choose. `licence` may be empty, and the card says so."""
    counts = dataset_counts(project, filters)
    questions = project.questionnaire.protocol.questions
    sections = [
        f"# {markdown_text(project.name)}\n\n{markdown_text(project.description)}".strip(),
        _contents(counts, articles=articles),
        _questions(project, counts),
        f"## Guidelines\n\n{guidelines(project)}",
        _raters(counts),
        _agreement(project, filters),
        _limits(counts, filters, articles=articles, comments=comments),
        _licence(licence, counts),
    ]
    header = _header(
        project, filters, counts, licence, features(questions, articles=articles, comments=comments)
    )
    return "\n\n".join([f"---\n{header}\n---", *sections]) + "\n"


def _header(
    project: Project,
    filters: RatingFilters,
    counts: DatasetCounts,
    licence: str,
    columns: list[dict[str, object]],
) -> str:
    from huggingface_hub import DatasetCardData  # which takes a third of a second

    splits = splits_of(project, filters)
    data = DatasetCardData(
        pretty_name=" ".join(project.name.split()),
        language=[share.name for share in counts.languages],
        license=licence or "unknown",
        task_categories=["summarization"],
        size_categories=next((name for size, name in SIZES if counts.whole.ratings < size), LARGEST),
        tags=["human-evaluation", "summarization-evaluation", "touchstone"],
        configs=[
            {
                "config_name": "default",
                "data_files": [{"split": split_name(each), "path": data_file(each)} for each in splits],
            }
        ],
        dataset_info={"features": columns},
    )
    return str(data.to_yaml()).strip()


def _contents(counts: DatasetCounts, *, articles: bool) -> str:
    whole = counts.whole
    texts = "Article texts are included." if articles else "Article texts are not included, only their ids."
    languages = [(_language(each.name), each) for each in counts.languages]
    shares = [
        ("Language", [*languages, ("All", whole)] if len(languages) > 1 else languages),
        ("Dataset", [(each.name or "not named", each) for each in counts.datasets]),
        ("System", [(each.name, each) for each in counts.systems]),
    ]
    tables = [_share_table(title, rows) for title, rows in shares]
    sentence = (
        f"{whole.ratings:,} ratings of {whole.summaries:,} summaries of {whole.articles:,} articles, by "
        f"{whole.raters:,} raters. Each row is one rating. `answers` has the last revision of each answer, "
        f"and null where a question was not asked. {texts} Touchstone wrote this card on "
        f"{timezone.now():%-d %B %Y}."
    )
    return "\n\n".join(["## Contents", sentence, *tables])


def _share_table(title: str, rows: Sequence[tuple[str, Share]]) -> str:
    return _table(
        [title, "Articles", "Summaries", "Ratings", "Raters"],
        ([name, each.articles, each.summaries, each.ratings, each.raters] for name, each in rows),
    )


def _questions(project: Project, counts: DatasetCounts) -> str:
    questionnaire = project.questionnaire.protocol
    rows = [
        [
            each.key,
            each.wording,
            questionnaire.stage_titles[each.stage - 1],
            each.scale.expected,
            _answers(each, counts.answers.get(each.key, {})),
        ]
        for each in questionnaire.questions
    ]
    stops = [
        markdown_text(f"{each.title} answered with {' or '.join(each.stops_rating_on)} ends the rating.")
        for each in questionnaire.questions
        if each.stops_rating_on
    ]
    table = _table(["Question", "Wording", "Stage", "Scale", "Answers"], rows)
    return "\n\n".join(["## Questions", " ".join([f"{markdown_text(questionnaire.title)}.", *stops]), table])


def _answers(question: Question, found: dict[str, int]) -> str:
    values = question.scale.choices
    if not values:
        return f"{sum(found.values()):,}"
    return ", ".join(f"{value}: {found.get(value, 0):,}" for value in values)


def _raters(counts: DatasetCounts) -> str:
    sentence = (
        "Raters are named by pseudonyms, which stay the same in all exports of this project. "
        f"{counts.passed_gold:,} of {counts.whole.raters:,} passed a round of gold summaries here."
    )
    return "\n\n".join(["## Raters", sentence, _table(["Rater", "Group", "Ratings"], counts.raters)])


def _agreement(project: Project, filters: RatingFilters) -> str:
    snapshot = snapshot_of(project)
    names = snapshot.summaries.language_names
    languages = filters.language or (ALL, *(names if len(names) > 1 else ()))
    method = AgreementMethod().in_state(is_live=snapshot.is_live)
    report = agreement_report(snapshot.summaries, snapshot.human, method=method)
    shown = [each for each in report if each.statistic == STATISTIC and each.language in languages]
    whole = "" if _is_whole(filters) else "These figures are of all ratings of the project that count. "
    definition = f"Krippendorff's alpha with its 95% interval. {whole}".strip()
    rows = [
        [
            each.question.key,
            "All" if each.language == ALL else _language(each.language),
            _value(each),
            each.agreement.units,
            each.raters,
        ]
        for each in shown
    ]
    head = ["Question", "Language", "Alpha", "Summaries with several ratings", "Raters"]
    how = {each.definition for each in shown}
    return "\n\n".join(["## Agreement", definition, _table(head, rows), *sorted(map(markdown_text, how))])


def _is_whole(filters: RatingFilters) -> bool:
    """Return whether figures by language are of all exported ratings."""
    return not (filters.dataset or filters.system or filters.rater_status)


def _value(figure: AgreementFigure) -> str:
    agreement = figure.agreement
    if agreement.reason:
        return f"undefined: {agreement.reason}"
    value, interval = short_figure(agreement.value), agreement.interval
    if interval is None or interval.reason:
        return f"{value} ({NO_INTERVAL}: {interval.reason})" if interval else value
    return f"{value} [{short_figure(interval.low)}, {short_figure(interval.high)}]"


def _limits(counts: DatasetCounts, filters: RatingFilters, *, articles: bool, comments: bool) -> str:
    whole = counts.whole
    chosen = {
        "languages": filters.language,
        "datasets": filters.dataset,
        "systems": filters.system,
        "status of raters": filters.rater_status,
    }
    told = [
        (counts.rated_once, f"{counts.rated_once:,} of {whole.summaries:,} summaries have one rating."),
        (counts.imported, f"{counts.imported:,} ratings were made elsewhere and imported."),
        (
            counts.corrected_late,
            f"{counts.corrected_late:,} answers were corrected after a later stage had been shown.",
        ),
        (
            counts.removed_ratings,
            f"{counts.removed_ratings:,} ratings are left out because their raters were removed.",
        ),
        (not comments, "Raters' comments and earlier revisions of their answers are not included."),
        (not articles, "Without the articles, questions about faithfulness cannot be answered again."),
        *(
            (values, f"Only these {name} were exported: {markdown_text(', '.join(values))}.")
            for name, values in chosen.items()
        ),
    ]
    return "\n".join(["## Known limits", "", *(f"- {sentence}" for applies, sentence in told if applies)])


def _licence(licence: str, counts: DatasetCounts) -> str:
    stated = LICENCES_WITHOUT_NAME.get(licence, f"The ratings are published under {licence}.")
    sources = [each.name for each in counts.datasets if each.name]
    texts = f" ({markdown_text(', '.join(sources))})" if sources else ""
    return f"## Licence\n\n{stated} Summaries and articles have the licences of their sources{texts}."


def _language(code: str) -> str:
    return f"{language_name(code)} ({code})"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else markdown_text(str(value))
