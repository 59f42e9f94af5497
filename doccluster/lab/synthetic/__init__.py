"""Generated corpora with a known truth."""

from doccluster.lab.synthetic.files import write_vectors, write_vmf_mixture, write_zipf
from doccluster.lab.synthetic.sharma import make_sharma
from doccluster.lab.synthetic.sparse_vmf import make_sparse_vmf
from doccluster.lab.synthetic.synthetic_vectors import SyntheticVectors
from doccluster.lab.synthetic.twin import CorpusModel, fit_corpus_model, make_twin, sample_twin
from doccluster.lab.synthetic.vmf import VmfMixture, make_vmf_mixture, plan_vmf_mixture, sample_vmf
from doccluster.lab.synthetic.zipf import ZipfCorpus, ZipfDocument, make_zipf_corpus, plan_zipf

__all__ = [
    "CorpusModel",
    "SyntheticVectors",
    "VmfMixture",
    "ZipfCorpus",
    "ZipfDocument",
    "fit_corpus_model",
    "make_sharma",
    "make_sparse_vmf",
    "make_twin",
    "make_vmf_mixture",
    "make_zipf_corpus",
    "plan_vmf_mixture",
    "plan_zipf",
    "sample_twin",
    "sample_vmf",
    "write_vectors",
    "write_vmf_mixture",
    "write_zipf",
]
