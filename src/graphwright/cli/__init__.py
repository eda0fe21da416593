"""The command line: `graphwright`, also `python -m graphwright`."""
