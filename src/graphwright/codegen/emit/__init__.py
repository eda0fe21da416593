"""From loop nests to native code: a walker over two syntaxes, LLVM IR and C."""
