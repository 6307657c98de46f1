"""`python -m wsbnb`, the same as the command `wsbnb`."""

import sys


def main() -> int:
    """Run the command line; an interrupt ends it quietly, wherever it comes."""
    try:
        from wsbnb.paper import cli

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
