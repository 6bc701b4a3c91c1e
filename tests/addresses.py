"""The named addresses of the URL configuration, without Django's admin."""

from collections.abc import Iterator, Mapping

from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern, URLResolver


def patterns(entries: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for entry in entries:
        if not isinstance(entry, URLResolver):
            yield entry
        elif entry.namespace != "admin":
            yield from patterns(entry.url_patterns)


def _arguments(
    entries: list[URLPattern | URLResolver], before: tuple[str, ...] = ()
) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    for entry in entries:
        names = (*before, *entry.pattern.converters)
        if not isinstance(entry, URLResolver):
            yield entry.name, names
        elif entry.namespace != "admin":
            yield from _arguments(entry.url_patterns, names)


ARGUMENTS = dict(_arguments(get_resolver().url_patterns))
"""Name of the address -> names of its arguments."""


def address_of(name: str, ids: Mapping[str, int | str]) -> str:
    """Return the address of this name, with the arguments that it takes from `ids`."""
    return reverse(name, kwargs={argument: ids[argument] for argument in ARGUMENTS[name]})


def has_object(name: str) -> bool:
    """Return whether the address names an object by its id."""
    return any(argument.endswith("_id") for argument in ARGUMENTS[name])
