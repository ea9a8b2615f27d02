"""What the compiler decided about a kernel, as text, data and HTML."""

from __future__ import annotations

import html
import json
from typing import Any


class Explanation:
    """`str()` is for people, `data` for programs; a notebook shows tables."""

    def __init__(self, text: str, data: str) -> None:
        self.text = text
        self.data: dict[str, Any] = json.loads(data)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<tilec.Explanation of {', '.join(k['name'] for k in self.data['kernels']) or 'nothing'}>"

    def _repr_html_(self) -> str:
        parts = [f"<h4>target {html.escape(self.data['target'])}</h4>"]
        for kernel in self.data["kernels"]:
            rows = [[d["kind"].replace("_", " "), _details(d), d.get("at", "")] for d in kernel["decisions"]]
            title = f"kernel {kernel['name']}: {kernel['warps']} warps"
            parts.append(table(title, ["decision", "what", "where"], rows))
        for launch in self.data["launches"]:
            rows = [[f"{r['offset']}…{r['offset'] + r['bytes']}", r["what"]] for r in launch["shared_map"]]
            threads = launch["block"][0]
            parts.append(table(f"shared memory of {launch['name']}, {threads} threads", ["bytes", "what"], rows))
        rows = [
            [f["rule"], f"{f['file']}:{f['line']}", f["times"], f["chosen"], ", ".join(f["at"])]
            for group in self.data["rules"]
            for f in group["fired"]
        ]
        parts.append(table("rules", ["rule", "from", "fired", "chosen", "where"], rows))
        return "\n".join(parts)


def _details(decision: dict[str, Any]) -> str:
    left = {key: value for key, value in decision.items() if key not in ("kind", "at")}
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in left.items())


def table(title: str, heads: list[str], rows: list[list[Any]]) -> str:
    """An HTML table that folds."""

    def line(cells: list[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    head = line(heads, "th")
    return f"<details open><summary>{html.escape(title)}</summary><table>{head}{body}</table></details>"
