"""Made news: sentences of real articles of one outlet and day, in stories, in the order of time."""

from __future__ import annotations

from experiments.benchmarks.made_text import made_news, sentences_of

ARTICLES = [
    {
        "title": f"Ferry {number} aground off Skerrow - Tide",
        "text": f"Ferry {number} ran aground. Crew {number} was saved! Nobody saw {number} lights.\nTide {number} low",
        "date": f"2020-05-{11 + number // 200}T06:00:00Z",
        "source": ("tide.example", "port.example")[number % 2],
    }
    for number in range(600)
]


def test_made_articles_are_of_one_outlet_and_day_and_in_order():
    made = list(made_news(ARTICLES, 1_500))
    assert made == list(made_news(ARTICLES, 1_500))  # the same each time
    assert [article["id"] for article in made] == [f"made-{number}" for number in range(1_500)]
    dates = [article["date"] for article in made]
    assert dates == sorted(dates)
    assert (dates[0][:10], dates[-1][:7]) == ("2020-01-01", "2020-05")
    said = {source: [] for source in ("tide.example", "port.example")}
    for article in ARTICLES:
        said[article["source"]] += sentences_of(article["text"])
    for article in made:
        assert any(map(article["text"].endswith, said[article["source"]]))  # that of another article, as it was written
        assert article["title"].endswith(f" - {article['source']}")


def test_some_articles_begin_a_story_and_others_join_it():
    titles = [article["title"].rpartition(" - ")[0] for article in made_news(ARTICLES, 1_500)]
    n_stories = len(set(titles))
    assert 0.15 * 1_500 < n_stories < 0.25 * 1_500
