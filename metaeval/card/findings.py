"""The findings of an evaluator card: answers in words, each by a rule that is stated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.text import capfirst

from metaeval.card.alternative_report import RULE
from metaeval.card.evaluator_card import AgreementAt, EvaluatorCard
from metaeval.card.material import COPYING, LENGTH
from metaeval.card.verdicts import CANNOT_TELL, NO, NOT_SHOWN, NOT_TESTED, NOTHING_FOUND, TONES, YES
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.labels.trivial_annotator import TrivialAnnotator
from metaeval.stats.result import Estimate
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.percentile_interval import NO_SPREAD
from metaeval.templatetags.results import p_value, short_figure

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Finding:
    question: str
    """Phrased so that 'yes' is good for the evaluator."""
    answer: str
    said: str
    """The numbers, as a sentence."""
    rule: str
    """The rule by which the answer follows from the numbers."""

    @property
    def tone(self) -> str:
        """The look of the answer: 'good', 'bad' or 'open'."""
        return TONES[self.answer]


def findings(card: EvaluatorCard) -> tuple[Finding, ...]:
    return (
        _better_than_chance(card),
        _better_than_baselines(card),
        _ranks_systems(card),
        _stands_in(card),
        _unaffected(card.traits[LENGTH], "length", "longer", "shorter"),
        _unaffected(card.traits[COPYING], "copying", "copied", "less copied"),
        _fair_to_systems(card),
        _complete(card),
    )


def _better_than_chance(card: EvaluatorCard) -> Finding:
    measured = card.at_level("pooled")
    none = 0.5 if measured.coefficient == "roc_auc" else 0.0
    return _against_chance(
        card,
        measured,
        "Ranks summaries better than chance?",
        none,
        f"yes if the interval of the pooled coefficient lies above {none:g} (below, where lower scores are"
        " better), no if it lies on the other side.",
    )


def _ranks_systems(card: EvaluatorCard) -> Finding:
    return _against_chance(
        card,
        card.at_level("system"),
        "Ranks systems as people do, better than chance?",
        0.0,
        "yes if the interval over systems and articles of the coefficient of systems' means lies above 0"
        " (below, where lower scores are better), no if it lies on the other side.",
    )


def _against_chance(
    card: EvaluatorCard, measured: AgreementAt, question: str, none: float, rule: str
) -> Finding:
    estimate, interval = measured.estimate, measured.estimate.interval
    name = COEFFICIENTS[measured.coefficient].label
    if interval is None or interval.reason:
        return Finding(question, NOT_TESTED, _why_not_tested(estimate), rule)
    sample = f"{estimate.systems} systems" if measured.level == "system" else f"{estimate.n:,} summaries"
    said = f"{name} {_with_ends(estimate.value, interval.low, interval.high)} over {sample}."
    low, high = sorted(card.material.direction * (end - none) for end in (interval.low, interval.high))
    return Finding(question, YES if low > 0 else NO if high < 0 else NOT_SHOWN, said, rule)


def _better_than_baselines(card: EvaluatorCard) -> Finding:
    question = "Better than length and copying alone?"
    rule = (
        "yes if the evaluator's pooled coefficient exceeds that of each baseline that is defined (turned"
        f" round if that helps it), paired bootstrap, p below {SIGNIFICANT} after Holm; no if one of them"
        " exceeds the evaluator's in this way."
    )
    tested = [each for each in card.baselines if not math.isnan(each.p_value)]
    left = [f"{each.name} cannot be compared: {each.reason}" for each in card.baselines if each not in tested]
    if not tested:
        return Finding(question, NOT_TESTED, f"{capfirst('; '.join(left))}.", rule)
    p_values = CORRECTIONS["holm"]([each.p_value for each in tested])
    ahead = [each.difference > 0 and p < SIGNIFICANT for each, p in zip(tested, p_values, strict=True)]
    behind = [each.difference < 0 and p < SIGNIFICANT for each, p in zip(tested, p_values, strict=True)]
    said = "; ".join(
        f"{_compared(each.difference)} {each.name} (p {p_value(p)})"
        for each, p in zip(tested, p_values, strict=True)
    )
    answer = YES if all(ahead) else NO if any(behind) else NOT_SHOWN
    return Finding(question, answer, f"{capfirst('; '.join([said, *left]))}.", rule)


def _stands_in(card: EvaluatorCard) -> Finding:
    question = "Passes the alternative annotator test, in place of one rater?"
    rule = (
        f"yes if the smallest margin ε that the test's authors recommend gets a yes; {NO} if all get a {NO};"
        f" else '{CANNOT_TELL}' if any margin gets that. {RULE}"
    )
    tests = [figure for figure in card.alternative if figure.trivial]
    if not tests:
        return Finding(question, NOT_TESTED, f"{capfirst(card.alternative[0].test.reason)}.", rule)
    verdicts = {figure.verdict for figure in tests}
    strictest = min(tests, key=lambda figure: figure.epsilon)
    passed = _margins([figure.epsilon for figure in tests if figure.test.passes])
    failed = _margins([figure.epsilon for figure in tests if not figure.test.passes])
    trivial = _margins([figure.epsilon for figure in tests if any(each.passes for _, each in figure.trivial)])
    said = "; ".join(
        f"{what} {margins}"
        for what, margins in (
            ("passes", passed),
            ("does not pass", failed),
            ("a constant answer or shuffled scores pass", trivial),
        )
        if margins
    )
    leads = ", ".join(f"{_lead(each)} over {name}" for name, each in strictest.trivial)
    answer = (
        YES
        if strictest.verdict == YES
        else NO
        if verdicts == {NO}
        else CANNOT_TELL
        if CANNOT_TELL in verdicts
        else NOT_SHOWN
    )
    said = f"{capfirst(said)} ({strictest.test.raters} raters). Lead {leads}."
    return Finding(question, answer, said, rule)


def _margins(epsilons: Sequence[float]) -> str:
    return f"at ε {', '.join(f'{epsilon:g}' for epsilon in epsilons)}" if epsilons else ""


def _lead(trivial: TrivialAnnotator) -> str:
    lead = trivial.lead
    if lead.interval.reason:
        return short_figure(lead.value)
    return _with_ends(lead.value, lead.interval.low, lead.interval.high)


def _unaffected(bias: Estimate, trait: str, more: str, less: str) -> Finding:
    question = f"Unaffected by {trait} at equal labels?"
    rule = (
        "no if the interval of the partial correlation excludes 0, or if the correlation is 1 or -1 in all"
        " resamples. 'Nothing found' does not rule out a small preference."
    )
    interval = bias.interval
    favours = f"Favours {more if bias.value > 0 else less} ones"
    if interval is not None and interval.reason == NO_SPREAD and math.isclose(abs(bias.value), 1):
        return Finding(
            question, NO, f"{favours}: partial ρ {short_figure(bias.value)} in all resamples.", rule
        )
    if interval is None or interval.reason:
        return Finding(question, NOT_TESTED, _why_not_tested(bias), rule)
    number = _with_ends(bias.value, interval.low, interval.high)
    if interval.low <= 0 <= interval.high:
        return Finding(question, NOTHING_FOUND, f"Partial ρ {number}.", rule)
    return Finding(question, NO, f"{favours}: partial ρ {number}.", rule)


def _fair_to_systems(card: EvaluatorCard) -> Finding:
    question = "Fair to all systems at equal labels?"
    rule = (
        "no if the simultaneous interval of any system excludes 0. Noisy labels may be the reason. 'Nothing"
        " found' is no proof."
    )
    biases = card.systems
    open_rows = [row for row in biases.systems if not row.interval.reason]
    if not open_rows:
        reason = biases.reason or biases.systems[0].interval.reason
        return Finding(question, NOT_TESTED, f"{capfirst(reason)}.", rule)
    marked = sorted(card.marked_systems, key=lambda each: -abs(each[1].value))
    if not marked:
        return Finding(question, NOTHING_FOUND, f"None of {len(open_rows)} systems stands out.", rule)
    name, first = marked[0]
    said = (
        f"{len(marked)} of {len(open_rows)} systems stand out. The largest deviation is {name}:"
        f" {short_figure(abs(first.value))} standard deviations {'above' if first.value > 0 else 'below'}"
        " other systems with the same labels."
    )
    return Finding(question, NO, said, rule)


def _complete(card: EvaluatorCard) -> Finding:
    question = "Scores every rated summary?"
    rule = "no if a labelled summary that counts has no score."
    n, missing, bounds = card.material.n_labelled, card.shape.missing, card.bounds
    if not n:
        return Finding(question, NOT_TESTED, "No summary is labelled.", rule)
    if not missing:
        return Finding(question, YES, f"All {n:,} labelled summaries have a score.", rule)
    said = f"{missing:,} of {n:,} labelled summaries have no score"
    if not bounds.reason:
        name = COEFFICIENTS[card.material.coefficient].label.rpartition(" ")[2]
        kind = "exact bounds" if bounds.are_exact else "range of four imputations"
        low, high = short_figure(bounds.low), short_figure(bounds.high)
        said += f"; with them, {name} could be {low} to {high} ({kind})"
    return Finding(question, NO, f"{said}.", rule)


def _why_not_tested(estimate: Estimate) -> str:
    of_interval = f"no interval: {estimate.interval.reason}" if estimate.interval else ""
    return f"{capfirst(estimate.reason or of_interval)}."


def _compared(difference: float) -> str:
    if not difference:
        return "level with"
    return f"{short_figure(abs(difference))} {'ahead of' if difference > 0 else 'behind'}"


def _with_ends(value: float, low: float, high: float) -> str:
    return f"{short_figure(value)} [{short_figure(low)}, {short_figure(high)}]"
