"""Files that are whole or not there, and locks that die with their process."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from command import A_LONG_TIME

from infosieve._core import files
from infosieve._core.files import InUseError, atomic, held, special, write_atomically

WRITER = """
import os, sys
from infosieve._core.files import write_atomically
while not os.path.exists(sys.argv[3]):
    write_atomically(sys.argv[1], sys.argv[2] * 200_000)
"""
HOLDER = """
import sys
from infosieve._core.files import held
with held(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()  # until it is killed
"""


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def holder(path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", HOLDER, path], **pipes)
    assert process.stdout.readline() == b"held\n"
    return process


def killed(process):
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def test_readers_of_what_two_write_never_see_a_part(tmp_path):
    """They write until the reader has met both a hundred times, each after the other."""
    path, enough = tmp_path / "c.json", tmp_path / "enough"
    write_atomically(path, "-" * 200_000)
    command = [sys.executable, "-c", WRITER, path]
    writers = [subprocess.Popen([*command, c, enough]) for c in "ab"]
    last, changes, end = "-", 0, time.monotonic() + A_LONG_TIME
    try:
        while changes < 100:
            assert [w.poll() for w in writers] == [None, None]
            assert time.monotonic() < end
            text = path.read_text()
            assert len(text) == 200_000
            assert len(set(text)) == 1
            changes += text[0] != last
            last = text[0]
    finally:
        enough.touch()
        ended = [w.wait() for w in writers]
    assert ended == [0, 0]
    assert names(tmp_path) == ["c.json", "enough"]


def test_threads_do_not_share_what_they_are_writing(tmp_path):
    """With one name for both, the first to end would take what the second had begun."""
    path = tmp_path / "c"
    with atomic(path) as one:
        one.write_text("one")
        with atomic(path) as other:
            other.write_text("other")
        assert one != other
        assert path.read_text() == "other"
    assert path.read_text() == "one"


def test_what_killed_processes_left_is_removed(tmp_path):
    files._sweep.cache_clear()
    old, new = (tmp_path / f".infosieve-{c * 16}.new" for c in "ab")
    kept = [tmp_path / name for name in (".infosieve-mine.new", "infosieve-aa.new", ".c.new")]
    for file in (old, new, *kept):
        file.write_text("")
    for file in (old, *kept):
        os.utime(file, (0, 0))
    write_atomically(tmp_path / "c", "text")
    assert names(tmp_path) == sorted(["c", new.name, *(k.name for k in kept)])


def test_modes_are_those_of_a_plain_open(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "c", "text")
        (tmp_path / "plain").write_text("text")
    finally:
        os.umask(before)
    assert (tmp_path / "c").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "c").chmod(0o600)
    write_atomically(tmp_path / "c", "other")
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o600


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with held(path):
        write_atomically(path, "text")
    assert names(tmp_path) == ["n" * 255]


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_errors_name_the_file_and_leave_the_old_one(where, tmp_path, monkeypatch):
    path = tmp_path / "c"
    path.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "some other name")

    monkeypatch.setattr(os, where, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_atomically(path, "new")
    assert caught.value.filename == str(path)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_text() == "old"
    assert names(tmp_path) == ["c"]


def test_pipes_devices_and_directories_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "folder").mkdir()
    for name, kind in (("pipe", "a pipe"), ("null", "a device"), ("folder", "a directory")):
        assert special(tmp_path / name) == kind
        with pytest.raises(OSError, match=f"is {kind}"):
            write_atomically(tmp_path / name, "text")
    assert special(tmp_path / "nothing") is None
    assert os.path.realpath(tmp_path / "null") == "/dev/null"
    assert names(tmp_path) == ["folder", "null", "pipe"]


def test_a_lock_names_its_process_and_dies_with_it(tmp_path):
    path = tmp_path / "c"
    process = holder(path)
    with pytest.raises(InUseError, match=f"^process {process.pid}$"), held(path):
        pass
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(InUseError), held(tmp_path / "link"):
        pass
    killed(process)
    assert names(tmp_path) == [".infosieve-c.lock", "link"]
    with held(path), pytest.raises(InUseError, match="this process"), held(path):
        pass
    assert names(tmp_path) == ["link"]


def test_a_lock_is_never_held_twice(tmp_path):
    """Among threads that take it and let it go, removing its file each time."""
    path, inside, most, errors = tmp_path / "c", [], [0], []
    together = threading.Barrier(4)
    taken, refused = [], []

    def work():
        together.wait(A_LONG_TIME)
        while len(taken) < 2000 or len(refused) < 100:
            try:
                with held(path):
                    inside.append(1)
                    taken.append(1)
                    most[0] = max(most[0], len(inside))
                    inside.pop()
            except InUseError:
                refused.append(1)
            except BaseException as error:
                errors.append(error)
                raise

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(A_LONG_TIME)
        assert not thread.is_alive()
    assert most == [1]
    assert not errors
    assert names(tmp_path) == []


def test_without_locks_nobody_is_held_up(tmp_path, monkeypatch):
    import fcntl

    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with held(tmp_path / "c"), held(tmp_path / "c"):
        pass
    with held(tmp_path / "no" / "c"):  # whoever writes there will say so
        pass
    assert names(tmp_path) == []


def test_a_lock_overwrites_nothing(tmp_path):
    (tmp_path / "precious").write_text("text")
    (tmp_path / ".infosieve-c.lock").symlink_to(tmp_path / "precious")
    with held(tmp_path / "c"):
        pass
    assert (tmp_path / "precious").read_text() == "text"
