#!/usr/bin/env python3
"""How often rules fire over many modules, and how often what they made is chosen.

    tools/bench/firings.py --gpu-name sm_90a tests/corpus/bytecode FOLDER…

asks `tilec explain` for every module of the folders. Prints the e-graphs of each group of rules (how many, nodes and classes for
each, rounds of search) and the rules that fired most often for nothing. A rule that fires often and is chosen seldom makes
compilations longer: its pattern may ask for more, or what it finds may be emitted in its last form at once.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

from narrow import modules


def explained(tilec: str, target: str, module: pathlib.Path) -> list[dict]:
    """The e-graphs of a module's kernels; none where the target does not have it."""
    command = [tilec, "explain", "--json", "--gpu-name", target, str(module)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["rules"] if done.returncode == 0 else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default="target/release/tilec", help="the compiler")
    parser.add_argument("--gpu-name", default="sm_90a", help="the target (sm_90a)")
    parser.add_argument("--most", type=int, default=30, help="rules to list")
    parser.add_argument("paths", nargs="+", type=pathlib.Path, help="modules, or folders of them")
    options = parser.parse_args()
    graphs: dict[str, list[dict]] = collections.defaultdict(list)
    rules: dict[tuple[str, str], list[int]] = collections.defaultdict(lambda: [0, 0])
    for module in modules(options.paths):
        for graph in explained(options.tilec, options.gpu_name, module):
            graphs[graph["group"]].append(graph)
            for fired in graph["fired"]:
                counts = rules[graph["group"], fired["rule"]]
                counts[0] += fired["times"]
                counts[1] += fired["chosen"]
    print("| group | e-graphs | nodes | classes | rounds | fired | chosen |\n|---|---|---|---|---|---|---|")
    for group, of in graphs.items():
        means = [sum(graph[what] for graph in of) / len(of) for what in ("nodes", "classes", "iterations")]
        sums = [sum(n[i] for (g, _), n in rules.items() if g == group) for i in (0, 1)]
        print(f"| {group} | {len(of)} | {means[0]:.0f} | {means[1]:.0f} | {means[2]:.1f} | {sums[0]} | {sums[1]} |")
    print("\n| group | rule | fired | chosen |\n|---|---|---|---|")
    wasted = sorted(rules.items(), key=lambda of: of[1][1] - of[1][0])
    for (group, rule), (fired, chosen) in wasted[: options.most]:
        print(f"| {group} | `{rule}` | {fired} | {chosen} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
