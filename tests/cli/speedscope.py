#!/usr/bin/env python3
"""speedscope takes what jtrace convert writes: speedscope.py JTRACE TRACE CACHE

The npm package's own page opens the export of TRACE (data/views.trcxml) in a headless Chromium: as speedscope JSON, as Chrome
trace JSON and as collapsed stacks; a profile that is not sound must not open. The package is taken from CACHE, where npm
installs it once (JTRACE_SPEEDSCOPE names another folder that has it). Exit status: 0 so it is, 1 not, 77 something of this is
not there (1 where JTRACE_REQUIRE names speedscope).
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def skip(why):
    print(f"skipped: {why}")
    return 1 if "speedscope" in os.environ.get("JTRACE_REQUIRE", "") else 77


def page_of(cache):
    named = os.environ.get("JTRACE_SPEEDSCOPE")
    page = pathlib.Path(named or cache, "node_modules/speedscope/dist/release/index.html")
    if not page.exists() and not named and shutil.which("npm"):
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", cache, "speedscope"],
                       capture_output=True, timeout=180, check=False)
    return page if page.exists() else None


def check_schema(profile, schema):
    """The part of JSON schema that speedscope's file uses, where python's jsonschema is not there."""
    try:
        import jsonschema
        jsonschema.validate(profile, schema)
        return "jsonschema"
    except ImportError:
        missing = [key for key in schema.get("required", []) if key not in profile]
        assert not missing, f"the export lacks {missing}"
        return "required members only: python3-jsonschema is not there"


def main():
    jtrace, trace, cache = sys.argv[1:]
    chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if chromium is None:
        return skip("there is no chromium on the PATH")
    page = page_of(cache)
    if page is None:
        return skip("speedscope is not there, and npm cannot install it")
    with tempfile.TemporaryDirectory() as folder:

        def opened(name, data):
            script = pathlib.Path(folder, "profile.js")
            script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(base64.b64encode(data).decode())})")
            return subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--allow-file-access-from-files",
                 f"--user-data-dir={folder}/profile", "--virtual-time-budget=15000", "--dump-dom",
                 f"{page.as_uri()}#localProfilePath={script}"], capture_output=True, text=True, timeout=120).stdout

        def convert(form):
            out = pathlib.Path(folder, "out." + form)
            subprocess.run([jtrace, "-q", "convert", trace, "-o", out, "--to", form], check=True)
            return out.read_bytes()

        exported = convert("speedscope")
        how = check_schema(json.loads(exported), json.loads(page.with_name("file-format-schema.json").read_text()))
        for form in ("speedscope", "chrome", "collapsed"):
            shown = opened("views.txt" if form == "collapsed" else "views.json", convert(form))
            assert "Something went wrong" not in shown, f"speedscope does not open {form}"
            # Its views appear when a profile is loaded; formats with threads have their names.
            assert "Sandwich" in shown, f"{form} is not shown: {shown[-800:]}"
            assert form == "collapsed" or "main" in shown, f"{form}: no thread main: {shown[-800:]}"
        broken = json.loads(exported)
        broken["profiles"][0]["events"][-1]["frame"] += 1
        assert "Something went wrong" in opened("views.json", json.dumps(broken).encode()), \
            "speedscope opens what is not sound: this test would see nothing"
    print(f"speedscope opens all three; schema: {how}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
