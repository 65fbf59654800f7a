#!/usr/bin/env python3
"""The three examples of -agentpath in the manual start a real JVM, and make the traces that they say: agent_examples.py BIN AGENT MAN

`java -jar app.jar` is the shop of tests/apps, com.example.* its classes. Exit status: 0 so it is, 1 not, 77 there is no JDK.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from run import SOURCE, Skip, find_java

# What each trace must contain, by the file that the example names.
EXPECTED = {"trace.xml": ["<threadStart ", "<gcStart "], "calls.xml": ["<methodEntry ", "<value "], "run,1.xml": ["<methodCount "]}
NOT_THERE = {"trace.xml": ["<methodEntry "], "calls.xml": ["<gcStart "], "run,1.xml": ["<methodEntry "]}


def main():
    bin_folder, agent, page = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    examples = re.findall(r"^    java -agentpath:\S*?libjtrace_agent\.so=(.*) -jar app\.jar$", page.read_text(), re.M)
    assert len(examples) == 3, f"{len(examples)} examples"
    try:
        home = find_java()
    except Skip as reason:
        print(reason)
        sys.exit(1 if "live" in os.environ.get("JTRACE_REQUIRE", "").split(",") else 77)
    with tempfile.TemporaryDirectory(prefix="jtrace-agent") as folder:
        subprocess.run([home / "bin/javac", "-d", folder, "-Xlint:-options", "--release", "8", SOURCE / "tests/apps/Shop.java"], check=True)
        for options in examples:
            # The shell of the example takes one level of quotes, as here.
            words = options.replace("com.example.*", "Shop*")
            command = f"exec '{home}/bin/java' -Xmx24m -agentpath:'{agent}'=jtrace='{bin_folder}/jtrace',{words} -cp . Shop"
            shop = subprocess.Popen(["sh", "-c", command], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
            shop.stdout.readline()
            name = next(each for each in EXPECTED if each in words.replace("\\\\", ""))
            trace = pathlib.Path(folder, name)
            if "gc" in words:
                subprocess.run([bin_folder / "jtrace", "-q", "cmd", str(shop.pid), "jcmd", "GC.run"], check=True, stdout=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            early = [each for each in EXPECTED[name] if each != "<methodCount "]  # which comes at the end
            while not (trace.exists() and all(each in trace.read_text() for each in early)) and time.monotonic() < deadline:
                time.sleep(0.05)
            _, err = shop.communicate(timeout=60)
            assert "not traced" not in err, err
            deadline = time.monotonic() + 30  # the jtrace that drains ends after the JVM
            while True:
                checked = subprocess.run([bin_folder / "jtrace", "validate", trace], capture_output=True, text=True)
                if checked.returncode == 0 or time.monotonic() > deadline:
                    break
                time.sleep(0.05)
            assert checked.returncode == 0, f"{words}: {checked.stdout}{checked.stderr}{err}"
            text = trace.read_text()
            missing = [each for each in EXPECTED[name] if each not in text] + [each for each in NOT_THERE[name] if each in text]
            assert not missing, f"{words}: {missing}"
    print(f"{len(examples)} examples")


if __name__ == "__main__":
    main()
