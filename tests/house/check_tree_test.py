"""The checks find what they are for."""

import unittest

import check_tree
from check_tree import Tree


class CheckTreeTest(unittest.TestCase):
    def test_a_planner_that_sees_the_graph(self):
        tree = Tree({"planner/search/a.cc": '#include "coordinator/ir/b.h"\n'})
        self.assertIn("coordinator/ir/b.h", check_tree.layer_faults(tree)[0])

    def test_a_foreign_header_away_from_home_or_in_a_header(self):
        tree = Tree({
            "planner/search/a.cc": "#include <sqlite3.h>\n",
            "profiledb/sqlite/b.h": "#include <sqlite3.h>\n",
            "profiledb/sqlite/c.cc": "#include <sqlite3.h>\n",
        })
        faults = check_tree.foreign_faults(tree)
        self.assertEqual(len(faults), 2)

    def test_cycles_of_units_and_of_folders(self):
        tree = Tree({
            "base/a.cc": '#include "base/b.h"\n',
            "base/b.h": '#include "base/a.h"\n',
            "worker/x/a.cc": '#include "worker/y/b.h"\n',
            "worker/y/b.cc": '#include "worker/x/a.h"\n',
        })
        self.assertEqual(len(check_tree.cycle_faults(tree)), 2)

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

    def test_two_libraries_in_a_folder_or_a_link_past_the_layers(self):
        files = {
            "base/a.cc": "",
            "base/CMakeLists.txt": "meshwright_library(base SRCS a.cc)",
            "planner/search/b.cc": "",
            "planner/search/CMakeLists.txt":
                "meshwright_library(planner_search SRCS b.cc DEPS base)",
        }
        self.assertEqual(check_tree.library_faults(Tree(files)), [])
        files["base/CMakeLists.txt"] = (
            "meshwright_library(base SRCS a.cc DEPS planner_search)")
        self.assertEqual(len(check_tree.library_faults(Tree(files))), 1)
        files["base/CMakeLists.txt"] = (
            "meshwright_library(base SRCS a.cc)\nmeshwright_library(more SRCS b)")
        self.assertEqual(len(check_tree.library_faults(Tree(files))), 1)

    def test_a_test_that_nobody_builds(self):
        tree = Tree({
            "base/a_test.cc": "",
            "base/b_test.cc": "",
            "base/CMakeLists.txt": "meshwright_test(t SRCS ab_test.cc a_test.cc)",
        })
        self.assertEqual(len(check_tree.built_faults(tree)), 1)

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


if __name__ == "__main__":
    unittest.main()
