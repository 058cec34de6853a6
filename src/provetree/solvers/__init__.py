"""Mixed-integer models and the solvers that take them; nothing here knows trees.

``model`` holds a model as sparse arrays, ``solver`` says what a solver takes and gives; each solver
stands in a file of its own. CP-SAT runs in a process of its own: ``cpsat`` turns a model into whole
numbers, ``cpsat_process`` starts and watches the process, ``cpsat_worker`` is what runs in it.
"""
