"""A plugin of pytest for TileGym's tests on the emulated driver.

Each test runs in a child process with a limit of processor time, so that a fault or a hang ends one test only. The
sizes in its parameters are made small; a test that fails where it is small runs once more as it was written. Tuners
take one candidate of their space and measure none. Tests of other back ends and of performance are left out, and of a
test function's cases, some.
"""

import json
import os
import re
import resource
import signal
import sys
import types

import pytest

#: a size that is larger becomes this one, at the same distance from a multiple of 64; 0: sizes stay
SIZE = int(os.environ.get("TILEGYM_SIZE", "256"))
#: processor time of a test
SECONDS = int(os.environ.get("TILEGYM_SECONDS", "60"))
#: cases of a test function that run, spread evenly; 0: all
CASES = int(os.environ.get("TILEGYM_CASES", "3"))
#: the number of the candidate that tuners take
CANDIDATE = int(os.environ.get("TILEGYM_CANDIDATE", "0"))

MEMORY = 12 << 30
BACK_ENDS = {"cutile", "tilecpp", "cutile-rs", "pytorch", "torch", "triton", "flashinfer"}
TAKEN = {"cutile", "tilecpp"} if os.environ.get("TILEGYM_CPP") else {"cutile"}
HEADS = re.compile("head(?!.*(dim|size))")
FEW = re.compile("batch|^b$|^bsz$|num_groups", re.IGNORECASE)
# Sizes of tiles, of heads, and choices.
FIXED = re.compile("dim|head_size|block|group|tile|seed|top_?k|num_exp|rank|offset|ignore", re.IGNORECASE)
LARGEST_FIXED = 1024


def _first_candidates(space, *_, **__):
    """`cuda.tile.tune.exhaustive_search` without measurements."""
    space = list(space)
    best = types.SimpleNamespace(
        config=space[CANDIDATE % len(space)], mean_us=1.0, num_samples=1, error_margin_us=0.0
    )  # fmt: skip
    return types.SimpleNamespace(best=best, successes=[best], failures=[], summary=lambda **_: "")


def _is_size(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _small(name: str, value):
    if isinstance(value, (tuple, list)):
        return type(value)(_small(name, part) for part in value)
    if not _is_size(value):
        return value
    if FEW.search(name):
        return min(value, 2)
    if value <= SIZE or (FIXED.search(name) and value <= LARGEST_FIXED):
        return value
    return SIZE + (value + 32) % 64 - 32


def _make_small(parameters: dict) -> None:
    """Heads keep their ratio: they share what divides the largest by two or less."""
    heads = {name: value for name, value in parameters.items() if _is_size(value) and HEADS.search(name)}
    divisor = max(1, max(heads.values(), default=1) // 2)
    for name, value in parameters.items():
        parameters[name] = max(1, value // divisor) if name in heads else _small(name, value)


def _of_other_back_end(item) -> bool:
    values = getattr(item, "callspec", None) and item.callspec.params.values() or ()
    return any(isinstance(v, str) and v in BACK_ENDS - TAKEN for v in values)


def pytest_configure(config) -> None:
    import cuda.tile.tune
    import torch

    torch.set_num_threads(1)
    cuda.tile.tune.exhaustive_search = _first_candidates


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items) -> None:
    functions: dict[str, list] = {}
    for item in items:
        if "test_perf" not in item.name and not _of_other_back_end(item):
            functions.setdefault(item.nodeid.split("[")[0], []).append(item)
    chosen = []
    for cases in functions.values():
        count = min(CASES or len(cases), len(cases))
        chosen += [cases[(2 * i + 1) * len(cases) // (2 * count)] for i in range(count)]
    for item in chosen:
        if SIZE and hasattr(item, "callspec"):
            item.as_written = dict(item.callspec.params)
            _make_small(item.callspec.params)
    items[:] = chosen


def _in_child(item) -> tuple[list, int]:
    """The reports of a test that a child process ran, none if it was ended; and its status."""
    from _pytest.runner import runtestprotocol

    hook, config = item.config.hook, item.config
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            reports = runtestprotocol(item, log=False)
            data = [hook.pytest_report_to_serializable(config=config, report=report) for report in reports]
            with os.fdopen(write, "w") as output:
                json.dump(data, output)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    reports = [hook.pytest_report_from_serializable(config=config, data=data) for data in json.loads(text or "[]")]
    for report in reports:
        if isinstance(report.longrepr, list):  # a tuple before JSON
            report.longrepr = tuple(report.longrepr)
    return reports, status


def _too_long(status: int) -> bool:
    return status & 127 in (signal.SIGXCPU, signal.SIGKILL)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    from _pytest.reports import TestReport

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports, status = _in_child(item)
    small = getattr(item, "as_written", None) not in (None, getattr(item, "callspec", None) and item.callspec.params)
    wrong = not _too_long(status) and (not reports or any(report.failed for report in reports))
    if small and wrong:
        item.callspec.params.update(item.as_written)
        reports, status = _in_child(item)
    if not reports:
        outcome, why = "failed", f"the process ended with status {status}"
        if _too_long(status):
            why = f"more than {SECONDS} seconds" + (" (and failed where it was small)" if small and wrong else "")
            outcome, why = "skipped", (str(item.path), 0, why)
        phases = [("setup", "passed", None), ("call", outcome, why), ("teardown", "passed", None)]
        reports = [TestReport(item.nodeid, item.location, {}, result, text, when) for when, result, text in phases]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
