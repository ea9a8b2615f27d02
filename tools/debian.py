"""Programs of Debian's packages, unpacked below the toolkit instead of installed.

What a package depends on and this machine lacks is unpacked beside it; a wrapper sets the paths. Debian keeps only the
newest build of a browser, so a version cannot be pinned: `versions` in the folder says what was unpacked.
"""

import shutil
import subprocess
from pathlib import Path

# The browser in which the page of `tilec view` is tested, and a font for its text.
CHROMIUM = ["chromium-headless-shell", "fonts-dejavu-core"]
PROGRAM = "usr/lib/chromium/chromium-headless-shell"

WRAPPER = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/root
export LD_LIBRARY_PATH="$here/usr/lib/x86_64-linux-gnu:$here/usr/lib/x86_64-linux-gnu/pulseaudio${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="$here/../fonts.conf"
exec "$here/PROGRAM" "$@"
"""

FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>FOLDER/usr/share/fonts</dir>
  <cachedir>FOLDER/cache</cachedir>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
</fontconfig>
"""


class Unavailable(Exception):
    """Debian's packages cannot be had here."""


def apt(*command: str, folder: Path) -> str:
    """What a program of apt prints."""
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Unavailable(f"{command[0]} is not there: only Debian's packages hold the browser") from error
    if done.returncode != 0:
        raise Unavailable(f"'{' '.join(command)}' failed: {done.stderr.strip()[-400:]}")
    return done.stdout


def missing(folder: Path) -> list[str]:
    """The packages and what they depend on, as far as this machine lacks it."""
    plan = apt("apt-get", "-s", "install", "--reinstall", "--no-install-recommends", *CHROMIUM, folder=folder)
    return [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]


def chromium(home: Path) -> Path:
    """The wrapper of headless Chromium; unpacked if it is not there yet."""
    folder = home / "chromium"
    wrapper = folder / "chromium"
    if wrapper.exists():
        return wrapper
    shutil.rmtree(folder, ignore_errors=True)
    root, packages = folder / "root", folder / "packages"
    packages.mkdir(parents=True)
    try:
        names = missing(packages)
    except Unavailable:
        # An image may come without package lists.
        apt("apt-get", "update", folder=packages)
        names = missing(packages)
    apt("apt-get", "download", *names, folder=packages)
    files = sorted(packages.glob("*.deb"))
    for file in files:
        apt("dpkg-deb", "-x", str(file), str(root), folder=packages)
    (folder / "versions").write_text("".join(f"{file.name}\n" for file in files))
    shutil.rmtree(packages)
    (folder / "fonts.conf").write_text(FONTS.replace("FOLDER", str(root)))
    # Written last: without it nothing is taken for complete.
    fresh = folder / "chromium.new"
    fresh.write_text(WRAPPER.replace("PROGRAM", PROGRAM))
    fresh.chmod(0o755)
    fresh.rename(wrapper)
    return wrapper
