"""Kill the command at random moments, again and again, until it comes through: same result?

    python experiments/kill.py [--rounds 20] [--seed 0]

Each round selects from the same table with a checkpoint of its own; SIGKILL strikes after a random
time, the same command is started again, and what comes out in the end is compared with a run that
nobody disturbed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from infosieve.datasets import make_friedman


def command(folder, *more):
    options = ["--target", "Y", "--seed", "0", "--quiet", "--json", "--search", "forward-backward"]
    return [sys.executable, "-m", "infosieve", "select", str(folder / "t.csv"), *options, *more]


def result(text):
    document = json.loads(text)
    for name in ("checkpoint", "n_jobs"):
        del document["provenance"]["parameters"][name]
    del document["provenance"]["command"]
    return document


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = make_friedman(150, 30, random_state=0, return_X_y=True, as_frame=True)
        X.assign(Y=y).to_csv(folder / "t.csv", index=False)
        whole = result(subprocess.run(command(folder), capture_output=True, check=True).stdout)
        for number in range(arguments.rounds):
            kills, longest = 0, 2.0
            while True:
                place = str(folder / f"{number}.json")
                process = subprocess.Popen(
                    command(folder, "--checkpoint", place), stdout=subprocess.PIPE
                )
                try:
                    out, _ = process.communicate(timeout=rng.uniform(0.2, longest))
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    kills, longest = kills + 1, longest * 1.1
            same = process.returncode == 0 and result(out) == whole
            print(f"round {number + 1}: killed {kills} times, {'same' if same else 'OTHER'} result")
            if not same:
                sys.exit(1)


if __name__ == "__main__":
    main()
