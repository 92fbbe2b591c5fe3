"""What the progress bar costs: the same selection with and without it, in a pseudo-terminal.

python benchmarks/progress.py [--rounds 5] [--seed 0]
"""

import argparse
import os
import pty
import subprocess
import sys
import threading

from common import seed_number

SCRIPT = """
import sys, time
from infosieve import MISelector
from infosieve.datasets import make_friedman
seed = int(sys.argv[3])
X, y = make_friedman(300, 100, random_state=seed, return_X_y=True)
MISelector(random_state=seed, max_features=1, lookahead=1).fit(X[:, :8], y)
import rich.progress
for verbose in (0, 1) * int(sys.argv[1]):
    start = time.perf_counter()
    MISelector(random_state=seed, max_features=3, verbose=verbose).fit(X, y)
    open(sys.argv[2], "a").write(f"{verbose} {time.perf_counter() - start}\\n")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=seed_number, default=0, help="of the data")
    arguments = parser.parse_args()
    ours, theirs = pty.openpty()
    name = f"/tmp/infosieve-progress-{os.getpid()}"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(arguments.rounds), name, str(arguments.seed)],
        stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)

    def drain():
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass

    threading.Thread(target=drain, daemon=True).start()
    process.wait()
    with open(name) as file:
        rows = [line.split() for line in file]
    os.unlink(name)
    silent, shown = ([float(s) for v, s in rows if v == which] for which in ("0", "1"))
    print(f"silent {min(silent):.3f} s, with the bar {min(shown):.3f} s: "
          f"{100 * (min(shown) / min(silent) - 1):+.1f} %")  # fmt: skip


if __name__ == "__main__":
    main()
