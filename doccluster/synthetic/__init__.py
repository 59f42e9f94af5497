"""Made corpora with a known truth."""

from doccluster.synthetic.made import SyntheticVectors
from doccluster.synthetic.sharma import make_sharma
from doccluster.synthetic.vmf import VmfMixture, make_vmf_mixture, plan_vmf_mixture, sample_vmf

__all__ = ["SyntheticVectors", "VmfMixture", "make_sharma", "make_vmf_mixture", "plan_vmf_mixture", "sample_vmf"]
