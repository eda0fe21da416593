"""Saving and loading without pickle: no code is ever loaded.

    save, load              nested states: dicts, lists, numbers, text, tensors
    save_file, load_file    tensors by name, as any safetensors library writes and reads them
"""

from graphwright.runtime.saving.files import InvalidFile, load_file, load_metadata, save_file
from graphwright.runtime.saving.state import load, save

__all__ = ["InvalidFile", "load", "load_file", "load_metadata", "save", "save_file"]
