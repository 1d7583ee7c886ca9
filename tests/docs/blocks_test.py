"""What a page's blocks and marks mean, and what every page keeps to."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from blocks import (  # noqa: E402
    BadBlock,
    find_blocks,
    find_uses,
    matches,
    needs_torch,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]


class BlocksTest(unittest.TestCase):
    def test_marks_say_what_becomes_of_a_block(self):
        page = ("<!-- uses a.pb = tests/a.pb -->\n```sh status=2\nfalse\n```\n"
                "```text output\nno\n```\n```json file=b.json\n{}\n```\n"
                "```sh gpu\nplan\n```\n```{toctree}\nx\n```\n")
        run, output, file, gpu = find_blocks(page)
        self.assertEqual((run.status, run.line, run.text), (2, 2, "false\n"))
        self.assertTrue(output.is_output)
        self.assertEqual(file.file, "b.json")
        self.assertEqual(gpu.needs, "gpu")
        self.assertEqual(find_uses(page), {"a.pb": "tests/a.pb"})

    def test_a_page_says_that_it_needs_torch(self):
        self.assertTrue(needs_torch("# A\n\n<!-- needs torch -->\n"))
        self.assertFalse(needs_torch("# A\n\nIt needs torch.\n"))

    def test_no_block_is_left_aside_unseen(self):
        for page in ("```json\n{}\n```", "```\nplan\n```", "```sh gup\nx\n```",
                     "```text\nx\n```", "```sh\nplan"):
            with self.assertRaises(BadBlock, msg=page):
                find_blocks(page)

    def test_dots_stand_for_any_text(self):
        self.assertTrue(matches("a ... c\n", "a b\nb c"))
        self.assertFalse(matches("a ... c", "a b d"))
        self.assertFalse(matches("a", "a b"))
        self.assertFalse(matches("a.c", "abc"))

    def test_bars_of_progress_do_not_count(self):
        bars = "measure [##--] 1/2  best 2.1 us\nmeasure [####] 2/2\n"
        self.assertTrue(matches("wrote p.json", "wrote p.json\n"))
        self.assertTrue(matches("wrote p.json", bars + "wrote p.json\n"))
        known = "measure   19 cached  best 16.6 us\nmeasure   best 1.0 s\n"
        self.assertTrue(matches("wrote p.json", known + "wrote p.json\n"))
        self.assertFalse(matches("wrote p.json", "measures\nwrote p.json"))

    def test_figures_may_differ_and_words_may_not(self):
        self.assertTrue(matches("a  1.5 ms, 2 b", "a 97.3 us,  3 b", True))
        self.assertFalse(matches("a 1.5 ms", "a 1.5 MiB", True))
        self.assertFalse(matches("a 1.5 ms", "a 97.3 us"))


class PagesTest(unittest.TestCase):
    def test_the_package_is_installed_from_its_file(self):
        # None is published: under that name there may be something else.
        named = 0
        pages = [ROOT / "README.md", ROOT / "python" / "README.md",
                 *(ROOT / "docs").rglob("*.md")]
        for path in pages:
            for said in re.findall(r"pip install ([^\n`]*meshwright.*)",
                                   path.read_text()):
                named += 1
                with self.subTest(path.name):
                    self.assertIn(".whl", said)
        self.assertGreaterEqual(named, 5)

    def test_a_worker_of_a_gpu_names_its_plugin(self):
        named = 0
        for path in (ROOT / "docs").rglob("*.md"):
            text = path.read_text().replace("\\\n", " ")
            for command in re.findall(r"^ *meshwright-worker .*", text, re.M):
                if "--platform cuda" in command:
                    named += 1
                    with self.subTest(path.name):
                        self.assertIn("--plugin ", command)
        self.assertGreaterEqual(named, 2)

    def test_a_service_of_a_network_has_tls_and_tokens(self):
        # The programs refuse to listen there without.
        listeners = 0
        for path in (ROOT / "docs" / "how-to").glob("*.md"):
            for block in find_blocks(path.read_text()):
                text = block.text.replace("\\\n", " ")
                for command in re.findall(r"^meshwright.* --listen 0\..*", text,
                                          re.M):
                    if not block.needs:  # it is run
                        continue
                    listeners += 1
                    with self.subTest(f"{path.name}:{block.line}"):
                        for flag in ("--tls-cert", "--tls-key", "--tokens"):
                            self.assertIn(flag + " ", command)
        self.assertGreaterEqual(listeners, 2)

    def test_each_cause_of_doubt_is_on_a_page(self):
        source = (ROOT / "cli" / "text" / "plan_summary.cc").read_text()
        body = source.split("std::string NameCause(")[1].split("\n}")[0]
        causes = re.findall(r'return "(.+?)";', body)
        self.assertEqual(len(causes), 4)
        page = (ROOT / "docs" / "how-to" / "read-a-plan.md").read_text()
        for cause in causes:
            with self.subTest(cause):
                self.assertIn(f"| {cause} |", page)

    def test_no_screen_says_that_no_plan_fits(self):
        # The searches within the memory prove nothing where they find none.
        sources = [path for room in ("cli", "web", "python/meshwright")
                   for end in ("cc", "js", "py")
                   for path in (ROOT / room).rglob(f"*.{end}")]
        self.assertGreater(len(sources), 50)
        for path in sources:
            with self.subTest(str(path.relative_to(ROOT))):
                self.assertNotIn("no plan fits", path.read_text())

    def test_a_tutorial_makes_the_environment_that_pip_installs_into(self):
        # Debian's Python refuses to install beside its packages.
        for path in (ROOT / "docs" / "tutorial").glob("*.md"):
            with self.subTest(path.name):
                installs = [it.text for it in find_blocks(path.read_text())
                            if "pip install" in it.text]
                self.assertEqual(len(installs), 1)
                before = installs[0].partition("pip install")[0]
                self.assertIn("python3 -m venv ", before)
                self.assertIn("/bin/activate\n", before)


if __name__ == "__main__":
    unittest.main()
