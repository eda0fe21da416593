"""What captured code assumes: guards, their sources, and the program that C evaluates."""
