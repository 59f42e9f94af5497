"""``python -m experiments.choosing_k``: see `experiments.choosing_k.run`."""

from experiments.choosing_k.run import main

main()
