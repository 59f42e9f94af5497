"""Beyond one process: blocks of documents that stay where they are, on disk or with the workers of a Dask cluster.

Only small values travel: the changes of the table of clusters to the blocks, exact sums back. So labels do not depend
on how the documents were divided, nor on how many workers there are, nor on which of them ended.
"""

from doccluster.base.package import offer

__getattr__, __dir__, __all__ = offer(__name__)
