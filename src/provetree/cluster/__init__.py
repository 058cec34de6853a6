"""Proofs on a Dask cluster: the splits of the root are tasks, and workers anywhere solve them."""
