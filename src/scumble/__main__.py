"""``python -m scumble`` is the command line."""

from scumble.cli.main import main

if __name__ == "__main__":
    main()
