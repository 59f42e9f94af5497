from doccluster import errors as errors
from doccluster.base.package import __version__ as __version__
from doccluster.clustering import DocumentClustering as DocumentClustering
from doccluster.clustering import SphericalKMeans as SphericalKMeans
from doccluster.clustering import VonMisesFisherMixture as VonMisesFisherMixture
from doccluster.corpus import Corpus as Corpus
from doccluster.corpus import load_sample as load_sample
from doccluster.corpus import read_corpus as read_corpus
from doccluster.geometry.partition import Partition as Partition
from doccluster.lab.coders import score_validation as score_validation
from doccluster.lab.comparing import compare_sources
from doccluster.measures import evaluate as evaluate
from doccluster.measures import get_measure as get_measure
from doccluster.measures import list_measures as list_measures
from doccluster.measures import make_scorer as make_scorer
from doccluster.measures import score as score
from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.choosing import choose_clusters
from doccluster.pipeline.editing import label_cluster, merge_clusters
from doccluster.pipeline.editing import undo as undo
from doccluster.pipeline.explaining import explain as explain
from doccluster.pipeline.inspecting import inspect_source
from doccluster.pipeline.known_topics import Topic as Topic
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.report import InlineReport as InlineReport
from doccluster.report import plots as plots
from doccluster.report import write_report as write_report
from doccluster.results.run_folder import load_run as load_run
from doccluster.retrieval.browsing import open_browser
from doccluster.retrieval.grouping import cluster_search_results as cluster_search_results
from doccluster.retrieval.searching import search as search
from doccluster.selection import tendency as tendency
from doccluster.streams import StoryStream as StoryStream
from doccluster.streams.store.diff import diff as diff
from doccluster.vectors import DocumentVectors as DocumentVectors
from doccluster.vectors import TfidfVectorizer as TfidfVectorizer
from doccluster.vectors import read_matrix as read_matrix
from doccluster.vectors import vectorize as vectorize

run = run_pipeline
assign = assign_documents
choose_k = choose_clusters
compare = compare_sources
inspect = inspect_source
browse = open_browser
label = label_cluster
merge = merge_clusters
rerun = repeat_run
