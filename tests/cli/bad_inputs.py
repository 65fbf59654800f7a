#!/usr/bin/env python3
"""What jtrace says to inputs that are wrong: bad_inputs.py JTRACE

Each is converted to every kind of output: the exit status, the one line on stderr with file, line and column, and that no
output is left. Some of them are read nevertheless: the test checks the messages and what was kept.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<TRACE>\n'
TRACE = (b'<node nodeId="n" hostname="h" ipaddress=""/>\n<processCreate processId="p" pid="1" nodeIdRef="n" time="1.0"/>\n'
         b'<agentCreate agentId="a" processIdRef="p" agentName="x" time="1.0"/>\n'
         b'<traceStart traceId="t" agentIdRef="a" time="1.0" collationValue="1"/>\n')
END = b'<traceEnd traceIdRef="t" time="9.0"/>\n'
TAIL = b'</TRACE>\n'
MACHINE = b'#1:\n"M" {\n\tint "t"[];\n\tdouble "s";\n\tint "e";\n\tint "m";\n};;\n'


def document(body):
    return HEAD + body + TAIL


def whole(body):
    return document(TRACE + body + END)


# name, input, message (a regular expression), the fault's line:column ("" if it has none)
REFUSED = [
    ("no XML", b"hello", "is not XML", "1:1"),
    ("wrong root", b"<html/>", "root element is <html>, expected <TRACE>", "1:1"),
    ("entity bomb", b'<!DOCTYPE TRACE [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
     b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>\n<TRACE>&c;</TRACE>', "entity expansion refused", "1:"),
    ("quadratic entity", b'<!DOCTYPE TRACE [<!ENTITY a "' + b"a" * 50000 + b'">]>\n<TRACE>' + b"&a;" * 20000 + b"</TRACE>",
     "entity expansion refused", "1:"),
    ("external entity", b'<!DOCTYPE TRACE [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<TRACE>&a;</TRACE>',
     "external entities are not allowed", "1:"),
    ("attribute of 20 MB", document(b'<node nodeId="n" hostname="' + b"h" * 20000000 + b'" ipaddress=""/>'),
     "longer than 1048576 bytes", "3:"),
    ("300,000 levels", document(b"<value>" * 300000), "nested deeper than 16 levels", "3:"),
    ("attribute twice", document(b'<gcStart time="1.0" time="2.0"/>'), "duplicate attribute time", "3:21"),
    ("control character", document(b'<tag name="\x01"/>'), "byte 0x01 at offset", "3:"),
    ("character 0", document(b'<tag name="&#0;"/>'), "(reference|byte 0x)", "3:"),
    ("NUL of modified UTF-8", document(b'<tag name="\xc0\x80"/>'), "--repair-utf8", "3:"),
    ("surrogates", document(b'<tag name="\xed\xa0\xbd\xed\xb8\x80"/>'), "--repair-utf8", "3:"),
    ("< in an attribute", document(b'<methodDef name="<init>"/>'), "-init-", "3:"),
    ("two documents", document(b"") + document(b""), "several documents|declaration", "4:"),
    ("SDDF without its line", MACHINE, "is not XML", "1:1"),
    ("binary SDDF", b"SDDFB\0\0\0", "binary SDDF is not supported", "1:1"),
    ("record before its descriptor", b'SDDFA\n"M" { [2] { 1, 2 }, 0.5, 137, 1 };;\n', "comes before its descriptor", "2:"),
    ("too few fields", b"SDDFA\n" + MACHINE + b'"M" { [2] { 1, 2 }, 0.5, 137 };;\n', 'record "M" has 3 of 4 fields', "9:"),
    ("too many fields", b"SDDFA\n" + MACHINE + b'"M" { [2] { 1, 2 }, 0.5, 137, 1, 2 };;\n', "more than 4 fields", "9:"),
    ("array of another length", b"SDDFA\n" + MACHINE + b'"M" { [3] { 1, 2 }, 0.5, 137, 1 };;\n',
     'field "t": an array of 3 has 2 elements', "9:"),
    ("unknown type", b'SDDFA\n#1:\n"M" { quad "t"; };;\n', "unknown type 'quad'", "3:"),
    ("int of 33 bits", b"SDDFA\n" + MACHINE + b'"M" { [2] { 1, 2 }, 0.5, 137, 4294967296 };;\n',
     'field "m": 4294967296 does not fit an int', "9:"),
    ("no ;;", b"SDDFA\n" + MACHINE + b'"M" { [2] { 1, 2 }, 0.5, 137, 1 }\n', "expected ';;'", "10:"),
    ("cut SDDF", b"SDDFA\n" + MACHINE + b'"M" { [2] { 1,', "the file ends", "9:"),
]
# name, input, status, messages on stderr, elements that are kept
READ = [
    ("cut inside a tag", HEAD + TRACE + b"<gcStart time=", 9, ["truncated after 4 elements"], 4),
    ("cut before the end", HEAD + TRACE, 9, ["truncated after 4 elements"], 4),
    ("fragments", TRACE + END, 0, [], 5),
    ("no end", document(TRACE), 9, ["truncated after 4 elements"], 4),
    ("fragments without an end", TRACE, 9, ["truncated after 4 elements"], 4),
    ("unknown element", whole(b"<foo/><foo/>"), 0, ["7:1: unknown element <foo>", "2 unknown element"], 5),
    ("unknown attribute", whole(b'<gcStart foo="1"/>'), 0, ["7:1: unknown attribute foo of <gcStart>"], 6),
    ("bad collationValue", whole(b'<gcStart collationValue="1,2,3"/><gcStart collationValue="x"/>'
                                    b'<gcStart collationValue="4294967296,1"/>'), 0,
     ["bad collationValue '1,2,3'", "3 bad value"], 8),
    ("bad time", whole(b'<gcStart time="soon"/><gcStart time="-1.0"/>'), 0, ["bad time 'soon'", "2 bad value"], 7),
    ("bad genericPattern", whole(b'<filter pattern="a*" genericPattern="middle" mode="include"/>\n'
                                    b'<filter pattern="*a" genericPattern="PREFIX" mode="EXCLUDE"/>\n'
                                    b'<filter pattern="a" genericPattern="none" mode="maybe" methodGenericPattern=""/>'), 0,
     ["7:1: bad genericPattern 'middle' of <filter>: it must be none, prefix or suffix",
      "9:1: bad mode 'maybe' of <filter>: it must be include or exclude",
      "9:1: bad methodGenericPattern '' of <filter>: it must be none, prefix or suffix", "3 bad value"], 8),
    ("bad genericPattern, JSON", b'{"element":"filter","pattern":"a*","genericPattern":"middle","mode":"include"}\n', 0,
     ["1:", "bad genericPattern 'middle' of filter: it must be none, prefix or suffix"], 1),
    ("dangling reference", whole(b'<methodEntry threadIdRef="1" time="2.0" methodIdRef="17"/>'), 0, [], 6),
    ("exit without entry", whole(b'<methodExit threadIdRef="1" time="2.0" methodIdRef="17"/>'), 0, [], 6),
    ("no node attribute", document(b'<node nodeId="n"/>'), 0, ["3:1: <node> without hostname is left out"], 0),
]
# validate: name, input, line of its output
VALIDATED = [
    ("dangling reference", TRACE + b'<methodEntry threadIdRef="1" time="2.0" methodIdRef="17"/>\n', "undefined reference"),
    ("bad genericPattern", TRACE + b'<filter pattern="a*" genericPattern="middle" mode="include"/>\n',
     ":7:1: bad genericPattern 'middle' of <filter>: it must be none, prefix or suffix"),
    ("id used twice", TRACE + b'<classDef classId="1"/>\n<classDef classId="1"/>\n', "duplicate definition"),
    ("duplicate collationValue", TRACE + b'<gcStart collationValue="1"/>\n<gcFinish/>\n', "duplicate collationValue"),
    ("gap", TRACE + b'<gcStart collationValue="5"/>\n<gcFinish/>\n', "lacks the collationValues 2 to 4"),
    ("exit without entry", TRACE + b'<methodExit threadIdRef="1" methodIdRef="1"/>\n', "methodExit without a methodEntry"),
    ("gcFinish alone", TRACE + b"<gcFinish/>\n", "gcFinish without a gcStart"),
    ("time back", TRACE + b'<line threadId="1" time="3.0"/>\n<line threadId="1" time="2.0"/>\n', "goes back by 1000000000 ns"),
]
FORMATS = ["xml", "fragments", "jsonl", "sddf", "chrome", "speedscope", "collapsed", "sqlite", "csv"]


def main():
    jtrace = sys.argv[1]
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "in"

        def run(*words):
            return subprocess.run([jtrace, *words], capture_output=True, text=True, timeout=120)

        def check(what, holds, done):
            if not holds:
                faults.append(f"{what}: status {done.returncode}, {done.stdout[-300:]!r} {done.stderr[-300:]!r}")

        for index, (what, data, message, place) in enumerate(REFUSED):
            path.write_bytes(data)
            form = FORMATS[index % len(FORMATS)]
            done = run("convert", str(path), "-o", str(folder / "out"), "--to", form)
            lines = done.stderr.splitlines()
            sound = done.returncode == 8 and lines and re.search(message, lines[-1]) and f"{path}:{place}" in lines[-1]
            sound = sound and not [line for line in lines[:-1] if "warning:" not in line]
            check(f"{what}, to {form}", sound, done)
            check(f"{what}, to {form}: files are left: {sorted(folder.iterdir())}", sorted(folder.iterdir()) == [path], done)
            check(f"{what}, validate", run("validate", str(path)).returncode == 8, done)
        for what, data, status, messages, kept in READ:
            path.write_bytes(data)
            done = run("convert", str(path), "-o", str(folder / "out"), "--to", "jsonl")
            check(what, done.returncode == status and all(m in done.stderr for m in messages), done)
            check(f"{what}: kept", (folder / "out").read_text().count("\n") == kept, done)
            (folder / "out").unlink()
            if status != 0 or messages:
                strict = run("convert", str(path), "-o", str(folder / "out"), "--to", "jsonl", "--strict")
                check(f"{what}, strict", strict.returncode == 8 and not (folder / "out").exists(), strict)
        for what, data, message in VALIDATED:
            path.write_bytes(document(data + END))
            done = run("validate", str(path))
            check(f"{what}, validate", done.returncode == 8 and message in done.stdout, done)
        check("no such file", run("convert", str(folder / "none"), "-o", "-", "--to", "xml").returncode == 3, done)
        check("name without a format", run("convert", str(path), "-o", str(folder / "x.y")).returncode == 2, done)
        # Compressed and truncated.
        for tool, ending in (("gzip", ".gz"), ("zstd", ".zst")):
            path.write_bytes(whole(b"".join(b'<tag name="%d"/>\n' % (i * 0x9e3779b97f4a7c15 % 2**64) for i in range(60000))))
            if run("convert", str(path), "-o", str(folder / ("p.xml" + ending))).returncode != 0:
                faults.append(f"cannot pack with {tool}")
            packed = (folder / ("p.xml" + ending)).read_bytes()
            path.write_bytes(packed[:len(packed) // 2])
            done = run("convert", str(path), "-o", str(folder / "out"), "--to", "xml")
            check(f"cut {tool}", done.returncode == 9 and "truncated after" in done.stderr, done)
    print("\n".join(faults) or f"{len(REFUSED)} refused, {len(READ)} read, {len(VALIDATED)} validated")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
