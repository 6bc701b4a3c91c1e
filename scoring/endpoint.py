"""Asking a language model behind an OpenAI-compatible endpoint, one prompt at a time."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from scoring.contract import EvaluatorError
from scoring.marks import Unread

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI


TOO_LONG = "too long for the model"


@dataclass(frozen=True)
class Reply:
    """What came back; `problem` says why it is not a whole answer, if so: an Unread, or TOO_LONG."""

    text: str
    problem: str | None = None


@dataclass(frozen=True)
class Endpoint:
    """Where to ask and how. Temperature is 0; nothing is tried twice: that is the caller's affair."""

    base_url: str
    model: str
    api: Literal["chat", "completions"]
    api_key_env: str
    max_tokens: int
    timeout_s: float

    def connect(self) -> "OpenAI":
        """A client. Raises EvaluatorError, permanent, when the environment lacks the key."""
        from openai import OpenAI

        key = os.environ.get(self.api_key_env)
        if not key:
            raise EvaluatorError(
                f"the environment variable {self.api_key_env} is not set (any text will do for an endpoint "
                "that asks for no key)",
                permanent=True,
            )
        return OpenAI(base_url=self.base_url, api_key=key, max_retries=0, timeout=self.timeout_s)

    def ask(self, client: "OpenAI", prompt: str, *, system: str) -> Reply:
        """The model's reply; `system` goes before the prompt in a chat, a completion is the first line only.

        Raises EvaluatorError: not permanent for outages, rate limits and timeouts; permanent for a wrong key,
        model or request.
        """
        import openai

        try:
            answer = self._send(client, prompt, system)
        except openai.APIStatusError as error:
            return self._refusal_of_this_prompt(error)
        except openai.APIConnectionError as error:  # a timeout is one too
            raise EvaluatorError(f"no answer from {self.base_url}: {error}", permanent=False) from error
        except (openai.APIError, ValueError) as error:
            raise EvaluatorError(
                f"unreadable answer from {self.base_url}: {error}", permanent=False
            ) from error
        if not getattr(answer, "choices", None):
            raise EvaluatorError(
                f"{self.base_url} does not answer as an OpenAI-compatible endpoint", permanent=True
            )
        return self._reply(answer.choices[0])

    def _send(self, client: "OpenAI", prompt: str, system: str) -> Any:
        if self.api == "completions":
            return client.completions.create(
                model=self.model, prompt=prompt, temperature=0, max_tokens=self.max_tokens, stop=["\n"]
            )
        return client.chat.completions.create(
            model=self.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": prompt}],
            temperature=0,
            max_tokens=self.max_tokens,
        )

    def _reply(self, choice: Any) -> Reply:
        message = choice if self.api == "completions" else choice.message
        text = (message.text if self.api == "completions" else message.content) or ""
        refusal = getattr(message, "refusal", None)
        if refusal:
            return Reply(refusal, Unread.REFUSED)
        if choice.finish_reason == "content_filter":
            return Reply(text, Unread.FILTERED)
        return Reply(text, Unread.TRUNCATED if choice.finish_reason == "length" else None)

    def _refusal_of_this_prompt(self, error: "APIStatusError") -> Reply:
        """A refusal that concerns this prompt alone is a reply; every other one is raised.

        Its words are not kept: the model did not write them, and some endpoints quote the prompt in them.
        """
        if error.code == "content_filter":
            return Reply("", Unread.FILTERED)
        if error.code == "context_length_exceeded":
            return Reply("", TOO_LONG)
        outage = error.status_code in (408, 409, 429) or error.status_code >= 500
        raise EvaluatorError(
            f"{self.base_url} answers {error.status_code} for model {self.model!r}: {error.message[:300]}",
            permanent=not outage or error.code == "insufficient_quota",
        ) from error
