"""Run the benchmarks and print each figure beside its aim: `python -m benchmarks [PART…]`; `PARTS` lists them."""

from __future__ import annotations

import sys

from benchmarks import calls, commands, fuzz, memory, rollouts, scale, scenarios, scoring, states
from benchmarks.report import show

PARTS = {
    "calls": calls.run,
    "scale": scale.run,
    "memory": memory.run,
    "commands": commands.run,
    "fuzz": fuzz.run,
    "scenarios": scenarios.run,
    "rollouts": rollouts.run,
    "scoring": scoring.run,
    "states": states.run,
}


def main() -> int:
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for name in chosen:
        show(name, PARTS[name]())
    return 0


if __name__ == "__main__":
    sys.exit(main())
