"""Every address there is, as the URL configuration has it; Django's admin is left out."""

from collections.abc import Iterator, Mapping

from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern, URLResolver


def patterns(entries: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for entry in entries:
        if not isinstance(entry, URLResolver):
            yield entry
        elif entry.namespace != "admin":
            yield from patterns(entry.url_patterns)


ARGUMENTS = {
    pattern.name: tuple(pattern.pattern.converters) for pattern in patterns(get_resolver().url_patterns)
}
"""Name of the address -> names of its arguments."""


def address_of(name: str, ids: Mapping[str, int | str]) -> str:
    """The address of this name with those of `ids` that it takes."""
    return reverse(name, kwargs={argument: ids[argument] for argument in ARGUMENTS[name]})


def has_object(name: str) -> bool:
    """Whether the address names an object by its id."""
    return any(argument.endswith("_id") for argument in ARGUMENTS[name])
