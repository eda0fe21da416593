"""Any Python value: constants, objects, their attributes, and the operators between them."""
