"""docs/operations.md has a section for every alert rule, and commands in it."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from blocks import find_blocks  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text()
RULES = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text()
KUBERNETES = (ROOT / "docs" / "how-to" / "kubernetes.md").read_text()
# What the page names beside its blocks, and where it is run.
ELSEWHERE = {
    "store migrate": "restore_test.py, which has a PostgreSQL",
    "install": "packages_clean_root.py, which has the units",
    "systemctl": "packages_clean_root.py",
    "stop": "packages_clean_root.py, of systemctl",
    "journalctl": "packages_clean_root.py, where it fails",
    "kubectl": "nowhere: no cluster is here",
}


class OperationsTest(unittest.TestCase):
    def sections(self) -> dict[str, str]:
        parts = re.split(r"^## (.+)$", PAGE, flags=re.M)
        return dict(zip(parts[1::2], parts[2::2]))

    def test_each_rule_has_a_section_with_what_to_type(self):
        sections = self.sections()
        rules = re.findall(r"^ +- alert: (\w+)$", RULES, re.M)
        self.assertGreater(len(rules), 10)
        alerts = [it for it in sections if it.startswith("Meshwright")]
        self.assertEqual(alerts, rules)
        for rule in rules:
            with self.subTest(rule):
                self.assertTrue([it for it in find_blocks(sections[rule])
                                 if it.language == "sh"])

    def test_each_rule_names_its_section(self):
        named = re.findall(r"^ +runbook: docs/operations\.md#(\w+)$", RULES,
                           re.M)
        rules = re.findall(r"^ +- alert: (\w+)$", RULES, re.M)
        self.assertEqual(named, [it.lower() for it in rules])

    def test_a_token_is_written_where_its_owner_alone_reads(self):
        written = 0
        docs = ROOT / "docs"
        for path in (docs / "operations.md", *(docs / "how-to").glob("*.md")):
            for block in find_blocks(path.read_text()):
                if re.search(r"tokens create .*>", block.text):
                    written += 1
                    with self.subTest(f"{path.name}:{block.line}"):
                        self.assertIn("umask 077\n", block.text)
        self.assertGreaterEqual(written, 2)

    def test_the_token_that_leaked_is_revoked_and_no_other_one(self):
        command = re.search(
            r"^meshwright tokens revoke --tokens tokens\.toml \"\$\((.+)\)\"$",
            self.sections()["A token leaks"], re.M)[1]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "leaked.token").write_text(
                f"mwt_5f0c9a1b7d42_{'0' * 64}\n")
            said = subprocess.run(["bash", "-c", command], cwd=folder,
                                  check=True, stdout=subprocess.PIPE, text=True)
        self.assertEqual(said.stdout, "5f0c9a1b7d42\n")

    def test_a_store_that_is_put_back_belongs_to_the_unit(self):
        systemd = ROOT / "deploy" / "systemd"
        unit = (systemd / "meshwright-coordinator.service").read_text()
        config = (systemd / "coordinator.toml").read_text()
        user = re.search(r"^User=(\S+)$", unit, re.M)[1]
        store = re.search(r'^store = "(\S+)"$', config, re.M)[1]
        for section in ("Restore it", "Roll back"):
            with self.subTest(section):
                self.assertRegex(
                    self.sections()[section],
                    rf"\n    install -o {user} -g {user} -m 0600 \S+ "
                    rf"{re.escape(store)}\n")

    def test_what_makes_the_situation_stands_apart(self):
        """Who types it where plans are of others adds one, and cancels one."""
        made = [it for it in find_blocks(PAGE) if "plans submit" in it.text]
        self.assertGreaterEqual(len(made), 3)
        for block in made:
            with self.subTest(block.line):
                self.assertEqual(block.text.count("\n"), 1)
        self.assertEqual(len(re.findall(
            r"[Ff]or the test alone[^\n]*:\n\n```sh\nmeshwright plans submit ",
            PAGE)), len(made))

    def test_newer_programs_open_no_backup_that_an_older_one_needs(self):
        """Whoever opens a store moves it to his own version."""
        upgrade = self.sections()["Upgrade"]
        places = [upgrade.index(it) for it in (
            " before-upgrade.db\n",
            "\nmeshwright profiles verify --store before-upgrade.db\n",
            "\nkill ", "Install the new version")]
        self.assertEqual(places, sorted(places))
        back = self.sections()["Roll back"]
        installed = back.index("Install the version before")
        self.assertGreater(back.index("store migrate"), installed)
        self.assertNotRegex(
            back[:installed], r"meshwright (profiles|store)\b.*before-upgrade\.db")
        for block in find_blocks(KUBERNETES):
            with self.subTest(block.line):
                self.assertFalse("profiles export" in block.text
                                 and "store migrate" in block.text)

    def test_a_store_that_is_put_aside_stays_at_the_next_restore(self):
        for section in ("Restore it", "Roll back"):
            line = re.search(r"^mkdir .*$", self.sections()[section], re.M)[0]
            aside = line.split()[1]
            with self.subTest(section), tempfile.TemporaryDirectory() as made:
                folder = pathlib.Path(made)
                for backup in ("backup.db", "before-upgrade.db"):
                    (folder / backup).write_text("backup")
                for store in ("first", "second"):
                    (folder / "service.db").write_text(store)
                    subprocess.run(["bash", "-c", line], cwd=folder,
                                   check=False, stderr=subprocess.DEVNULL)
                self.assertEqual((folder / aside / "service.db").read_text(),
                                 "first")
                self.assertEqual((folder / "service.db").read_text(), "second")
                # A try that was broken off, or a new disk.
                (folder / aside).rename(folder / "earlier")
                (folder / "service.db").unlink()
                subprocess.run(["bash", "-c", line], cwd=folder, check=True)
                self.assertEqual((folder / "service.db").read_text(), "backup")

    def test_the_pod_puts_a_store_aside_and_no_earlier_one(self):
        command = re.search(
            r'exec store -- sh -c \\\n +"(mkdir .*)" &&$', KUBERNETES, re.M)[1]
        with tempfile.TemporaryDirectory() as made:
            state = pathlib.Path(made)

            def put_aside(name: str) -> int:
                return subprocess.run(
                    ["sh", "-c", f"aside={name}; "
                     + command.replace("/state", str(state))], check=False,
                    stderr=subprocess.DEVNULL).returncode

            for name in ("store.db", "store.db-wal"):
                (state / name).write_text("first")
            self.assertEqual(put_aside("damaged-1"), 0)
            self.assertEqual(
                sorted(it.name for it in (state / "damaged-1").iterdir()),
                ["store.db", "store.db-wal"])
            (state / "store.db").write_text("second")
            self.assertNotEqual(put_aside("damaged-1"), 0)
            self.assertEqual((state / "store.db").read_text(), "second")
            # A try that was broken off, or a new volume.
            (state / "store.db").unlink()
            self.assertEqual(put_aside("damaged-2"), 0)

    def test_every_block_is_run(self):
        self.assertEqual([it.line for it in find_blocks(PAGE) if it.needs], [])

    def test_every_command_between_the_blocks_is_run(self):
        ran = [line.removeprefix("meshwright ")
               for it in find_blocks(PAGE) for line in it.text.splitlines()
               if line.startswith("meshwright ")]
        groups = {it.split()[0] for it in ran} | {it.split()[0]
                                                  for it in ELSEWHERE}
        prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.M | re.S)
        named = re.findall(r"`([^`]+)`", prose) + re.findall(
            r"^    (\S.*)$", prose, re.M)
        left = set()
        for text in named:
            command = text.removeprefix("meshwright ")
            words = command.split()
            if len(words) == 1:  # a verb of the block above
                continue
            with self.subTest(text):
                self.assertIn(words[0], groups)
                verb = re.match(r"[a-z]+( [a-z]+(?=\s|$))*", command)[0]
                flags = re.findall(r"--[a-z-]+", command)
                if not any(f"{it} ".startswith(f"{verb} ")
                           and all(flag in it for flag in flags)
                           for it in ran):
                    left.add(next((it for it in ELSEWHERE
                                   if f"{command} ".startswith(f"{it} ")),
                                  text))
        self.assertEqual(left, set(ELSEWHERE))


if __name__ == "__main__":
    unittest.main()
