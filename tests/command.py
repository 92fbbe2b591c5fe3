"""Runs of the command in processes of their own, forked from one that has imported it.

Most of a short run is Python's start and the imports. A server imports what the command does, and
forks for each run: the run has its own memory, folder, streams, signals and exit status, and ends
as any process does. What depends on the environment from the start is run by a fresh interpreter.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = [sys.executable, "-m", "infosieve"]
# Seconds until what was waited for will never come: no machine is as slow as that.
A_LONG_TIME = 600
_server: "Server | None" = None


def read_exactly(path):
    """A CSV file with all digits: older versions of pandas are one off in the last."""
    import pandas as pd
    from pyarrow import csv

    frame, exact = pd.read_csv(path), csv.read_csv(path).to_pandas()
    return frame.assign(**{name: exact[name] for name in frame.select_dtypes("float")})


def in_step(number, action):
    """Code for ``first``: what a process does in the midst of a step of its search, once.

    A signal that comes from outside after a while finds a fast process done, and a slow one at
    its beginning; here it is the process itself that knows when it is due.
    """
    return f"""
import os, signal
from infosieve.selection._progress import PermutationProgress
told = PermutationProgress.__call__
def tell(self, step, done, total):
    told(self, step, done, total)
    if step == {number} and done:
        PermutationProgress.__call__ = told
        {action}
PermutationProgress.__call__ = tell
"""


def after_fold(number, action):
    """As in_step(), once a ranking of cross-validation is kept and told, and the next has begun."""
    return f"""
import os, signal
from infosieve.selection import _prediction as module
ranked, folds = module._ranked, []
def rank(*arguments):
    folds.append(1)
    if len(folds) == {number} + 1:
        {action}
    return ranked(*arguments)
module._ranked = rank
"""


def run(*arguments, stdin=None, cwd=None, env=None, text=False, first=""):
    """As subprocess.run(..., capture_output=True); ``env`` adds to the environment.

    ``first`` is code that the process runs before the command.
    """
    global _server
    words = [str(a) for a in arguments]
    if env is not None or not hasattr(os, "fork"):
        assert not first
        done = subprocess.run(
            [*COMMAND, *words],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=os.environ | (env or {}),
        )
    else:
        _server = _server or Server()
        done = _server.run({"words": words, "first": first}, stdin or b"", cwd)
    if text:
        done.stdout, done.stderr = (
            stream.decode().replace("\r\n", "\n") for stream in (done.stdout, done.stderr)
        )
    return done


def run_code(code, *arguments):
    """As an interpreter's -c in a process of its own."""
    global _server
    _server = _server or Server()
    request = {"code": code, "words": [str(a) for a in arguments]}
    done = _server.run(request, b"", None)
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


class Server:
    def __init__(self):
        requests, self.requests = os.pipe()
        self.replies, replies = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(requests), str(replies)], pass_fds=(requests, replies)
        )
        os.close(requests)
        os.close(replies)
        self.answers = os.fdopen(self.replies)

    def run(self, request, stdin, cwd):
        with tempfile.TemporaryDirectory() as folder:
            names = [str(Path(folder) / name) for name in ("stdin", "stdout", "stderr")]
            Path(names[0]).write_bytes(stdin)
            request = request | {
                "cwd": str(cwd or os.getcwd()),
                "environment": dict(os.environ),
                "streams": names,
            }
            os.write(self.requests, json.dumps(request).encode() + b"\n")
            status = json.loads(self.answers.readline())
            stdout, stderr = (Path(name).read_bytes() for name in names[1:])
        return subprocess.CompletedProcess([*COMMAND, *request["words"]], status, stdout, stderr)


def serve(requests, replies):
    """Fork for each request, until nobody asks any more."""
    import gc
    from importlib import import_module

    for name in (
        "infosieve.cli.questions", "infosieve.cli.select", "infosieve.cli.report",
        "infosieve.clustering", "infosieve.selection", "infosieve.significance", "rich.console",
        "rich.table", "pandas", "pyarrow.csv", "pyarrow.feather", "pyarrow.parquet", "typer",
    ):  # fmt: skip
        import_module(name)
    gc.freeze()
    with os.fdopen(requests) as lines:
        for line in lines:
            request = json.loads(line)
            child = os.fork()
            if not child:
                return request
            _, status = os.waitpid(child, 0)
            os.write(replies, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return None


def become(request):
    """What a fresh process would have: its folder, environment, streams and words."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    kinds = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (name, kind) in enumerate(zip(request["streams"], kinds, strict=True)):
        opened = os.open(name, kind)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0)
    if "code" in request:
        sys.argv = ["-c", *request["words"]]
        exec(compile(request["code"], "<string>", "exec"), vars(sys.modules["__main__"]))
        return
    import infosieve.__main__

    sys.argv = [infosieve.__main__.__file__, *request["words"]]
    sys.path[0] = request["cwd"]
    exec(compile(request["first"], "<first>", "exec"), {})
    infosieve.__main__.main()


if __name__ == "__main__":
    asked = serve(int(sys.argv[1]), int(sys.argv[2]))
    if asked is not None:
        become(asked)
