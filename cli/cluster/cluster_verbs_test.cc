// The verb `cluster`, from command line to file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "cli/testing/outcome.h"
#include "worker/comm/transport/tcp_socket.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kPairedBox[] = "tests/testdata/cluster/paired_box.json";

std::string WriteTo(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "/" + name;
  EXPECT_TRUE(base::WriteFile(path, text).ok());
  return path;
}

TEST(ClusterVerbsTest, ShowsTheBoxOfThePaper) {
  const json shown = CommandJson({"cluster", "show", kPairedBox});
  ASSERT_EQ(shown["meshes"].size(), 4u);
  const json& best = shown["meshes"][0];
  EXPECT_EQ(best["shape"], json({2, 2, 2}));
  EXPECT_EQ(best["classes"], json({"bridge", "pcie", "nvlink"}));
  EXPECT_EQ(best["equal"], json({true, true, true}));
  const Outcome one = Command({"cluster", "show", kPairedBox, "--mesh", "2x4"});
  EXPECT_EQ(one.status, 0);
  EXPECT_THAT(one.out, HasSubstr("bridge, pcie"));
  EXPECT_THAT(one.out, HasSubstr("200.0 GB/s"));
}

TEST(ClusterVerbsTest, WhatIsWrongIsOneSentence) {
  ExpectRefused({"cluster"}, "cluster takes a verb of its own");
  ExpectRefused({"cluster", "show", "/nowhere"}, "/nowhere");
  ExpectRefused({"cluster", "show", kPairedBox, "--mesh", "3x3"},
                "mesh 3x3 has 9 places, but the cluster has 8 devices");
  ExpectRefused({"cluster", "show", WriteTo("gap.json", R"({
                   "devices": ["a", "b"]})")},
                "gap.json: nothing joins \"a\" and \"b\"");
  ExpectRefused({"cluster", "show", WriteTo("cycle.json", R"({
                   "devices": ["a", "b"],
                   "link_classes": [{"name": "n", "alpha": 0, "beta": 0}],
                   "groups": [
                     {"name": "x", "class": "n", "members": ["a", "y"]},
                     {"name": "y", "class": "n", "members": ["b", "x"]}]})")},
                "holds itself by way of its members");
  ExpectRefused({"cluster", "detect", "--hosts", "a"},
                "\"a\" is no host; write NAME=HOST:PORT");
  ExpectRefused({"cluster", "detect", "--hosts", "a=127.0.0.1:1"},
                "--hosts needs --host");
  ExpectRefused({"cluster", "detect", "--platform", "tpu"},
                "unknown platform \"tpu\"");
  ExpectRefused({"cluster", "detect", "--devices", "1"}, "one device has no");
}

TEST(ClusterVerbsTest, DetectsTheCpuBackend) {
  const std::string path = testing::TempDir() + "/cpu.json";
  const json made = CommandJson({"cluster", "detect", "--devices", "2",
                                 "--max-bytes", "64KiB", "-o", path});
  EXPECT_EQ(made["devices"], json({"cpu0", "cpu1"}));
  EXPECT_EQ(made["link_classes"].size(), 1u);
  EXPECT_EQ(made["meshes"].size(), 1u);
  EXPECT_EQ(CommandJson({"cluster", "show", path}), made);
}

// A plugin double of three devices with these settings.
std::string PlaceDouble(const std::string& name, const std::string& settings) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::create_directories(folder);
  std::string plugin = folder + "/pjrt_double.so";
  std::filesystem::copy_file(MESHWRIGHT_DOUBLES "/pjrt_double.so", plugin,
                             std::filesystem::copy_options::overwrite_existing);
  WriteTo(name + "/pjrt_double.conf",
          absl::StrCat("devices 3\nrun_ns 0\nrun_ns_per_element 100\n",
                       settings, "\n"));
  return plugin;
}

TEST(ClusterVerbsTest, AnOperationThatEndsThePluginIsMissingWithASentence) {
  const std::string path = testing::TempDir() + "/crashed.json";
  const json made =
      CommandJson({"cluster", "detect", "--platform", "cuda", "--plugin",
                   PlaceDouble("crashing", "crash send-receive_0_1"),
                   "--max-bytes", "4KiB", "-o", path});
  EXPECT_EQ(made["devices"], json({"cuda0", "cuda1", "cuda2"}));
  EXPECT_EQ(made["notes"],
            json({"send-receive of cuda0 and cuda1 has no times: the plugin "
                  "ended the process, by SIGABRT; their link is taken for the "
                  "slowest"}));
  EXPECT_EQ(made["timings"].size(), (2u + 4u) * 2u);
  EXPECT_EQ(CommandJson({"cluster", "show", path}), made);
  EXPECT_THAT(Command({"cluster", "show", path}).out,
              HasSubstr("has no times: the plugin"));
}

TEST(ClusterVerbsTest, APluginThatCannotBeOpenedIsOneSentence) {
  const Outcome crashed =
      Command({"cluster", "detect", "--platform", "cuda", "--plugin",
               PlaceDouble("dead", "initialize crash"), "--max-bytes", "4KiB"});
  EXPECT_NE(crashed.status, 0);
  EXPECT_EQ(crashed.out, "");
  EXPECT_THAT(crashed.err, HasSubstr("ends the process that opens it, by "
                                     "SIGABRT; see what it printed"));
  const Outcome useless = Command(
      {"cluster", "detect", "--platform", "cuda", "--plugin",
       PlaceDouble("useless", "crash send-receive"), "--max-bytes", "4KiB"});
  EXPECT_NE(useless.status, 0);
  EXPECT_THAT(useless.err,
              HasSubstr("no link could be timed: the plugin ended"));
}

TEST(ClusterVerbsTest, DetectsHostsAndTheirBoxes) {
  std::string hosts;
  for (const char* const name : {"h0", "h1"}) {
    const auto listener = worker::comm::TcpListener::Listen("127.0.0.1:0");
    absl::StrAppend(&hosts, hosts.empty() ? "" : ",", name,
                    "=127.0.0.1:", listener->port());
  }
  Outcome second;
  std::jthread other([&] {
    second = Command({"cluster", "detect", "--hosts", hosts, "--host", "h1"});
  });
  const json made = CommandJson({"cluster", "detect", "--hosts", hosts,
                                 "--host", "h0", "--max-bytes", "16KiB",
                                 "--box", kPairedBox, "--max-axes", "2"});
  other.join();
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.out, "");
  EXPECT_THAT(second.err, HasSubstr("h0 has the timings"));
  EXPECT_EQ(made["devices"].size(), 16u);
  EXPECT_EQ(made["devices"][8], "h1/gpu0");
  std::set<std::string> classes;
  for (const json& it : made["link_classes"]) classes.insert(it["name"]);
  EXPECT_EQ(classes,
            (std::set<std::string>{"bridge", "nvlink", "pcie", "tcp0"}));
}

}  // namespace
}  // namespace meshwright::cli
