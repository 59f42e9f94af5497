"""Beyond one process: blocks of documents that stay where they are, on disk or with the workers of a Dask cluster.

Only small values travel: the changes of the table of clusters to the blocks, exact sums back. So labels do not depend
on how the documents were divided, nor on how many workers there are, nor on which of them ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

_HOMES = {
    "FilePlace": "doccluster.base.place",
    "MatrixBlock": "doccluster.distributed.block_steps",
    "cluster_blocks": "doccluster.distributed.block_clustering",
    "connect": "doccluster.distributed.dask_workers",
    "write_block": "doccluster.distributed.block_steps",
}

__all__ = ["FilePlace", "MatrixBlock", "cluster_blocks", "connect", "write_block"]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.base.place import FilePlace as FilePlace
    from doccluster.distributed.block_clustering import cluster_blocks as cluster_blocks
    from doccluster.distributed.block_steps import MatrixBlock as MatrixBlock
    from doccluster.distributed.block_steps import write_block as write_block
    from doccluster.distributed.dask_workers import connect as connect
