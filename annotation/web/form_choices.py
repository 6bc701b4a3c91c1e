"""Choices of forms that depend on the project."""

from collections.abc import Iterable

from django import forms

from annotation.models import Project


def offer(form: forms.Form, name: str, choices: Iterable[tuple[str, str]]) -> None:
    """Set the choices of one of the form's fields."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)


def article_languages(project: Project) -> list[str]:
    codes = project.articles.order_by("language").values_list("language", flat=True)
    return list(codes.distinct())
