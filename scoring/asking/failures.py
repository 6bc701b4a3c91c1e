"""What an endpoint's error means: a reply that concerns one prompt, or a failure of all."""

import re
from typing import TYPE_CHECKING

from scoring.asking.request import TOO_LONG, Address, Reply
from scoring.asking.retrying import is_outage
from scoring.contract import EvaluatorError
from scoring.judge.marks import Unread

if TYPE_CHECKING:
    from openai import APIStatusError

_SHOWN = 300
_CONTEXT = re.compile(r"context (length|size|window)", re.IGNORECASE)
"""vLLM and llama.cpp say in words alone that a prompt is too long."""


_MONEY = re.compile(r"credit|balance|billing|quota|payment", re.IGNORECASE)
"""Some endpoints answer 400 where others answer 402 or 429: no prompt is to blame for that."""


def refusal_of_this_prompt(error: "APIStatusError") -> Reply | None:
    return refusal_in(error.status_code, error.code, words_of(error))


def refusal_in(status: int, code: str | None, message: str) -> Reply | None:
    """A refusal that concerns this prompt alone is a reply; None for every other one.

    Its words are not kept: the model did not write them, and some endpoints quote the prompt in them.
    """
    if code in ("content_filter", "invalid_prompt"):  # Azure's and OpenAI's word for it
        return Reply("", Unread.FILTERED)
    if code == "context_length_exceeded" or status == 413 or (status == 400 and _CONTEXT.search(message)):
        return Reply("", TOO_LONG)
    return None


def may_concern_one_prompt(error: BaseException | None) -> bool:
    """Whether the endpoint refuses a request for what may be in it, and not for the model or the key."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 404, 422):
        return False
    words = words_of(error)
    return not _MONEY.search(words) and (error.status_code != 404 or "model" not in words.lower())


def names(error: "APIStatusError", parameter: str) -> bool:
    """Whether the endpoint refuses a request and speaks of this parameter."""
    if error.status_code not in (400, 422):
        return False
    return error.param == parameter or bool(re.search(rf"\b{parameter}\b", words_of(error)))


def words_of(error: "APIStatusError") -> str:
    """What the endpoint says: OpenAI's message, FastAPI's detail without the input in it, or all."""
    body = error.body
    detail = body.get("detail") if isinstance(body, dict) else body
    if isinstance(detail, list):
        entries = [each for each in detail if isinstance(each, dict)]
        return "; ".join(f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg')}" for each in entries)
    said = error.message.partition(" - ")[2]
    return said or (detail if isinstance(detail, str) and detail else error.message)


def failure(error: Exception, address: Address, secret: str) -> Exception:
    """An EvaluatorError, in words for people and without the key; a mistake of ours as it is."""
    import openai

    if isinstance(error, openai.APIStatusError):
        said = f"answers {error.status_code} for model {address.model!r}: {words_of(error)}"
        permanent = not is_outage(error)
    elif isinstance(error, TimeoutError):
        said, permanent = f"gives no answer within {address.timeout_s:g} s", False
    elif isinstance(error, openai.APIConnectionError):
        said, permanent = f"gives no answer: {error}", False
    elif isinstance(error, openai.APIError | ValueError):
        said, permanent = f"gives an unreadable answer: {error}", False
    else:
        return error
    if len(secret) > 3:  # shorter ones are no secrets, and parts of words
        said = said.replace(secret, "[key]")
    explained = EvaluatorError(f"{address.base_url} {said[:_SHOWN]}{_hint(error)}", permanent=permanent)
    explained.__cause__ = error
    return explained


def _hint(error: Exception) -> str:
    """Where there is nothing, the address may be wrong rather than the model."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (404, 405):
        return ""
    url = str(error.request.url)
    return f" (asked was {url}" + (")" if "/v1/" in url else "; most addresses end in /v1)")
