"""Array types of the statistics, and checks of what they are given."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

COUNTED_WITHIN = 4  # times as wide a range as there are codes
SHORT = 2**16
MOST_EXACT = 2**53  # up to which every whole number is a double

# Beyond this the sum of two numbers may leave double precision.
LARGEST = 1e300


def number_vector(name: str, values: npt.ArrayLike) -> Floats:
    """Return `values` as a 1-D array of floats; nan (or None) means missing.

    Raises ValueError, naming `name` and the value, for more than one dimension, text or infinite numbers.
    """
    vector = number_array(name, values)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a 1-D array, not one of shape {vector.shape}")
    return vector


def number_array(name: str, values: npt.ArrayLike) -> Floats:
    """Return `values` as an array of floats of any number of dimensions."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    too_large = np.abs(numbers) > LARGEST
    if too_large.any():
        at = tuple(np.argwhere(too_large)[0].tolist())
        place = ", ".join(map(str, at))
        raise ValueError(f"{name}[{place}] is {numbers[at]}: it must be finite, or nan where it is missing")
    return numbers


def code_vector(name: str, values: npt.ArrayLike) -> Ints:
    """Return `values` as a 1-D array of whole numbers.

    Raises ValueError, naming `name` and the type, for anything but whole numbers in one dimension.
    """
    vector = np.asarray(values)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a 1-D array, not one of shape {vector.shape}")
    if vector.size and not np.issubdtype(vector.dtype, np.integer):
        raise ValueError(f"{name} must be whole-number codes, not {vector.dtype}")
    return vector.astype(np.int64, copy=False)


def distinct(codes: Ints) -> Ints:
    """Return the different codes, ascending; far faster than np.unique in a narrow range."""
    if can_be_counted(codes):
        lowest = codes.min()
        return np.flatnonzero(np.bincount(codes - lowest)) + lowest
    ordered = np.sort(codes)
    return ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]


def can_be_counted(values: Floats | Ints) -> bool:
    """Return whether whole numbers lie so close that counting is faster than sorting."""
    if not len(values):
        return False
    lowest, highest = values.min().item(), values.max().item()
    return lowest > -MOST_EXACT and highest < MOST_EXACT and highest - lowest < COUNTED_WITHIN * len(values)


def order_of(codes: Ints) -> Ints:
    """Return the places of ascending codes, (codes,); equal codes keep their order."""
    if not len(codes) or codes.min() < 0 or codes.max() >= SHORT**2:
        return np.argsort(codes, kind="stable")
    # By two digits, the lower one first: numpy sorts short numbers in linear time.
    order = np.argsort((codes % SHORT).astype(np.uint16), kind="stable")
    if codes.max() < SHORT:
        return order
    return order[np.argsort((codes // SHORT)[order].astype(np.uint16), kind="stable")]


def steps(ordered: Ints) -> Ints:
    """Return 0, 1, 2 ... for the different codes of an ascending array, (codes,)."""
    return np.cumsum(np.diff(ordered, prepend=ordered[:1]) != 0)


def refuse_unequal_lengths(**vectors: npt.NDArray[np.generic]) -> None:
    """Raise ValueError, naming each vector's length, unless all are equally long."""
    if len({len(vector) for vector in vectors.values()}) > 1:
        lengths = ", ".join(f"{name} {len(vector)}" for name, vector in vectors.items())
        raise ValueError(f"lengths must be equal, but they are {lengths}")
