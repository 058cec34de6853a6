"""Published mixed-integer models of trees, one file each.

``formulation`` holds what all of them share, ``thresholds`` and ``cuts`` what some do, and
``side_constraints`` what a tree must keep to besides its size.
"""
