"""Questionnaires and valid answer sheets. Pure data and pure functions.

A questionnaire is an ordered list of questions in stages, shown one after another. Submitting a stage locks
its answers. A question may end the rating (`stops_rating_on`). The first stage with a question that needs
the article shows it.

Sources: SEAHORSE's six questions and their order, Clark et al. 2023, section 3.2 and appendix A;
SummEval's four dimensions, Fabbri et al. 2021, section 4; FRANK's kinds of errors, Pagnoni et al. 2021,
section 2.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

# Of a rating or a score, either side of 0: fourth powers, as in a correlation, stay within double precision.
LARGEST_NUMBER = 1e60


class ScaleKind(StrEnum):
    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


@dataclass(frozen=True)
class Scale:
    """The admissible answers to a question.

    Nominal scales list their `values`. `numbers` maps values to what they contribute to a mean; values
    without a number ('unsure') are left out. Ordinal scales have the whole numbers low..high. Interval
    scales admit any number from low to high (None: within LARGEST_NUMBER), and only occur in imports.
    """

    kind: ScaleKind
    values: tuple[str, ...] = ()
    numbers: Mapping[str, float] | None = field(default=None, hash=False)
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.kind == ScaleKind.NOMINAL and len(self.values) < 2:
            raise ValueError(f"a nominal scale needs at least two values, found {self.values!r}")
        if self.kind == ScaleKind.ORDINAL:
            found = f"found {self.low}..{self.high}"
            if self.low is None or self.high is None or self.low % 1 or self.high % 1:
                raise ValueError(f"an ordinal scale needs whole numbers low and high, {found}")
            if self.low >= self.high:
                raise ValueError(f"an ordinal scale needs low < high, {found}")

    @property
    def choices(self) -> tuple[str, ...]:
        """The values in the order shown to a rater; empty for an interval scale."""
        if self.kind == ScaleKind.NOMINAL:
            return self.values
        if self.kind == ScaleKind.ORDINAL and self.low is not None and self.high is not None:
            return tuple(str(k) for k in range(int(self.low), int(self.high) + 1))
        return ()

    def admits(self, value: str) -> bool:
        """Return whether `value` is a possible answer on this scale."""
        if self.kind != ScaleKind.INTERVAL:
            return value in self.choices
        try:
            number = float(value)
        except ValueError:
            return False
        above = self.low is None or number >= self.low
        below = self.high is None or number <= self.high
        return above and below and abs(number) <= LARGEST_NUMBER

    def number(self, value: str) -> float | None:
        """Return what `value` contributes to a label: Yes 1, No 0, a point k its k; Unsure None."""
        if self.kind == ScaleKind.NOMINAL:
            return (self.numbers or {}).get(value)
        return float(value)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest number of an answer; None if there are no two."""
        low, high = self.low, self.high
        if self.kind == ScaleKind.NOMINAL:
            numbers = (self.numbers or {}).values()
            low, high = min(numbers, default=None), max(numbers, default=None)
        return None if low is None or high is None or low == high else (low, high)

    @property
    def is_yes_no(self) -> bool:
        """Return whether answers that count are Yes = 1 and No = 0."""
        return self.kind == ScaleKind.NOMINAL and set((self.numbers or {}).values()) == {0.0, 1.0}

    @property
    def expected(self) -> str:
        """Return the answers that the scale allows, for an error message."""
        if self.kind == ScaleKind.INTERVAL:
            low = -LARGEST_NUMBER if self.low is None else self.low
            high = LARGEST_NUMBER if self.high is None else self.high
            return f"a number from {low:g} to {high:g}"
        return "one of " + ", ".join(self.choices)


YES_NO_UNSURE = Scale(ScaleKind.NOMINAL, ("yes", "no", "unsure"), {"yes": 1.0, "no": 0.0})
ONE_TO_FIVE = Scale(ScaleKind.ORDINAL, low=1, high=5)


@dataclass(frozen=True)
class Question:
    """One question about a summary. `key` is its column in files, `dimension` what it measures."""

    key: str
    dimension: str
    title: str
    wording: str
    stage: int
    scale: Scale
    needs_article: bool = False
    stops_rating_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Questionnaire:
    """An ordered list of questions; stages are numbered from 1 without gaps, in the questions' order."""

    key: str
    title: str
    stage_titles: tuple[str, ...]
    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        keys = [question.key for question in self.questions]
        if len(set(keys)) != len(keys):
            raise ValueError(f"questionnaire {self.key!r} has two questions with the same key: {keys}")
        stages = [question.stage for question in self.questions]
        if stages != sorted(stages) or set(stages) != set(range(1, len(self.stage_titles) + 1)):
            raise ValueError(
                f"questionnaire {self.key!r}: needs stages 1..{len(self.stage_titles)}, found {stages}"
            )

    @property
    def last_stage(self) -> int:
        return len(self.stage_titles)

    def question(self, key: str) -> Question:
        """Return the question with this key. Raises KeyError."""
        for question in self.questions:
            if question.key == key:
                return question
        raise KeyError(key)

    def stage(self, stage: int) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.stage == stage)

    def shows_article(self, stage: int) -> bool:
        """Return whether a rater at `stage` has been shown the article."""
        return any(question.needs_article and question.stage <= stage for question in self.questions)


def wording_fingerprint(questionnaire: Questionnaire) -> str:
    """Return eight hex digits that change with anything that raters read of the questionnaire.

    It covers the titles, wording, order and stages of the questions, their answers, and the number of each
    answer. Labels of different wordings do not measure the same thing.
    """
    shown = [
        [
            [question.key, question.title, question.wording, question.stage],
            [question.scale.kind, list(question.scale.values), question.scale.low, question.scale.high],
            sorted((question.scale.numbers or {}).items()),
        ]
        for question in questionnaire.questions
    ]
    # 1 and 1.0 are the same end of a scale.
    text = json.dumps(json.loads(json.dumps([questionnaire.stage_titles, shown]), parse_int=float))
    return sha256(text.encode()).hexdigest()[:8]


Sheet = Mapping[str, str]


@dataclass(frozen=True)
class Violation:
    """A reason why an answer sheet is not valid, and the question it concerns."""

    question: str
    message: str


def stopped_by(questionnaire: Questionnaire, sheet: Sheet) -> Question | None:
    """Return the first question whose answer ends the rating, if one does."""
    for question in questionnaire.questions:
        if sheet.get(question.key) in question.stops_rating_on:
            return question
    return None


def open_questions(questionnaire: Questionnaire, sheet: Sheet) -> tuple[Question, ...]:
    """Return the unanswered questions of the earliest stage that has any.

    Empty if the sheet is complete: all stages are answered, or an answer has ended the rating.
    """
    for stage in range(1, questionnaire.last_stage + 1):
        missing = tuple(question for question in questionnaire.stage(stage) if question.key not in sheet)
        if missing:
            return missing
        stop = stopped_by(questionnaire, sheet)
        if stop is not None and stop.stage == stage:
            return ()
    return ()


def is_complete(questionnaire: Questionnaire, sheet: Sheet) -> bool:
    """Return whether the sheet is valid and nothing is left to ask."""
    return not violations(questionnaire, sheet) and not open_questions(questionnaire, sheet)


def violations(questionnaire: Questionnaire, sheet: Sheet) -> list[Violation]:
    """Return everything that is invalid in `sheet`, which may be unfinished.

    Each answer must be to a known question, on its scale, and in a reached stage: all earlier stages are
    answered, and no answer has ended the rating.
    """
    found = []
    keys = {question.key for question in questionnaire.questions}
    found += [Violation(key, f"there is no question {key!r}") for key in sheet if key not in keys]
    stop = stopped_by(questionnaire, sheet)
    for question in questionnaire.questions:
        if question.key not in sheet:
            continue
        value = sheet[question.key]
        if not question.scale.admits(value):
            found.append(Violation(question.key, f"found {value!r}, expected {question.scale.expected}"))
        if stop is not None and question.stage > stop.stage:
            ended = f"{stop.title} was answered {sheet[stop.key]!r}, which ends the rating"
            found.append(Violation(question.key, f"must stay unanswered: {ended}"))
            continue
        skipped = [
            q.title for q in questionnaire.questions if q.stage < question.stage and q.key not in sheet
        ]
        if skipped:
            found.append(Violation(question.key, f"answered before {', '.join(skipped)} of an earlier stage"))
    return found


SEAHORSE = Questionnaire(
    key="seahorse",
    title="SEAHORSE: six questions in three stages",
    stage_titles=("Readable", "Language", "Against the article"),
    questions=tuple(
        Question(
            key,
            key,
            title,
            wording,
            stage,
            YES_NO_UNSURE,
            needs_article=stage == 3,
            stops_rating_on=("no",) if stage == 1 else (),
        )
        for stage, key, title, wording in (
            (
                1,
                "comprehensibility",
                "Comprehensible",
                "Can the summary be read and understood? "
                "(Small errors do not matter if the meaning is clear.)",
            ),
            (2, "repetition", "No repetition", "Is the summary free of unnecessarily repeated information?"),
            (2, "grammar", "Grammatical", "Is the summary grammatically correct?"),
            (
                3,
                "attribution",
                "Attribution",
                "Is all the information in the summary fully attributable to the article?",
            ),
            (3, "main_ideas", "Main ideas", "Does the summary capture the main idea(s) of the article?"),
            (
                3,
                "conciseness",
                "Concise",
                "Does the summary concisely represent the information in the article?",
            ),
        )
    ),
)

SUMMEVAL = Questionnaire(
    key="summeval",
    title="SummEval: four dimensions from 1 to 5",
    stage_titles=("Against the article",),
    questions=tuple(
        Question(
            key, key, key.capitalize(), f"{wording} (1 worst, 5 best)", 1, ONE_TO_FIVE, needs_article=True
        )
        for key, wording in (
            ("coherence", "Do the sentences fit together into a well-organised whole?"),
            ("consistency", "Do the facts in the summary agree with those in the article?"),
            ("fluency", "Is each sentence well written and grammatical?"),
            ("relevance", "Does the summary hold what is important in the article, and nothing more?"),
        )
    ),
)

FRANK = Questionnaire(
    key="frank-errors",  # the form of new questionnaires makes no key with a hyphen
    title="FRANK: free of seven kinds of errors",
    stage_titles=("Against the article",),
    questions=tuple(
        Question(key, key, title, wording, 1, YES_NO_UNSURE, needs_article=True)
        for key, title, wording in (
            ("predicate", "Predicates", "Does the article say the same of what happened or is the case?"),
            ("entity", "Entities", "Are those who act and are acted upon the same as in the article?"),
            ("circumstance", "Circumstances", "Are time, place and manner the same as in the article?"),
            ("coreference", "References", "Is it clear and correct what each pronoun and name refers to?"),
            (
                "link",
                "Links",
                "Are the order, causes and other links of its statements those of the article?",
            ),
            ("out_of_article", "From the article", "Is everything that it says in the article?"),
            ("grammar", "Grammatical", "Is its grammar good enough to understand every statement?"),
        )
    ),
)

YES_NO = Questionnaire(
    key="yes-no",
    title="Yes or no: one question",
    stage_titles=("Against the article",),
    questions=(
        Question(
            "quality",
            "quality",
            "Good",
            "Is this a good summary of the article?",
            1,
            YES_NO_UNSURE,
            needs_article=True,
        ),
    ),
)

BUILT_IN = {questionnaire.key: questionnaire for questionnaire in (SEAHORSE, SUMMEVAL, FRANK, YES_NO)}
