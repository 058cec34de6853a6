"""Data-partitions after Ales, Huré and Lambert (2024): few representatives for many rows.

One file per idea: `partition` (the type and its measures), `exclusion` (hulls that meet), `greedy`,
`improved_greedy` and `closest_representatives` (three ways to make a partition), `working` (the
partition inside the engine), `model_dp` and `model_dp_prime` (the two models), `whole_clusters`
(the bound that proves the exact variant), `post_process`, `refinement` (the engine).
"""
