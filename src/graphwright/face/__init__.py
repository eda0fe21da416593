"""The front end's own parts: what `compile` returns, how it is called and explained."""
