from doccluster.lab.synthetic import *  # noqa: F403
