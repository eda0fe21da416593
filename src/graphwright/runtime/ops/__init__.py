"""The op table: entries, rules and eager kernels; `families` fills it, `_face` is its face."""
