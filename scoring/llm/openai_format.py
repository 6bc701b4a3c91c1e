"""Requests and replies as OpenAI's protocol writes them, in JSON."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.texts.nested_json import read_json
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address, Reply, Request, Usage, Wanted
from scoring.prompts.marks import Unread

MOST_ALTERNATIVES, FEWER_ALTERNATIVES = 20, 5
"""The most alternatives that OpenAI shows at one position of a reply: in a chat, in a completion."""
DEFAULT_TEMPERATURE = 1.0
"""The temperature that an endpoint uses if a request states none."""
NO_PROBABILITIES = (
    "the endpoint shows no token probabilities (logprobs), which the mode expected needs: use the mode "
    "greedy or samples, or an endpoint that shows them"
)
NO_LIKELIHOODS = (
    "endpoints do not show how likely whole replies are, which the mode candidates needs: use a local "
    "model, or the mode expected"
)


@dataclass(frozen=True, slots=True)
class Manner:
    """The form that a model's requests must have."""

    token_limit: str = "max_tokens"
    """The parameter's name; reasoning models call it max_completion_tokens."""
    takes_temperature: bool = True
    alternatives: int | None = None
    """Alternatives to request at one position; None: as many as OpenAI shows."""


def path(api: str) -> str:
    return "/completions" if api == "completions" else "/chat/completions"


def body(address: Address, request: Request, manner: Manner, choices: int = 1) -> dict[str, Any]:
    """Return the body of a request. Raises EvaluatorError, permanent, for what the protocol lacks."""
    if request.wanted is Wanted.LIKELIHOOD:
        raise EvaluatorError(NO_LIKELIHOODS, permanent=True)
    is_chat = address.api != "completions"
    content: dict[str, Any] = {"model": address.model}
    if is_chat:
        system = [{"role": "system", "content": _sendable(request.system)}] if request.system else []
        content["messages"] = [*system, {"role": "user", "content": _sendable(request.prompt)}]
    else:
        content["prompt"] = _sendable(request.prompt)
    content |= _temperature(address, request, manner)
    content[manner.token_limit] = request.max_tokens
    if not is_chat:
        content["stop"] = ["\n"]
    if request.wanted is Wanted.FIRST_TOKEN:
        shown = manner.alternatives or (MOST_ALTERNATIVES if is_chat else FEWER_ALTERNATIVES)
        content |= {"logprobs": True, "top_logprobs": shown} if is_chat else {"logprobs": shown}
    if request.schema:
        content["response_format"] = _schema(address, request.schema)
    return content | ({"n": choices} if choices > 1 else {})


def _sendable(text: str) -> str:
    """Return the text without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def _temperature(address: Address, request: Request, manner: Manner) -> dict[str, float]:
    if manner.takes_temperature:
        return {"temperature": request.temperature}
    if request.temperature != DEFAULT_TEMPERATURE:
        raise EvaluatorError(no_temperature(address.model, request.temperature), permanent=True)
    return {}


def no_temperature(model: str, temperature: float) -> str:
    needed = "0, which the mode greedy needs" if temperature == 0 else f"{temperature:g}"
    return (
        f"the model {model!r} does not accept the temperature {needed}: use the mode samples at temperature "
        f"{DEFAULT_TEMPERATURE:g}, or another model"
    )


def _schema(address: Address, schema: str) -> dict[str, Any]:
    if address.api == "completions":
        raise EvaluatorError(
            "the completions API has no structured replies (response_format): use chat", permanent=True
        )
    form = {"name": "reply", "strict": True, "schema": json.loads(schema)}
    return {"type": "json_schema", "json_schema": form}


def replies(answer: object, request: Request) -> list[Reply]:
    """Return the replies, one per choice. Raises ValueError if the answer breaks the protocol.

    The call's usage is shared out: the first reply has the prompt's tokens, and the sum is the call's usage.
    """
    if isinstance(text := answer, str):  # the server did not declare its content as JSON
        try:
            answer = read_json(text)
        except ValueError:
            raise ValueError(f"not JSON: {text[:40]!r}") from None
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(choices, list) or not choices:
        raise ValueError("no choices")
    model = answer.get("model")
    shares = _shares(answer.get("usage"), len(choices))
    try:
        return [
            _reply(choice, request, usage, model if isinstance(model, str) else "")
            for choice, usage in zip(choices, shares, strict=True)
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a choice has another form ({error})") from error


def _shares(usage: object, choices: int) -> Sequence[Usage | None]:
    told = usage if isinstance(usage, dict) else {}
    prompt, completion = told.get("prompt_tokens"), told.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return [None] * choices
    each, rest = divmod(completion, choices)
    return [Usage(prompt if not place else 0, each + (place < rest)) for place in range(choices)]


def _reply(choice: Mapping[str, Any], request: Request, usage: Usage | None, model: str) -> Reply:
    is_chat = "message" in choice
    message = choice["message"] if is_chat else choice
    # Some servers repeat the prompt, with the labels of examples, before the reply.
    text = _written(message["content" if is_chat else "text"]).removeprefix(request.prompt)
    problem = None
    if refusal := message.get("refusal"):
        text, problem = refusal, Unread.REFUSED
    elif choice.get("finish_reason") == "content_filter":
        problem = Unread.FILTERED
    elif choice.get("finish_reason") == "length" and request.wanted is Wanted.TEXT:
        problem = Unread.TRUNCATED
    probabilities: dict[str, float] = {}
    if request.wanted is Wanted.FIRST_TOKEN and text and not problem:
        probabilities = _probabilities(choice.get("logprobs"), message, text, request.marks)
    return Reply(text, problem, probabilities, usage, model)


def _written(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """Return the text of a content. In a list of parts, only parts of type text are the reply."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part["type"] == "text")


def _probabilities(
    logprobs: object, message: Mapping[str, Any], text: str, marks: Sequence[str]
) -> dict[str, float]:
    """Return the probability of each mark as the first token of the reply that is not blank.

    A token counts for a mark if it is the mark itself, white space aside: ` Yes` and `Yes` are added, `yes`
    and `Yes,` are others. If the reply begins with blanks, marks instead of the blank count, and so do those
    after it, times the blank's own probability. The tokens must be those of the reply itself: a model's
    thoughts, if the endpoint mixes them with the reply, hold the same digits and mean nothing.
    """
    places = list(_places(logprobs))
    if not places:
        raise EvaluatorError(NO_PROBABILITIES, permanent=True)
    if message.get("reasoning_content") or message.get("reasoning"):
        return {}
    found: dict[str, float] = {}
    reached = 1.0
    for written, own, alternatives in places:
        for token, logprob in alternatives:
            if (mark := token.strip()) in marks:
                found[mark] = found.get(mark, 0.0) + reached * math.exp(logprob)
        if written.strip():
            is_of_the_reply = text.lstrip().startswith(written.strip())
            return {mark: min(share, 1.0) for mark, share in found.items()} if is_of_the_reply else {}
        reached *= math.exp(own)
    return found


def alternatives_shown(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer shows alternative tokens at some position of the reply."""
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    logprobs = first.get("logprobs") if isinstance(first, dict) else None
    return any(len(alternatives) > 1 for _, _, alternatives in _places(logprobs))


def _places(logprobs: object) -> Iterator[tuple[str, float, list[tuple[str, float]]]]:
    """Yield each token of a reply: its text, its log-probability, and those of it and its alternatives."""
    if not isinstance(logprobs, dict):
        return
    for place in logprobs.get("content") or ():
        rivals = [(each["token"], each["logprob"]) for each in place.get("top_logprobs") or ()]
        yield place["token"], place["logprob"], _with(place["token"], place["logprob"], rivals)
    columns = (logprobs.get(name) or () for name in ("tokens", "token_logprobs", "top_logprobs"))
    for token, logprob, shown in zip(*columns, strict=False):
        yield token, logprob, _with(token, logprob, list((shown or {}).items()))


def _with(token: str, logprob: float, rivals: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the alternatives and the written token, which may not be among the likeliest."""
    return rivals if any(other == token for other, _ in rivals) else [(token, logprob), *rivals]
