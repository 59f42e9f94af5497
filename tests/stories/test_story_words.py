"""The language of an article is told by enough of its words, or by what else came in."""

from __future__ import annotations

from doccluster.stories.words import WordReader

VIETNAMESE = (
    "Sáng nay chiếc tàu mang tên Hoa Sen đã cập cảng Cam Ranh sau hai tuần lênh đênh trên biển. Thuyền trưởng nói rằng "
    "mọi người vẫn khỏe, tàu chỉ hỏng nhẹ ở mũi. Theo cảng vụ, ba chiếc container mang mã tra, tu, con được dỡ "
    "xuống trong đêm, số còn lại sẽ chuyển về kho ngoại quan để kiểm tra trước khi giao cho chủ hàng vào tuần tới."
)
ITALIAN = "Il porto della città è stato chiuso per la notte, e le navi che erano attese non sono ancora arrivate."


def test_a_few_function_words_among_many_others_tell_no_language():
    (article,) = WordReader().read([("", VIETNAMESE, "")])
    assert article.language == ""
    assert {"tra", "tu", "con"} <= set(article.words)


def test_many_function_words_tell_the_language_and_are_left_out():
    (article,) = WordReader().read([("", ITALIAN, "")])
    assert article.language == "italian"
    assert not {"il", "della", "la"} & set(article.words)


def test_a_title_is_in_the_language_of_its_outlet_else_in_that_of_most_articles():
    reader = WordReader()
    french = "Le port de la ville est fermé pour la nuit, et les navires qui étaient attendus ne sont pas encore là."
    reader.read([("", ITALIAN, "marea"), ("", ITALIAN, "marea"), ("", french, "phare")])
    titles = reader.read([("Navi ferme", "", "marea"), ("Navires arrêtés", "", "phare"), ("Ships", "", "tide")])
    assert [article.language for article in titles] == ["italian", "french", "italian"]
