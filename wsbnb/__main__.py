"""`python -m wsbnb`."""

import sys


def main(argv=None):
    """Hand the words of the command line to the part that knows them."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv[:1] == ["bench"]:
        from wsbnb import bench

        return bench.main(argv[1:])
    from wsbnb import cli

    return cli.main(argv)


if __name__ == "__main__":
    sys.exit(main())
