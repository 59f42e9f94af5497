from doccluster.geometry.documents import Documents as Documents
from doccluster.geometry.documents import as_documents as as_documents
from doccluster.geometry.evidence import ClusterEvidence as ClusterEvidence
from doccluster.geometry.neighbours import NeighbourGraph as NeighbourGraph
from doccluster.geometry.neighbours import nearest_neighbours as nearest_neighbours
from doccluster.geometry.projection import SemanticSpace as SemanticSpace
from doccluster.geometry.projection import latent_semantic_space as latent_semantic_space
from doccluster.geometry.projection import smoothed_rows as smoothed_rows
