#!/usr/bin/env python3
"""The page of a heap: heap_page.py JTRACE

Of a made-up heap with a list of 100,000 links and a map that grew: the page names nothing outside itself, is small, and a
headless Chromium shows it without an error on its console, in light and dark, and on a narrow screen without a scroll bar of the
whole. Exit status: 0 so it is, 1 not, 77 there is no Chromium (1 where JTRACE_REQUIRE names chromium).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from made_up_heap import Heap
from report_page import colors

OBJECT, APP, ARRAY, BYTES, LINK, ENTRY = range(0x1000, 0x1600, 0x100)
LINKS, ENTRIES = 100_000, 5000
EXPECTED = [
    'id="suspects"', 'id="keepers"', 'id="classes"', 'id="waste"',
    "1 part of the heap may be a leak, by size", "5000 elements", "held by static App.CACHE",
    "all that is reachable", "static CACHE", "java.lang.Object[]", "What was looked at", "Entry&lt;b&gt;",
]
# What was merged, as most is too small by itself; then after the first row was opened and the suspect was chosen: its rows, the way to it, where the pictures are.
CHOSEN = ["merged at first: 1", "static LIST", "in a list: Link", "static ODD&lt;/script&gt;", "4,950 other objects", "<li>", "› java.lang.Object[]"]
SCRIPT = """
onload = () => {
  const page = document.querySelector('iframe').contentDocument, all = () => page.querySelector('main').innerHTML;
  const choose = page.querySelector('#keepers select'), first = choose.selectedIndex;
  choose.selectedIndex = 0;
  choose.onchange();
  page.querySelector('button.fold:not(:disabled)').click();
  const opened = all();
  Array.from(page.querySelectorAll('button.link')).find((b) => b.textContent === 'show it').click();
  const crumbs = Array.from(page.querySelectorAll('.crumbs button')).map((b) => '› ' + b.textContent).join(' ');
  const wide = page.documentElement.scrollWidth;
  document.body.innerHTML = '<p id="width">' + page.documentElement.dataset.state + ' ' + wide + '</p>merged at first: ' + first + opened + all() + crumbs;
};
"""


def made_up():
    heap, at = Heap(), 0x1000000
    heap.add_class(OBJECT, "java/lang/Object")
    heap.add_class(APP, "App", OBJECT, statics=[("CACHE", at), ("LIST", 0x8000000), ("ODD</script>", 0x7000000)])
    heap.add_class(ARRAY, "[Ljava/lang/Object;", OBJECT)
    heap.add_class(BYTES, "[B", OBJECT)
    heap.add_class(LINK, "Link", OBJECT, fields=["next"])
    heap.add_class(ENTRY, "Entry<b>", OBJECT, fields=["content"])
    heap.add_root(APP)
    entries = [at + 0x100000 + 0x1000 * i for i in range(ENTRIES)]
    heap.add_array(at, ARRAY, entries)
    for entry in entries:
        heap.add_object(entry, ENTRY, [entry + 0x100])
        heap.add_bytes(entry + 0x100, bytes(1000))
    heap.add_object(0x7000000, ENTRY, [0x7000100])
    heap.add_bytes(0x7000100, bytes(2000))
    for i in range(LINKS):
        heap.add_object(0x8000000 + 16 * i, LINK, [0x8000000 + 16 * (i + 1) if i + 1 < LINKS else 0])
    return heap.dump()


def main():
    jtrace, = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        dump, page = pathlib.Path(folder, "made_up.hprof"), pathlib.Path(folder, "heap.html")
        dump.write_bytes(made_up())
        subprocess.run([jtrace, "heap", dump, "-o", page], check=True)
        text = page.read_text()
        assert len(text) < 500_000, f"the page has {len(text)} bytes"
        foreign = re.findall(r"""(?:https?:|//[a-z]|src\s*=|@import|url\()[^\n]{0,40}""",
                             re.sub(r"^\s*//.*|  // .*", "", text, flags=re.MULTILINE))
        assert not foreign, f"the page names what is not in it: {foreign}"
        refused = subprocess.run([jtrace, "heap", dump, "page", "--format", "json"], capture_output=True, text=True)
        assert refused.returncode == 2 and "the page of a heap is HTML" in refused.stderr, refused.stderr
        chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if chromium is None:
            print("skipped: there is no chromium on the PATH")
            return 1 if "chromium" in os.environ.get("JTRACE_REQUIRE", "") else 77

        def show(*options, of=page):
            done = subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                 f"--user-data-dir={folder}/profile", *options, of.as_uri()], capture_output=True, text=True, timeout=120)
            spoken = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
            assert not spoken, f"on the console: {spoken}"
            return done.stdout

        shown = show("--dump-dom", "--window-size=1200,2400")
        assert 'data-state="ready"' in shown, f"the page did not get ready: {shown[:300]}"
        body = shown.split('id="data"')[0]
        missing = [each for each in EXPECTED if each not in body]
        assert not missing, f"not on the page: {missing}"
        for name, options in {"light": ["--window-size=1200,1600"], "dark": ["--window-size=1200,1600", "--force-dark-mode",
                              "--blink-settings=preferredColorScheme=0"], "narrow": ["--window-size=500,2000"]}.items():
            picture = pathlib.Path(folder, name + ".png")
            show(f"--screenshot={picture}", *options)
            assert picture.exists() and colors(picture.read_bytes()) > 100, f"the page is blank: {name}"
            if "JTRACE_KEEP_PICTURES" in os.environ:
                shutil.copy(picture, os.environ["JTRACE_KEEP_PICTURES"])
        # In a frame of 380 pixels nothing makes the page as a whole wider; rows open, and a suspect is shown.
        frame = pathlib.Path(folder, "frame.html")
        frame.write_text(f"<iframe src='{page.name}' width=380 height=3000></iframe><script>{SCRIPT}</script>")
        shown = show("--dump-dom", "--allow-file-access-from-files", of=frame)
        wide = re.search(r'id="width">(\w+) (\d+)<', shown)
        assert wide and wide[1] == "ready" and int(wide[2]) <= 380, f"on a narrow screen: {wide and wide[0]}"
        missing = [each for each in CHOSEN if each not in shown]
        assert not missing, f"not after it was chosen: {missing}"
        print(f"shown by {chromium}: {page.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
