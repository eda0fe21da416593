"""The folder that processes search for `torch` which a program with the stand-in has started.

`multiprocessing` gives those that it spawns the `sys.path` of their parent, and nothing else that
would let `import torch` in the program's main module mean graphwright.
"""
