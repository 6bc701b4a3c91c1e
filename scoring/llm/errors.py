"""The meaning of an endpoint's errors: a reply that concerns one prompt, a retry, or a failure of all."""

import email.utils
import re
import time
from typing import TYPE_CHECKING

import tenacity

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import TOO_LONG, Address, Reply
from scoring.prompts.marks import Unread

if TYPE_CHECKING:
    from openai import APIStatusError

_SHOWN = 300
_CONTEXT = re.compile(r"context (length|size|window)", re.IGNORECASE)
"""vLLM and llama.cpp say only in words that a prompt is too long."""
_MONEY = re.compile(r"credit|balance|billing|quota|payment", re.IGNORECASE)
"""Some endpoints answer 400 where others answer 402 or 429; the prompt is not the reason."""
LONGEST_PAUSE_S = 30.0
_backoff = tenacity.wait_random_exponential(multiplier=0.5, max=LONGEST_PAUSE_S)


def refusal_of_this_prompt(error: "APIStatusError") -> Reply | None:
    """Return the reply that stands for a refusal of this prompt alone; None for any other error."""
    return refusal_in(error.status_code, error.code, words_of(error))


def refusal_in(status: int, code: str | None, message: str) -> Reply | None:
    """Return the reply that stands for a refusal of this prompt alone; None for any other error.

    The message is not kept: the model did not write it, and some endpoints quote the prompt in it.
    """
    if code in ("content_filter", "invalid_prompt"):  # Azure's and OpenAI's codes
        return Reply("", Unread.FILTERED)
    if code == "context_length_exceeded" or status == 413 or (status == 400 and _CONTEXT.search(message)):
        return Reply("", TOO_LONG)
    return None


def may_concern_one_prompt(error: BaseException | None) -> bool:
    """Return whether the request's content, and not the model or the key, may be why it was refused."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 404, 422):
        return False
    words = words_of(error)
    return not _MONEY.search(words) and (error.status_code != 404 or "model" not in words.lower())


def names(error: "APIStatusError", parameter: str) -> bool:
    """Return whether the endpoint refused the request because of this parameter."""
    if error.status_code not in (400, 422):
        return False
    return error.param == parameter or bool(re.search(rf"\b{parameter}\b", words_of(error)))


def words_of(error: "APIStatusError") -> str:
    """Return OpenAI's message, FastAPI's detail without the input quoted in it, or the whole body."""
    body = error.body
    detail = body.get("detail") if isinstance(body, dict) else body
    if isinstance(detail, list):
        entries = [each for each in detail if isinstance(each, dict)]
        return "; ".join(f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg')}" for each in entries)
    said = error.message.partition(" - ")[2]
    return said or (detail if isinstance(detail, str) and detail else error.message)


def failure(error: Exception, address: Address, secret: str) -> Exception:
    """Return an EvaluatorError in plain words and without the key; an unexpected error unchanged."""
    import openai

    if isinstance(error, openai.APIStatusError):
        said = f"answers {error.status_code} for model {address.model!r}: {words_of(error)}"
        permanent = not _is_outage(error)
    elif isinstance(error, TimeoutError):
        said, permanent = f"gives no answer within {address.timeout_s:g} s", False
    elif isinstance(error, openai.APIConnectionError):
        said, permanent = f"gives no answer: {error}", False
    elif isinstance(error, openai.APIError | ValueError):
        said, permanent = f"gives an unreadable answer: {error}", False
    else:
        return error
    if len(secret) > 3:  # shorter ones are no secrets, and may be parts of words
        said = said.replace(secret, "[key]")
    explained = EvaluatorError(f"{address.base_url} {said[:_SHOWN]}{_hint(error)}", permanent=permanent)
    explained.__cause__ = error
    return explained


def is_passing(error: BaseException) -> bool:
    """Return whether a retry may succeed: an outage, a rate limit, a broken or late answer."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return _is_outage(error)
    return isinstance(error, openai.APIError | TimeoutError | ValueError)  # ValueError: truncated JSON


def is_unreachable(error: BaseException | None) -> bool:
    """Return whether the request was not sent because no connection was made."""
    import httpx2

    return error is not None and isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)


def is_too_many(error: BaseException) -> bool:
    """Return whether fewer requests at once would help."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 429, 503)
    return isinstance(error, TimeoutError)


def pause_s(state: tenacity.RetryCallState) -> float:
    """Return seconds until the next attempt: the endpoint's wish plus a little jitter, or a backoff."""
    requested = requested_pause_s(state.outcome.exception() if state.outcome else None)
    pause = _backoff(state)
    return pause if requested is None else requested + min(pause, 1.0)


def requested_pause_s(error: BaseException | None) -> float | None:
    """Return the seconds in the header Retry-After or OpenAI's retry-after-ms; None without such a header.

    Retry-After holds seconds or a date (RFC 9110, section 10.2.3).
    """
    import openai

    if not isinstance(error, openai.APIStatusError):
        return None
    headers = error.response.headers
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


def _is_outage(error: "APIStatusError") -> bool:
    """Return whether waiting helps. A spent quota has the status of a rate limit, but does not pass."""
    if "insufficient_quota" in (error.code, error.type):
        return False
    return error.status_code in (408, 409, 429) or error.status_code >= 500


def _hint(error: Exception) -> str:
    """Return a hint that the address may be wrong where the endpoint answers 404 or 405."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (404, 405):
        return ""
    url = str(error.request.url)
    return f" (requested: {url}" + (")" if "/v1/" in url else "; most addresses end in /v1)")
