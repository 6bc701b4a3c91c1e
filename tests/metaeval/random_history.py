"""A project with a random history of everything that can change its results."""

import math
import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from annotation import protocol
from annotation.adjudication.decisions import DecidedAnswer, decide_answers, withdraw_decision
from annotation.errors import DomainError
from annotation.gold.gold_set import AgreedAnswer, remove_from_gold_set, restore_to_gold_set, set_gold_answers
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Assignment, Project, Rater, Rating, Summary
from annotation.people.members import reinstate_rater, remove_rater, suspend_rater
from annotation.projects.settings import change_settings, store_questionnaire
from annotation.rating.assigning import release_expired, skip_assignment, take_assignment
from annotation.rating.reopening import reopen_rating
from annotation.rating.submitting import GivenAnswer, correct_answer
from annotation.rating.voiding import restore_rating, void_rating
from annotation.summaries.withdrawing import restore_summary, withdraw_summary
from scoring.contract.scores import Scored
from scoring.models import Batch, Run, SeenArticle, Setup
from scoring.runs.claims import claim_batch
from scoring.runs.imported_scores import ImportedScores
from scoring.runs.lifecycle import cancel_run, delete_run
from scoring.runs.worker import record_scores
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.import_files import jsonl
from tests.metaeval.rated_projects import make_setup

NUMBERS_AND_POINTS = protocol.Questionnaire(
    "numbers-and-points",
    "A number, points, and a word",
    ("All",),
    (
        protocol.Question("number", "d1", "Number", "?", 1, protocol.Scale(protocol.ScaleKind.INTERVAL)),
        protocol.Question("points", "d2", "Points", "?", 1, protocol.ONE_TO_FIVE),
        protocol.Question("word", "general", "Word", "?", 1, protocol.YES_NO_UNSURE),
    ),
)


class RandomHistory:
    """A project on which random actions are done and counted."""

    def __init__(self, seed: int, questionnaire: protocol.Questionnaire, folder: Path) -> None:
        self._chance = random.Random(seed)
        self._folder = folder
        self.happened: Counter[str] = Counter()
        store_questionnaire(questionnaire)
        self.project = make_project(
            questionnaire,
            extra_share=0.4,
            extra_redundancy=2,
            check_rate=0.5,
            check_threshold=0.3,
            check_minimum=2,
        )
        self._questionnaire = questionnaire
        self._manager = make_member(self.project, "manager")
        for number in range(6):
            article = make_article(self.project, external_id=f"a{number}", dataset=("", "d")[number % 2])
            for system in ("x", "y"):
                make_summary(
                    self.project,
                    article=article,
                    system=make_system(self.project, system),
                    ratings_wanted=number % 4,
                )
        for number in range(4):
            make_rater(self.project, group=("expert", "crowd")[number % 2])
        for summary in Summary.objects.filter(project=self.project).order_by("pk")[:3]:
            self._make_gold(summary)
        make_setup(self.project, "the first setup")

    def act_at_random(self) -> None:
        """Do something that is possible now."""
        while not self._try_at_random():
            pass

    def _try_at_random(self) -> bool:
        action = self._chance.choices(
            (
                self._rate,
                self._correct,
                self._remove_or_reinstate,
                self._suspend,
                self._join,
                self._change_gold_set,
                self.score,
                self._plan,
                self._delete_run,
                self._import_ratings,
                self._import_scores,
                self._change_settings,
                self._adjudicate,
                self._expire,
                self._skip,
                self._reopen,
                self._void_or_restore_rating,
                self._withdraw_or_restore_summary,
            ),
            weights=(20, 8, 5, 1, 1, 3, 5, 1, 2, 1, 1, 3, 3, 2, 2, 6, 6, 4),
        )[0]
        try:
            action()
        except DomainError:
            return False
        self.happened[action.__name__.strip("_")] += 1
        return True

    def _rater(self) -> Rater:
        return self._chance.choice(
            list(Rater.objects.filter(project=self.project, user__isnull=False).order_by("pk"))
        )

    def _answer(self, question: protocol.Question) -> str:
        return self._chance.choice(question.scale.choices or ("0", "-0", "1", "1.0", "0.25", "1e9"))

    def _rate(self) -> None:
        rater = self._rater()
        assignment = take_assignment(rater)
        if assignment is None:
            raise DomainError("nothing left to rate")
        while assignment.state in Assignment.HELD:
            given = {
                each.key: GivenAnswer(self._answer(each))
                for each in self._questionnaire.stage(assignment.stage)
            }
            assignment = submit_stage(rater, assignment.pk, assignment.stage, given)
            if self._chance.random() < 0.2:
                return

    def _correct(self) -> None:
        rating = self._finished_rating()
        question = self._chance.choice(self._questionnaire.questions)
        correct_answer(rating.rater, rating.pk, question.key, GivenAnswer(self._answer(question)))

    def _finished_rating(self) -> Rating:
        finished = Rating.objects.filter(summary__project=self.project, completed_at__isnull=False)
        if not finished.exists():
            raise DomainError("nothing is rated")
        return self._chance.choice(list(finished.order_by("pk")))

    def _held(self) -> Assignment:
        held = Assignment.objects.held().filter(rater__project=self.project)
        if not held.exists():
            raise DomainError("nobody holds a summary")
        return self._chance.choice(list(held.order_by("pk")))

    def _expire(self) -> None:
        now = timezone.now()
        Assignment.objects.filter(pk=self._held().pk).update(leased_until=now - timedelta(minutes=1))
        release_expired(self.project, now)

    def _skip(self) -> None:
        held = self._held()
        skip_assignment(held.rater, held.pk, "hard")

    def _reopen(self) -> None:
        rating = self._finished_rating()
        reopen_rating(rating.rater, rating.pk)

    def _void_or_restore_rating(self) -> None:
        rating = self._finished_rating()
        if rating.voided_at is None:
            void_rating(self.project, self._manager, rating.pk, "Too quick.")
        else:
            restore_rating(self.project, self._manager, rating.pk)

    def _withdraw_or_restore_summary(self) -> None:
        summary = self._summary()
        change = withdraw_summary if summary.withdrawn_at is None else restore_summary
        change(self.project, self._manager, summary.pk)

    def _summary(self) -> Summary:
        return self._chance.choice(list(Summary.objects.filter(project=self.project).order_by("pk")))

    def _remove_or_reinstate(self) -> None:
        rater = self._chance.choice(list(Rater.objects.filter(project=self.project).order_by("pk")))
        is_out = rater.status in (Rater.Status.REMOVED, Rater.Status.SUSPENDED)
        (reinstate_rater if is_out else remove_rater)(rater)

    def _suspend(self) -> None:
        suspend_rater(self._rater())

    def _join(self) -> None:
        make_rater(self.project, group="late")

    def _change_gold_set(self) -> None:
        summary = self._summary()
        how = self._chance.randrange(4)
        if how == 0:
            remove_from_gold_set(summary, to_be_rated=self._chance.random() < 0.5)
        elif how == 1:
            restore_to_gold_set(summary)
        else:
            self._make_gold(summary)

    def _make_gold(self, summary: Summary) -> None:
        choices = {each.key: each.scale.choices[:1] or ("1",) for each in self._questionnaire.questions}
        set_gold_answers(summary, {key: AgreedAnswer(value, "why") for key, (value,) in choices.items()})

    def _adjudicate(self) -> None:
        summary = self._summary()
        question = self._chance.choice(self._questionnaire.questions)
        if self._chance.random() < 0.2:
            withdraw_decision(self.project, self._manager, summary.pk, question.key)
        else:
            decided = {question.key: DecidedAnswer(self._answer(question))}
            decide_answers(self.project, self._manager, summary.pk, decided)

    def _setup(self) -> Setup:
        setups = list(Setup.objects.filter(project=self.project).order_by("pk"))
        if not setups:
            raise DomainError("no setup")
        return self._chance.choice(setups)

    def _plan(self) -> None:
        number = Setup.objects.count()
        setup = make_setup(self.project, f"setup {number} {self._chance.random()}")
        article = self.project.articles.order_by("pk").first()
        SeenArticle.objects.create(setup=setup, article=article, role="in-context example")

    def score(self) -> None:
        setup = self._setup()
        if setup.runs.filter(status__in=Run.UNFINISHED).exists():
            raise DomainError("is being computed")
        ids = list(Summary.objects.filter(project=self.project).order_by("pk").values_list("pk", flat=True))
        chosen = self._chance.sample(ids, k=min(4, len(ids)))
        run = Run.objects.create(setup=setup, created_by=self._manager, total=len(chosen))
        for number, part in enumerate((chosen[:2], chosen[2:])):
            Batch.objects.create(run=run, number=number, summary_ids=part, size=len(part))
        for _ in range(self._chance.randrange(1, 3)):
            claim = claim_batch(run.pk)
            assert claim is not None
            dimensions = self._chance.choice((("general",), ("d1", "general"), ("d1",)))
            scored = {pk: self._scored(dimensions) for pk in claim.summary_ids}
            inputs = {pk: self._chance.choice(("old", "new")) for pk in scored}
            assert record_scores(claim, scored, inputs)
        run.refresh_from_db()
        if run.is_unfinished:
            cancel_run(run, self._manager)

    def _scored(self, dimensions: tuple[str, ...]) -> Scored:
        values = {each: self._chance.choice((0.5, 1.25, float("nan"))) for each in dimensions}
        missing = [each for each, value in values.items() if math.isnan(value)]
        return Scored(values, {each: self._chance.choice(("empty", "too long")) for each in missing})

    def _delete_run(self) -> None:
        runs = list(Run.objects.filter(setup__project=self.project).order_by("pk"))
        if not runs:
            raise DomainError("no run")
        delete_run(self._chance.choice(runs), self._manager)

    def _import_ratings(self) -> None:
        name = f"i{self._chance.randrange(8)}"
        row = {"article_id": name, "system": "z", "rater": f"imported {self._chance.randrange(2)}"}
        row |= {"summary": "A summary.", "language": self._chance.choice(("en", "de"))}
        answers = {each.key: (each.scale.choices or ("1",))[0] for each in self._questionnaire.questions}
        self._import("ratings", *({**row, "question": key, "value": value} for key, value in answers.items()))

    def _import_scores(self) -> None:
        summaries = Summary.objects.filter(project=self.project).select_related("article", "system")
        summary = self._chance.choice(list(summaries.order_by("pk")))
        name = f"{summary.article.external_id}/{summary.system.name}"
        self._import("scores", {"id": name, "scores": {"general": self._chance.choice((1.0, 2.0))}})

    def _import(self, format_name: str, *rows: object) -> None:
        path = jsonl(self._folder / f"{format_name}.jsonl", *rows)
        project = Project.objects.get(pk=self.project.pk)
        importer = open_import(format_name, path)
        file = importer.file.name
        report = import_file(project, importer, scores=lambda: ImportedScores(project, file))
        if not report.has_news or report.refused:
            raise DomainError("nothing new")

    def _change_settings(self) -> None:
        changes = {"redundancy": self._chance.randrange(1, 4), "check_rate": self._chance.choice((0, 0.5, 1))}
        change_settings(self.project, changes)
