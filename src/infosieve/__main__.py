"""``python -m infosieve`` is the command ``infosieve``."""

import sys


def main() -> None:
    """Run the command; Ctrl-C while it is being imported is no traceback either."""
    try:
        from infosieve.cli import main as run

        run()
    except KeyboardInterrupt:
        print("infosieve: error: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
