"""Tables larger than memory: trees with a bound, from tables of Dask, partition by partition."""
