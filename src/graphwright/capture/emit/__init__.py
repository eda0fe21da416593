"""From tracker values back to bytecode."""
