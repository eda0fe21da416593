"""`python -m graphwright` is the `graphwright` command."""

from graphwright.cli.main import main

if __name__ == "__main__":
    main()
