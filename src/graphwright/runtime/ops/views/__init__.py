"""Views, and ops that only move elements."""
