"""The tape: nodes that ops record, and the engine that walks them backward."""
