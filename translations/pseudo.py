#!/usr/bin/env python3
"""Updates the translations from the sources, and makes up those of the pseudo-locale.

quern_en.ts holds only plural forms (its other texts are the sources'). quern_en_XA.ts lengthens
every text by a third and puts accents on it, so that a still shows what is cut off or was never
marked for translation.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

FOLDER = Path(__file__).parent
ACCENTS = str.maketrans("aceinosuyACEINOSUY", "àçéîñöšúýÀÇÉÎÑÖŠÚÝ")
ENGLISH = {
    "%n more": ("%n more", "%n more"),
    "Table with %n row(s)": ("Table with %n row", "Table with %n rows"),
    "written %n step(s) ago": ("written %n step ago", "written %n steps ago"),
    "%1: shared prefix, %2, held by %n request(s), %3": (
        "%1: shared prefix, %2, held by %n request, %3",
        "%1: shared prefix, %2, held by %n requests, %3",
    ),
}


def pseudo(text: str) -> str:
    parts = re.split(r"(%n|%\d|\*\.gguf|\*)", text)
    accented = "".join(p if i % 2 else p.translate(ACCENTS) for i, p in enumerate(parts))
    return "[" + accented + "·" * (len(text) // 3) + "]"


def fill(path: Path, plural, single) -> int:
    tree = ElementTree.parse(path)
    missing = 0
    for message in tree.iter("message"):
        source = message.findtext("source") or ""
        translation = message.find("translation")
        forms = translation.findall("numerusform")
        if message.get("numerus") == "yes":
            texts = plural(source)
            for form, text in zip(forms, texts):
                form.text = text
            missing += 0 if texts else 1
        else:
            translation.text = single(source)
        translation.attrib.pop("type", None)
    tree.write(path, encoding="utf-8", xml_declaration=True)
    return missing


def main() -> int:
    lupdate = sys.argv[1] if len(sys.argv) > 1 else "/usr/lib/qt6/bin/lupdate"
    root = FOLDER.parent
    for name, options in (("quern_en.ts", ["-pluralonly"]), ("quern_en_XA.ts", [])):
        subprocess.run(
            [lupdate, "-silent", "-locations", "none", "-no-obsolete", *options,
             "-I", str(root), str(root / "ui"), "-source-language", "en", "-target-language", "en",
             "-ts", str(FOLDER / name)],
            check=True)
    missing = fill(FOLDER / "quern_en.ts", lambda s: ENGLISH.get(s, ()), lambda s: s)
    fill(FOLDER / "quern_en_XA.ts",
         lambda s: [pseudo(form) for form in ENGLISH.get(s, ())], pseudo)
    if missing:
        print(f"{missing} plural texts have no English forms: add them to ENGLISH", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
