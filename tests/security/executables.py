"""A search for parts of a page that a browser would run."""

import re
from html.parser import HTMLParser


class Executables(HTMLParser):
    """The parts of a page that could run: scripts from elsewhere, event handlers, styles, odd addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if (tag == "script" and not values.get("src", "").startswith("/static/")) or tag in (
            "style",
            "iframe",
            "object",
            "embed",
            "base",
        ):
            self.found.append(tag)
        self.found += [
            name for name in values if name.startswith(("on", "hx-on", "hx-vars")) or name == "style"
        ]
        for name in ("href", "src", "action", "formaction", "hx-get", "hx-post"):
            if re.match(r"\s*(javascript|data|vbscript|https?):|//", values.get(name, ""), re.IGNORECASE):
                self.found.append(f"{name}={values[name]}")
