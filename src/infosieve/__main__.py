"""``python -m infosieve`` is the command ``infosieve``."""

from infosieve.cli import main

if __name__ == "__main__":
    main()
