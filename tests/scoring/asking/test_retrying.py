"""How long an endpoint asks to be left alone."""

import email.utils
import time

import httpx2
import openai
import pytest

from scoring.asking.retrying import asked_pause_s


def error(headers):
    response = httpx2.Response(429, headers=headers, request=httpx2.Request("POST", "http://127.0.0.1"))
    return openai.APIStatusError("slower", response=response, body=None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "20"}, 20),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"retry-after-ms": "x", "Retry-After": "2"}, 2),
    ],
)
def test_seconds_and_milliseconds(headers, seconds):
    assert asked_pause_s(error(headers)) == seconds


def test_a_date_is_so_many_seconds_from_now():
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert asked_pause_s(error({"Retry-After": date})) == pytest.approx(60, abs=3)


def test_other_errors_ask_for_nothing():
    assert asked_pause_s(TimeoutError()) is None
