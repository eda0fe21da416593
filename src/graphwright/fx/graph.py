"""`Graph`, and the code that it is printed as."""

from graphwright.ir.graph import Graph
from graphwright.ir.printing import PythonCode

__all__ = ["Graph", "PythonCode"]
