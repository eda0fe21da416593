"""Views: the region of memory that a chain of them shows, and how new values are put back."""
