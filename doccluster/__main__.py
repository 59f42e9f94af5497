"""The command line, as `python -m doccluster`."""

from doccluster.cli.main import main

if __name__ == "__main__":
    main()
