"""The lowest versions that pyproject.toml allows: print them, install envscaler with them, import every module on them."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def pins() -> list[str]:
    """`name==version` for each dependency, from its `name>=version`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    for requirement in project["dependencies"]:
        name, separator, version = requirement.partition(">=")
        if not separator or not version.replace(".", "").isdecimal():
            sys.exit(f"{requirement!r} in pyproject.toml is not of the form name>=version")
        found.append(f"{name}=={version}")
    return found


def import_all() -> int:
    """Import every module of the package, and every dependency; the number of modules."""
    import envscaler

    names = [m.name for m in pkgutil.walk_packages(envscaler.__path__, "envscaler.") if not m.name.endswith("__main__")]
    for name in names:
        importlib.import_module(name)
    for pin in pins():
        importlib.import_module(pin.partition("==")[0])
    return len(names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--install", action="store_true", help="install envscaler[dev] with these versions into this Python"
    )
    parser.add_argument(
        "--import-all", action="store_true", help="import every module of envscaler and its dependencies"
    )
    options = parser.parse_args()
    if options.install:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "-e", f"{ROOT}[dev]", *pins()]
        sys.exit(subprocess.run(command, check=False).returncode)
    if options.import_all:
        print(f"{import_all()} modules imported")
    else:
        print("\n".join(pins()))


if __name__ == "__main__":
    main()
