"""Settling what a file says: whether it agrees with the project and with itself, and what of it is new."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotation import protocol
from annotation.actions.gold_set import LONGEST_EXPLANATION
from annotation.actions.import_lookup import (
    stored_articles,
    stored_gold,
    stored_ratings,
    stored_summaries,
)
from annotation.actions.import_report import Report
from annotation.actions.import_settled import ScoreKeeper, Settled
from annotation.actions.import_states import (
    ArticleState,
    RaterState,
    Sheet,
    SummaryKey,
    SummaryState,
    SystemState,
    text_digest,
)
from annotation.importers.records import (
    AnswerRecord,
    ArticleRecord,
    Entry,
    GoldRecord,
    RatingRecord,
    ScoreRecord,
    SummaryRecord,
    shown,
)
from annotation.importers.sheets import SheetReader
from annotation.models import Project, Rater, System

GROUP = "imported"
"""Of raters for whom the file names no group."""
RowName = tuple[str, int]
"""File and line."""
RatingKey = tuple[str, str, str]
"""Article, system, rater."""


class Ledger:
    """Settles the entries of one pass over a file, in their order, and counts in `report`."""

    def __init__(
        self,
        project: Project,
        questionnaire: protocol.Questionnaire,
        language: str,
        report: Report,
        scores: ScoreKeeper | None,
        wrong_rows: set[RowName],
    ) -> None:
        """`language` is that of new articles for which the file names none. `wrong_rows` gains the rows with
        problems: what was read on them is left out where several rows make one rating."""
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
            system.name: SystemState(system.is_reference, system.pk)
            for system in System.objects.filter(project=project)
        }
        self.raters = {
            rater.pseudonym: RaterState(
                rater.group,
                set(rater.languages),
                has_login=rater.user_id is not None,
                removed=rater.status == Rater.Status.REMOVED,
                pk=rater.pk,
            )
            for rater in Rater.objects.filter(project=project)
        }
        self.countable: Counter[SummaryKey] = Counter()
        """New ratings by summary, those of removed raters left out."""

    def settle(self, entries: Sequence[Entry]) -> list[Settled]:
        """Each entry against the project and all entries before it; those with problems leave no trace."""
        self._look_up(entries)
        return [self._settle(entry) for entry in entries]

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
        rated = [
            (record.article_id, record.system, record.rater) for entry in entries for record in entry.ratings
        ]
        raters = {self.raters[rater].pk: rater for *_, rater in rated if rater in self.raters}
        names = self._stored((article, system) for article, system, _ in rated)
        ids = {pk for pk in raters if pk is not None}
        for summary, rater, sheet in stored_ratings(names, ids) if ids else ():
            self._ratings.setdefault((*names[summary], raters[rater]), sheet)
        names = self._stored((each.article_id, each.system) for entry in entries for each in entry.gold)
        for summary, sheet in stored_gold(names):
            self._gold.setdefault(names[summary], sheet)
        if self._scores is not None:
            scores = [self._resolved(record) for entry in entries for record in entry.scores]
            stored = {key: pk for pk, key in self._stored((s.article_id, s.system) for s in scores).items()}
            self._scores.look_up(
                [(s, stored[s.article_id, s.system]) for s in scores if (s.article_id, s.system) in stored]
            )

    def _stored(self, keys: Iterable[SummaryKey]) -> dict[int, SummaryKey]:
        """By id, those of the summaries that were stored before this import."""
        states = ((key, self.summaries.get(key)) for key in keys)
        return {state.pk: key for key, state in states if state and state.stored_before and state.pk}

    def _settle(self, entry: Entry) -> Settled:
        settled = Settled(entry)
        if entry.article is not None:
            self._settle_article(entry.article, settled)
        for summary in entry.summaries:
            self._settle_summary(summary, settled)
        for rating in entry.ratings:
            self._settle_rating(rating, settled)
        for gold in entry.gold:
            self._settle_gold(gold, settled)
        for score in entry.scores:
            self._settle_score(score, settled)
        if settled.problems:
            self._wrong_rows.add((entry.file, entry.line))
        else:
            self._accept(settled)
        return settled

    def _settle_article(self, record: ArticleRecord, settled: Settled) -> None:
        known = self.articles.get(record.external_id)
        if known is None:
            settled.article = ArticleState(
                record.external_id,
                record.language or self._language,
                record.dataset,
                record.split,
                record.title,
                text_digest(record.text),
            )
            return
        settled.article = known
        for name in ("language", "dataset", "split", "title"):
            found, before = getattr(record, name), getattr(known, name)
            if found and not before:
                settled.filled[name] = found
            elif found and found != before:
                settled.problem(name, shown(found), f"{before!r}, as article {known.external_id} has already")
        if record.text and not known.digest:
            settled.filled["text"] = record.text
        elif record.text and text_digest(record.text) != known.digest:
            expected = f"the text that article {known.external_id} has already; a text is never changed"
            settled.problem("article", shown(record.text), expected)

    def _settle_summary(self, record: SummaryRecord, settled: Settled) -> None:
        key = (record.article_id, record.system)
        known = self._summary(key, settled)
        if known is None and record.text is None:
            self._no_such_summary(key, settled, "its text, because the project does not have it")
        elif known is None and record.text is not None:
            settled.summaries[key] = (record, SummaryState(text_digest(record.text)))
        elif known and record.text is not None and text_digest(record.text) != known.digest:
            expected = f"the text that {_named(key)} has already; a text is never changed"
            settled.problem("summary", shown(record.text), expected)
        elif known:
            settled.summaries.setdefault(key, (record, known))

    def _settle_rating(self, record: RatingRecord, settled: Settled) -> None:
        key = (record.article_id, record.system)
        answers = self._of_good_rows(record.answers, settled.entry.file)
        if record.answers and not answers:
            return
        if self._summary(key, settled) is None:
            self._no_such_summary(key, settled, "a summary of the project or of a row that is not wrong")
        rater = self.raters.get(record.rater)
        known = self._ratings.get((*key, record.rater))
        sheet = self._read_sheet(answers, record.complete, record.columns, settled)
        if sheet is None:
            return
        if known is not None and known != sheet:
            expected = f"the answers that {record.rater} gave to {_named(key)} already: {_words(known)}"
            settled.problem("rating", _words(sheet), expected)
        elif known is None and rater is not None and rater.has_login:
            settled.problem("rater", shown(record.rater), "a name that no rater with a login has")
        elif rater is not None and record.group and rater.group and record.group != rater.group:
            settled.problem("group", shown(record.group), f"{rater.group!r}, as {record.rater} has already")
        settled.ratings.append((record, sheet))

    def _settle_gold(self, record: GoldRecord, settled: Settled) -> None:
        key = (record.article_id, record.system)
        if self._summary(key, settled) is None:
            self._no_such_summary(key, settled, "a summary of the project or of a row that is not wrong")
        article = self._article(record.article_id, settled)
        if article is not None and not article.digest and "text" not in settled.filled:
            settled.problem("article", "no text", "an article, because raters are trained on it")
        for name, answer in record.answers.items():
            if len(answer.comment) > LONGEST_EXPLANATION:
                found = f"{len(answer.comment)} characters explaining {name}"
                settled.problem("explanation", found, f"at most {LONGEST_EXPLANATION}", answer.line)
        answers = self._of_good_rows(record.answers, settled.entry.file)
        sheet = self._read_sheet(answers, True, {}, settled)
        known = self._gold.get(key)
        if sheet is None:
            return
        if known is not None and known != sheet:
            expected = f"the gold answers that {_named(key)} has already: {_words(known)}"
            settled.problem("answers", _words(sheet), expected)
        settled.gold.append((record, sheet))

    def _settle_score(self, record: ScoreRecord, settled: Settled) -> None:
        if self._scores is None:
            raise ValueError("a file with scores needs something that keeps them")
        record = self._resolved(record)
        key = (record.article_id, record.system)
        if self._summary(key, settled) is None:
            if not any(problem.field == "id" for problem in settled.problems):
                found = _named(key) if record.system else shown(record.article_id)
                settled.problem("id", found, "a summary that the project has")
            return
        expected = self._scores.conflict(record)
        if expected is not None:
            settled.problem(record.place, shown(record.value), expected)
        settled.scores.append(record)

    def _resolved(self, record: ScoreRecord) -> ScoreRecord:
        """The record with its system, where the summary's id alone says which it is."""
        if record.system:
            return record
        found = [key for key in _readings(record.article_id) if key in self.summaries]
        return replace(record, article_id=found[0][0], system=found[0][1]) if len(found) == 1 else record

    def _article(self, external_id: str, settled: Settled) -> ArticleState | None:
        if settled.article is not None and settled.article.external_id == external_id:
            return settled.article
        return self.articles.get(external_id)

    def _summary(self, key: SummaryKey, settled: Settled) -> SummaryState | None:
        return settled.summaries[key][1] if key in settled.summaries else self.summaries.get(key)

    def _no_such_summary(self, key: SummaryKey, settled: Settled, expected: str) -> None:
        settled.problem("summary", f"no summary of article {key[0]} by {key[1]}", expected)

    def _read_sheet(
        self,
        answers: Mapping[str, AnswerRecord],
        complete: bool,
        columns: Mapping[str, str],
        settled: Settled,
    ) -> Sheet | None:
        values, faults = self._reader.read(answers, complete=complete)
        for fault in faults:
            answer = answers.get(fault.question)
            place = answer.field if answer else columns.get(fault.question, fault.question)
            settled.problem(place, fault.found, fault.expected, answer.line if answer else 0)
        if faults:
            return None
        sheet = Sheet(values, self._reader.comments(answers))
        return self._sheets.setdefault(sheet, sheet) if not sheet.comments else sheet

    def _of_good_rows(self, answers: Mapping[str, AnswerRecord], file: str) -> Mapping[str, AnswerRecord]:
        if not self._wrong_rows:
            return answers
        return {name: each for name, each in answers.items() if (file, each.line) not in self._wrong_rows}

    def _accept(self, settled: Settled) -> None:
        article = settled.article
        if article is not None:
            self._accept_article(article, settled)
        for key, (record, summary) in settled.summaries.items():
            self.summaries.setdefault(key, summary)
            system = self.systems.setdefault(record.system, SystemState(record.is_reference))
            _count(self._report, "systems", system, new=system.pk is None)
            bare = record.is_reference and not record.to_be_rated
            what = "references" if bare else "summaries"
            _count(self._report, what, summary, new=not summary.stored_before)
        settled.ratings = [each for each in settled.ratings if self._accept_rating(*each)]
        settled.gold = [each for each in settled.gold if self._accept_gold(*each)]
        new_scores = []
        for score in settled.scores:
            is_new = self._scores is not None and self._scores.note(score)
            self._report.tally("scores", new=is_new)
            if is_new:
                new_scores.append(score)
        settled.scores = new_scores

    def _accept_article(self, article: ArticleState, settled: Settled) -> None:
        self.articles.setdefault(article.external_id, article)
        if not article.counted:
            counts = self._report.languages
            counts[article.language] = counts.get(article.language, 0) + 1
        _count(self._report, "articles", article, new=not article.stored_before)
        for name, value in settled.filled.items():
            if name == "text":
                article.digest = text_digest(value)
            else:
                setattr(article, name, value)
        if settled.filled and article.stored_before:
            self._report.count("articles").filled += 1

    def _accept_rating(self, record: RatingRecord, sheet: Sheet) -> bool:
        key = (record.article_id, record.system, record.rater)
        is_new = key not in self._ratings
        self._ratings[key] = sheet
        self._report.tally("ratings", new=is_new)
        rater = self.raters.setdefault(record.rater, RaterState(record.group or GROUP, set()))
        _count(self._report, "raters", rater, new=rater.pk is None)
        if is_new:
            self._report.count("answers").new += len(sheet.values)
            rater.languages.add(self.articles[record.article_id].language)
            if not rater.removed:
                self.countable[record.article_id, record.system] += 1
        return is_new

    def _accept_gold(self, record: GoldRecord, sheet: Sheet) -> bool:
        key = (record.article_id, record.system)
        is_new = key not in self._gold
        self._gold[key] = sheet
        self._report.tally("gold", new=is_new)
        return is_new


def _summary_keys(entry: Entry) -> Iterator[SummaryKey]:
    yield from ((record.article_id, record.system) for record in entry.summaries)
    yield from ((record.article_id, record.system) for record in entry.ratings)
    yield from ((record.article_id, record.system) for record in entry.gold)
    for score in entry.scores:
        if score.system:
            yield score.article_id, score.system
        else:
            yield from _readings(score.article_id)


def _readings(identifier: str) -> list[SummaryKey]:
    """The ways to read article_id/system: both may have a slash in them."""
    parts = identifier.split("/")
    return [("/".join(parts[:cut]), "/".join(parts[cut:])) for cut in range(1, len(parts))]


def _count(
    report: Report, what: str, state: ArticleState | SummaryState | SystemState | RaterState, *, new: bool
) -> None:
    if not state.counted:
        state.counted = True
        report.tally(what, new=new)


def _named(key: SummaryKey) -> str:
    return f"the summary of article {key[0]} by {key[1]}"


def _words(sheet: Sheet) -> str:
    words = ", ".join(f"{key} {value}" for key, value in sheet.values)
    comments = ", ".join(f"{key}: {shown(comment)}" for key, comment in sheet.comments)
    return f"{words} ({comments})" if comments else words
