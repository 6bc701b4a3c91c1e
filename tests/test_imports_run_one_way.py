"""The direction of imports: from app to app, from room to room, and from web to domain to pure code."""

from collections.abc import Iterator

import pytest

from tests.imports import ROOT, imports, modules
from tests.rooms import ROOMS

APPS = tuple(ROOMS)
NO_ROOMS = {"__init__", "apps", "migrations"}
WEB_FOLDERS = {"management", "web"}
WEB_FILES = {"urls", "api", "api_urls", "admin", "tasks", "views", "forms", "news"}
WEB_ENDINGS = ("_views", "_form", "_forms", "_middleware")
PURE = (
    "annotation/mean_labels.py",
    "annotation/protocol.py",
    "annotation/gold/qualification.py",
    "annotation/declared/settings.py",
    "annotation/imports/formats",
    "annotation/imports/reading",
    "annotation/texts",
    "scoring/contract",
    "scoring/evaluators",
    "metaeval/experiments/values.py",
    "scoring/files",
    "scoring/llm",
    "scoring/neural",
    "scoring/prompts",
    "scoring/sealed_labels/label_parts.py",
    "scoring/texts",
    "scoring/trainers",
    "scoring/weights",
    "metaeval/charts",
    "metaeval/comparison/comparison.py",
    "metaeval/comparison/human_ceiling.py",
    "metaeval/comparison/uncertainty.py",
    "metaeval/judges/figures.py",
    "metaeval/learning_curves/shares.py",
    "metaeval/learning_curves/statistics.py",
    "metaeval/rechecks/comparison.py",
    "metaeval/snapshot/arrays.py",
    "metaeval/snapshot/from_files.py",
    "metaeval/snapshot/label_rules.py",
    "metaeval/stats",
)


def room_of(module: str) -> str:
    return module.split(".")[1]


def is_web(module: str) -> bool:
    parts = module.split(".")
    if parts[0] not in APPS or len(parts) == 1:
        return False
    last = parts[-1]
    return parts[1] in WEB_FOLDERS or last in WEB_FILES or last.endswith(WEB_ENDINGS)


def imported_modules(app: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a module of the app and a module of any app that it imports."""
    known = {name for each in APPS for name in modules(each)}
    for module, path in modules(app).items():
        for name in imports(path) & known:
            if name != module:
                yield module, name


@pytest.mark.parametrize("app", APPS)
def test_every_room_of_an_app_is_listed_and_every_listed_room_exists(app):
    rooms = {room_of(module) for module in modules(app) if "." in module} - NO_ROOMS
    assert rooms == set(ROOMS[app])


@pytest.mark.parametrize("app", APPS)
def test_a_room_imports_only_the_rooms_below_it(app):
    order = {room: place for place, room in enumerate(ROOMS[app])}
    wrong = [
        f"{module} imports {name}"
        for module, name in imported_modules(app)
        if name.startswith(f"{app}.")
        and {room_of(module), room_of(name)} <= order.keys()
        and order[room_of(name)] < order[room_of(module)]
    ]
    assert wrong == []


@pytest.mark.parametrize("app", APPS)
def test_apps_import_only_the_apps_below_them(app):
    above = APPS[: APPS.index(app)]
    assert [pair for pair in imported_modules(app) if pair[1].split(".")[0] in above] == []


@pytest.mark.parametrize("app", APPS)
def test_the_domain_does_not_import_the_web(app):
    wrong = [
        f"{module} imports {name}"
        for module, name in imported_modules(app)
        if is_web(name) and not is_web(module) and room_of(module) != "apps"
    ]
    assert wrong == []


@pytest.mark.parametrize("app", APPS)
def test_no_app_has_more_than_twelve_modules_in_its_root(app):
    assert len([path for path in (ROOT / app).glob("*.py") if path.stem != "__init__"]) <= 12


def test_pure_modules_import_neither_django_nor_models():
    wrong = []
    for root in (ROOT / place for place in PURE):
        paths = [root] if root.is_file() else sorted(root.rglob("*.py"))
        assert paths, root
        wrong += [
            f"{path} imports {name}"
            for path in paths
            for name in imports(path)
            if name.startswith(("django", "celery", "rest_framework")) or ".models" in name
        ]
    assert wrong == []


def test_there_are_no_circular_imports():
    graph: dict[str, set[str]] = {name: set() for app in APPS for name in modules(app)}
    for app in APPS:
        for module, name in imported_modules(app):
            graph[module].add(name)
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        if module in done:
            return
        for name in graph[module]:
            visit(name, (*trail, module))
        done.add(module)

    for module in graph:
        visit(module, ())


def test_a_rooms_templates_belong_to_it_alone():
    """So a room's pages can be deleted with its folder. Templates of several rooms lie above the folders."""
    templates = ROOT / "templates"
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in templates.rglob("*.html")}
    texts |= {str(path.relative_to(ROOT)): path.read_text() for app in APPS for path in modules(app).values()}
    rooms = {f"{app}/{room}/" for app in APPS for room in ROOMS[app]}
    in_rooms = {path: room for path in texts for room in rooms if path.startswith(f"templates/{room}")}
    assert len(in_rooms) > 100
    for template, room in in_rooms.items():
        name = template.removeprefix("templates/")
        users = {path for path, text in texts.items() if path != template and f'"{name}' in text}
        assert users, f"nothing uses {template}"
        assert all(f"/{room}" in f"/{path.removeprefix('templates/')}" for path in users), (template, users)
