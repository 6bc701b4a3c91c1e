"""The pause that an endpoint requests with Retry-After."""

import email.utils
import time

import httpx2
import openai
import pytest

from scoring.llm.errors import requested_pause_s


def error(headers):
    response = httpx2.Response(429, headers=headers, request=httpx2.Request("POST", "http://127.0.0.1"))
    return openai.APIStatusError("slower", response=response, body=None)


def test_retry_after_in_seconds_and_milliseconds(subtests):
    cases = [
        ({}, None),
        ({"Retry-After": "20"}, 20),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"retry-after-ms": "x", "Retry-After": "2"}, 2),
    ]
    for headers, seconds in cases:
        with subtests.test(headers=headers, seconds=seconds):
            assert requested_pause_s(error(headers)) == seconds


def test_retry_after_as_a_date():
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert requested_pause_s(error({"Retry-After": date})) == pytest.approx(60, abs=3)


def test_other_errors_request_no_pause():
    assert requested_pause_s(TimeoutError()) is None
