"""The op table: entries, rules, eager kernels, functions and methods; `families` fills it."""
