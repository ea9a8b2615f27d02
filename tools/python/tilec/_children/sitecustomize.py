"""Python processes that an emulated one starts are emulated, too: this folder is on their path."""

import importlib.abc
import importlib.machinery
import os
import sys


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Finds torch as anyone would, and maps device "cuda" to the CPU once it is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            from tilec import emulate

            emulate.install()

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("TILEC_EMULATE_TORCH") == "1":
    sys.meta_path.insert(0, _AfterTorch())
