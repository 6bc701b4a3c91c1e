"""Dawid and Skene's model: the true answers, if each rater errs in their own way."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from metaeval.stats.arrays import Floats, Ints, code_vector, distinct, refuse_unequal_lengths

CONVERGED = 1e-6
MOST_ROUNDS = 1000
# Keeps the logarithm of a rate of 0 finite; one rating weighs 1.
FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The posteriors of the fitted model."""

    posterior: Floats
    """(units, answers) probability that the answer is the true one; nan for units without a rating."""
    rounds: int
    has_converged: bool
    """True if the last round moved no posterior by `CONVERGED` or more."""


def dawid_skene(
    units: npt.ArrayLike, raters: npt.ArrayLike, answers: npt.ArrayLike, *, n_units: int, n_answers: int
) -> DawidSkene:
    """Fit Dawid and Skene's model by expectation maximisation.

    Ratings are assumed to be independent given the true answer of a unit, and a rater's error rates to be the
    same on all units. The posteriors start as the unit's shares of answers. Then, until no posterior moves by
    1e-6 or after 1,000 rounds: prevalence p_k = mean posterior of k; error rates of rater j,
    pi_kl = sum over j's ratings l of the unit's posterior of k / the same over all of j's ratings; posterior
    of k proportional to p_k * product over the unit's ratings of pi_kl. The order of the data
    does not matter, and nothing is random.

    A rater with few ratings says little: any rates of error fit the one rating of each unnamed crowd worker,
    and the posteriors of units that only such raters have rated drift to the prevalence. A rater who is alone
    is taken at their word. Where two raters at most are good, convergence can take more than 1,000 rounds.

    Parameters
    ----------
    units, raters, answers : (ratings,) codes from 0, one entry for each rating; missing ratings have none.
    n_units, n_answers : how many there are; codes are below them. With one answer it has probability 1.

    Raises ValueError for unequal lengths, negative codes, or codes of `n_units`, `n_answers` and beyond.

    Source: A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28(1), 1979, equations 2.3 to 2.5; the start from section 3.

    >>> two_of_three = [1, 1, 0, 0, 0, 0, 1, 1, 1]
    >>> fitted = dawid_skene([0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3, two_of_three, n_units=4, n_answers=2)
    >>> fitted.posterior[:, 1].round(3).tolist()
    [1.0, 0.0, 1.0, nan]
    """
    unit, rater, answer = (
        _checked("units", units, n_units),
        _checked("raters", raters, None),
        _checked("answers", answers, n_answers),
    )
    refuse_unequal_lengths(units=unit, raters=rater, answers=answer)
    n_raters = int(rater.max(initial=-1)) + 1
    found, pattern, given = _patterns(unit, rater * n_answers + answer, n_raters * n_answers)
    units_alike = np.bincount(pattern, minlength=given.shape[0]).astype(np.float64)
    by_answer = csr_array(given.T * units_alike)
    shares = given @ np.tile(np.eye(n_answers), (n_raters, 1))
    posterior = shares / shares.sum(axis=1, keepdims=True)

    rounds, has_converged = 0, len(found) == 0
    prevalence, error_rates = _rates(by_answer, units_alike, posterior)
    while not has_converged and rounds < MOST_ROUNDS:
        log_rates = np.log(error_rates).transpose(0, 2, 1).reshape(n_raters * n_answers, n_answers)
        log_joint = given @ log_rates + np.log(prevalence)
        moved = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        moved /= moved.sum(axis=1, keepdims=True)
        has_converged = bool(np.abs(moved - posterior).max() < CONVERGED)
        posterior = moved
        prevalence, error_rates = _rates(by_answer, units_alike, posterior)
        rounds += 1

    of_all = np.full((n_units, n_answers), np.nan)
    of_all[found] = posterior[pattern]
    return DawidSkene(of_all, rounds, has_converged)


def _patterns(units: Ints, given: Ints, n_columns: int) -> tuple[Ints, Ints, csr_array]:
    """Return the rated units, the pattern of each, and the distinct patterns.

    Patterns are sparse, (patterns, `n_columns`).

    Units with the same answers by the same raters have the same posterior: most have only one rating, so
    there are far fewer patterns than units.
    """
    order = np.lexsort((given, units))
    found, starts, sizes = np.unique(units[order], return_index=True, return_counts=True)
    pattern = np.zeros(len(found), dtype=np.int64)
    rows, columns, n_patterns = [units[:0]], [units[:0]], 0
    for size in distinct(sizes):
        of_size = sizes == size
        table = given[order][starts[of_size, np.newaxis] + np.arange(size)]
        different, place = np.unique(table, axis=0, return_inverse=True)
        pattern[of_size] = n_patterns + place
        rows.append(n_patterns + np.repeat(np.arange(len(different)), size))
        columns.append(different.ravel())
        n_patterns += len(different)
    places = (np.concatenate(rows), np.concatenate(columns))
    return found, pattern, csr_array((np.ones(len(places[0])), places), shape=(n_patterns, n_columns))


def _rates(by_answer: csr_array, units_alike: Floats, posterior: Floats) -> tuple[Floats, Floats]:
    """Return prevalence (answers,) and error rates (raters, true answers, given answers).

    The rates of a rater are uniform where the ratings say nothing about them.
    """
    n_answers = posterior.shape[1]
    weights = (by_answer @ posterior).reshape(-1, n_answers, n_answers).transpose(0, 2, 1) + FLOOR
    if len(posterior) == 0:
        return np.full(n_answers, np.nan), weights
    prevalence = units_alike @ posterior / units_alike.sum() + FLOOR
    return prevalence / prevalence.sum(), weights / weights.sum(axis=2, keepdims=True)


def _checked(name: str, codes: npt.ArrayLike, n_codes: int | None) -> Ints:
    vector = code_vector(name, codes)
    if vector.size and (vector.min() < 0 or (n_codes is not None and vector.max() >= n_codes)):
        most = "" if n_codes is None else f" and below {n_codes}"
        raise ValueError(f"{name} must be codes from 0{most}, not {vector.min()}..{vector.max()}")
    return vector
