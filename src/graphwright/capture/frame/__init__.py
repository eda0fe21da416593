"""From a frame to a cache entry, and on after a graph break."""
