"""Column generation for classification trees (Firat et al. 2020; Patel et al. 2023).

A master problem chooses one root-to-leaf path per leaf out of candidate splits; pricing finds
paths that improve it. Each part is a file: candidates, items (rows merged), start columns, master,
cuts, pricing, integer step, branch-and-price, and the engine that runs them.
"""
