"""Compiles modules by `tools/libnvvm` for as long as its input is open: a Python that is started, and a library that is
loaded, for each of a thousand modules take longer than the modules.

    python resident.py TOOL REQUESTS

Each line that comes from the named pipe REQUESTS is `MODULE TARGET GPU-NAME ANSWER`, with tabs between: what the module
compiles to goes to the file TARGET, and `done`, or what is wrong, to the named pipe ANSWER. Each module has a process of
its own, so that none depends on another, and all cores are used.
"""

import os
import select
import signal
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader


def load(tool: str):
    """The functions of a program that is written in Python."""
    loader = SourceFileLoader("libnvvm", tool)
    module = module_from_spec(spec_from_loader("libnvvm", loader))
    loader.exec_module(module)
    return module


def serve(tool, library, request: bytes) -> None:
    """Answers one request. Where this process dies of it, the pipe closes without an answer."""
    source, target, gpu_name, answer = request.decode().split("\t")
    with open(answer, "w") as pipe:
        try:
            with open(source, "rb") as text:
                ptx = tool.compile_text(library, text.read(), gpu_name, [])
            with open(target, "w") as text:
                text.write(ptx)
            pipe.write("done\n")
        except (tool.Error, OSError) as error:
            pipe.write(str(error).replace("\n", "; ") + "\n")


def main() -> None:
    tool = load(sys.argv[1])
    library = tool.library()
    # Open for writing, too: it has no end, then, when nobody else writes.
    requests = os.open(sys.argv[2], os.O_RDWR)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    waiting = b""
    while True:
        readable, _, _ = select.select([0, requests], [], [])
        if 0 in readable:
            return
        *lines, waiting = (waiting + os.read(requests, 1 << 16)).split(b"\n")
        for line in lines:
            if os.fork() == 0:
                serve(tool, library, line)
                os._exit(0)


if __name__ == "__main__":
    main()
