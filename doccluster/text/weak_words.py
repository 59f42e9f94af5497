"""Words that name nothing, though they are not function words: verbs of saying, the calendar, numbers, shorthand."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

_ENGLISH = """
say says said saying tell tells told telling ask asks asked asking add adds added adding note notes noted noting
argue argues argued claim claims claimed insist insists insisted explain explains explained reply replied replies
announce announces announced report reported reports reporting reportedly according quoted quote quotes comment
commented comments spokesman spokeswoman spokesperson speaking write writes wrote writing written read reads
think thinks thought believe believes believed know knows knew known want wants wanted need needs needed
look looks looked looking seem seems seemed appear appears appeared become becomes became make makes made making
take takes took taken taking come comes came coming go goes went gone going get gets got getting give gives gave given
giving keep keeps kept put puts let lets use uses used using find finds found show shows showed shown call calls called
try tries tried trying start starts started begin begins began begun continue continues continued happen happens
happened include includes included including involve involves involved allow allows allowed
expect expects expected set sets seen see sees saw seeing hear heard feel feels felt mean means meant like likes liked
january february march april may june july august september october november december jan feb mar apr jun jul aug sep
sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
day days week weeks month months year years hour hours minute minutes time times today yesterday tomorrow tonight
morning afternoon evening night ago date dates decade decades century
one two three four five six seven eight nine ten eleven twelve dozen dozens hundred hundreds thousand thousands million
millions billion billions trillion sixth last next half once twice
new old former latest recent recently early earlier late later current currently previous previously other others
another such same different various several many much more most few fewer less least lot lots number numbers
good better best bad worse worst great greater big bigger biggest large larger largest small smaller smallest
high higher highest low lower lowest long longer longest short major key likely able possible
thing things way ways kind kinds sort part parts lot bit
really actually simply clearly certainly indeed perhaps maybe probably especially particularly nearly almost
rise rises rose risen rising fall falls fell fallen falling drop drops dropped grow grows grew grown growing mph
well back even still just also too very quite rather now then here there away together again
mr mrs ms dr prof sr jr sir rev hon st inc corp co ltd llc plc cos
mln mlns bln blns trln dlr dlrs pct cts ct shr shrs vs mth mths qtr qtrs yr yrs revs rev avg oper dly wk
photo photos image images video watch click http https www com org html amp nbsp
gmt est edt pst pdt cst cdt pm am
"""
_ONLY_BEGIN = {"english": frozenset(["first", "second", "third", "fourth", "fifth"])}
_ALONE = {
    "english": """
problem problems question questions issue issues example examples answer answers idea ideas reason reasons case cases
point points fact facts matter matters result results effect effects level levels rest top end side sides line lines
list lists name names word words term terms hi thanks help work change changes move moves step steps option options
father mother brother sister son daughter wife husband head face hand hands eyes door room morning opinion analysis
people person persons official officials company companies firm group groups gang
"""
}
_OTHERS = {
    "german": """
sagte sagt sagen sagten erklärte erklärt berichtete berichtet teilte betonte meinte januar februar märz april mai juni
juli august september oktober november dezember montag dienstag mittwoch donnerstag freitag samstag sonntag jahr jahre
jahren tag tage tagen woche wochen monat monate stunden uhr zeit prozent millionen milliarden zwei drei vier fünf ersten
zweiten neue neuen neuer neues
""",
    "french": """
dit disent déclaré selon affirmé annoncé expliqué ajouté indiqué janvier février mars avril mai juin juillet août
septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche an ans année années jour jours
semaine semaines mois heure heures temps deux trois quatre cinq premier première nouveau nouvelle nouveaux nouvelles
millions milliards fait faire
""",
    "spanish": """
dijo dice dicen afirmó señaló explicó anunció agregó añadió según enero febrero marzo abril mayo junio julio agosto
septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo año años día días semana
semanas mes meses hora horas tiempo dos tres cuatro cinco primer primera primero nuevo nueva nuevos nuevas millones
""",
    "italian": """
detto dice ha dichiarato spiegato aggiunto secondo gennaio febbraio marzo aprile maggio giugno luglio agosto settembre
ottobre novembre dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica anno anni giorno giorni settimana
mese mesi ore due tre quattro cinque primo prima nuovo nuova nuovi nuove milioni miliardi
""",
    "portuguese": """
disse diz afirmou explicou anunciou segundo janeiro fevereiro março abril maio junho julho agosto setembro outubro
novembro dezembro segunda terça quarta quinta sexta sábado domingo ano anos dia dias semana mês meses hora horas dois
três quatro cinco primeiro primeira novo nova novos novas milhões
""",
    "dutch": """
zei zegt zeggen aldus meldt januari februari maart april mei juni juli augustus september oktober november december
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag jaar jaren dag dagen week weken maand maanden uur twee drie
vier vijf eerste tweede nieuwe miljoen miljard
""",
    "russian": """
сказал сказала заявил заявила сообщил сообщила сообщили отметил января февраля марта апреля мая июня июля августа
сентября октября ноября декабря понедельник вторник среду четверг пятницу субботу воскресенье год года году лет день дня
дней месяц месяца неделю недели часов два три четыре пять первый первая новый новая новые тысяч миллионов
""",
}
# What may stand inside a phrase of these languages, between two words of content. Others have one word of any kind.
_LINKS = {
    "english": "of for and in on",
    "german": "von der des für und",
    "french": "de du des la le les et d l",
    "spanish": "de del la las los el y",
    "italian": "di del della dei delle e",
    "portuguese": "de do da dos das e",
    "dutch": "van de der en het",
}
_LIKE_ADVERBS = "family supply reply ally bully rally italy assembly monopoly july anomaly belly jelly lily fly"
_NO_ADVERBS = frozenset(_LIKE_ADVERBS.split())


@cache
def _own(language: str) -> frozenset[str]:
    return frozenset((_ENGLISH if language == "english" else _OTHERS.get(language, "")).split())


def weak_words(languages: Collection[str]) -> frozenset[str]:
    """Return the words (lower case) of some languages that name nothing, empty for languages without a list.

    >>> sorted(weak_words(["english"]) & {"said", "vs", "march", "oil"})
    ['march', 'said', 'vs']
    """
    return frozenset().union(*map(_own, languages))


def words_that_only_begin(languages: Collection[str]) -> frozenset[str]:
    """Return words that can begin a phrase, such as "first", and name nothing at its end."""
    return frozenset().union(*(_ONLY_BEGIN.get(language, frozenset()) for language in languages))


def weak_alone(languages: Collection[str]) -> frozenset[str]:
    """Return words that name something at the end of a phrase only: "drug problem"."""
    return frozenset(word for language in languages for word in _ALONE.get(language, "").split())


def linking_words(languages: Collection[str]) -> frozenset[str] | None:
    """Return the function words that may stand inside a phrase; None where a language has no list of them."""
    if not languages or any(language not in _LINKS for language in languages):
        return None
    return frozenset(word for language in languages for word in _LINKS[language].split())


def is_adverb(word: str) -> bool:
    """Return whether an English word looks like an adverb.

    >>> is_adverb("recently"), is_adverb("family"), is_adverb("oil")
    (True, False, False)
    """
    return word.endswith("ly") and len(word) > 4 and word not in _NO_ADVERBS
