"""A date is read whole or not at all, and those of a column decide together what 03/04/2026 is."""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doccluster import read_corpus
from doccluster import run as run_pipeline
from doccluster.cli.main import main
from doccluster.corpus.dates import DateColumns, DateCounts, DateTally, iso_date, read_date
from doccluster.pipeline.inspecting import inspect_source

CASES = Path(__file__).parent / "files"
ENGLISH = "The ferry left the harbour and it was not seen again by those who had waited for it on the wall."
GERMAN = "Die Fähre hat den Hafen verlassen und sie wurde von denen, die auf der Mauer waren, nicht mehr gesehen."
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem."


def instant(iso: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(iso)
    return moment.astimezone(dt.UTC) if moment.tzinfo else moment


@pytest.mark.parametrize("name", ["01-dates.csv", "01-dates.xml"])
def test_feeds_and_tables_read_the_same_dates_whole(name):
    corpus = read_corpus(CASES / name)
    assert [instant(date) for date in corpus.column("date")] == [
        instant(expected)
        for expected in (
            *("2019-11-15T10:00:00", "2023-10-28T20:28:28", "2020-03-28", "2023-07-03T10:15:00Z"),
            *("2021-11-18T23:45:08Z", "2018-10-08T10:09:29Z", "2014-06-19T17:00:00Z"),
        )
    ]
    assert corpus.column("date")[2] == "2020-03-28"  # IST is the time of three countries


def test_a_column_with_days_after_the_twelfth_begins_with_the_day():
    corpus = read_corpus(CASES / "07-day-month.csv")
    assert list(corpus.column("date")) == [f"2026-03-{day:02d}T09:{day - 1:02d}:00" for day in range(1, 29)]
    assert corpus.dates == DateCounts(n_read=28)


NOVEMBER = (
    *("2019/11/15 10:30", "15.11.2019 10:30", "15.11.2019, 10.30 Uhr", "15 Nov 2019 10:30", "Nov 15, 2019 at 10:30 AM"),
    *(
        "15 novembre 2019 à 10h30",
        "viernes, 15 de noviembre de 2019, 10:30",
        "sexta-feira, 15 de novembro de 2019 10:30",
    ),
    *("ven. 15 nov. 2019 10:30", "venerdì 15 novembre 2019 ore 10:30", "vrijdag 15 november 2019 om 10:30 uur"),
    *(
        "Freitag, 15. November 2019 um 10:30 Uhr",
        "fredag den 15. november 2019 kl. 10.30",
        "15. marraskuuta 2019 10:30",
    ),
    *(
        "pá 15. listopadu 2019 10:30",
        "15 ноября 2019 г., 10:30",
        "15 ноября 2019 года в 10:30",
        "15 листопада 2019, 10:30",
    ),
    *("15 Kasım 2019 Cuma 10:30", "Thứ Sáu, 15/11/2019, 10:30", "10:30, ngày 15 tháng 11 năm 2019"),
    *(
        "Jumat, 15 November 2019 pukul 10:30",
        "١٥ نوفمبر ٢٠١٩ ١٠:٣٠",
        "15 تشرين الثاني 2019 10:30",
        "15 نوفمبر 2019 10:30 ص",
    ),
    *("2019年11月15日 10:30", "2019年11月15日(金)10時30分", "2019年11月15日 上午10:30", "2019년 11월 15일 오전 10:30"),
    *("2019. 11. 15. 10:30", "2019. november 15., péntek 10:30", "2019 m. lapkričio 15 d. 10:30"),
    *("Παρασκευή, 15 Νοεμβρίου 2019 10:30 π.μ.", "יום שישי, 15 בנובמבר 2019 10:30", "15 noiembrie 2019, 10:30"),
    *("Fri Nov 15 10:30:00 2019", "15-NOV-2019 10:30:00.79", "20191115103000", "201911151030", "10:30 15.11.2019"),
    *("15.11.2019 | 10:30", "15/11/2019 - 10h30", "الجمعة 15 نوفمبر 2019 - 10:30", "Fr 15. Nov 10:30:00 2019"),
    *("15 de noviembre de 2019 10:30 hs", '"2019-11-15 10:30"', "15-NOV-19 10.30.00.500 AM"),
    *("15/Nov/2019:10:30:00", "2019-11-15T10:30", "20191115T1030", "Friday, 15-Nov-19 10:30:00", "2019/11/15T10:30:00"),
)


@pytest.mark.parametrize("text", NOVEMBER)
def test_a_layout_of_any_language_gives_day_and_time(text):
    assert iso_date(text) == "2019-11-15T10:30:00"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Mon, 03 Jul 2023 12:15:00 PDT", "2023-07-03T12:15:00-07:00"),
        ("Fri, 15 Nov 2019 10:00:00 GMT+5:30", "2019-11-15T10:00:00+05:30"),
        ("Fri, 15 Nov 2019 10:00:00 UTC-3", "2019-11-15T10:00:00-03:00"),
        ("Fri, 15 Nov 2019 10:00:00 -0500 (EST)", "2019-11-15T10:00:00-05:00"),
        ("Fri, 15 Nov 2019 10:00:00 +0530 (IST)", "2019-11-15T10:00:00+05:30"),
        ("Fri Nov 15 2019 10:00:00 GMT+0100 (Central European Standard Time)", "2019-11-15T10:00:00+01:00"),
        ("Fri Nov 15 10:00:00 +0000 2019", "2019-11-15T10:00:00+00:00"),
        ("Fri Nov 15 10:00:00 CET 2019", "2019-11-15T10:00:00+01:00"),
        ("20191115T100000Z", "2019-11-15T10:00:00+00:00"),
        ("2019-11-15 10:00:00 UTC", "2019-11-15T10:00:00+00:00"),
        ("2019-11-15T10:00:00+01:00[Europe/Berlin]", "2019-11-15T10:00:00+01:00"),
        ("2019-07-15 10:00 Europe/Berlin", "2019-07-15T10:00:00+02:00"),
        ("2019-11-15 10:00 Europe/Berlin", "2019-11-15T10:00:00+01:00"),
        ("Thứ Sáu, 15/11/2019, 10:00 (GMT+7)", "2019-11-15T10:00:00+07:00"),
        ("Nov 15 2019 12:05 AM", "2019-11-15T00:05:00"),
        ("Nov 15 2019 12:05 p.m.", "2019-11-15T12:05:00"),
        ("15 Nov 2019 10:00 CST", "2019-11-15"),
        ("15 Nov 2019 10:00 BST", "2019-11-15"),
        ("2019-11-15Z", "2019-11-15"),
        ("2026-W01-1", "2025-12-29"),
        ("2020W537", "2021-01-03"),
        ("2026-w10-3T10:00:00Z", "2026-03-04T10:00:00+00:00"),
        ("2026-001", "2026-01-01"),
        ("2024-366T10:00", "2024-12-31T10:00:00"),
        ("2019-11-15T24:00:00Z", "2019-11-16T00:00:00+00:00"),
        ("20191231T240000+0100", "2020-01-01T00:00:00+01:00"),
        ("2019-W46-5T24:00", "2019-11-16T00:00:00"),
        ("15.11.2019, 24:00 Uhr", "2019-11-16T00:00:00"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59+00:00"),
        ("20170101T085960.25+09:00", "2017-01-01T08:59:59+09:00"),
        ("Sat, 31 Dec 2016 23:59:60 GMT", "2016-12-31T23:59:59+00:00"),
        ("15.11.19", "2019-11-15"),
        ("15 Nov 75", "1975-11-15"),
        ("Nov 2019", "2019-11"),
        ("2019年11月", "2019-11"),
        ("11/2019", "2019-11"),
        ("mar. 12 mars 2019", "2019-03-12"),
        ("mar 12 mar 2019", "2019-03-12"),
        ("Mar 12 2019", "2019-03-12"),
        ("1er août 2019", "2019-08-01"),
        ("5th of November 2019", "2019-11-05"),
        ("1573812000", "2019-11-15T10:00:00+00:00"),
        ("1573812000.5", "2019-11-15T10:00:00+00:00"),
        ("1573812000000", "2019-11-15T10:00:00+00:00"),
        ("1.573812e12", "2019-11-15T10:00:00+00:00"),
        ("/Date(1573812000000)/", "2019-11-15T10:00:00+00:00"),
        (1573812000000, "2019-11-15T10:00:00+00:00"),
        (-315619200, "1960-01-01T00:00:00+00:00"),
        ("-315619200000", "1960-01-01T00:00:00+00:00"),
        (20191115, "2019-11-15"),
        (20191115.0, "2019-11-15"),
        ({"$date": "2019-11-15T10:00:00Z"}, "2019-11-15T10:00:00+00:00"),
        ({"$date": {"$numberLong": "1573812000000"}}, "2019-11-15T10:00:00+00:00"),
        (np.datetime64("2019-11-15T10:00:00.123456789"), "2019-11-15T10:00:00"),
        (np.int64(1573812000), "2019-11-15T10:00:00+00:00"),
        (pd.NA, ""),
        (pd.NaT, ""),
        (np.arange(3), ""),
        ([2019, 11, 15], ""),
        (pd.Timestamp("2019-11-15 10:00"), "2019-11-15T10:00:00"),
    ],
)
def test_zones_halves_of_the_day_and_numbers_are_heeded(text, iso):
    assert iso_date(text) == iso


@pytest.mark.parametrize(
    "text",
    [
        *("31.02.2024", "2024-13-01", "30/02/2024", "2024-02-30T10:00:00", "15 Nov 2019 25:00", "15 Nov 2019 13:00 AM"),
        *("2026-W54-1", "2021-W53-1", "2026-W00-1", "2026-W01-8", "2026-W01", "2023-366", "2026-000", "2026-001-1"),
        *("2019-11-15T24:00:01Z", "2019-11-15T24:01", "2019-11-15T10:30:60Z", "9999-12-31T24:00:00", "2026-W01-1x"),
        *("today", "yesterday 10:00", "2 hours ago", "soon", "Nov 15", "10:00", "12:30 PM", "Friday", "1_573_812_000"),
        *(
            "15-16 Nov 2019",
            "10 - 12 March 2024",
            "15.11.2019 - 17.11.2019",
            "2019-2020",
            "2019-20",
            "5 a 7 marzo 2024",
        ),
        *("15 Nov 2019 10:00-12:00", "15 Nov 2019 10:00 - 12:00", "3 to 5 March 2024", "15 or 16 Nov 2019", "Q3 2019"),
        *("Fri, 15 Nov 2019 10:00:00 XYZ", "Fri, 15 Nov 2019 10:00:00 +99:00", "15 Nov 2019 and more", "c. 1850"),
        *("2019-11-15 10:00 Nowhere/City", "2019-11-15 (approx.)", "15 15 Nov 2019", "2019 10:30", "Nov 2019 10:30"),
        *("12345", "43784", "0", "-1", "99999999999999999999", "0000-00-00 00:00:00", "15 Nov 2019 " * 9, "2019/20"),
        *(
            "15 Foo 2019",
            "Wed, 5 Jun 2019 10:00:00 A",
            "5 Jun 2019 10:00 N",
            "2019-11-15T10:00:00+01:00 2019",
            "10:00 15:00 3 Nov 2019",
            "m11",
            "z+02:00",
            "15 m99 2019",
        ),
    ],
)
def test_what_is_not_understood_whole_is_no_date(text):
    assert read_date(text).iso == ""


@given(st.datetimes(dt.datetime(1970, 1, 2), dt.datetime(2068, 1, 1)), st.integers(-12 * 4, 14 * 4))
def test_dates_of_mail_are_read_as_the_standard_library_writes_them(moment, quarters):
    moment = moment.replace(microsecond=0, tzinfo=dt.timezone(dt.timedelta(minutes=15 * quarters)))
    assert iso_date(email.utils.format_datetime(moment)) == moment.isoformat()


def dated(dates: list, text: str = ENGLISH):
    return read_corpus(pd.DataFrame({"text": [f"{number} {text}" for number in range(len(dates))], "date": dates}))


def test_months_that_come_first_are_told_by_days_behind_them():
    corpus = dated(["03/04/2026", "12-25-2026", "03/04/2026 10:00"])
    assert list(corpus.column("date")) == ["2026-03-04", "2026-12-25", "2026-03-04T10:00:00"]
    assert corpus.dates == DateCounts(n_read=3)


def test_a_language_says_that_the_day_is_first_where_no_number_does():
    assert list(dated(["03/04/2026"] * 3, GERMAN).column("date")) == ["2026-04-03"] * 3
    assert dated(["03/04/2026"] * 3, GERMAN).dates.n_guessed == 0


def test_a_column_that_says_nothing_is_a_guess_and_says_so():
    corpus = dated(["03/04/2026", "05/06/2026 10:00", "07/07/2026"])
    assert list(corpus.column("date")) == ["2026-03-04", "2026-05-06T10:00:00", "2026-07-07"]
    assert corpus.dates == DateCounts(n_read=3, n_guessed=2, guess="read with the month first")


def test_a_column_of_both_orders_is_a_guess_by_the_most():
    corpus = dated(["03/04/2026", "13/04/2026", "14/04/2026", "04/25/2026"], GERMAN)
    assert list(corpus.column("date")) == ["2026-04-03", "2026-04-13", "2026-04-14", "2026-04-25"]
    assert (corpus.dates.n_guessed, corpus.dates.guess) == (1, "read with the day first")


def test_two_digits_that_could_be_day_and_year_are_a_guess_without_a_language():
    assert dated(["15/11/19", "16/11/99"], "xyzzy plugh").dates == DateCounts(
        n_read=2, n_guessed=1, guess="read with the year last"
    )
    assert dated(["15.11.19"], GERMAN).dates == DateCounts(n_read=1)


def test_a_month_whose_name_means_two_is_read_in_the_language_of_the_texts():
    assert list(dated(["15 listopada 2019", "3 lis 2019"], POLISH).column("date")) == ["2019-11-15", "2019-11-03"]
    corpus = dated(["15 listopada 2019"])  # October in Croatian
    assert list(corpus.column("date")) == [""]
    assert corpus.dates == DateCounts(n_unread=1, unread=("15 listopada 2019",))


def test_each_file_is_a_column_and_one_that_says_nothing_goes_with_the_others(tmp_path):
    for name, dates in (("uk.csv", ["13/04/2026", "03/04/2026"]), ("us.csv", ["04/13/2026", "03/04/2026"])):
        rows = "\n".join(f"{date},{name} {ENGLISH}" for date in dates)
        (tmp_path / name).write_text(f"date,text\n{rows}\n")
    assert list(read_corpus(tmp_path).column("date")) == ["2026-04-13", "2026-04-03", "2026-04-13", "2026-03-04"]
    (tmp_path / "us.csv").write_text(f"date,text\n03/04/2026,{ENGLISH}\n")
    assert read_corpus(tmp_path).column("date")[2] == "2026-04-03"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_kind_of_table_decides_by_column(tmp_path, suffix):
    frame = pd.DataFrame({"date": ["01/02/2026", "31/01/2026", "never"], "text": [f"{n} {ENGLISH}" for n in range(3)]})
    path = tmp_path / f"a.{suffix}"
    if suffix in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if suffix == "csv" else "\t")
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    corpus = read_corpus(path)
    assert list(corpus.column("date")) == ["2026-02-01", "2026-01-31", ""]
    assert corpus.dates == DateCounts(n_read=2, n_unread=1, unread=("never",))


def test_the_dates_of_a_feed_decide_together(tmp_path):
    items = "".join(
        f"<item><title>{n} {ENGLISH}</title><pubDate>{date}</pubDate></item>"
        for n, date in enumerate(("03/04/2026 10:00", "13/04/2026 11:00", "03.04.2026 12:00 +0200", "x"))
    )
    (tmp_path / "a.xml").write_text(f"<rss version='2.0'><channel><title>a</title>{items}</channel></rss>")
    corpus = read_corpus(tmp_path / "a.xml")
    assert list(corpus.column("date")) == [
        *("2026-04-03T10:00:00", "2026-04-13T11:00:00", "2026-04-03T10:00:00+00:00", "")
    ]
    assert corpus.dates == DateCounts(n_read=3, n_unread=1, unread=("x",))


def test_a_feed_keeps_an_entry_with_the_first_day_of_the_calendar(tmp_path):
    item = f"<item><title>{ENGLISH}</title><pubDate>0001-01-01T00:00:00+05:00</pubDate></item>"
    (tmp_path / "a.xml").write_text(f"<rss version='2.0'><channel><title>a</title>{item}</channel></rss>")
    assert list(read_corpus(tmp_path / "a.xml").column("date")) == ["0001-01-01T00:00:00+05:00"]


def test_open_dates_in_blocks_on_disk_are_settled_as_in_memory(tmp_path):
    from doccluster.corpus import assembly
    from doccluster.corpus.reading import read_to_disk

    dates = ["03/04/2026", "13/04/2026", "soon", "05/06/2026", ""] * 3
    rows = "\n".join(f"{date},{n} {ENGLISH}" for n, date in enumerate(dates))
    (tmp_path / "a.csv").write_text(f"date,text\n{rows}\n")
    before = assembly.ROWS_AT_ONCE
    assembly.ROWS_AT_ONCE = 4
    try:
        on_disk = read_to_disk(tmp_path / "a.csv", tmp_path / "texts")
    finally:
        assembly.ROWS_AT_ONCE = before
    in_memory = read_corpus(tmp_path / "a.csv")
    assert list(on_disk.column("date")) == list(in_memory.column("date"))
    assert list(in_memory.column("date"))[:5] == ["2026-04-03", "2026-04-13", "", "2026-06-05", ""]
    assert on_disk.dates == in_memory.dates == DateCounts(9, 3, unread=("soon",))


def test_a_tally_of_parts_is_that_of_the_whole():
    dates = ["03/04/2026", "13/04/2026", "soon", "1/2/26", None, "2026-01-01"]
    whole, parts = DateTally(), [DateTally(), DateTally()]
    for number, date in enumerate(dates):
        assert whole.take(date, "a") == parts[number % 2].take(date, "a")
    assert DateColumns(DateTally.joined(parts), ()).counts() == DateColumns(whole, ()).counts()


def shown(capsys, *arguments: str) -> str:
    with contextlib.suppress(SystemExit):
        main(list(arguments))
    return capsys.readouterr().out


def test_inspect_says_how_many_dates_were_read_unread_and_guessed(tmp_path, capsys):
    rows = "\n".join(f"{date},{n} {ENGLISH}" for n, date in enumerate(("03/04/2026", "2026-05-01", "soon", "")))
    path = tmp_path / "a.csv"
    path.write_text(f"date,text\n{rows}\n")
    words = " ".join(shown(capsys, "inspect", str(path)).split())
    assert '2 of 3 dates were read, 1 could not be read ("soon"); 1 is a guess, read with the month first.' in words
    counts = {"n_read": 2, "n_unread": 1, "n_guessed": 1, "guess": "read with the month first", "unread": ["soon"]}
    counts["remarks"] = []
    assert json.loads(shown(capsys, "inspect", str(path), "--json"))["dates"] == counts
    assert inspect_source(path).dates == DateCounts(2, 1, 1, "read with the month first", ("soon",))


def test_a_run_notes_dates_that_were_not_read():
    texts = [f"the ferry left harbour {n} in the storm" for n in range(4)] + [
        f"wheat and corn rose {n}" for n in range(4)
    ]
    frame = pd.DataFrame({"text": texts, "date": ["2026-01-01"] * 6 + ["soon", "later"]})
    told = run_pipeline(frame, n_clusters=2).notes
    assert '6 of 8 dates were read, 2 could not be read ("soon", "later").' in told
    frame["date"] = "2026-01-01"
    assert not any("dates" in note for note in run_pipeline(frame, n_clusters=2).notes)
