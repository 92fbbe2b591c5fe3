"""``python -m infosieve`` is the command ``infosieve``."""

import gc
import sys


def main() -> None:
    """Run the command; Ctrl-C while it is being imported is no traceback either.

    What is imported is no garbage: Python looks for that only when work begins, see
    :func:`infosieve.cli.workers.collect_again`. That is a fifth of the start.
    """
    gc.disable()
    try:
        from infosieve.cli import main as run

        run()
    except KeyboardInterrupt:
        print("infosieve: error: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
