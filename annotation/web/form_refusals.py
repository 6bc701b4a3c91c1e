"""Refusals of the domain as errors of a form, beside the fields that they name."""

from collections.abc import Mapping

from django import forms
from django.utils.text import capfirst


def add_refusal(form: forms.BaseForm, message: str) -> None:
    """Add the message of a DomainError, as "name: reason" to that field if there is one, else to the form."""
    name, _, reason = message.partition(": ")
    if name in form.fields:
        form.add_error(name, capfirst(reason))
    else:
        form.add_error(None, capfirst(message))


def add_field_refusals(form: forms.BaseForm, fields: Mapping[str, str]) -> None:
    """Add the messages of InvalidFields, each to its field if there is one, else to the form."""
    for name, message in fields.items():
        form.add_error(name if name in form.fields else None, message)
