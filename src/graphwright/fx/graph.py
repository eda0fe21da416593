"""`Graph`, and the code that it is printed as."""

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.printing import PythonCode

__all__ = ["Graph", "PythonCode"]
