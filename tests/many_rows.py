"""Further rows of every kind that a page of a campaign lists."""

from collections.abc import Iterable
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from annotation import protocol
from annotation.models import (
    Adjudication,
    Answer,
    ArticleFlag,
    Assignment,
    AuditEntry,
    CheckSuspension,
    Event,
    GuidelinesVersion,
    ImportJob,
    Invitation,
    Membership,
    Project,
    Rater,
    RaterMessage,
    Rating,
    Rerating,
    Summary,
)
from annotation.people.api_tokens import issue_api_token
from metaeval.models import DisagreementTag, Preregistration
from scoring.models import (
    Batch,
    CurveModel,
    Endpoint,
    EndpointModel,
    Experiment,
    ExperimentMember,
    Judge,
    JudgedDimension,
    JudgeVersion,
    LearningCurve,
    RecheckSchedule,
    RecheckScore,
    RegisteredModel,
    Run,
    Score,
    SealedOpening,
    Setup,
    Training,
    TrainingPoint,
    Trial,
    Webhook,
    WebhookDelivery,
)
from tests.campaigns import Campaign
from tests.factories import (
    make_article,
    make_gold,
    make_project,
    make_rater,
    make_summary,
    make_system,
    make_user,
)

SHEETS = (
    dict.fromkeys((question.key for question in protocol.SEAHORSE.questions), "yes") | {"attribution": "no"},
    dict.fromkeys((question.key for question in protocol.SEAHORSE.questions), "no"),
)
"""Two sheets whose answers differ. The first contradicts itself."""


class MoreRows:
    """Adds to a campaign's lists. The methods take the numbers of the rows that they add."""

    def __init__(self, campaign: Campaign) -> None:
        self.ids = campaign.ids
        self.special = campaign.special
        self.project = campaign.project
        self.users = campaign.users
        self.manager = campaign.users["manager"]
        self.annotator = Rater.objects.get(pk=campaign.ids["rater_id"])
        self.trainee = Rater.objects.get(pk=campaign.special["rater_qualify"]["rater_id"])
        self.questions = {each.key: each for each in self.project.questionnaire.questions.all()}
        self.length = Setup.objects.get(pk=campaign.ids["setup_id"])
        self.first = Summary.objects.get(pk=campaign.special["summary"]["summary_id"])
        self.now = timezone.now()
        Project.objects.filter(pk=self.project.pk).update(gold_rounds=1)  # the manager decides after one

    def add(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._people(number)
            rater = make_rater(
                self.project, languages=["en", self._language(number)], group=f"group {number}"
            )
            summary = self._texts(number, rater)
            self._round(number)
            self._imports(number)
            setup = self._runs(number, summary)
            self._hosted(number)
            self._webhooks(number)
            self._judges(number, setup)
            self._trainings(number, setup)
            Preregistration.objects.create(
                project=self.project,
                claim="better",
                first=setup,
                second=self.length,
                first_name=setup.label,
                second_name=self.length.label,
                question_key="comprehensibility",
                level="pooled",
                coefficient="spearman",
                language="all",
                registered_at=self.now,
                registered_by=self.manager,
                ratings_before=0,
            )
        self.project.bump_revision()

    @staticmethod
    def _language(number: int) -> str:
        return f"a{chr(ord('a') + number)}"

    def _people(self, number: int) -> None:
        other = make_project(name=f"Other {number}")
        Membership.objects.create(project=other, user=self.manager, role="manager")
        make_rater(other, user=self.users["annotator"])
        issue_api_token(self.manager, f"token {number}", project=other)
        Client().force_login(self.manager)
        member = make_user()
        Membership.objects.create(project=self.project, user=member, role="researcher")
        for accepted in (None, member):
            Invitation.objects.create(
                project=self.project,
                token_hash=f"{number} {accepted}",
                accepted_by=accepted,
                accepted_at=accepted and self.now,
                expires_at=self.now + timedelta(days=1),
            )
        for correspondent in (self.annotator.pk, self.special["rater_messages"]["rater_id"]):
            for from_manager in (False, True):
                RaterMessage.objects.create(
                    rater_id=correspondent,
                    from_manager=from_manager,
                    author=make_user(),
                    text=f"message {number}",
                    written_at=self.now,
                )
        AuditEntry.objects.create(
            project=self.project, actor=self.manager, actor_name="x", action="rater_removed", object="y"
        )

    def _texts(self, number: int, rater: Rater) -> Summary:
        """Add a rated, disputed, flagged, decided and tagged summary in a language of its own."""
        language = self._language(number)
        article = make_article(self.project, language=language, dataset=f"dataset {number}")
        system = make_system(self.project, f"system {number}")
        wanted = {"ratings_wanted": 3, "open_places": 1}
        summary = make_summary(self.project, article=article, system=system, **wanted)
        english = make_summary(self.project, system=system, **wanted)
        for each in (summary, english):
            for rated_by, sheet in zip((rater, self.annotator), SHEETS, strict=True):
                self._rate(each, rated_by, sheet)
            Score.objects.create(
                setup=self.length, run_id=self.ids["run_id"], summary=each, dimension="length", value=number
            )
            DisagreementTag.objects.create(
                summary=each,
                question=self.questions["comprehensibility"],
                setup=self.length,
                verdict="label",
                created_by=self.manager,
                created_at=self.now,
            )
            Rerating.objects.create(summary=each, added=1, asked_by=self.manager, asked_at=self.now)
        self._rate(self.first, rater, SHEETS[0])
        reference = make_system(self.project, f"reference {number}", is_reference=True)
        make_summary(self.project, article=self.first.article, system=reference, ratings_wanted=0)
        for value in ("attribution", "main_ideas"):
            Adjudication.objects.create(
                summary=english,
                question=self.questions[value],
                value="yes",
                decided_by=self.manager,
                decided_at=self.now,
            )
        gold = make_gold(self.project, article=make_article(self.project, language=language))
        self._rate(gold.summary, rater, SHEETS[0], is_check=True)
        waiting = make_rater(self.project, languages=["en"], status=Rater.Status.TRAINING)
        waiting.rounds.create(language="en", number=1, decided_at=self.now, passed=False)
        for code, number_in in ((language, 1), ("en", number + 10)):
            GuidelinesVersion.objects.create(
                project=self.project,
                language=code,
                number=number_in,
                text="Read it twice.",
                changes="Shorter.",
                author=self.manager,
                saved_at=self.now,
                published_at=self.now,
            )
        return summary

    def _rate(self, summary: Summary, rater: Rater, sheet: dict[str, str], is_check: bool = False) -> None:
        assignment = self._assignment(summary, rater, is_check=is_check)
        rating = self._rating(assignment, sheet, is_check=is_check)
        ArticleFlag.objects.create(assignment=assignment, reason="Cut off.")
        assert rating.pk

    def _assignment(self, summary: Summary, rater: Rater, **fields: object) -> Assignment:
        return Assignment.objects.create(
            rater=rater,
            summary=summary,
            state=Assignment.State.DONE,
            stage=3,
            stage_opened_at=self.now,
            leased_until=self.now,
            **fields,
        )

    def _rating(self, assignment: Assignment, sheet: dict[str, str], **fields: object) -> Rating:
        rating = Rating.objects.create(
            summary=assignment.summary,
            rater=assignment.rater,
            assignment=assignment,
            created_at=self.now,
            completed_at=self.now,
            **fields,
        )
        Answer.objects.bulk_create(
            Answer(rating=rating, question=self.questions[key], value=value, created_at=self.now)
            for key, value in sheet.items()
        )
        return rating

    def _round(self, number: int) -> None:
        """Add a summary to the trainee's first round, a language, and a round that they failed in it."""
        first = self.trainee.rounds.get(number=1)
        self._rating(
            self._assignment(make_gold(self.project).summary, self.trainee, round=first),
            SHEETS[0],
            round=first,
        )
        language = self._language(number)
        self.trainee.languages = [*self.trainee.languages, language]
        self.trainee.save()
        for code, place in ((language, number + 10), ("en", number + 100)):
            failed = self.trainee.rounds.create(
                language=code, number=place, decided_at=self.now, passed=True, results=first.results
            )
            gold = make_gold(self.project, article=make_article(self.project, language=code))
            self._rating(self._assignment(gold.summary, self.trainee, round=failed), SHEETS[1], round=failed)
            gold.changes.create(
                question=self.questions["attribution"], changed_at=timezone.now(), changed_by=self.manager
            )
            checked = make_gold(self.project, article=make_article(self.project, language=code))
            self._rate(checked.summary, self.trainee, SHEETS[0], is_check=True)
            CheckSuspension.objects.create(
                rater=self.trainee,
                language=code,
                suspended_at=self.now - timedelta(days=1),
                checks=1,
                matched=1,
                asked=2,
                threshold=0.8,
            )

    def _imports(self, number: int) -> None:
        ImportJob.objects.create(
            project=self.project, created_by=self.manager, format="examples", file_name=f"file {number}"
        )
        job = ImportJob.objects.get(pk=self.ids["job_id"])
        error = {"file": "f", "line": number, "field": "text", "found": "nothing", "expected": "a text"}
        job.errors = [*job.errors, error]
        job.save()

    def _runs(self, number: int, summary: Summary) -> Setup:
        """Add a scored setup to the campaign's experiment, an experiment, and checked judges."""
        setup = self._setup("length", f"length {number}", {})
        run = Run.objects.create(setup=setup, created_by=self.manager, status=Run.Status.DONE, total=2)
        for each, value in ((summary, 0.25), (self.first, 0.75)):
            Score.objects.create(setup=setup, run=run, summary=each, dimension="length", value=value)
        Batch.objects.create(
            run_id=self.ids["run_id"],
            number=number + 1000,
            summary_ids=[],
            size=1,
            unscored=1,
            reasons={f"reason {number}": 1},
            finished_at=self.now,
        )
        experiment = Experiment.objects.create(
            project=self.project, name=f"experiment {number}", kind="models", created_by=self.manager
        )
        for each in (experiment.pk, int(self.ids["experiment_id"])):
            ExperimentMember.objects.create(
                experiment_id=each, setup=setup, label=f"member {number}", position=number + 10
            )
        judge = self._setup("ice", f"judge {number}", {"model": "any"})
        asked = Run.objects.create(setup=judge, status=Run.Status.DONE, total=1)
        Score.objects.create(setup=judge, run=asked, summary=summary, dimension="focus", value=0.5)
        RecheckSchedule.objects.create(setup=judge, every_days=7, set_by=self.manager)
        for checked in (judge, Setup.objects.get(pk=self.special["rechecks_of_setup"]["setup_id"])):
            self._recheck(checked, summary)
        return setup

    def _setup(self, evaluator: str, label: str, params: dict[str, str]) -> Setup:
        return Setup.objects.create(
            project=self.project,
            evaluator=evaluator,
            label=label,
            params=params,
            signature=label,
            fingerprint=label,
        )

    def _recheck(self, setup: Setup, summary: Summary) -> None:
        for kind in Run.RECHECKS:
            run = Run.objects.create(
                setup=setup,
                kind=kind,
                status=Run.Status.DONE,
                total=2,
                created_by=self.manager,
                has_changed=True,
            )
            for repetition in (1, 2, 3):
                RecheckScore.objects.create(
                    run=run, summary=summary, dimension="focus", value=0.5, repetition=repetition
                )

    def _hosted(self, number: int) -> None:
        JudgedDimension.objects.create(
            project=self.project, name=f"dimension {number}", description="?", sees="summary"
        )
        endpoint = Endpoint.objects.create(project=self.project, base_url=f"https://{number}.example/v1")
        for each in (endpoint.pk, int(self.ids["endpoint_id"])):
            EndpointModel.objects.create(endpoint_id=each, name=f"model {number}", api="chat")

    def _webhooks(self, number: int) -> None:
        Webhook.objects.create(
            project=self.project, address=f"https://{number}.example/hook", kinds=["run.finished"]
        )
        event = Event.objects.create(
            project=self.project, kind=Event.Kind.RUN_FINISHED, at=self.now, is_handed_out=True
        )
        WebhookDelivery.objects.create(webhook_id=self.ids["webhook_id"], event=event)

    def _judges(self, number: int, setup: Setup) -> None:
        judge = Judge.objects.create(
            project=self.project, name=f"judge {number}", evaluator="ice", created_by=self.manager
        )
        parent = JudgeVersion.objects.get(judge=self.ids["judge_id"], number=1)
        for each, place, made_from in ((judge, 1, None), (parent.judge, number + 10, parent)):
            version = JudgeVersion.objects.create(
                judge=each,
                number=place,
                parent=made_from,
                params={"model": str(number)},
                created_by=self.manager,
            )
            run = Run.objects.filter(setup=setup).first()
            Trial.objects.create(version=version, run=run, setup=setup, started_by=self.manager)
            SealedOpening.objects.create(version=version, opened_by=self.manager, opened_at=self.now)

    def _trainings(self, number: int, setup: Setup) -> None:
        TrainingPoint.objects.create(training_id=self.ids["training_id"], step=number + 10, epoch=1, loss=0.5)
        RegisteredModel.objects.create(
            project=self.project,
            name=f"registered {number}",
            source="hub",
            status=RegisteredModel.Status.DONE,
            created_by=self.manager,
        )
        curve = LearningCurve.objects.create(
            project=self.project, name=f"curve {number}", method="seahorse", created_by=self.manager
        )
        for each in (curve.pk, int(self.ids["curve_id"])):
            training = Training.objects.create(
                project=self.project,
                name=f"training {number} of {each}",
                method="seahorse",
                status=Training.Status.DONE,
                created_by=self.manager,
                finished_at=self.now,
            )
            CurveModel.objects.create(
                curve_id=each,
                training=training,
                share=1 / (number + 2),
                seed=number,
                examples=number + 1,
                setup=setup,
                is_handed_over=True,
            )
