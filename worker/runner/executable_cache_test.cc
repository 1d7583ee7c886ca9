#include "worker/runner/executable_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "worker/pjrt/plugin.h"
#include "worker/pjrt/testing/modules.h"
#include "worker/sandbox/event_stream.h"

namespace meshwright::worker::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What rank 0 has told, by now.
std::vector<std::string> ReadToldExecutables(const std::string& path) {
  std::vector<std::string> told;
  sandbox::EventParser parser;
  const auto events = parser.Feed(base::ReadFile(path).value_or(""));
  EXPECT_TRUE(events.ok()) << events.status();
  for (const v1::RunnerEvent& event : *events) {
    if (event.has_put()) told.push_back(event.put().value());
  }
  return told;
}

// The others compile as long as it does, and not after it.
TEST(ExecutableCacheTest, AFullOneIsGivenUpBeforeCompiling) {
  const auto plugin = pjrt::Plugin::Load(MESHWRIGHT_DOUBLES "/pjrt_double.so");
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  pjrt::ClientOptions options;
  options.platform = "cuda";
  const auto client = pjrt::Client::Create(*plugin, options);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto executable =
      (*client)->Compile(pjrt::IncrementModule(8).SerializeAsString(), 1);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const std::string path =
      absl::StrCat(testing::TempDir(), "/executables_of_rank_0");
  const auto events = sandbox::EventWriter::Open(path);
  ASSERT_TRUE(events.ok()) << events.status();
  int input[2];
  ASSERT_EQ(pipe(input), 0);
  {
    v1::GangPlace place;
    place.set_size(2);
    GangLine line(place, **events, input[0]);
    ExecutableCache cache("", &line, /*maximum_told_bytes=*/1);
    EXPECT_FALSE(cache.Find(**client, "a", 1).has_value());
    EXPECT_THAT(ReadToldExecutables(path), IsEmpty());
    cache.Keep("a", **executable, absl::Seconds(1));
    EXPECT_THAT(ReadToldExecutables(path), ElementsAre(""))
        << "it is too large";
    EXPECT_FALSE(cache.Find(**client, "b", 1).has_value());
    EXPECT_THAT(ReadToldExecutables(path), ElementsAre("", ""));
  }
  close(input[0]);
  close(input[1]);
}

}  // namespace
}  // namespace meshwright::worker::runner
