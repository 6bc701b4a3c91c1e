"""What is worth another try, and when."""

import email.utils
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import tenacity

if TYPE_CHECKING:
    from openai import APIStatusError

LONGEST_PAUSE_S = 30.0
_backoff = tenacity.wait_random_exponential(multiplier=0.5, max=LONGEST_PAUSE_S)


def is_passing(error: BaseException) -> bool:
    """Whether the same request may be answered later: an outage, a limit, a broken or late answer."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return is_outage(error)
    return isinstance(error, openai.APIError | TimeoutError | ValueError)  # the last: JSON that breaks off


def is_outage(error: "APIStatusError") -> bool:
    """Money that is spent does not come back by waiting, though its status is that of a limit."""
    if "insufficient_quota" in (error.code, error.type):
        return False
    return error.status_code in (408, 409, 429) or error.status_code >= 500


def is_too_many(error: BaseException) -> bool:
    """Whether fewer requests at once would help."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 429, 503)
    return isinstance(error, TimeoutError)


def pause_s(state: tenacity.RetryCallState) -> float:
    """What the endpoint asks for, and a little more so that not all come back at once; else a backoff."""
    asked = asked_pause_s(state.outcome.exception() if state.outcome else None)
    pause = _backoff(state)
    return pause if asked is None else asked + min(pause, 1.0)


def asked_pause_s(error: BaseException | None) -> float | None:
    """Seconds, from the headers Retry-After or retry-after-ms; None where the endpoint says nothing."""
    import openai

    if not isinstance(error, openai.APIStatusError):
        return None
    return _retry_after_s(error.response.headers)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """RFC 9110, section 10.2.3: seconds or a date; retry-after-ms is OpenAI's own."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    try:
        date = email.utils.parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, date.timestamp() - time.time())
