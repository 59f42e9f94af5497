from doccluster.stories.dump import NewsArticles as NewsArticles
from doccluster.stories.dump import find_stories as find_stories
