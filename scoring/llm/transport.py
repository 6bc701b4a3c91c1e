"""Connections to endpoints that may be hostile or broken: where they lead, and how much they bring."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from openai import DEFAULT_CONNECTION_LIMITS

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Reach
from scoring.llm.addresses import is_on_this_machine, is_within, may_lead_within

_PORTS = {"http": 80, "https": 443}
CONNECT_S = 10.0
"""Seconds to connect to an address of a host before the next is tried."""
_DECODED = {"content-encoding", "content-length"}
"""Headers that no longer hold once an answer is decoded."""


class EndpointTransport(httpx2.AsyncBaseTransport):
    """Sends requests to one endpoint.

    Connections lead only within the reach, which the operator widens by the setting `listed_in`: the host's
    name is resolved once, and what is checked is what is connected to, so the name cannot lead elsewhere in
    between. Through a proxy, which resolves names itself, only IP addresses in the address are checked.
    Redirects are refused, and so are answers of more than `most_bytes` bytes, decoded. Raises EvaluatorError,
    permanent, for what is refused.
    """

    def __init__(
        self, base_url: str, reach: Reach, most_bytes: int, *, listed_in: str = "LLM_ENDPOINTS"
    ) -> None:
        self._base_url, self._reach, self._most_bytes = base_url, reach, most_bytes
        self._listed_in = listed_in
        proxy = _proxy_for(base_url)
        self._is_resolved_elsewhere = proxy is not None or reach is Reach.ANYWHERE
        self._numbers: list[str] = []
        self._inner = httpx2.AsyncHTTPTransport(
            verify=_certificates(), limits=DEFAULT_CONNECTION_LIMITS, proxy=proxy
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._sent(request)
        if response.has_redirect_location:
            await response.aclose()
            raise EvaluatorError(
                f"{self._base_url} redirects ({response.status_code}), and redirects are not followed: use "
                "the address that answers itself, such as the one with https",
                permanent=True,
            )
        return httpx2.Response(
            response.status_code,
            headers=[each for each in response.headers.multi_items() if each[0].lower() not in _DECODED],
            stream=_Decoded(response, self._base_url, self._most_bytes),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        if not may_lead_within(self._base_url, self._reach):
            raise self._beyond(urlsplit(self._base_url).hostname or "")
        if self._is_resolved_elsewhere:
            return await self._inner.handle_async_request(request)
        self._numbers = self._numbers or await self._resolved(request.url)
        *others, last = self._numbers
        for number in others:
            try:
                return await self._inner.handle_async_request(_directed(request, number))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_directed(request, last))

    async def _resolved(self, url: httpx2.URL) -> list[str]:
        """Return the host's IP addresses. Raises EvaluatorError if one of them is beyond reach."""
        host, port = url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(f"{host} cannot be resolved: {error}") from error
        numbers = list(dict.fromkeys(str(each[4][0]) for each in found))
        for number in numbers:
            if not is_within(ip_address(number), self._reach):
                raise self._beyond(number)
        return numbers

    def _beyond(self, number: str) -> EvaluatorError:
        return EvaluatorError(
            f"{self._base_url} leads to {number}, which is no public address: the operator of this server "
            f"has to list {self._base_url} in {self._listed_in} to allow it",
            permanent=True,
        )


class _Decoded(httpx2.AsyncByteStream):
    """The decoded content of a response, which ends with an error at the limit."""

    def __init__(self, response: httpx2.Response, base_url: str, most_bytes: int) -> None:
        self._response, self._base_url, self._most_bytes = response, base_url, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        async with aclosing(self._response.aiter_bytes()) as pieces:
            async for piece in pieces:
                came += len(piece)
                if came > self._most_bytes:
                    raise EvaluatorError(
                        f"{self._base_url} sends an answer of more than {self._most_bytes:,} bytes",
                        permanent=True,
                    )
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


def _directed(request: httpx2.Request, number: str) -> httpx2.Request:
    """Return the request to this IP address. Host, server name and certificate remain those of the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=number),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")},
    )


def _proxy_for(base_url: str) -> str | None:
    """Return the environment's proxy for this address; none for this machine."""
    address, found = urlsplit(base_url), getproxies()
    if is_on_this_machine(base_url) or proxy_bypass(address.netloc):
        return None
    proxy = found.get(address.scheme) or found.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


@cache
def _certificates() -> SSLContext:
    """Return the certificates, read once since that takes longer than many an answer."""
    return httpx2.create_ssl_context()
