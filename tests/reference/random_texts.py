"""Texts that tokenizers stumble over: many scripts, emoji, marks, controls, runs of white space."""
import unicodedata

WORDS = """the of and to in a that is was he for it with as his on be at by I this had not are but from or have an they
which one you were her all she there would their we him been has when who will more no if out so said what up its about
into than them can only other new some could time these two may then do first any my now such like our over man me even
most made after also did many before must through back years where much your way well down should because each just
don't I'll we've HELLO Hello World NASA iPhone getUserById snake_case_name kebab-case CamelCase 123 4567 3.14159 2024-01-15
foo() [1,2] {"a":1} x=y+z; a/b\\c <tag> #hash @user $5 50% e^x ~tilde `code` "quoted" 'single' … – — “curly” ‘x’""".split()

FOREIGN = """Zürich naïve café Äpfel größe ÀÉÎÕÜ ñandú Čeština łódź Ελληνικά Σίσυφος ΣΑΣ Русский язык ЁЖИК Українська 你好 世界 我想在apple工作
日本語 ひらがな カタカナ ﾊﾝｶｸ 한국어 안녕하세요 العربية مرحبا עברית שלום हिन्दी नमस्ते ไทย สวัสดี Tiếng Việt ქართული հայերեն አማርኛ
ﬁ ﬂ Ⅳ ½ ² ㎏ ｆｕｌｌ Ａ１ ǅ ß ẞ İstanbul ıçin Ω Å Å ́a é ộ ộ 각 각 क़ ৎ ༼ ௵""".split()

ODD = ["😀", "👨‍👩‍👧‍👦", "🇫🇷", "👍🏽", "❤️", "\u200b", "\u200d", "\ufeff", "\u00a0", "\u2003", "\u3000", "\u2028", "\u0085", "\u00ad", "\u0000",
       "\u0001", "\u007f", "\u0301", "\u0e33", "\u180e", "\ufffd", "\U000e0001", "\ue000", "\u2581", "▁x", "##a", "Ġ", "Ċ", "</w>", "\U0001f600\ufe0f",
       "①", "Ⓐ", "🄰", "٣٤", "１２", "Ⅻ", "𝐀𝐛", "𒀀", "\U0003fffd", "᠎", "_", "__init__", "\u0345", "\u1e9e", "\u0130", "\u01c5", "\u2126", "ﷺ", "\u0958"]

SPACES = [" ", " ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", " \n", "\r\n", "\n ", "\t\t", "    ", "\u00a0", "\u3000", " \t ", "\x0b", "\x0c", ""]


def random_char(rng):
    kind = rng.randint(0, 6)
    if kind <= 1:
        return chr(rng.randint(0x20, 0x7e))
    if kind == 2:
        return chr(rng.randint(0xa0, 0x24f))
    if kind == 3:
        return chr(rng.randint(0x250, 0x1fff))
    if kind == 4:
        return chr(rng.randint(0x2000, 0x33ff))
    if kind == 5:
        return chr(rng.choice([rng.randint(0x3400, 0xd7ff), rng.randint(0xf900, 0xffff), rng.randint(0x10000, 0x1ffff)]))
    return chr(rng.choice([rng.randint(0, 0x1f), rng.randint(0x7f, 0x9f), 0xe0001, rng.randint(0xe000, 0xf8ff), rng.randint(0x20000, 0x2ffff)]))


def is_known(text):
    """Whether the tables of every library have these characters (here: Unicode 14 and assigned)."""
    return all(unicodedata.category(c) != "Cn" and not "\u2e43" <= c <= "\u2e7f" for c in text)


def random_word(rng):
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(WORDS)
    if kind < 0.7:
        return rng.choice(FOREIGN)
    if kind < 0.8:
        return rng.choice(ODD)
    if kind < 0.85:
        return str(rng.randint(0, 10 ** rng.randint(1, 12)))
    if kind < 0.9:
        return rng.choice("aA1.!-=é你 \n") * rng.randint(2, 12)
    return "".join(random_char(rng) for _ in range(rng.randint(1, 6)))


def random_text(rng, extras=(), most=14):
    while True:
        text = any_text(rng, extras, most)
        if is_known(text):
            return text


def any_text(rng, extras, most):
    parts = []
    for _ in range(rng.randint(0, most)):
        if extras and rng.random() < 0.2:
            parts.append(rng.choice(extras))
        else:
            parts.append(random_word(rng))
        if rng.random() < 0.75:
            parts.append(rng.choice(SPACES))
    text = "".join(parts)
    if rng.random() < 0.15:
        text = rng.choice(SPACES) + text
    return text.encode("utf-8", "ignore").decode("utf-8")


def corpus(rng, lines=150):
    return [random_text(rng) for _ in range(lines)] + [" ".join(rng.choice(WORDS) for _ in range(20)) for _ in range(lines)]
