#!/usr/bin/env python3
"""Holds the include directions of docs/architecture.md, and names of machines in the files that are for them.

    check_layers.py [TREE]       check a tree (default: the one this script is in)
    check_layers.py --self-test  plant violations in a tree of its own and see each one found

What depends on the instruction set is in files *_x86_64.* and *_aarch64.*, or is listed in MACHINES with the reason.
Includes are written from the root of the tree, so an include names the folder it reaches into.
"""
import re
import sys

import planted

# Folder -> folders it includes besides itself, of the rows above its own (but for PEERS). The longest matching folder counts,
# on both sides: what is listed here with a slash is a layer of its own. "trace" means the model alone. docs/architecture.md has
# the same table, and a folder that a row names in vain is a fault.
LAYERS = {
    "base": [],
    "trace": ["base"],
    "trace/record": ["trace", "base"],
    "trace/io": ["trace/record", "trace", "base"],
    "target": ["base"],
    "perfdata": ["target", "trace", "base"],
    "attach": ["target", "base"],
    "coreinspect/types": ["target", "base"],
    "coreinspect/vm": ["coreinspect/types", "target", "base"],
    "coreinspect/oops": ["coreinspect/runtime", "coreinspect/vm", "target", "base"],
    "coreinspect/code": ["coreinspect/vm", "coreinspect/types", "base"],
    "coreinspect/runtime": ["coreinspect/oops", "coreinspect/vm", "target", "base"],
    "coreinspect/model": ["coreinspect/runtime", "coreinspect/code", "coreinspect/oops", "target", "base"],
    "coreinspect/gc": ["coreinspect/model", "coreinspect/runtime", "coreinspect/oops", "coreinspect/vm", "target", "base"],
    "coreinspect/unwind": ["coreinspect/runtime", "coreinspect/code", "coreinspect/oops", "target", "base"],
    "coreinspect/hprof": ["coreinspect/unwind", "coreinspect/gc", "coreinspect/model", "coreinspect/runtime",
                          "coreinspect/oops", "trace", "base"],
    "coreinspect/graph": ["coreinspect/hprof", "coreinspect/oops", "base"],
    "coreinspect/tools": ["coreinspect/graph", "coreinspect/hprof", "coreinspect/unwind", "coreinspect/gc",
                          "coreinspect/model", "coreinspect/runtime", "coreinspect/code", "coreinspect/oops",
                          "coreinspect/vm", "perfdata", "target", "trace/io", "trace", "base"],
    "agent/classfile": [],
    "agent": ["agent/classfile", "trace/record", "trace", "base"],
    "agent/methods": ["agent", "agent/classfile", "trace/record", "trace", "base"],
    "agent/waits": ["agent", "agent/classfile", "trace/record"],
    "agent:session": ["agent/waits", "agent/methods", "agent", "trace/record", "trace", "base"],
    "agent/jvmpi": ["agent/waits", "agent/methods", "agent", "agent/classfile", "base"],
    "dtrace": ["coreinspect/tools", "coreinspect/model", "coreinspect/runtime", "coreinspect/vm", "target", "trace", "base"],
    "sampling": ["coreinspect/tools", "coreinspect/unwind", "coreinspect/model", "coreinspect/oops", "target", "trace/io",
                 "trace", "base"],
    "session/options": ["trace/record", "trace", "base"],
    "session/document": ["session/options", "target", "trace/io", "trace/record", "trace", "base"],
    "session/spill": ["session/document", "trace/io", "trace/record", "trace", "base"],
    "session": ["session/spill", "session/document", "session/options", "coreinspect/gc", "attach", "perfdata", "target",
                "trace/io", "trace/record", "trace", "base"],
    "dtrace/trace": ["session/document", "session/options", "dtrace", "target", "trace", "base"],
    "doctor": ["session", "session/options", "dtrace", "attach", "perfdata", "target", "base"],
    "debug": ["coreinspect/tools", "coreinspect/unwind", "coreinspect/gc", "coreinspect/model", "coreinspect/runtime",
              "coreinspect/oops", "target", "base"],
    "diagnose": ["coreinspect/tools", "coreinspect/model", "coreinspect/runtime", "perfdata", "target", "base"],
    "fleet": ["trace/io", "trace", "base"],
    "fleet/nats": ["fleet", "trace/io", "base"],
    "cli": ["fleet/nats", "fleet", "diagnose", "debug", "doctor", "dtrace/trace", "session", "session/document",
            "session/options", "sampling", "dtrace", "coreinspect/tools", "coreinspect/graph", "coreinspect/hprof", "attach",
            "perfdata", "target", "trace/io", "trace/record", "trace", "base"],
}
# Files of a layer of their own in the folder of another: what puts a session together, and leads the JVM's callbacks to it.
# The rest of agent/ and its folders know the Recorder, not the session.
FILES = {f"agent/{name}": "agent:session" for name in (
    "agent_entry.cpp", "agent_session.cpp", "agent_session.h", "callbacks_gc.cpp", "callbacks_object.cpp",
    "callbacks_runtime.cpp", "control_thread.cpp", "control_thread.h", "event_needs.cpp", "event_needs.h", "handshake.cpp",
    "handshake.h", "startup.cpp", "startup.h")}
FOLDERS = sorted(set(LAYERS) - set(FILES.values()))
# Layers at one level, which may include one another.
PEERS = {"coreinspect/oops", "coreinspect/runtime"}
# Other people's headers -> where they may be included. <iostream> sets up eight streams and a locale at every start of a program
# that has one such source: a third of the page faults of a warm `jtrace cmd`.
THIRD_PARTIES = {
    r"CLI/": ["cli"],
    r"boost/": ["target", "perfdata"],
    r"tl/": ["base"],
    r"(gtest|gmock|nlohmann|benchmark)/": ["tests"],
    r"expat": ["trace/io", "tests/bench"],
    r"libunwind": ["coreinspect/unwind"],
    r"iostream$": ["tests"],
    r"nats(/|\.h)": ["fleet/nats"],
    r"(jvmti|jni|jvmpi)\.h": ["agent", "tests/live", "tests/bench"],
}
# Names of machines in code (not in comments or texts), and the files besides *_x86_64.* and *_aarch64.* that may have them.
MACHINE = re.compile(r"x86_64|X86_64|aarch64|Aarch64|AARCH64|\bEM_[A-Z]|NT_X86|user_regs_struct|\b(rip|rsp|rbp|rax|rbx|r1[0-5])\b")
MACHINES = {
    "target/isa.h": "the table of them",
    "target/isa.cpp": "the table of them",
    "target/core_file.cpp": "one note that a single machine has",
    "target/native_registers.h": "chooses between them",
    "trace/plain_bytes.h": "chooses between them",
    "dtrace/operand_text.h": "declares what both have",
    "dtrace/stap_note.cpp": "chooses between them",
    "coreinspect/vm/jdk_quirks.h": "chooses between them",
    "coreinspect/unwind/top_frame.cpp": "chooses between them",
    "coreinspect/unwind/native_unwinder.cpp": "chooses between them",
    "coreinspect/unwind/mixed_walker.cpp": "chooses between them",
    "coreinspect/runtime/vm_operation.cpp": "JDK 8's names without symbols: one machine's function is read, to be moved",
    "agent/libc_floor.h": "the first version of glibc is the machine's own",
    "agent/jvmpi/profiler_library.cpp": "a profiler is a library of this machine",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
SOURCES = {".h", ".cpp", ".c", ".inc", ".def"}


def layer_of(path):
    """The longest key of LAYERS that is a folder of this path; None for what no rule knows."""
    if path in FILES:
        return FILES[path]
    matching = [layer for layer in LAYERS if path.startswith(layer + "/")]
    return max(matching, key=len, default=None)


def allowed(source, target):
    return source == target or target in LAYERS[source]


def faults_of_rows(used):
    """Rows that name a row below their own, and folders that no include reaches; `used`: pairs of layers."""
    order = list(LAYERS)
    for layer, targets in LAYERS.items():
        for target in targets:
            if order.index(target) > order.index(layer) and not {layer, target} <= PEERS:
                yield f"LAYERS: {layer} may not include {target}, whose row is below its own"
            if (layer, target) not in used:
                yield f"LAYERS: {layer} includes nothing of {target}"


def faults_of_document(text):
    """Where the table "Layers" of docs/architecture.md is not LAYERS."""
    part = text.partition("### Layers")[2].partition("\n## ")[0]
    rows = {match[1]: re.findall(r"`([^`]+)`", match[2]) for match in re.finditer(r"^\| `([^`]+)` \|(.*)\|$", part, re.M)}
    for layer in sorted(set(rows) | set(LAYERS)):
        if rows.get(layer) != LAYERS.get(layer):
            yield f"docs/architecture.md: layers of {layer} are {rows.get(layer)}, in LAYERS {LAYERS.get(layer)}"


def third_party_fault(path, header):
    for pattern, folders in THIRD_PARTIES.items():
        if re.match(pattern, header) and not any(path.startswith(folder + "/") for folder in folders):
            return f"<{header}> belongs to {', '.join(folders)}"
    return None


def fault_of(path, quote, header):
    """What is wrong with this include, or None."""
    source = layer_of(path)
    if quote == "<":
        return third_party_fault(path, header)
    if path.startswith("tests/"):
        return None
    if source is None:
        return "its folder has no layer in LAYERS"
    target = layer_of(header)
    if target is None:
        return f'"{header}" is not written from the root of the tree, or reaches into a folder that has no layer'
    return None if allowed(source, target) else f'{source} may not include {target} ("{header}")'


def machine_fault(path, line):
    """What is wrong with a machine's name in this line, or None."""
    if path.startswith("tests/") or re.search(r"_(x86_64|aarch64)\.\w+$", path) or any(path.startswith(at) for at in MACHINES):
        return None
    if INCLUDE.match(line):
        return None
    code = re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)
    found = MACHINE.search(code)
    return f"{found[0]} belongs into a file *_x86_64 or *_aarch64" if found else None


def check(tree):
    """One line per fault."""
    faults = [f"{layer}: LAYERS names it, and there is no such folder" for layer in FOLDERS if not (tree / layer).is_dir()]
    folders = sorted({layer.split("/")[0] for layer in LAYERS} | {"tests"})
    used = set()
    for file in (f for folder in folders for f in sorted((tree / folder).rglob("*"))):
        if file.suffix not in SOURCES:
            continue
        path = file.relative_to(tree).as_posix()
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            fault = fault_of(path, match[1], match[2]) if match else machine_fault(path, line)
            if fault:
                faults.append(f"{path}:{number}: {fault}")
            elif match and match[1] == '"':
                used.add((layer_of(path), layer_of(match[2])))
    document = tree / "docs/architecture.md"
    return faults + list(faults_of_rows(used)) + list(faults_of_document(document.read_text() if document.exists() else ""))


PLANTED = {
    "base/up.h": ('#include "trace/event.h"', False),
    "trace/up.h": ('#include "trace/io/reader.h"', False),
    "trace/down.h": ('#include "base/result.h"', True),
    "agent/io.cpp": ('#include "trace/io/reader.h"', False),
    "agent/record.cpp": ('#include "trace/record/layout.h"', True),
    "agent/classfile/jvm.cpp": ('#include "agent/jvm_support.h"', False),
    "agent/classfile/record.cpp": ('#include "trace/record/layout.h"', False),
    "agent/methods/waits.cpp": ('#include "agent/waits/wait_tracer.h"', False),
    "agent/up.cpp": ('#include "agent/methods/method_tracer.h"', False),
    "agent/agent_session.cpp": ('#include "agent/methods/method_tracer.h"', True),
    "agent/methods/down.cpp": ('#include "agent/callback_guard.h"', True),
    "agent/methods/session.cpp": ('#include "agent/agent_session.h"', False),
    "agent/waits/session.cpp": ('#include "agent/agent_session.h"', False),
    "agent/callbacks_thread.cpp": ('#include "agent/agent_session.h"', False),
    "agent/callbacks_gc.cpp": ('#include "agent/agent_session.h"', True),
    "dtrace/session.cpp": ('#include "session/options/options.h"', False),
    "dtrace/trace/document.cpp": ('#include "session/document/trace_output.h"', True),
    "dtrace/trace/session.cpp": ('#include "session/attach_trace.h"', False),
    "doctor/attach.cpp": ('#include "attach/preflight.h"', True),
    "doctor/cli.cpp": ('#include "cli/selector.h"', False),
    "sampling/walk.cpp": ('#include "coreinspect/tools/copied_stack.h"', True),
    "fleet/up.cpp": ('#include "session/options/options.h"', False),
    "fleet/broker.cpp": ("#include <nats/nats.h>", False),
    "fleet/nats/broker.cpp": ("#include <nats/nats.h>", True),
    "sampling/up.cpp": ('#include "session/options/options.h"', False),
    "attach/doctor.cpp": ('#include "doctor/checks.h"', False),
    "cli/agent.cpp": ('#include "agent/options.h"', False),
    "coreinspect/unknown/any.cpp": ('#include "base/result.h"', False),
    "coreinspect/types/up.cpp": ('#include "coreinspect/vm/vm.h"', False),
    "coreinspect/oops/peer.cpp": ('#include "coreinspect/runtime/symbols.h"', True),
    "coreinspect/oops/print.cpp": ('#include "trace/event.h"', False),
    "coreinspect/unwind/up.cpp": ('#include "coreinspect/tools/dump.h"', False),
    "coreinspect/tools/down.cpp": ('#include "coreinspect/unwind/stack.h"', True),
    "attach/session.cpp": ('#include "session/session.h"', False),
    "target/near.cpp": ('#include "near.h"', False),
    "target/cli.cpp": ("#include <CLI/CLI.hpp>", False),
    "cli/streams.cpp": ("#include <iostream>", False),
    "cli/string_streams.cpp": ("#include <ostream>", True),
    "coreinspect/gc/machine.cpp": ("if (isa == Isa::kAarch64) return 16;", False),
    "coreinspect/gc/machine_aarch64.cpp": ("if (isa == Isa::kAarch64) return 16;", True),
    "coreinspect/gc/told.cpp": ('say("x86_64");  // aarch64', True),
    "tests/unit/any.cpp": ('#include "cli/command.h"', True),
    # The table of the document, with a layer that LAYERS does not have.
    "docs/architecture.md": ("### Layers\n\n| `base` | |\n| `cellar` | `base` |\n", False),
}


def rows_are_judged():
    """faults_of_rows() finds an allowance that no include uses, and no other."""
    every = {(layer, target) for layer, targets in LAYERS.items() for target in targets}
    return not list(faults_of_rows(every)) and len(list(faults_of_rows(every - {("target", "base")}))) == 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"] and not rows_are_judged():
        sys.exit("self-test: an unused allowance is not found")
    sys.exit(planted.main(check, PLANTED, "layers: all includes go down", FOLDERS))
