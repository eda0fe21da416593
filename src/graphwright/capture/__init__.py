"""From Python frames to graphs: the frame hook, the symbolic VM, guards and graph breaks."""
