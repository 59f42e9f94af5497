from doccluster.base.place import FilePlace as FilePlace
from doccluster.distributed.block_clustering import cluster_blocks as cluster_blocks
from doccluster.distributed.block_steps import MatrixBlock as MatrixBlock
from doccluster.distributed.block_steps import write_block as write_block
from doccluster.distributed.dask_workers import connect as connect
