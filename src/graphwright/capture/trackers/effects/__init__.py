"""What reaches outside of the frame: context managers, locks, warnings, calls that wait."""
