"""Two runs of the benchmarks as ratios of their times: new over old, the worst slow-down first.

    python benchmarks/compare.py OLD NEW         # two JSON files, or two folders of them
    make bench-compare OLD=... NEW=...

Entries are matched by what they measure (case, sizes, whose time), not by where they stand. Only
times are compared; all are in seconds. The times of other libraries, where a run has them, are
listed apart: they tell how fast the machine was. --relative divides by the median of their ratios.

Exit status: 0; 1 if --fail-above is exceeded by one of ours; 2 if there is nothing to compare.
"""

import argparse
import json
import math
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

IDENTITY = ("case", "n", "m", "columns", "candidates", "selected", "permutations")
# Keys of times, and of groups of times; what one of their units is in seconds.
TIMES = {
    **dict.fromkeys(("seconds", "seconds given 0", "seconds given 4", "kernels"), 1.0),
    **dict.fromkeys(("ours", "theirs", "one", "two", "one column", "threads", "workers"), 1.0),
    **dict.fromkeys(("gpu", "cpu", "start", "compiled"), 1.0),
    "nanoseconds a value": 1e-9,
}
OURS = "infosieve"


class Entry(NamedTuple):
    """One time: what was measured, whose it is, and whether that is another library."""

    what: str
    who: str
    peer: bool


class Pair(NamedTuple):
    entry: Entry
    old: float
    new: float
    ratio: float


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def described(row):
    """What tells a row from others: its case and sizes, in words."""
    known = [(key, row[key]) for key in IDENTITY if isinstance(row.get(key), str | int)]
    return ", ".join(str(value) if key == "case" else f"{key} = {value:,}" for key, value in known)


def times_of(row, what):
    """The times of one row."""
    for key, unit in TIMES.items():
        value = row.get(key)
        if isinstance(value, dict):
            for who, seconds in value.items():
                peer = key == "seconds" and any(name.startswith(OURS) for name in value)
                yield Entry(what, who, peer and not who.startswith(OURS)), unit * seconds
        elif is_number(value):
            who = row.get("peer", key) if key == "theirs" else key.removeprefix("nano")
            yield Entry(what, who, key == "theirs"), unit * value


def entries(content, path=()):
    """All times of a file, by what they measure."""
    found = {}
    if isinstance(content, list):
        for part in content:
            for entry, seconds in entries(part, path).items():
                add(found, entry, seconds)
    elif isinstance(content, dict):
        what = ": ".join(part for part in (*path, described(content)) if part)
        for entry, seconds in times_of(content, what):
            add(found, entry, seconds)
        for key, value in content.items():
            if isinstance(value, list) or key not in TIMES:
                for entry, seconds in entries(value, (*path, key)).items():
                    add(found, entry, seconds)
    return found


def add(found, entry, seconds):
    """A second entry of the same description is told from the first by a number."""
    again, what = 2, entry.what
    while entry in found:
        entry = entry._replace(what=f"{what} (no. {again})")
        again += 1
    found[entry] = seconds


def circumstances(content):
    """Where a file was made: its machine and versions; row by row where rows have their own."""
    flat = {}
    for key, value in {**content, **content.get("machine", {})}.items():
        if isinstance(value, str | int):
            flat[key] = str(value)
    for row in content.get("rows", ()):
        if isinstance(row.get("machine"), dict):
            known = {"seed": row.get("seed", 0)} | circumstances({"machine": row["machine"]})
            flat[described(row)] = "; ".join(f"{key} {value}" for key, value in known.items())
    return flat | content.get("machine", {}).get("versions", {})


def ratio_of(old, new):
    if old == new:
        return 1.0
    return new / old if old > 0 else math.inf


def paired(old, new):
    """The entries of both; then what only one of them has."""
    both = [Pair(key, old[key], new[key], ratio_of(old[key], new[key])) for key in old.keys() & new]
    one = [("old", key) for key in old.keys() - new] + [("new", key) for key in new.keys() - old]
    return both, sorted(one)


def geometric_mean(ratios):
    known = [math.log(ratio) for ratio in ratios if 0 < ratio < math.inf]
    return math.exp(statistics.fmean(known)) if known else math.nan


def files(old, new):
    """Pairs of files to compare: (name, old, new), and the names that only one folder has."""
    for path in (old, new):
        if not path.exists():
            raise ValueError(f"{path} does not exist")
    if old.is_dir() != new.is_dir():
        raise ValueError(f"{old} and {new} must be two files or two folders")
    if not old.is_dir():
        return [("", old, new)], []
    names = [{path.name for path in folder.glob("*.json")} for folder in (old, new)]
    one = [f"only in {f}: {n}" for f, a, b in ((old, *names), (new, *names[::-1])) for n in a - b]
    return [(name, old / name, new / name) for name in sorted(names[0] & names[1])], sorted(one)


def load(path):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is not one of our files: it must hold an object")
    return content


def compare(name, old_path, new_path, relative):
    """The pairs of one file, and what is to be said about them."""
    contents = load(old_path), load(new_path)
    both, one = paired(*map(entries, contents))
    title = f"{name}: " if name else ""
    if name:
        both = [pair._replace(entry=named(pair.entry, name)) for pair in both]
    notes = [f"{title}only in the {which} file: {e.what}: {e.who}" for which, e in one]
    old, new = map(circumstances, contents)
    notes += [
        f"{title}{key}: {old.get(key, 'not given')} -> {new.get(key, 'not given')}"
        for key in old | new
        if old.get(key) != new.get(key)
    ]
    if relative:
        speeds = [pair.ratio for pair in both if pair.entry.peer]
        if speeds:
            speed = statistics.median(speeds)
            both = [pair._replace(ratio=pair.ratio / speed) for pair in both]
            notes.append(f"{title}ratios are divided by {speed:.3f}, the peers' median")
        else:
            notes.append(f"{title}no times of peers in both: ratios are not divided")
    return both, notes


def named(entry, name):
    return entry._replace(what=f"{name.removesuffix('.json')}: {entry.what}")


def mark(ratio, tolerance):
    if ratio > 1 + tolerance:
        return "slower"
    return "faster" if ratio < 1 / (1 + tolerance) else ""


def print_table(title, pairs, tolerance):
    pairs = sorted(pairs, key=lambda pair: (-pair.ratio, pair.entry))
    print(f"{title}, seconds\n\n{'new/old':>8}  {'old':>10}  {'new':>10}  {'':6}  what")
    for entry, old, new, ratio in pairs:
        line = f"{ratio:8.3f}  {old:10.4g}  {new:10.4g}  {mark(ratio, tolerance):6}  "
        print(line + f"{entry.what}: {entry.who}")
    outside = [mark(pair.ratio, tolerance) for pair in pairs]
    mean = geometric_mean([pair.ratio for pair in pairs])
    print(
        f"\n{len(pairs)} times, geometric mean of the ratios {mean:.3f}; outside of "
        f"{100 * tolerance:g} %: {outside.count('slower')} slower, "
        f"{outside.count('faster')} faster\n"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument(
        "--tolerance", type=float, default=0.1, help="mark ratios that are further from 1 (0.1)"
    )
    parser.add_argument(
        "--relative", action="store_true", help="divide by the median ratio of peers, file by file"
    )
    parser.add_argument(
        "--fail-above", type=float, metavar="RATIO", help="exit with 1 if one of ours is above"
    )
    options = parser.parse_args(arguments)
    try:
        todo, notes = files(options.old, options.new)
        done = [compare(*item, options.relative) for item in todo]
    except ValueError as error:
        parser.error(str(error))
    pairs = [pair for both, _ in done for pair in both]
    notes += [note for _, said in done for note in said]
    if not pairs:
        parser.error(f"{options.old} and {options.new} have no times in common")
    ours = [pair for pair in pairs if not pair.entry.peer]
    peers = [pair for pair in pairs if pair.entry.peer]
    for title, some in (("Peers", peers), ("Ours", ours)):
        if some:
            print_table(title, some, options.tolerance)
    print(*notes, sep="\n", end="\n" if notes else "")
    limit = math.inf if options.fail_above is None else options.fail_above
    above = [pair for pair in ours if pair.ratio > limit]
    if above:
        print(f"{len(above)} of ours above {limit:g}")
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
