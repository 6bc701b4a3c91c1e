"""The API's projects and their human labels."""

from django.db.models import Exists, OuterRef
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.database.consistent_read import consistent_read
from annotation.errors import NotAllowed
from annotation.labels import counted_labels
from annotation.models import Project, Question, Rating, Summary
from annotation.permissions import Permission, may_create_project, project_for, projects_for
from annotation.progress.progress import progress_of
from annotation.projects.settings import (
    LONGEST_SLUG,
    SETTINGS,
    change_settings,
    create_project,
    known_questionnaires,
)
from annotation.web.api_pages import (
    REFUSALS,
    KeyedPageQuery,
    Page,
    PageQuery,
    ProjectPage,
    for_members,
    keyed_page_of,
    one_of,
    page_of,
    read_body,
    read_only,
    read_query,
    refusals,
    sent_example,
)
from annotation.web.form_choices import article_languages
from annotation.web.idempotency import CREATION_REFUSALS, KEY_PARAMETER, answer_once
from annotation.web.request_types import SignedInApiRequest


class ProjectSerializer(serializers.ModelSerializer):
    questionnaire = serializers.CharField(source="questionnaire.key")

    class Meta:
        model = Project
        fields: tuple[str, ...] = (
            "slug",
            "name",
            "description",
            "licence",
            "questionnaire",
            "revision",
            "created_at",
            "closed_at",
        )
        read_only_fields = fields


class ProjectListSerializer(Page):
    results = ProjectSerializer(many=True)


class QuestionSerializer(serializers.ModelSerializer):
    scale = serializers.CharField(source="scale_kind")
    values = serializers.ListField(
        child=serializers.CharField(),
        source="protocol.scale.choices",
        help_text="Possible answers; empty for an interval.",
    )

    class Meta:
        model = Question
        fields = ("key", "dimension", "title", "wording", "stage", "scale", "values", "needs_article")
        read_only_fields = fields


class ProgressSerializer(serializers.Serializer):
    name = serializers.CharField(
        help_text="The language, the dataset (empty for none) or the system; empty for all together."
    )
    summaries = serializers.IntegerField(help_text="Summaries that people rate.")
    rated = serializers.IntegerField(help_text="Summaries with at least one rating that counts.")
    ratings = serializers.IntegerField(help_text="Ratings that count, imported ones included.")
    collected = serializers.IntegerField(help_text="Ratings that count and were given here.")
    imported = serializers.IntegerField(help_text="Ratings that count and came from files.")
    wanted = serializers.IntegerField(help_text="Ratings that the project's redundancy asks for.")
    missing = serializers.IntegerField(help_text="Wanted ratings that are not given yet and can be.")
    blocked = serializers.IntegerField(help_text="Wanted ratings of summaries whose article has no text.")


class ProjectSettingsSerializer(serializers.ModelSerializer):
    gold_thresholds = serializers.DictField(
        child=serializers.FloatField(min_value=0, max_value=1),
        required=False,
        help_text=Project._meta.get_field("gold_thresholds").help_text,
    )

    class Meta:
        model = Project
        fields = SETTINGS
        extra_kwargs = {"name": {"required": False}}


class ProjectDetailSerializer(ProjectSerializer):
    questions = QuestionSerializer(many=True)
    articles = serializers.IntegerField(help_text="Articles of the summaries to rate.")
    progress = ProgressSerializer()
    languages = ProgressSerializer(many=True)
    datasets = ProgressSerializer(many=True)
    systems = ProgressSerializer(many=True)
    settings = ProjectSettingsSerializer(required=False, help_text="Settings, which managers get.")

    class Meta(ProjectSerializer.Meta):
        fields = (
            *ProjectSerializer.Meta.fields,
            "questions",
            "articles",
            "progress",
            "languages",
            "datasets",
            "systems",
            "settings",
        )
        read_only_fields = fields


class LabelSerializer(serializers.Serializer):
    question = serializers.CharField()
    dimension = serializers.CharField()
    value = serializers.FloatField(
        allow_null=True, help_text="Mean over raters: Yes 1, No 0, a point k its k; Unsure is left out."
    )
    reason = serializers.CharField(help_text="The reason why there is no value.", required=False)
    ratings = serializers.IntegerField(help_text="Ratings that answered the question, Unsure among them.")


class LabelledSummarySerializer(serializers.Serializer):
    summary = serializers.IntegerField()
    article = serializers.CharField(help_text="The article's id in its data set.")
    system = serializers.CharField()
    language = serializers.CharField()
    labels = LabelSerializer(many=True)


class LabelListSerializer(ProjectPage):
    results = LabelledSummarySerializer(many=True)


class LabelQuery(KeyedPageQuery):
    language = serializers.CharField(required=False)
    question = serializers.CharField(required=False)


class NewProjectSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=Project._meta.get_field("name").max_length)
    questionnaire = serializers.CharField(help_text="Key of a questionnaire: seahorse, yes-no or another.")
    slug = serializers.SlugField(
        max_length=LONGEST_SLUG,
        required=False,
        help_text="Address of the project. Made from the name if absent.",
    )
    redundancy = serializers.IntegerField(
        default=1, min_value=1, max_value=100, help_text="Ratings that each summary gets."
    )


@extend_schema(
    methods=["GET"],
    operation_id="projects_list",
    parameters=[PageQuery],
    responses={200: ProjectListSerializer, **REFUSALS},
)
@extend_schema(
    methods=["POST"],
    operation_id="projects_create",
    request=NewProjectSerializer,
    parameters=[KEY_PARAMETER],
    responses={201: ProjectSerializer, **CREATION_REFUSALS},
    examples=sent_example(name="News in German", questionnaire="seahorse", redundancy=3),
)
@for_members("GET", "HEAD", "POST")
def project_list(request: SignedInApiRequest) -> Response:
    """List the projects in which you are a manager or researcher. POST creates one that you manage."""
    if request.method == "POST":
        return _new_project(request)
    query = read_query(request, PageQuery)
    rows = projects_for(request.user, Permission.SEE_PROGRESS).select_related("questionnaire")
    return Response(ProjectListSerializer(page_of(request, rows.order_by("slug"), query)).data)


def _new_project(request: SignedInApiRequest) -> Response:
    if not may_create_project(request.user):
        raise NotAllowed("Only managers create projects, without a token for one project.")
    body = read_body(request, NewProjectSerializer)
    known = known_questionnaires()
    key = one_of("questionnaire", body["questionnaire"], sorted(known))

    def create() -> Response:
        project = create_project(
            body["name"], known[key], request.user, slug=body.get("slug", ""), redundancy=body["redundancy"]
        )
        return Response(ProjectSerializer(project).data, status=201)

    return answer_once(request, create)


@extend_schema(
    methods=["GET"], operation_id="projects_retrieve", responses={200: ProjectDetailSerializer, **REFUSALS}
)
@extend_schema(
    methods=["PATCH"],
    operation_id="projects_update",
    request=ProjectSettingsSerializer,
    responses={200: ProjectSettingsSerializer, **REFUSALS, **refusals(429)},
    examples=sent_example(redundancy=3, gold_threshold=0.8, gold_thresholds={"grammar": 0.6}),
)
@for_members("GET", "HEAD", "PATCH")
def project_detail(request: SignedInApiRequest, slug: str) -> Response:
    """Show one project with its questions and progress. PATCH changes some settings and returns all."""
    return _changed_settings(request, slug) if request.method == "PATCH" else _shown(request, slug)


def _changed_settings(request: SignedInApiRequest, slug: str) -> Response:
    project = project_for(request.user, slug, Permission.MANAGE_PROJECT)
    change_settings(project, read_body(request, ProjectSettingsSerializer))
    project.refresh_from_db()
    return Response(ProjectSettingsSerializer(project).data)


@consistent_read()
def _shown(request: SignedInApiRequest, slug: str) -> Response:
    project = project_for(request.user, slug, Permission.SEE_PROGRESS)
    progress = progress_of(project)
    described = {
        **{name: getattr(project, name) for name in ProjectSerializer.Meta.fields},
        "questions": project.questionnaire.questions.all(),
        "articles": progress.articles,
        "progress": progress.all,
        "languages": progress.languages,
        "datasets": progress.datasets,
        "systems": progress.systems,
    }
    if Permission.MANAGE_PROJECT in project.reader_may:
        described["settings"] = project
    return Response(ProjectDetailSerializer(described).data)


@extend_schema(
    operation_id="labels_list", parameters=[LabelQuery], responses={200: LabelListSerializer, **REFUSALS}
)
@read_only
@consistent_read()
def label_list(request: Request, slug: str) -> Response:
    """List human labels: for each rated summary, the label and ratings of each question."""
    project = project_for(request.user, slug, Permission.SEE_TEXTS_AND_RATINGS)
    query = read_query(request, LabelQuery)
    questions = list(project.questionnaire.questions.all())
    if "question" in query:
        key = one_of("question", query["question"], [question.key for question in questions])
        questions = [question for question in questions if question.key == key]
    counted = Rating.objects.countable().filter(
        summary=OuterRef("pk"), answers__is_current=True, answers__question__in=questions
    )
    summaries = Summary.objects.filter(Exists(counted), project=project)
    if "language" in query:
        language = one_of("language", query["language"], article_languages(project))
        summaries = summaries.filter(article__language=language)
    rows = summaries.select_related("article", "system").defer("text", "article__text")
    page = keyed_page_of(request, rows, query, ["id"], revision=project.revision)
    page["results"] = _labelled(project, questions, page["results"])
    return Response(LabelListSerializer({"revision": project.revision, **page}).data)


def _labelled(
    project: Project, questions: list[Question], summaries: list[Summary]
) -> list[dict[str, object]]:
    ids = [summary.pk for summary in summaries]
    labels = [(question, counted_labels(project, question, ids)) for question in questions]
    return [
        {
            "summary": summary.pk,
            "article": summary.article.external_id,
            "system": summary.system.name,
            "language": summary.article.language,
            "labels": [
                _label(question, *found[summary.pk]) for question, found in labels if summary.pk in found
            ],
        }
        for summary in summaries
    ]


def _label(question: Question, value: float | None, ratings: int) -> dict[str, object]:
    reason = {"reason": "all raters were unsure"} if value is None else {}
    named = {"question": question.key, "dimension": question.dimension}
    return {**named, "value": value, "ratings": ratings, **reason}
