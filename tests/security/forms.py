"""The forms and links of a page, as a browser would send them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit


@dataclass(frozen=True)
class Sending:
    """What a form, a button or a link of a page sends, and where to."""

    method: str
    address: str
    fields: dict[str, str]
    typed: frozenset[str] = frozenset()
    """The fields that take any text."""

    @property
    def path(self) -> str:
        return urlsplit(self.address).path


@dataclass
class _Form:
    method: str
    actions: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)  # action, name, value


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.forms: dict[str, _Form] = {}
        self.links: set[str] = set()
        self.inside = self.select = self.textarea = ""
        self.late: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in given}
        owner = attributes.get("form", self.inside)
        if tag == "form":
            self.inside = attributes.get("id") or f"form {len(self.forms)}"
            names = ("action", "hx-post", "hx-get", "data-draft")
            actions = [attributes[name] for name in names if attributes.get(name)] or [""]
            method = "POST" if "hx-post" in attributes else attributes.get("method", "get").upper()
            self.forms[self.inside] = _Form(method, actions)
        elif tag in ("a", "link") and "href" in attributes:
            self.links.add(attributes["href"])
        elif tag in ("input", "select", "textarea", "button"):
            self.late.append((owner, {"tag": tag, **attributes}))
        elif tag == "option" and self.late and ("selected" in attributes or "value" not in self.late[-1][1]):
            self.late[-1][1]["value"] = attributes.get("value", "")
        if "hx-get" in attributes:
            self.links.add(attributes["hx-get"])
        self.textarea = "yes" if tag == "textarea" else ""

    def handle_data(self, data: str) -> None:
        if self.textarea:
            self.late[-1][1]["value"] = data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        self.textarea = ""
        if tag == "form":
            self.inside = ""

    def close(self) -> None:
        """Give the controls to their forms, which may begin after them."""
        super().close()
        for owner, each in self.late:
            form = self.forms.get(owner)
            if form is None:
                continue
            name, value, kind = each.get("name", ""), each.get("value", ""), each.get("type", "")
            if each["tag"] == "button":
                action = each.get("hx-post") or each.get("formaction", "")
                form.buttons.append((action, name, value))
            elif (
                name
                and kind != "file"
                and (kind not in ("checkbox", "radio") or "checked" in each or name not in form.fields)
            ):
                form.fields[name] = value or ("on" if kind == "checkbox" else "")
                if each["tag"] != "select" and kind not in ("checkbox", "radio", "hidden"):
                    form.typed.add(name)


def sendings(page: str, address: str) -> list[Sending]:
    """Return what can be sent from a page at this address: by each button of each form, and by each link."""
    reader = _Reader(address)
    reader.feed(page)
    reader.close()
    found = []
    for form in reader.forms.values():
        for action, name, value in [*form.buttons, *((action, "", "") for action in form.actions)]:
            pressed = {name: value} if name else {}
            where = urljoin(address, action or form.actions[0])
            found.append(Sending(form.method, where, form.fields | pressed, frozenset(form.typed)))
    for link in reader.links:
        where = urlsplit(urljoin(address, link))
        if where.path and not where.netloc:
            found.append(Sending("GET", where.path, dict(parse_qsl(where.query))))
    return found
