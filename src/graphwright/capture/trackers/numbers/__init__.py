"""Numbers: integers and floats that vary from call to call, and what computes with them."""
