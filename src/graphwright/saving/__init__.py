"""Saving and loading; no code of a file's choice ever runs.

    save, load              nested states: dicts, lists, numbers, text, tensors
    save_file, load_file    tensors by name, as any safetensors library writes and reads them
"""

from graphwright.saving.files import load_file, load_metadata, save_file
from graphwright.saving.formats import load, save
from graphwright.saving.header import InvalidFile

__all__ = ["InvalidFile", "load", "load_file", "load_metadata", "save", "save_file"]
