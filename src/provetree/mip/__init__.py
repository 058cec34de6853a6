"""Trees as mixed-integer models: published formulations, and solvers that take them.

``model`` holds a model as sparse arrays, ``solver`` says what a solver is; each formulation and
each solver stands in a file of its own. ``engine`` joins them into an engine for problems.
"""
