"""Tags for style sheets, scripts and buttons that post."""

from typing import Any

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def styles(*names: str) -> SafeString:
    """Return links to the style sheets of these names, in this order."""
    return format_html_join(
        "\n", '<link rel="stylesheet" href="{}">', ((static(f"css/{name}.css"),) for name in names)
    )


@register.simple_tag
def scripts(*names: str) -> SafeString:
    """Return script elements of these names, run in this order after the page has loaded."""
    return format_html_join(
        "\n", '<script src="{}" defer></script>', ((static(f"js/{name}.js"),) for name in names)
    )


@register.inclusion_tag("_post_button.html")
def post_button(
    label: str, url_name: str, *args: object, look: str = "", of: str = "", element_id: str = ""
) -> dict[str, Any]:
    """Render a form with one button. `of` extends its label for screen readers."""
    address = reverse(url_name, args=args)
    return {"label": label, "address": address, "look": look, "of": of, "element_id": element_id}
