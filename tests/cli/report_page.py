#!/usr/bin/env python3
"""The page of jtrace report: report_page.py JTRACE TRACE

It names nothing outside itself; a headless Chromium shows it without an error on its console, with the views that the trace
(data/views.trcxml) has, and paints it (a screenshot). Exit status: 0 so it is, 1 not, 77 there is no Chromium (1 where
JTRACE_REQUIRE names chromium).
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

EXPECTED = [
    # summary, producers
    "Nothing was lost.", "shop.Main --port 80", "jtrace inspect (snapshot)",
    # sections
    'id="timeline"', 'id="flame"', 'id="contention"', 'id="methods"', 'id="threads"', 'id="gc"', 'id="allocations"',
    'id="heap"', 'id="counters"', 'id="stacks"',
    # the timeline shows no thread as running
    "alive, not seen waiting", "in native code",
    # contention: 100 ms; methods: add alone 200 ms of 300 ms; coverage; the heap; counters; the deadlock
    "Pauses, the longest first",
    "100.000 ms", "shop.Cart.add", "200.000 ms", "2 of 3 counted methods ran (66.7 %)", "2 pauses, 50.000 ms in all",
    "4,096", "java.threads.live", "-Xmx8m", "Deadlock: main waits for worker waits for main", "shop.Cart.checkout",
    "worker &lt;/script&gt;",
]


IDLE = """<?xml version="1.0" encoding="UTF-8"?>
<TRACE>
<node nodeId="n" hostname="h" ipaddress="" time="1.0"/>
<processCreate processId="p" pid="42" nodeIdRef="n" name="Idle" application_executable="Idle" time="1.0"/>
<agentCreate agentId="a" version="0.1.0" processIdRef="p" agentName="jtrace inspect" agentParameters="profile hz=99 cpu" time="2.0"/>
<agentDestroy agentIdRef="a" time="4.0"/>
</TRACE>
"""

MEASURE = """<script>setTimeout(() => {
  const table = document.querySelector('#slow .scroll');
  document.body.dataset.widths = `${table.scrollWidth} ${table.clientWidth}`;
}, 1000);</script>"""


def colors(png):
    """How many colors the first lines of an 8 bit RGB(A) picture have: one of a blank page."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6), "unexpected kind of PNG"
    size, data, at = (3 if kind == 2 else 4), b"", 8
    while at < len(png):
        length, = struct.unpack(">I", png[at:at + 4])
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    raw = zlib.decompress(data)
    assert len(raw) == height * (width * size + 1), "a cut picture"
    return len({raw[i:i + 64] for i in range(0, len(raw), 64)})


def main():
    jtrace, trace = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "report.html")
        subprocess.run([jtrace, "report", trace, "-o", page], check=True)
        text = page.read_text()
        foreign = re.findall(r"""(?:https?:|//[a-z]|src\s*=|@import|url\()[^\n]{0,40}""",
                             re.sub(r"^\s*//.*|  // .*", "", text, flags=re.MULTILINE))
        assert not foreign, f"the page names what is not in it: {foreign}"
        chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if chromium is None:
            print("skipped: there is no chromium on the PATH")
            return 1 if "chromium" in os.environ.get("JTRACE_REQUIRE", "") else 77

        def show(*options, page=page):
            return subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                 f"--user-data-dir={folder}/profile", "--window-size=1200,2400", *options, page.as_uri()],
                capture_output=True, text=True, timeout=120)

        shown = show("--dump-dom")
        spoken = [line for line in shown.stderr.splitlines() if ":CONSOLE" in line]
        assert not spoken, f"on the console: {spoken}"
        assert 'data-state="ready"' in shown.stdout, f"the page did not get ready: {shown.stdout[:300]} {shown.stderr[-300:]}"
        body = shown.stdout.split("<main>")[1].split('id="data"')[0] + shown.stdout.split("<main>")[0]
        missing = [each for each in EXPECTED if each not in body]
        assert not missing, f"not on the page: {missing}"
        picture = pathlib.Path(folder, "page.png")
        show(f"--screenshot={picture}")
        assert picture.exists() and colors(picture.read_bytes()) > 100, "the page is blank"
        # A name that would turn its line around shows the code of the character instead.
        turned = pathlib.Path(folder, "turned.trcxml")
        turned.write_text(pathlib.Path(trace).read_text().replace('threadName="main"', 'threadName="\u202eniam"'))
        subprocess.run([jtrace, "report", turned, "-o", turned.with_suffix(".html")], check=True)
        shown = show("--dump-dom", page=turned.with_suffix(".html"))
        body = shown.stdout.split("<main>")[1].split('id="data"')[0]
        assert "\\u202eniam" in body and "\u202e" not in body, "a mark of direction reaches the page"
        # Of a trace that lost events each section with figures says so.
        lossy = pathlib.Path(folder, "lossy.trcxml")
        end = '<traceEnd traceIdRef="ta"'
        whole = pathlib.Path(trace).read_text()
        assert end in whole, "the trace has another end"
        lossy.write_text(whole.replace(end, '<option key="jtrace.dropped" value="7" traceIdRef="ta"/>' + end))
        subprocess.run([jtrace, "-q", "report", lossy, "-o", lossy.with_suffix(".html")], check=False)
        body = show("--dump-dom", page=lossy.with_suffix(".html")).stdout.split("<main>")[1].split('id="data"')[0]
        said = re.findall(r'<section id="(\w+)"><h2>[^<]*</h2><p class="bad">7 events lost while tracing: there may be more', body)
        assert {"methods", "contention", "gc", "threads", "timeline"} <= set(said), f"the loss is told in {said}"
        # On a narrow screen the slowest calls fit: nobody pushes a table of many columns to and fro.
        narrow = pathlib.Path(folder, "narrow.html")
        subprocess.run([jtrace, "report", pathlib.Path(trace).with_name("till.trcxml.gz"), "-o", narrow], check=True)
        narrow.write_text(narrow.read_text().replace("</body>", MEASURE + "</body>"))
        shown = show("--window-size=500,1200", "--virtual-time-budget=3000", "--dump-dom", page=narrow)
        widths = re.findall(r'data-widths="(\d+) (\d+)"', shown.stdout)
        assert widths and int(widths[0][0]) <= int(widths[0][1]) < 500, f"the slowest calls are wider than the screen: {widths}"
        # A document of hsperf poll: the heap over time is the sum of its spaces, beside the pauses.
        polled = pathlib.Path(folder, "polled.html")
        subprocess.run([jtrace, "report", pathlib.Path(trace).with_name("heap_use.trcxml"), "-o", polled], check=True)
        shown = show("--dump-dom", page=polled)
        assert ":CONSOLE" not in shown.stderr and 'data-state="ready"' in shown.stdout, shown.stderr[-300:]
        charts = re.findall(r'<i class="key"[^>]*></i>([^<]*)</span>', shown.stdout)
        assert charts[:2] == ["heap used", "length of the pauses"], f"the charts are {charts}"
        assert "what it had just before a pause is not recorded" in shown.stdout, "the chart does not say what it lacks"
        # A profile of a program that did not run is not just empty.
        idle = pathlib.Path(folder, "idle.trcxml")
        idle.write_text(IDLE)
        subprocess.run([jtrace, "report", idle, "-o", idle.with_suffix(".html")], check=True)
        body = show("--dump-dom", page=idle.with_suffix(".html")).stdout.split('id="data"')[0]
        assert "No sample was taken." in body and "jtrace stack 42 shows where they wait" in body, "an empty profile without a hint"
        assert "Nothing was lost" not in body, "nothing was lost of nothing"
        print(f"shown by {chromium}: {page.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
