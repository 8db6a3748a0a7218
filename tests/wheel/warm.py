"""A Python that has imported Triton already, which takes a second: every program that it runs is a fork of one process.

    with warm.Python(PYTHON, ENVIRONMENT) as python:    `python` is started as PYTHON would be: python SCRIPT ARGUMENTS..., python -c TEXT ARGUMENTS...

In it sys.executable is `python` again, and with UNTIL_MEMORY=1 in the environment Triton compiles as far as until_memory.py says."""
import gc
import marshal
import os
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import traceback
import types

# What `python` is: it has its words run with all that it was given, and ends as they do. It is short because it is started often.
ASK = """#!{python} -IS
import marshal, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({door!r})
order = marshal.dumps((sys.argv[1:], dict(os.environ), os.getcwd()))
socket.send_fds(line, [len(order).to_bytes(8, "big")], [0, 1, 2])
line.sendall(order)
code = int(line.recv(8) or b"1")
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class Python:
    """The process, as a test sees it."""

    def __init__(self, python, environment):
        self.python, self.environment = python, environment

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory()
        program, door = pathlib.Path(self.scratch.name, "python"), f"{self.scratch.name}/door"
        program.write_text(ASK.format(python=sys.executable, door=door))
        program.chmod(0o755)
        self.process = subprocess.Popen([self.python, __file__, door, program], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"
        return program

    def __exit__(self, *_):
        self.process.communicate()  # it ends with its stdin, and so it does if the test is killed
        self.scratch.cleanup()


def serve(door, program):
    import triton

    import heddle_triton
    import until_memory
    triton.runtime.cache.triton_key()  # which Triton keeps: it reads all of itself for it
    sys.executable = program
    kept = {os.path.realpath(heddle_triton.__file__): code_of(heddle_triton.__file__)}
    gc.freeze()  # the forks' collectors need not touch what is here
    running = {}  # a descriptor that says that a program has ended -> its process, and who waits for it
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(door)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in (ready := select.select([listener, sys.stdin, *running], [], [])[0]):
            for end in running.keys() & set(ready):
                process, line = running.pop(end)
                os.close(end)
                with line:
                    line.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            if listener in ready:
                line, _ = listener.accept()
                size, descriptors, *_ = socket.recv_fds(line, 8, 3)
                with line.makefile("rb") as file:
                    order = marshal.loads(file.read(int.from_bytes(size, "big")))
                if not (process := os.fork()):
                    run_here(*order, descriptors, kept, until_memory.install)
                for descriptor in descriptors:
                    os.close(descriptor)
                running[os.pidfd_open(process)] = process, line
    os._exit(0)  # without what Python puts in order, which is much


def code_of(path):
    return compile(pathlib.Path(path).read_bytes(), path, "exec")


def run_here(words, environment, folder, descriptors, kept, until_memory):
    """As `python WORDS...` would; never returns."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, 1024)  # who waits for the others, and for whom, is nothing of this program
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = 0
    try:
        if os.environ.get("UNTIL_MEMORY"):
            until_memory()
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        if words[0] == "-c":
            sys.argv, sys.path[0] = ["-c", *words[2:]], ""
            text = compile(words[1], "<string>", "exec")
        else:
            sys.argv, sys.path[0] = words, os.path.dirname(os.path.realpath(words[0]))
            main.__file__ = words[0]
            text = kept.get(os.path.realpath(words[0])) or code_of(words[0])
        exec(text, main.__dict__)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(*sys.argv[1:])
