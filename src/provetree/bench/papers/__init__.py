"""One module per paper: its tables and figures, published numbers beside ours."""
