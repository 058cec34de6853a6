"""What the tests share: naive twins, random problems, calls of the core, readers and strategies.

`naive*` try everything and are short enough to be believed; `random_*` and `*_cases` make small
problems with awkward things in them, one for each seed; the others help to call, read and compare.
"""
