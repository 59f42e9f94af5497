from doccluster.corpus.document import Corpus as Corpus
from doccluster.corpus.document import Document as Document
from doccluster.corpus.document import Skipped as Skipped
from doccluster.corpus.duplicates import find_near_copies as find_near_copies
from doccluster.corpus.duplicates import find_near_duplicates as find_near_duplicates
from doccluster.corpus.formats import FORMATS as FORMATS
from doccluster.corpus.reading import load_sample as load_sample
from doccluster.corpus.reading import read_corpus as read_corpus
