"""What the symbolic VM knows of each Python value: one tracker class per kind of value."""
