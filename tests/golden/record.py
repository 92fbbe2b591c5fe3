"""Golden records: facts of small cases, which no change of the code may change unnoticed.

    python tests/golden/record.py [--write] [--all-bits] [--jobs N] [CASE ...]

Compares all cases (or those whose names contain a word that is given) with records.json beside this
file, and exits with 1 if one has changed. --write puts them there: the CHANGELOG names the reason.
--all-bits also compares what depends on the machine, the last digits of numbers: no such record is
known to differ between machines, but other libraries of linear algebra may make one.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from cases import CASES, facts
from facts import record_of

KEPT = Path(__file__).parent / "records.json"


def kept():
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def changes(before, now, all_bits=False):
    """What differs between two records of a case: a line each, for people."""
    if before is None:
        return ["there is no record of it: python tests/golden/record.py --write"]
    if before["hash"] == now["hash"]:
        if all_bits and before["all bits"] != now["all bits"]:
            return ["numbers differ after their first ten digits"]
        return []
    parts = {**before["parts"], **now["parts"]}
    others = [name for name in parts if before["parts"].get(name) != now["parts"].get(name)]
    lines = [f"changed: {', '.join(others)}"]
    lines += [f"the same: {', '.join(name for name in parts if name not in others) or 'nothing'}"]
    for name in others:
        then, here = before["seen"].get(name), now["seen"].get(name)
        if then != here:
            lines += [f"{name} was {then}", f"{' ' * len(name)}  is {here}"]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="words in the names of cases")
    parser.add_argument("--write", action="store_true", help="keep what is found")
    parser.add_argument("--all-bits", action="store_true", help="compare all digits, too")
    parser.add_argument("--jobs", type=int, default=1, help="threads; nothing depends on them")
    arguments = parser.parse_args()
    before, found, changed = kept(), {}, 0
    names = [n for n in CASES if not arguments.cases or any(w in n for w in arguments.cases)]
    for name in names:
        start = time.process_time()
        found[name] = record_of(facts(name, arguments.jobs))
        lines = changes(before.get(name), found[name], arguments.all_bits)
        changed += bool(lines)
        print(f"{'CHANGED' if lines else 'same':8} {time.process_time() - start:5.2f} s  {name}")
        print("".join(f"    {line}\n" for line in lines), end="", flush=True)
    print(f"{len(names)} cases, {changed} changed")
    if arguments.write:
        known = {name: found.get(name, before.get(name)) for name in CASES}
        text = json.dumps({k: v for k, v in known.items() if v is not None}, indent=1)
        KEPT.write_text(text + "\n", encoding="utf-8")
    sys.exit(1 if changed and not arguments.write else 0)


if __name__ == "__main__":
    main()
