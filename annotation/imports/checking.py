"""Checking entries: whether they agree with the project and with each other, and what is new."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from annotation import protocol
from annotation.gold.gold_set import LONGEST_EXPLANATION
from annotation.imports.checked_entry import CheckedEntry, ScoreKeeper
from annotation.imports.known_rows import (
    ArticleState,
    Known,
    RaterState,
    Sheet,
    SummaryState,
    SystemState,
    exact_digest,
)
from annotation.imports.reading.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    GoldRecord,
    OfSummary,
    RatingDetails,
    RatingRecord,
    ScoreRecord,
    SummaryKey,
    SummaryRecord,
    shown,
)
from annotation.imports.reading.sheets import SheetReader
from annotation.imports.report import Report
from annotation.imports.stored_rows import stored_articles, stored_gold, stored_ratings, stored_summaries
from annotation.models import Project, Rater, System

GROUP = "imported"
"""The group of raters for whom the file names none."""
RowName = tuple[str, int]
"""File and line."""
RatingKey = tuple[str, str, str]
"""Article, system, rater."""


class Checker:
    """Checks the entries of one pass over a file in order, and counts them in `report`."""

    def __init__(
        self,
        project: Project,
        questionnaire: protocol.Questionnaire,
        language: str,
        report: Report,
        scores: ScoreKeeper | None,
        wrong_rows: set[RowName],
    ) -> None:
        """Prepare a pass.

        New articles without a language get `language`. Invalid rows are added to `wrong_rows`; their answers
        are left out where several rows make one rating.
        """
        self._project = project
        self._reader = SheetReader(questionnaire)
        self._language = language
        self._report = report
        self._scores = scores
        self._wrong_rows = wrong_rows
        self._ratings: dict[RatingKey, Sheet] = {}
        self._gold: dict[SummaryKey, Sheet] = {}
        self._sheets: dict[Sheet, Sheet] = {}
        self.articles: dict[str, ArticleState] = {}
        self.summaries: dict[SummaryKey, SummaryState] = {}
        self.systems = {
            system.name: SystemState(system.is_reference, pk=system.pk)
            for system in System.objects.filter(project=project)
        }
        self.raters = {
            rater.pseudonym: RaterState(
                rater.group,
                set(rater.languages),
                rater.status,
                has_login=rater.user_id is not None,
                pk=rater.pk,
            )
            for rater in Rater.objects.filter(project=project)
        }
        self.countable: Counter[SummaryKey] = Counter()
        """New ratings by summary, without those of removed raters."""

    def check(self, entries: Sequence[Entry]) -> list[CheckedEntry]:
        """Check each entry against the project and all earlier ones. Entries with problems are ignored."""
        self._look_up(entries)
        return [self._check_entry(entry) for entry in entries]

    def _look_up(self, entries: Sequence[Entry]) -> None:
        keys = {key for entry in entries for key in _summary_keys(entry)}
        named = {article for article, _ in keys}
        named |= {entry.article.external_id for entry in entries if entry.article}
        unknown = {article for article in named if article not in self.articles}
        for article in stored_articles(self._project, unknown):
            self.articles[article.external_id] = article
        missing = {key for key in keys if key not in self.summaries}
        articles = {
            name: self.articles[name]
            for name, _ in missing
            if name in self.articles and self.articles[name].stored_before
        }
        systems = {system for name, system in missing if name in articles}
        for key, summary in stored_summaries(articles.values(), systems):
            if key in missing:
                self.summaries[key] = summary
        self._look_up_sheets(entries)

    def _look_up_sheets(self, entries: Sequence[Entry]) -> None:
        rated = [record for entry in entries for record in entry.ratings]
        named = {record.rater for record in rated} & self.raters.keys()
        raters = {self.raters[rater].pk: rater for rater in named}
        names = self._stored(record.key for record in rated)
        ids = {pk for pk in raters if pk is not None}
        for summary, rater, sheet in stored_ratings(names, ids) if ids else ():
            self._ratings.setdefault((*names[summary], raters[rater]), sheet)
        names = self._stored(record.key for entry in entries for record in entry.gold)
        for summary, sheet in stored_gold(names):
            self._gold.setdefault(names[summary], sheet)
        if self._scores is not None:
            scores = [self._resolved(record) for entry in entries for record in entry.scores]
            stored = {key: pk for pk, key in self._stored(score.key for score in scores).items()}
            self._scores.look_up([(score, stored[score.key]) for score in scores if score.key in stored])

    def _stored(self, keys: Iterable[SummaryKey]) -> dict[int, SummaryKey]:
        """Return id -> key of the summaries that were stored before this import."""
        states = ((key, self.summaries.get(key)) for key in keys)
        return {state.pk: key for key, state in states if state and state.stored_before and state.pk}

    def _check_entry(self, entry: Entry) -> CheckedEntry:
        checked = CheckedEntry(entry)
        if entry.article is not None:
            self._check_article(entry.article, checked)
        for summary in entry.summaries:
            self._check_summary(summary, checked)
        for rating in entry.ratings:
            self._check_rating(rating, checked)
        for gold in entry.gold:
            self._check_gold(gold, checked)
        for score in entry.scores:
            self._check_score(score, checked)
        if checked.problems:
            self._wrong_rows.add((entry.file, entry.line))
        else:
            self._accept(checked)
        return checked

    def _check_article(self, record: ArticleRecord, checked: CheckedEntry) -> None:
        known = self.articles.get(record.external_id)
        if known is None:
            checked.article = ArticleState(
                record.external_id,
                record.language or self._language,
                record.dataset,
                record.split,
                record.title,
                exact_digest(record.text),
            )
            return
        checked.article = known
        for name in ("language", "dataset", "split", "title"):
            found, before = getattr(record, name), getattr(known, name)
            if found and not before:
                checked.filled[name] = found
            elif found and found != before:
                checked.problem(name, shown(found), f"{before!r}, as stored for article {known.external_id}")
        if record.text and not known.digest:
            checked.filled["text"] = record.text
        elif record.text and exact_digest(record.text) != known.digest:
            expected = f"the stored text of article {known.external_id}, which is never changed"
            checked.problem("article", shown(record.text), expected)

    def _check_summary(self, record: SummaryRecord, checked: CheckedEntry) -> None:
        known = self._summary(record, checked)
        if known is None and record.text is None:
            _no_such_summary(record, checked, "its text, because the project has no such summary")
        elif known is None and record.text is not None:
            checked.summaries[record.key] = (record, SummaryState(exact_digest(record.text)))
        elif known and record.text is not None and exact_digest(record.text) != known.digest:
            expected = f"the stored text of {_named(record)}, which is never changed"
            checked.problem("summary", shown(record.text), expected)
        elif known:
            checked.summaries.setdefault(record.key, (record, known))

    def _check_rating(self, record: RatingRecord, checked: CheckedEntry) -> None:
        answers = self._of_good_rows(record.answers, checked.entry.file)
        if record.answers and not answers:
            return
        self._require_summary(record, checked)
        rater = self.raters.get(record.rater)
        known = self._ratings.get((*record.key, record.rater))
        sheet = self._read_sheet(answers, record.complete, record.columns, checked)
        if sheet is None:
            return
        if record.details is not None:
            self._read_earlier(record.details, checked)
            record = replace(record, answers=self._reader.by_key(answers))
        if known is not None and known != sheet:
            expected = f"the stored answers of {record.rater} to {_named(record)}: {_words(known)}"
            checked.problem("rating", _words(sheet), expected)
        elif known is None and rater is not None and rater.has_login:
            checked.problem(
                "rater", shown(record.rater), "a name that does not belong to a rater with a login"
            )
        elif rater is not None and record.group and rater.group and record.group != rater.group:
            checked.problem(
                "group", shown(record.group), f"{rater.group!r}, the stored group of {record.rater}"
            )
        checked.ratings.append((record, sheet))

    def _read_earlier(self, details: RatingDetails, checked: CheckedEntry) -> None:
        """Name the questions of earlier revisions by their keys, and check their values."""
        given = [
            pair for pair in details.earlier if (checked.entry.file, pair[1].line) not in self._wrong_rows
        ]
        details.earlier, faulty = self._reader.earlier(given)
        for answer, fault in faulty:
            checked.problem(answer.field, fault.found, fault.expected, answer.line)

    def _check_gold(self, record: GoldRecord, checked: CheckedEntry) -> None:
        self._require_summary(record, checked)
        article = self._article(record.article_id, checked)
        if article is not None and not article.digest and "text" not in checked.filled:
            checked.problem("article", "no text", "an article, because raters see it in gold rounds")
        for name, answer in record.answers.items():
            if len(answer.comment) > LONGEST_EXPLANATION:
                found = f"{len(answer.comment)} characters explaining {name}"
                checked.problem("explanation", found, f"at most {LONGEST_EXPLANATION}", answer.line)
        answers = self._of_good_rows(record.answers, checked.entry.file)
        sheet = self._read_sheet(answers, True, {}, checked)
        known = self._gold.get(record.key)
        if sheet is None:
            return
        if known is not None and known != sheet:
            expected = f"the stored gold answers of {_named(record)}: {_words(known)}"
            checked.problem("answers", _words(sheet), expected)
        checked.gold.append((record, sheet))

    def _check_score(self, record: ScoreRecord, checked: CheckedEntry) -> None:
        if self._scores is None:
            raise ValueError("a file with scores needs a score keeper")
        record = self._resolved(record)
        if self._summary(record, checked) is None:
            if not any(problem.field == "id" for problem in checked.problems):
                found = _named(record) if record.system else shown(record.article_id)
                checked.problem("id", found, "a summary of the project")
            return
        expected = self._scores.conflict(record)
        if expected is not None:
            checked.problem(record.place, shown(record.value), expected)
        checked.scores.append(record)

    def _resolved(self, record: ScoreRecord) -> ScoreRecord:
        """Return the record with its article and system, if its id identifies one summary."""
        if record.system:
            return record
        found = [key for key in _readings(record.article_id) if key in self.summaries]
        return replace(record, article_id=found[0][0], system=found[0][1]) if len(found) == 1 else record

    def _article(self, external_id: str, checked: CheckedEntry) -> ArticleState | None:
        if checked.article is not None and checked.article.external_id == external_id:
            return checked.article
        return self.articles.get(external_id)

    def _summary(self, record: OfSummary, checked: CheckedEntry) -> SummaryState | None:
        new = checked.summaries.get(record.key)
        return new[1] if new else self.summaries.get(record.key)

    def _require_summary(self, record: OfSummary, checked: CheckedEntry) -> None:
        if self._summary(record, checked) is None:
            _no_such_summary(record, checked, "a summary of the project or of a valid row")

    def _read_sheet(
        self,
        answers: Mapping[str, AnswerRecord],
        complete: bool,
        columns: Mapping[str, str],
        checked: CheckedEntry,
    ) -> Sheet | None:
        values, faults = self._reader.read(answers, complete=complete)
        for fault in faults:
            answer = answers.get(fault.question)
            place = answer.field if answer else columns.get(fault.question, fault.question)
            checked.problem(place, fault.found, fault.expected, answer.line if answer else 0)
        if faults:
            return None
        sheet = Sheet(values, self._reader.comments(answers))
        return self._sheets.setdefault(sheet, sheet) if not sheet.comments else sheet

    def _of_good_rows(self, answers: Mapping[str, AnswerRecord], file: str) -> Mapping[str, AnswerRecord]:
        if not self._wrong_rows:
            return answers
        return {name: each for name, each in answers.items() if (file, each.line) not in self._wrong_rows}

    def _accept(self, checked: CheckedEntry) -> None:
        article = checked.article
        if article is not None:
            self._accept_article(article, checked)
        for key, (record, summary) in checked.summaries.items():
            self.summaries.setdefault(key, summary)
            system = self.systems.setdefault(record.system, SystemState(record.is_reference))
            self._count("systems", system)
            bare = record.is_reference and not record.to_be_rated
            self._count("references" if bare else "summaries", summary)
        checked.ratings = [each for each in checked.ratings if self._accept_rating(*each)]
        checked.gold = [each for each in checked.gold if self._accept_gold(*each)]
        new_scores = []
        for score in checked.scores:
            is_new = self._scores is not None and self._scores.note(score)
            self._report.tally("scores", new=is_new)
            if is_new:
                new_scores.append(score)
        checked.scores = new_scores

    def _accept_article(self, article: ArticleState, checked: CheckedEntry) -> None:
        self.articles.setdefault(article.external_id, article)
        if not article.counted:
            counts = self._report.languages
            counts[article.language] = counts.get(article.language, 0) + 1
        self._count("articles", article)
        for name, value in checked.filled.items():
            if name == "text":
                article.digest = exact_digest(value)
            else:
                setattr(article, name, value)
        if checked.filled and article.stored_before:
            self._report.count("articles").filled += 1

    def _count(self, what: str, state: Known) -> None:
        if not state.counted:
            state.counted = True
            self._report.tally(what, new=state.pk is None)

    def _accept_rating(self, record: RatingRecord, sheet: Sheet) -> bool:
        key = (*record.key, record.rater)
        is_new = key not in self._ratings
        self._ratings[key] = sheet
        self._report.tally("ratings", new=is_new)
        group = GROUP if record.group is None else record.group
        status = (record.details and record.details.rater_status) or Rater.Status.QUALIFIED
        rater = self.raters.setdefault(record.rater, RaterState(group, set(), status))
        self._count("raters", rater)
        if is_new:
            self._report.count("answers").new += len(sheet.values)
            rater.languages.add(self.articles[record.article_id].language)
            if rater.status != Rater.Status.REMOVED:
                self.countable[record.key] += 1
        return is_new

    def _accept_gold(self, record: GoldRecord, sheet: Sheet) -> bool:
        is_new = record.key not in self._gold
        self._gold[record.key] = sheet
        self._report.tally("gold", new=is_new)
        return is_new


def _summary_keys(entry: Entry) -> Iterator[SummaryKey]:
    for record in chain(entry.summaries, entry.ratings, entry.gold, entry.scores):
        if record.system:
            yield record.key
        else:
            yield from _readings(record.article_id)


@lru_cache  # a row names its summary once for every score
def _readings(identifier: str) -> tuple[SummaryKey, ...]:
    """Return the ways to read article_id/system. Both parts may contain slashes."""
    parts = identifier.split("/")
    return tuple(("/".join(parts[:cut]), "/".join(parts[cut:])) for cut in range(1, len(parts)))


def _no_such_summary(record: OfSummary, checked: CheckedEntry, expected: str) -> None:
    checked.problem("summary", f"no {_named(record).removeprefix('the ')}", expected)


def _named(record: OfSummary) -> str:
    return f"the summary of article {record.article_id} by {record.system}"


def _words(sheet: Sheet) -> str:
    words = ", ".join(f"{key} {value}" for key, value in sheet.values)
    comments = ", ".join(f"{key}: {shown(comment)}" for key, comment in sheet.comments)
    return f"{words} ({comments})" if comments else words
