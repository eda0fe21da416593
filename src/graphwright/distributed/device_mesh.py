"""Processes in a grid: names alone."""

from graphwright.distributed.absent import absent

__getattr__ = absent("distributed.device_mesh", "arranges processes", """
    DeviceMesh init_device_mesh
""")
