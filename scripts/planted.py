"""What the checks of the tree (check_layers.py, check_tests.py) share: the command line, and the test of a check itself.

A check is a function of a tree that gives one line per fault, "path:...". PLANTED are files with and without faults:
path -> (text, whether it is fine).
"""
import pathlib
import sys
import tempfile


def self_test(check, planted, folders=()):
    """Plants the files in a tree of its own, with these further folders, and sees each fault found: 0, else 1."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for each in folders:
            (tree / each).mkdir(parents=True)
        for path, (text, _) in planted.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        found = {fault.split(":")[0] for fault in check(tree)}
    wrong = [path for path, (_, fine) in planted.items() if (path in found) == fine]
    for path in wrong:
        print(f"self-test: {path} is judged wrongly: {planted[path][0]!r}")
    return 1 if wrong else 0


def main(check, planted, good, folders=()):
    """[TREE] or --self-test; `good` is printed for a tree without faults. The exit status."""
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test(check, planted, folders)
    tree = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    faults = check(tree)
    print("\n".join(faults) if faults else good)
    return 1 if faults else 0
