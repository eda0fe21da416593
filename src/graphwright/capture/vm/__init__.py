"""The symbolic virtual machine: it interprets bytecode on trackers, and builds the graph."""
