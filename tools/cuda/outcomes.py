"""Outcomes of pytest's runs under the emulated driver: JUnit's XML, a folder for each target and engine."""

import re
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

COLUMNS = ("passed", "skipped", "xfailed", "listed", "failed")


class Test:
    """One test's outcome: passed, skipped, xfailed, failed, or listed where a reason for its failure is known."""

    def __init__(self, case: xml.Element, run: str, reasons):
        self.name = f"{case.get('classname', '').rsplit('.', 1)[-1]}::{case.get('name')}"
        self.outcome, self.why = "passed", ""
        for child in case:
            if child.tag == "skipped":
                self.outcome = "xfailed" if child.get("type") == "pytest.xfail" else "skipped"
                self.why = child.get("message", "")
            elif child.tag in ("failure", "error"):
                self.outcome, self.why = "failed", child.get("message") or child.text or ""
        self.why = " ".join(self.why.split())
        if self.outcome == "failed":
            for where, pattern, reason in reasons:
                if re.fullmatch(where, run) and re.search(pattern, self.name):
                    self.outcome, self.why = "listed", reason
                    break


def caches(tilec: Path, results: Path) -> dict[str, str]:
    """Where cuTile and TileGym keep what they compiled. Neither tells one build of tilec from another."""
    build = Path(tilec).resolve().stat().st_mtime_ns
    places = {"CUDA_TILE_CACHE_DIR": "cutile", "TILECPP_CACHE_DIR": "tilecpp"}
    return {variable: str(results / f"{name}-{build}") for variable, name in places.items()}


def reasons(path: Path) -> list[list[str]]:
    """Rows of a table: TARGET-ENGINE and test as regular expressions, the reason."""
    lines = path.read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def results(folder: Path, known) -> list[Test]:
    """The tests of `folder`, whose name is TARGET-ENGINE."""
    tests = {}
    # What was run again comes behind its file.
    for path in sorted(folder.glob("*.xml"), key=lambda p: (p.name.count("."), p.name)):
        for case in xml.parse(path).iter("testcase"):
            tests[case.get("classname"), case.get("name")] = Test(case, folder.name, known)
    return list(tests.values())


def killed(path: Path, why: str) -> None:
    """A result for a process that did not end by itself."""
    suite = xml.Element("testsuite")
    case = xml.SubElement(suite, "testcase", classname=f"test.{path.stem}", name="(the file)")
    xml.SubElement(case, "failure", message=why)
    xml.ElementTree(suite).write(path)


def report(folder: Path, known) -> bool:
    """Prints the counts of `folder` and each failure; whether there was one."""
    tests = results(folder, known)
    counts = Counter(test.outcome for test in tests)
    print(f"{folder.name.replace('-', ' ')}: " + ", ".join(f"{counts[word]} {word}" for word in sorted(counts)))
    for test in tests:
        if test.outcome == "failed":
            print(f"  {test.name}: {test.why[:160]}")
    return counts["failed"] > 0


def table(folder: Path, known) -> None:
    """The counts of every run in `folder`, and every reason with its number of tests."""
    runs = sorted(path for path in folder.glob("sm_*-*") if path.is_dir())
    print("| target | engine | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 2))
    whys = Counter()
    for run in runs:
        target, engine = run.name.rsplit("-", 1)
        tests = results(run, known)
        counts = Counter(test.outcome for test in tests)
        print(f"| {target} | {engine} | " + " | ".join(str(counts[c]) for c in COLUMNS) + " |")
        for test in tests:
            if test.outcome in ("skipped", "listed", "xfailed"):
                whys[test.outcome, test.why[:200], f"{target} {engine}"] += 1
    print("\n| tests | outcome | where | reason |\n|---|---|---|---|")
    rows = {}
    for (outcome, why, where), count in whys.items():
        rows.setdefault((outcome, why), {}).setdefault(count, []).append(where)
    for (outcome, why), places in sorted(rows.items()):
        for count, where in places.items():
            every = "everywhere" if len(where) == len(runs) else ", ".join(where)
            print(f"| {count} | {outcome} | {every} | {why} |")
