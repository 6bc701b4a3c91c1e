"""What a run of the tests costs: slowest files, processor time by folder, unmarked slow tests."""

import resource
from collections import Counter
from collections.abc import Generator
from pathlib import PurePath

import pytest
from xdist.workermanage import WorkerController

SLOWEST = 10
"""Files that the summary names."""
SLOW_S = 20
"""Seconds above which a test needs the mark slow, with its reason."""


def processor_seconds() -> float:
    """Return the processor time of this process and of the children that it has waited for, in seconds."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def folder_of(path: str) -> str:
    """Return up to three parts of the folder of a test file.

    >>> folder_of("tests/scoring/evaluators/bases/test_members.py")
    'tests/scoring/evaluators'
    """
    return str(PurePath(*PurePath(path).parts[:-1][:3]))


class Costs:
    """Measure each test where it runs, and sum up in the process that prints."""

    def __init__(self, slow_s: float = SLOW_S) -> None:
        self.slow_s = slow_s
        self.seconds_by_file: Counter[str] = Counter()
        self.processor_by_folder: Counter[str] = Counter()
        self.collected_after: list[float] = []
        self.unmarked: list[str] = []
        self._before = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = processor_seconds()
        report.processor_s = now - self._before
        report.is_marked_slow = item.get_closest_marker("slow") is not None
        self._before = now
        return report

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._before = processor_seconds()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["collected_after"] = self._before
        else:
            self.collected_after.append(self._before)

    def pytest_testnodedown(self, node: WorkerController) -> None:
        output = getattr(node, "workeroutput", {})  # a process that crashed has none
        if "collected_after" in output:
            self.collected_after.append(output["collected_after"])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path = report.nodeid.split("::")[0]
        self.seconds_by_file[path] += report.duration
        self.processor_by_folder[folder_of(path)] += report.processor_s
        if report.duration > self.slow_s and not report.is_marked_slow:
            self.unmarked.append(f"{report.nodeid} ({report.when}: {report.duration:.0f} s)")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.seconds_by_file:
            return
        terminalreporter.section("where the time went")
        for path, seconds in self.seconds_by_file.most_common(SLOWEST):
            terminalreporter.line(f"{seconds:7.1f} s  {path}")
        total = sum(self.processor_by_folder.values()) + sum(self.collected_after)
        terminalreporter.line(f"{total:7.0f} processor seconds in all, of which")
        terminalreporter.line(f"{sum(self.collected_after):7.1f}    start and collection")
        for folder, seconds in self.processor_by_folder.most_common():
            terminalreporter.line(f"{seconds:7.1f}    {folder}")
        if self.unmarked:
            terminalreporter.section(f"longer than {self.slow_s} s without the mark slow")
            for test in self.unmarked:
                terminalreporter.line(test)
