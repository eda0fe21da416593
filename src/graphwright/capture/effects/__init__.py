"""What a frame changes outside of itself: recorded while translating, replayed after it."""
