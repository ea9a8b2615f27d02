"""Figures of GPUs, from the file that they share with the simulator's clock."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "ptxsim/gpus.json"


@dataclass(frozen=True)
class Gpu:
    name: str
    figures: dict  # of the GPU, and of its compute capability
    tensor: dict

    def __getitem__(self, figure: str) -> float:
        return self.figures[figure]["value"]

    def multiply_adds(self, kind: str) -> float | None:
        """Multiply-adds a clock of a multiprocessor; `kind` is an element type, or that, `>` and the accumulator's."""
        row = self.tensor.get(kind) or self.tensor.get(kind.split(">")[0])
        return row and row["value"]

    @property
    def l2_share(self) -> float:
        """Bytes a clock that a multiprocessor gets from L2 while all ask for them."""
        return min(self["l2_bytes_per_clock_sm"], self["l2_bytes_per_clock"] / self["sms"])

    @property
    def dram_share(self) -> float:
        """The same of device memory."""
        return self["dram_gbs"] * self["dram_share"] * 1e3 / self["boost_mhz"] / self["sms"]


@cache
def table() -> dict[str, Gpu]:
    known = json.loads(FILE.read_text())
    gpus = {}
    for name, own in known["gpus"].items():
        capability = known["capabilities"][own["capability"]]
        figures = {k: v for k, v in {**known["absent"], **capability, **own}.items() if isinstance(v, dict) and "value" in v}
        gpus[name] = Gpu(name, figures, capability["tensor"])
    return gpus


def of_target(sm: int) -> Gpu:
    """The GPU that stands for `sm_80` and the like; the nearest older one where there is none."""
    targets = {int(n): name for n, name in json.loads(FILE.read_text())["targets"].items()}
    known = max((n for n in targets if n <= sm), default=min(targets))
    return table()[targets[known]]
