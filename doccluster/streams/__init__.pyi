from doccluster.streams.article import Replayed as Replayed
from doccluster.streams.settings import StreamSettings as StreamSettings
from doccluster.streams.store.tables import StreamTables as StreamTables
from doccluster.streams.stream import StoryStream as StoryStream
