"""Run the command line with ``python -m scumble``."""

from scumble.cli.main import main

if __name__ == "__main__":
    main()
