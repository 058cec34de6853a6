"""The engine that solves problems through published mixed-integer models and a solver."""
