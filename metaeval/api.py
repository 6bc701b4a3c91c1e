"""The API's agreement and meta-evaluation, read-only: the rows of the pages with results."""

from dataclasses import fields

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api_pages import REFUSALS, OneOf, PageQuery, ProjectPage, open_read_only, page_of, read_query
from annotation.permissions import Permission, project_for
from metaeval.agreement.method import INTERVALS as AGREEMENT_INTERVALS
from metaeval.agreement.method import OWN_SCALE, AgreementMethod
from metaeval.agreement.report import agreement_report
from metaeval.card.page import CardChoices, card_now
from metaeval.choices import MetaevalChoices
from metaeval.judgements import ALL
from metaeval.label_rules import LABEL_RULES
from metaeval.metaeval_report import metaeval_table
from metaeval.method import ITEMS, NONE, Method
from metaeval.snapshot import snapshot_of
from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS

MOST_ASKED_RESAMPLES = 10_000
"""An answer is computed while its asker waits, who may be anybody where results are published."""


class FigureSerializer(serializers.Serializer):
    """A value with what it stands on; null with the reason where it is undefined."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Lower end of the interval.")
    high = serializers.FloatField(allow_null=True, help_text="Upper end of the interval.")
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text="Reason -> how much was left out because of it."
    )
    definition = serializers.CharField()
    reason = serializers.CharField(required=False, help_text="Why there is no value.")


class AgreementSerializer(FigureSerializer):
    question = serializers.CharField()
    language = serializers.CharField(help_text=f"A language's code, or '{ALL}' for all together.")
    statistic = serializers.CharField()
    scale = serializers.CharField()
    units = serializers.IntegerField(help_text="Summaries with two ratings or more.")
    ratings = serializers.IntegerField()
    raters = serializers.IntegerField()
    interval_reason = serializers.CharField(required=False, help_text="Why there is no interval.")


class AgreementListSerializer(ProjectPage):
    results = AgreementSerializer(many=True)


class MetaevalSerializer(FigureSerializer):
    evaluator = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True, help_text="Described among `evaluators`.")
    dimension = serializers.CharField()
    level = serializers.CharField()
    coefficient = serializers.CharField()
    n = serializers.IntegerField(help_text="Summaries, or systems at the system level.")
    articles = serializers.IntegerField()
    systems = serializers.IntegerField()
    is_best = serializers.BooleanField(required=False, help_text="The best of the dimension's evaluators.")
    cluster = serializers.CharField(
        required=False, help_text="Letters: evaluators of the dimension that share one are not told apart."
    )
    interval_reason = serializers.CharField(required=False, help_text="Why there is no interval.")


class EvaluatorSerializer(serializers.Serializer):
    setup = serializers.IntegerField(source="key", help_text="Names it in `only`.")
    evaluator = serializers.CharField(source="label")
    signature = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True)


class MetaevalListSerializer(ProjectPage):
    evaluators = EvaluatorSerializer(many=True, help_text="Those that are compared with each other.")
    results = MetaevalSerializer(many=True)


class AgreementQuery(PageQuery):
    language = serializers.CharField(
        required=False, help_text=f"One language alone, or '{ALL}' for all together; else every one of them."
    )
    group = serializers.CharField(required=False, help_text="Raters of one group alone.")
    scale = OneOf([OWN_SCALE, *SCALES], default=OWN_SCALE, help_text="Scale for alpha, AC and kappa.")
    interval = OneOf([NONE, *AGREEMENT_INTERVALS], default=AgreementMethod.interval)
    resamples = serializers.IntegerField(
        default=AgreementMethod.resamples, min_value=1, max_value=MOST_ASKED_RESAMPLES
    )
    seed = serializers.IntegerField(default=AgreementMethod.seed, min_value=0)


class MetaevalQuery(PageQuery):
    level = OneOf(list(LEVELS), default=Method.level)
    coefficient = OneOf(list(COEFFICIENTS), default=Method.coefficient)
    interval = OneOf([NONE, *INTERVALS], default=Method.interval)
    test = OneOf([NONE, *TESTS], default=Method.test, help_text="By which evaluators are told apart.")
    correction = OneOf([NONE, *CORRECTIONS], default=Method.correction, help_text="For many tests.")
    items = OneOf(
        list(ITEMS),
        default=Method.items,
        help_text="own: each evaluator on all that it has scored; common: all on what every one has scored.",
    )
    resamples = serializers.IntegerField(
        default=Method.resamples, min_value=1, max_value=MOST_ASKED_RESAMPLES
    )
    seed = serializers.IntegerField(default=Method.seed, min_value=0)
    language = serializers.CharField(default=ALL, help_text=f"One language, or '{ALL}' for all together.")
    dataset = serializers.CharField(default=ALL, help_text=f"One dataset, or '{ALL}' for all together.")
    system = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Systems, repeated; all where none is named."
    )
    question = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Questions, repeated; all where none is named."
    )
    group = serializers.CharField(required=False, help_text="Labels of one group of raters alone.")
    labels = OneOf(
        list(LABEL_RULES), default="mean", help_text="How several raters' answers become one label."
    )
    only = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Setups to compare, repeated; all where none is named. It matters to the numbers: articles "
        "that any of them has seen are left out for all of them.",
    )


class CardRowSerializer(FigureSerializer):
    evaluator = serializers.CharField()
    fingerprint = serializers.CharField(allow_null=True)
    dimension = serializers.CharField()
    section = serializers.CharField(help_text="Where on the card it stands; 'finding' for answers in words.")
    measure = serializers.CharField()
    n = serializers.IntegerField(allow_null=True, help_text="Summaries it stands on.")
    text = serializers.CharField(required=False, help_text="What there is to say in words.")
    interval_reason = serializers.CharField(required=False, help_text="Why there is no interval.")


class CardListSerializer(ProjectPage):
    results = CardRowSerializer(many=True)


class CardQuery(PageQuery):
    evaluator = serializers.CharField(required=False, help_text="A setup; else the first.")
    question = serializers.CharField(required=False, help_text="A question; else the first that it scores.")
    language = serializers.CharField(default=ALL, help_text=f"One language, or '{ALL}' for all together.")
    group = serializers.CharField(required=False, help_text="Labels of one group of raters alone.")
    labels = OneOf(
        list(LABEL_RULES), default="mean", help_text="How several raters' answers become one label."
    )


@extend_schema(
    operation_id="agreement_list",
    parameters=[AgreementQuery],
    responses={200: AgreementListSerializer, **REFUSALS},
)
@open_read_only
def agreement(request: Request, slug: str) -> Response:
    """How well raters agree: every statistic of every question, per language and for all together."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, AgreementQuery)
    snapshot = snapshot_of(project)
    figures = agreement_report(
        snapshot.summaries,
        snapshot.human,
        language=query.get("language", ""),
        group=query.get("group", ""),
        method=AgreementMethod(query["scale"], query["interval"], query["resamples"], query["seed"]),
    )
    page = page_of(request, [figure.as_json() for figure in figures], query)
    return Response(AgreementListSerializer({"revision": snapshot.revision, **page}).data)


@extend_schema(
    operation_id="meta_evaluation_list",
    parameters=[MetaevalQuery],
    responses={200: MetaevalListSerializer, **REFUSALS},
)
@open_read_only
def metaeval(request: Request, slug: str) -> Response:
    """How well evaluators agree with human labels: one coefficient at one level, for each dimension."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, MetaevalQuery)
    snapshot = snapshot_of(project)
    choices = MetaevalChoices(
        language=query["language"],
        dataset=query["dataset"],
        systems=tuple(query["system"]),
        questions=tuple(query["question"]),
        group=query.get("group", ""),
        labels=query["labels"],
        only=tuple(query["only"]),
    )
    method = Method(**{field.name: query[field.name] for field in fields(Method)})
    table = metaeval_table(snapshot, choices, method)
    page = page_of(request, table.rows(), query)
    answer = {"revision": snapshot.revision, "evaluators": table.comparison.evaluators, **page}
    return Response(MetaevalListSerializer(answer).data)


@extend_schema(
    operation_id="evaluator_card_list",
    parameters=[CardQuery],
    responses={200: CardListSerializer, **REFUSALS},
)
@open_read_only
def evaluator_card(request: Request, slug: str) -> Response:
    """All numbers of one evaluator's card on one question; none where it does not score the question."""
    project = project_for(request.user, slug, Permission.SEE_RESULTS)
    query = read_query(request, CardQuery)
    choices = CardChoices(
        **{field.name: query[field.name] for field in fields(CardChoices) if field.name in query}
    )
    card = card_now(project, choices, wait_s=None)
    page = page_of(request, card.rows, query)
    return Response(CardListSerializer({"revision": card.snapshot.revision, **page}).data)
