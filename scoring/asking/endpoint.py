"""Asking a language model behind an OpenAI-compatible endpoint, one prompt at a time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scoring.asking.request import TOO_LONG, Address, Reply, Request, Usage
from scoring.contract import EvaluatorError
from scoring.judge.marks import Unread

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI


@dataclass(frozen=True)
class HostedModel:
    """A model at an endpoint. Nothing is tried twice: that is the caller's affair."""

    address: Address

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Raises EvaluatorError: not permanent for outages, rate limits and timeouts, else permanent."""
        return [self._ask(request) for request in requests]

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import OpenAI

        key = os.environ.get(self.address.api_key_env)
        if not key:
            raise EvaluatorError(
                f"the environment variable {self.address.api_key_env} is not set (any text will do for an "
                "endpoint that asks for no key)",
                permanent=True,
            )
        return OpenAI(
            base_url=self.address.base_url, api_key=key, max_retries=0, timeout=self.address.timeout_s
        )

    def _ask(self, request: Request) -> Reply:
        import openai

        base_url = self.address.base_url
        try:
            answer = self._send(request)
        except openai.APIStatusError as error:
            return self._refusal_of_this_prompt(error)
        except openai.APIConnectionError as error:  # a timeout is one too
            raise EvaluatorError(f"no answer from {base_url}: {error}", permanent=False) from error
        except (openai.APIError, ValueError) as error:
            raise EvaluatorError(f"unreadable answer from {base_url}: {error}", permanent=False) from error
        if not getattr(answer, "choices", None):
            raise EvaluatorError(
                f"{base_url} does not answer as an OpenAI-compatible endpoint", permanent=True
            )
        return self._reply(answer, request)

    def _send(self, request: Request) -> Any:
        model = self.address.model
        if self.address.api == "completions":
            return self._client.completions.create(
                model=model,
                prompt=request.prompt,
                temperature=request.temperature,
                max_tokens=request.max_tokens,
                stop=["\n"],
            )
        return self._client.chat.completions.create(
            model=model,
            messages=[
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.prompt},
            ],
            temperature=request.temperature,
            max_tokens=request.max_tokens,
        )

    def _reply(self, answer: Any, request: Request) -> Reply:
        choice = answer.choices[0]
        is_completion = self.address.api == "completions"
        message = choice if is_completion else choice.message
        text = (message.text if is_completion else message.content) or ""
        refusal = getattr(message, "refusal", None)
        problem = None
        if refusal:
            text, problem = refusal, Unread.REFUSED
        elif choice.finish_reason == "content_filter":
            problem = Unread.FILTERED
        elif choice.finish_reason == "length":
            problem = Unread.TRUNCATED
        used = getattr(answer, "usage", None)
        return Reply(
            # Some servers repeat the prompt, with other summaries' labels, before what the model wrote.
            text.removeprefix(request.prompt),
            problem,
            usage=Usage(used.prompt_tokens, used.completion_tokens) if used else None,
            model=answer.model or "",
        )

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
            f"{self.address.base_url} answers {error.status_code} for model {self.address.model!r}: "
            f"{error.message[:300]}",
            permanent=not outage or error.code == "insufficient_quota",
        ) from error
