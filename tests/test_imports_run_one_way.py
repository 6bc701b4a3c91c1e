"""The direction of imports as the source has it: web -> domain -> pure; metaeval -> scoring -> annotation."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("annotation", "scoring", "metaeval")
MAY_IMPORT = {
    "annotation": {"annotation"},
    "scoring": {"annotation", "scoring"},
    "metaeval": {"annotation", "scoring", "metaeval"},
}
WEB = (
    "views",
    "forms",
    "manager_forms",
    "urls",
    "api",
    "admin",
    "tasks",
    "management",
    "context",
    "middleware",
)
PURE = (
    "annotation/protocol.py",
    "annotation/qualification.py",
    "annotation/importers",
    "scoring/alignment/differences.py",
    "scoring/alignment/parts.py",
    "scoring/contract.py",
    "scoring/digests.py",
    "scoring/params.py",
    "scoring/catalogue.py",
    "scoring/asking",
    "scoring/asking_evaluator.py",
    "scoring/examples.py",
    "scoring/families/values.py",
    "scoring/fingerprints.py",
    "scoring/guess_counts.py",
    "scoring/hub.py",
    "scoring/joint_evaluator.py",
    "scoring/label_evaluator.py",
    "scoring/local_models.py",
    "scoring/judge",
    "scoring/model_evaluator.py",
    "scoring/neural",
    "scoring/out_of_fold.py",
    "scoring/score_file.py",
    "scoring/steadiness/comparison.py",
    "scoring/steadiness/drawing.py",
    "scoring/texts",
    "scoring/weights.py",
    "scoring/evaluators",
    "metaeval/alignment/figures.py",
    "metaeval/stats",
    "metaeval/ceiling.py",
    "metaeval/charts",
    "metaeval/comparison.py",
    "metaeval/files.py",
    "metaeval/judgements.py",
    "metaeval/label_rules.py",
    "metaeval/method.py",
    "metaeval/uncertainty.py",
)


def modules(app: str) -> list[Path]:
    return [path for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_web(name: str) -> bool:
    parts = name.split(".")
    return len(parts) > 1 and parts[0] in APPS and (parts[1] in WEB or parts[1].startswith("api_"))


@pytest.mark.parametrize("app", APPS)
def test_apps_import_each_other_one_way(app):
    for path in modules(app):
        for name in imports(path):
            top = name.split(".")[0]
            assert top not in APPS or top in MAY_IMPORT[app], f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("app", APPS)
def test_the_domain_does_not_import_the_web(app):
    for path in modules(app):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if is_web(module) or path.name == "apps.py":
            continue
        for name in imports(path):
            assert not is_web(name), f"{path.relative_to(ROOT)} imports {name}"


def test_models_do_not_import_actions():
    for path in [*(ROOT / "annotation/models").glob("*.py"), *(ROOT / "scoring/models").glob("*.py")]:
        assert not any(".actions" in name or name == "scoring.runs" for name in imports(path)), path


@pytest.mark.parametrize("place", PURE)
def test_the_pure_column_imports_neither_django_nor_models(place):
    root = ROOT / place
    paths = [root] if root.is_file() else sorted(root.rglob("*.py"))
    assert paths
    for path in paths:
        for name in imports(path):
            assert not name.startswith(("django", "celery", "rest_framework")), f"{path} imports {name}"
            assert ".models" not in name, f"{path} imports {name}"


def test_there_is_no_circle_of_imports():
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for app in APPS
        for path in modules(app)
    }
    graph = {
        module: {name for name in imports(path) if name in names and name != module}
        for module, path in names.items()
    }
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
