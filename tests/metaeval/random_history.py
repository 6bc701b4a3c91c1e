"""A project with a random history of everything that can change its results."""

import math
import random
from collections import Counter
from pathlib import Path

from annotation import protocol
from annotation.adjudication.decisions import DecidedAnswer, decide_answers, withdraw_decision
from annotation.errors import DomainError
from annotation.gold.gold_set import AgreedAnswer, remove_from_gold_set, restore_to_gold_set, set_gold_answers
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Assignment, Project, Question, Rater, Rating, Summary
from annotation.people.members import reinstate_rater, remove_rater, suspend_rater
from annotation.projects.settings import change_settings, store_questionnaire
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer, correct_answer, submit_stage
from scoring.contract.scores import Scored
from scoring.models import Batch, Run, SeenArticle, Setup
from scoring.runs.claims import claim_batch
from scoring.runs.imported_scores import ImportedScores
from scoring.runs.lifecycle import cancel_run, delete_run
from scoring.runs.recording import record_scores
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
        self.project = make_project(questionnaire, extra_share=0.4, extra_redundancy=2)
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
        make_setup(self.project, "the first setup")

    def act_at_random(self) -> None:
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
            ),
            weights=(18, 10, 5, 1, 1, 2, 8, 1, 2, 1, 1, 1, 3),
        )[0]
        try:
            action()
        except DomainError:
            return
        self.happened[action.__name__.strip("_")] += 1

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
        while assignment.state == Assignment.State.OPEN:
            given = {
                each.key: GivenAnswer(self._answer(each))
                for each in self._questionnaire.stage(assignment.stage)
            }
            assignment = submit_stage(rater, assignment.pk, assignment.stage, given)
            if self._chance.random() < 0.1:
                return

    def _correct(self) -> None:
        ratings = list(Rating.objects.countable().filter(rater__user__isnull=False).order_by("pk"))
        if not ratings:
            raise DomainError("nothing to correct")
        rating = self._chance.choice(ratings)
        question = self._chance.choice(self._questionnaire.questions)
        correct_answer(rating.rater, rating.pk, question.key, GivenAnswer(self._answer(question)))

    def _remove_or_reinstate(self) -> None:
        rater = self._chance.choice(list(Rater.objects.filter(project=self.project).order_by("pk")))
        is_out = rater.status in (Rater.Status.REMOVED, Rater.Status.SUSPENDED)
        (reinstate_rater if is_out else remove_rater)(rater)

    def _suspend(self) -> None:
        suspend_rater(self._rater())

    def _join(self) -> None:
        make_rater(self.project, group="late")

    def _change_gold_set(self) -> None:
        summary = self._chance.choice(list(Summary.objects.filter(project=self.project).order_by("pk")))
        how = self._chance.randrange(4)
        if how == 0:
            remove_from_gold_set(summary, to_be_rated=self._chance.random() < 0.5)
        elif how == 1:
            restore_to_gold_set(summary)
        else:
            keys = Question.objects.filter(questionnaire=self.project.questionnaire)
            answers = {each.key: each.protocol.scale.choices[:1] or ("1",) for each in keys}
            set_gold_answers(summary, {key: AgreedAnswer(value, "why") for key, (value,) in answers.items()})

    def _adjudicate(self) -> None:
        summary = self._chance.choice(list(Summary.objects.filter(project=self.project).order_by("pk")))
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
        change_settings(self.project, {"redundancy": self._chance.randrange(1, 4)})
