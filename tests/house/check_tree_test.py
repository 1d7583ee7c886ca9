"""The checks find what they are for."""

import unittest
import unittest.mock

import check_tree
from check_tree import Tree


class CheckTreeTest(unittest.TestCase):
    def test_a_planner_that_sees_the_graph(self):
        tree = Tree({"planner/search/a.cc": '#include "coordinator/ir/b.h"\n'})
        self.assertIn("coordinator/ir/b.h", check_tree.layer_faults(tree)[0])

    def test_a_room_is_one_folder(self):
        tree = Tree({"base/a.h": '#include "base/json/b.h"\n',
                     "planner/a.h": "",
                     "planner/search/more/a.h": ""})
        into_json, *roomless = check_tree.layer_faults(tree)
        self.assertIn("base/json/b.h", into_json)
        self.assertEqual(len(roomless), 2)

    def test_a_test_sees_what_lies_below_its_room(self):
        includes = ('#include "planner/problem/a.h"\n'
                    '#include "planner/problem/testing/b.h"\n')
        path = "planner/search/graph/a"
        tree = Tree({f"{path}_test.cc": includes})
        self.assertEqual(check_tree.layer_faults(tree), [])
        (fault,) = check_tree.layer_faults(Tree({f"{path}.cc": includes}))
        self.assertIn("testing", fault)
        tree = Tree({f"{path}_test.cc": '#include "planner/search/a.h"\n'})
        self.assertEqual(len(check_tree.layer_faults(tree)), 1)

    @unittest.mock.patch.dict(check_tree.TEST_LAYERS, {"cli": ("base/json",)},
                              clear=True)
    @unittest.mock.patch.dict(
        check_tree.LAYERS,
        {"base": (), "cli": ("base", "base/json"), "gone": ()}, clear=True)
    def test_what_the_tables_allow_and_nobody_uses(self):
        files = {
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "base/json/CMakeLists.txt": "meshwright_library(json SRCS a.cc)",
            "cli/a.cc": '#include "base/a.h"\n',
            "cli/a_test.cc": '#include "base/json/a.h"\n',
        }
        gone, unused = check_tree.unused_faults(Tree(files))
        self.assertIn("gone", gone)
        self.assertIn("cli base/json, which no file", unused)
        files["cli/CMakeLists.txt"] = "meshwright_library(cli DEPS json)"
        self.assertEqual(len(check_tree.unused_faults(Tree(files))), 1)
        del files["cli/a_test.cc"]
        self.assertEqual(len(check_tree.unused_faults(Tree(files))), 2)

    def test_an_own_header_in_angle_brackets_or_by_a_relative_path(self):
        files = {"coordinator/ir/a.h": ""}
        for include in ("<coordinator/ir/a.h>", '"../ir/a.h"', '"ir/a.h"',
                        '"coordinator/ir/../ir/a.h"'):
            files["coordinator/b.cc"] = f"#include {include}\n"
            self.assertEqual(
                len(check_tree.spelling_faults(Tree(files))), 1, include)
        files["coordinator/b.cc"] = (
            '#include "coordinator/ir/a.h"\n#include <sys/stat.h>\n')
        self.assertEqual(check_tree.spelling_faults(Tree(files)), [])

    def test_an_own_header_in_angle_brackets_has_its_layer(self):
        tree = Tree({"planner/search/a.cc": "#include <coordinator/ir/b.h>\n"})
        self.assertIn("coordinator/ir/b.h", check_tree.layer_faults(tree)[0])

    def test_a_foreign_header_away_from_home_or_in_a_header(self):
        tree = Tree({
            "planner/search/a.cc": "#include <sqlite3.h>\n",
            "profiledb/sqlite/b.h": "#include <sqlite3.h>\n",
            "profiledb/sqlite/c.cc": "#include <sqlite3.h>\n",
        })
        faults = check_tree.foreign_faults(tree)
        self.assertEqual(len(faults), 2)

    def test_a_comment_that_names_no_file(self):
        files = {"planner/search/a.h": "// See <sys/stat.h>, search/a.h (a.h).",
                 "worker/b.cc": "int n;  // of cuda.h, nccl.h\n"}
        self.assertEqual(check_tree.comment_faults(Tree(files)), [])
        for comment in ("// As (pipeline/a.h)", "/* See b_test.cc:\n */",
                        "// like gone.h."):
            files["worker/b.cc"] = comment
            self.assertEqual(
                len(check_tree.comment_faults(Tree(files))), 1, comment)

    def test_cycles_of_units_and_of_folders(self):
        tree = Tree({
            "base/a.cc": '#include "base/b.h"\n',
            "base/a.h": "",
            "base/b.h": '#include "base/a.h"\n',
            "worker/x/a.cc": '#include "worker/y/b.h"\n',
            "worker/x/a.h": "",
            "worker/y/b.cc": '#include "worker/x/a.h"\n',
            "worker/y/b.h": "",
        })
        self.assertEqual(len(check_tree.cycle_faults(tree)), 2)

    def test_a_cycle_of_helpers_of_tests(self):
        tree = Tree({
            "tests/stress/a.cc": '#include "tests/stress/b.h"\n',
            "tests/stress/a.h": "",
            "tests/stress/b.h": '#include "tests/stress/a.h"\n',
        })
        self.assertEqual(len(check_tree.cycle_faults(tree)), 1)

    def test_a_file_is_one_unit_with_the_header_that_it_implements(self):
        files = {
            "coordinator/ir/write.h": "",
            "coordinator/ir/write_loop.cc": '#include "coordinator/ir/loop.h"\n',
            "coordinator/ir/loop.h": '#include "coordinator/ir/write.h"\n',
        }
        self.assertEqual(len(check_tree.cycle_faults(Tree(files))), 1)
        files["coordinator/ir/loop.h"] = ""
        self.assertEqual(check_tree.cycle_faults(Tree(files)), [])
        files["coordinator/ir/read_loop.cc"] = ""
        self.assertEqual(len(check_tree.cycle_faults(Tree(files))), 1)

    def test_a_file_that_is_too_long(self):
        tree = Tree({"base/a.cc": "\n" * 801, "base/b.cc": "\n" * 800})
        self.assertEqual(len(check_tree.size_faults(tree)), 1)

    def test_a_folder_of_too_many_units(self):
        files = {f"base/u{i}.{ending}": "" for i in range(24)
                 for ending in ("h", "cc")}
        files["base/u0_test.cc"] = ""
        self.assertEqual(check_tree.room_faults(Tree(files)), [])
        files["base/another.h"] = ""
        self.assertEqual(len(check_tree.room_faults(Tree(files))), 1)

    def test_a_folder_of_two_libraries_or_of_none(self):
        files = {
            "base/a.cc": "",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
        }
        self.assertEqual(check_tree.library_faults(Tree(files)), [])
        files["base/CMakeLists.txt"] = (
            "meshwright_library(base SRCS a.cc)\nmeshwright_library(more SRCS b)")
        self.assertEqual(len(check_tree.library_faults(Tree(files))), 1)
        files["base/CMakeLists.txt"] = "meshwright_test(t SRCS a.cc)"
        self.assertEqual(len(check_tree.library_faults(Tree(files))), 1)

    def test_a_main_needs_no_library(self):
        files = {
            "cli/main.cc": "",
            "cli/CMakeLists.txt": "meshwright_binary(meshwright SRCS main.cc)",
        }
        self.assertEqual(check_tree.library_faults(Tree(files)), [])
        files["cli/more.h"] = ""
        self.assertEqual(len(check_tree.library_faults(Tree(files))), 1)

    def test_a_library_or_binary_that_links_past_the_layers(self):
        files = {
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "planner/search/CMakeLists.txt":
                "meshwright_library(planner_search SRCS b.cc DEPS base)\n"
                "meshwright_binary(search SRCS main.cc DEPS base)",
        }
        self.assertEqual(check_tree.linked_layer_faults(Tree(files)), [])
        for call in ("library(base SRCS a.cc DEPS planner_search)",
                     "library(base SRCS a.cc PRIVATE_DEPS planner_search)",
                     "binary(run SRCS main.cc DEPS planner_search)"):
            files["base/CMakeLists.txt"] = "meshwright_" + call
            self.assertEqual(
                len(check_tree.linked_layer_faults(Tree(files))), 1, call)

    def test_a_test_that_nobody_builds(self):
        tree = Tree({
            "base/a_test.cc": "",
            "base/b_test.cc": "",
            "base/CMakeLists.txt": "meshwright_test(t SRCS ab_test.cc a_test.cc)",
        })
        self.assertEqual(len(check_tree.built_faults(tree)), 1)

    def test_a_source_or_an_include_that_no_check_reads(self):
        tree = Tree({"base/a.hpp": "", "base/b.inc": "", "base/c.h": ""})
        self.assertEqual(len(check_tree.file_faults(tree)), 2)
        for line in ("#include NAME", "  # include NAME"):
            tree = Tree({"base/a.h": f'{line}\n#include "base/b.h"\n'})
            self.assertEqual(len(check_tree.file_faults(tree)), 1, line)

    def test_pages_that_grew(self):
        pages = {"docs/decisions/a.md": "\n" * 40,
                 "docs/benchmarks.md": "\n" * 200,
                 "docs/glossary.md": "\n" * 300}
        self.assertEqual(check_tree.page_faults(Tree(pages)), [])
        for path in ("docs/decisions/a.md", "docs/benchmarks.md"):
            longer = pages | {path: pages[path] + "\n"}
            (fault,) = check_tree.page_faults(Tree(longer))
            self.assertIn(path, fault)
        pages |= {f"docs/decisions/{n}.md": "" for n in range(18)}
        (fault,) = check_tree.page_faults(Tree(pages))
        self.assertIn("19 notes", fault)

    def test_a_glossary_out_of_order(self):
        head = "# Glossary\n\n| word | meaning |\n| --- | --- |\n"
        rows = ["| anchor | A. |\n", "| block (`B`) | B. |\n", "| calm | C. |\n"]
        tree = Tree({"docs/glossary.md": head + "".join(rows)})
        self.assertEqual(check_tree.glossary_faults(tree), [])
        tree = Tree({"docs/glossary.md": head + rows[0] + rows[2] + rows[1]})
        (fault,) = check_tree.glossary_faults(tree)
        self.assertIn('"block (`B`)" after "calm"', fault)

    def test_a_sentence_that_is_too_long(self):
        words = "word " * 24
        long = f"{words}word word"
        for page in (f"{long}.", f"# Title\n\nOne.\n{long}", f"* {long}",
                     f"One.\n  * {words}word\n    word", f"| a | {long} |",
                     f"```\ncode\n```\n{long}", f"{words}`a b` [c](d e)"):
            for path in ("README.md", "docs/formats/plan.md"):
                (fault,) = check_tree.sentence_faults(Tree({path: page}))
                self.assertIn(f"{path}:", fault, page)
        for page in (f"{words}word. Another.", f"{words}\n\n{words}",
                     f"* {words}\n* {words}", f"| {words} | {words} |",
                     f"```\n{long}\n```", f"    {long}", "`a` " * 30,
                     f"{words}`a b c`", f"{words}[a](b c)", f"{words} * - 1"):
            self.assertEqual(
                check_tree.sentence_faults(Tree({"docs/a.md": page})), [], page)

    def test_a_header_that_keeps_its_errors_to_itself(self):
        for code in ("absl::Status Run();", "absl::StatusOr<int> Run(\n    int);",
                     "absl::StatusOr<std::map<int, int>>\nRun();"):
            tree = Tree({"base/a.h": code, "base/a.cc": code,
                         "base/b.h": f"// Errors: kNotFound.\n{code}"})
            (fault,) = check_tree.error_faults(tree)
            self.assertIn("base/a.h", fault)
        tree = Tree({"base/a.h": "class A {\n private:\n"
                                 "  absl::Status Run();\n};\n"
                                 "// absl::Status Run();\n"
                                 "void Take(absl::Status status);\n"})
        self.assertEqual(check_tree.error_faults(tree), [])

    def test_a_list_of_errors_that_lists_none(self):
        code = "\nabsl::Status Run();"
        for comment in ("// Errors: in one sentence.", "// What errors there are.",
                        "// Errors: those.\n// Threads: those of Other.",
                        "// Errors: one.\n//\n// kNotFound is a word."):
            tree = Tree({"base/a.h": f"{comment}\n{code}"})
            self.assertEqual(len(check_tree.error_faults(tree)), 1, comment)
        for comment in ("// Errors: those of Other.", "// Errors: none.",
                        "// Threads and errors: those of\n// Other.",
                        "// Errors: what is wrong is\n// kInvalidArgument."):
            tree = Tree({"base/a.h": f"{comment}\n{code}"})
            self.assertEqual(check_tree.error_faults(tree), [], comment)

    def test_errors_belong_to_what_stands_together(self):
        header = ("// A.\n#ifndef A\n\n// kNotFound: no row.\n"
                  "absl::Status Get();\nabsl::StatusOr<int> Count();\n\n"
                  "absl::Status Put();\n")
        (fault,) = check_tree.error_faults(Tree({"base/a.h": header}))
        self.assertIn("base/a.h: Put", fault)
        header = ("// A.\n#ifndef A\n\n// Errors: those of B.\nclass C {\n"
                  " public:\n  absl::Status Get();\n\n  absl::Status Put();\n"
                  "};\n\nclass D {\n public:\n  absl::Status Run();\n};\n")
        (fault,) = check_tree.error_faults(Tree({"base/a.h": header}))
        self.assertIn("base/a.h: Run", fault)

    def test_an_include_without_its_link(self):
        files = {
            "base/a.cc": "",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "cli/b.cc": '#include "base/a.h"\n',
            "cli/CMakeLists.txt": "meshwright_library(cli SRCS b.cc)",
        }
        self.assertEqual(len(check_tree.link_faults(Tree(files))), 1)
        files["cli/CMakeLists.txt"] = (
            "meshwright_library(cli SRCS b.cc DEPS base)")
        self.assertEqual(check_tree.link_faults(Tree(files)), [])

    def test_a_link_without_an_include(self):
        files = {
            "base/a.cc": "",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "cli/b.cc": '#include "base/a.h"\n',
            "cli/CMakeLists.txt":
                "meshwright_library(cli SRCS b.cc PRIVATE_DEPS base)",
        }
        self.assertEqual(check_tree.idle_link_faults(Tree(files)), [])
        files["cli/b.cc"] = ""
        self.assertEqual(check_tree.idle_link_faults(Tree(files)),
                         ["cli depends on base, and includes nothing of it"])

    def test_a_header_without_its_link(self):
        files = {
            "base/a.h": "",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "cli/b.h": '#include "base/a.h"\n',
            "cli/CMakeLists.txt": "meshwright_library(cli SRCS b.cc DEPS base)",
        }
        self.assertEqual(check_tree.link_faults(Tree(files)), [])
        for links in ("", "PRIVATE_DEPS base"):
            files["cli/CMakeLists.txt"] = (
                f"meshwright_library(cli SRCS c.cc {links})")
            self.assertEqual(len(check_tree.link_faults(Tree(files))), 1)

    def test_a_private_link_serves_the_library_alone(self):
        files = {
            "base/a.cc": "",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "cli/b.cc": '#include "base/a.h"\n',
            "cli/CMakeLists.txt":
                "meshwright_library(cli SRCS b.cc PRIVATE_DEPS base)",
            "worker/c.cc": '#include "base/a.h"\n',
            "worker/CMakeLists.txt":
                "meshwright_library(worker HOT SRCS c.cc DEPS cli)",
        }
        (fault,) = check_tree.link_faults(Tree(files))
        self.assertIn("worker/c.cc", fault)
        files["cli/CMakeLists.txt"] = (
            "meshwright_library(cli SRCS b.cc DEPS base)")
        self.assertEqual(check_tree.link_faults(Tree(files)), [])

    def test_a_span_of_time_by_the_wall_clock(self):
        for call in ("absl::Now() + limit", "std::chrono::system_clock::now()"):
            files = {"base/a.cc": f"end = {call};", "base/clock.h": "absl::Now()"}
            (fault,) = check_tree.clock_faults(Tree(files))
            self.assertIn("base/a.cc", fault)
            files = {"base/a_test.cc": call, "base/testing/a.cc": call}
            self.assertEqual(check_tree.clock_faults(Tree(files)), [])
        (fault,) = check_tree.clock_faults(Tree({"base/clock.h": "clock"}))
        self.assertIn("base/clock.h", fault)

    def test_a_target_made_past_the_functions_of_cmake(self):
        for call in ("add_library(a STATIC a.cc)", "add_executable(a a.cc)",
                     "Target_Link_Libraries (base PUBLIC planner)",
                     "target_link_libraries(meshwright-runner PRIVATE base)"):
            tree = Tree({"worker/runner/CMakeLists.txt": call})
            self.assertEqual(len(check_tree.command_faults(tree)), 1, call)
        tree = Tree({
            "cmake/MeshwrightTargets.cmake": "add_library(${name} STATIC)",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)\n"
                                   "# add_library(base)\n"
                                   "target_compile_definitions(base PRIVATE A)",
        })
        self.assertEqual(check_tree.command_faults(tree), [])

    def test_a_test_that_no_sanitizer_sees(self):
        files = {
            "base/CMakeLists.txt": "meshwright_test(base_test SRCS a.cc)\n"
                                   "meshwright_test(base_json_test SRCS b.cc)",
            "cli/CMakeLists.txt": "meshwright_test(cli_test SRCS c.cc)",
            "check": "sanitized() {\n}\n  sanitized asan-ubsan \\\n"
                     '    "proto;base" \\\n    base{,_json}_test\n',
        }
        self.assertEqual(check_tree.sanitizer_faults(Tree(files)), [])
        for words in ("base_test", "base_test\n  say base_json_test",
                      "base{,_json,_gone}_test"):
            files["check"] = f"  sanitized tsan base {words}\n"
            self.assertEqual(
                len(check_tree.sanitizer_faults(Tree(files))), 1, words)


if __name__ == "__main__":
    unittest.main()
