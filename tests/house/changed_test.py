"""run_clang_tidy.sh and run_headers.sh read what changed, in a tree with made-up
compilers."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class ChangedTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = pathlib.Path(place.name)
        self.write(".gitignore", "bin\nbuild\n")
        self.write(".clang-tidy", "")
        self.write("bin/cmake", "#!/bin/sh\n").chmod(0o755)
        self.write("bin/clang-tidy", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; "
                                     "done\necho $1 >>build/read\n").chmod(0o755)
        self.write("bin/clang++",
                   '#!/bin/sh\nwhile [ "$1" != -include ]; do shift; done\n'
                   "grep -q wrong $2 && exit 1\necho $2 >>build/read\n"
                   ).chmod(0o755)
        self.write("build/tidy/compile_commands.json",
                   '"command": "c++ -I/x -isystem /y -c a.cc"\n')
        self.write("base/a.cc", '#include "base/a.h"\n')
        self.write("base/a.h", "")
        self.write("base/alone.h", "")
        self.write("base/far.h", "")
        self.write("base/user_test.cc", '#include "base/alone.h"\n')
        self.write("cli/user.cc", '#include "base/alone.h"\n'
                                  '#include "base/far.h"\n')
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b",
                        *words], cwd=self.root, check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "change")

    def read_files(self, script="run_clang_tidy.sh", status=0):
        """What a run reads, in order."""
        path = f"{self.root}/bin:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path}
        environment.pop("MESHWRIGHT_LONG", None)
        log = self.write("build/read", "")
        ended = subprocess.run([HERE / script], cwd=self.root, env=environment)
        self.assertEqual(ended.returncode, status)
        return sorted(log.read_text().split())

    def test_all_changed_files_once(self):
        names = [f"base/f{i:02}.cc" for i in range(20)]
        for name in names:
            self.write(name, f"// {name}\n")
        self.commit()
        self.assertEqual(self.read_files(), names)
        self.assertEqual(self.read_files(), [])

    def test_a_changed_header_with_a_file_that_includes_it(self):
        for header, reader in (("base/a.h", "base/a.cc"),
                               ("base/alone.h", "base/user_test.cc"),
                               ("base/far.h", "cli/user.cc")):
            for text in ("// once\n", "// twice\n"):
                self.write(header, text)
                self.commit()
                self.assertEqual(self.read_files(), [reader])

    def test_a_changed_header_and_those_that_include_it(self):
        self.write("base/user.h", '#include "base/a.h"\n')
        self.commit()
        for text in ("// once\n", "// twice\n"):
            self.write("base/a.h", text)
            self.commit()
            self.assertEqual(self.read_files("run_headers.sh"),
                             ["base/a.h", "base/user.h"])
            self.assertEqual(self.read_files("run_headers.sh"), [])

    def test_a_header_that_does_not_compile_is_read_until_it_does(self):
        self.write("base/a.h", "wrong\n")
        self.commit()
        for _ in range(2):
            self.assertEqual(self.read_files("run_headers.sh", status=123), [])
        self.write("base/a.h", "right\n")
        self.assertEqual(self.read_files("run_headers.sh"), ["base/a.h"])


if __name__ == "__main__":
    unittest.main()
