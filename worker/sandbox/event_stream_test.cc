#include "worker/sandbox/event_stream.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/file.h"

namespace meshwright::worker::sandbox {
namespace {

using Started = v1::RunnerEvent::Started;

std::string WriteThree(const std::string& path) {
  auto writer = EventWriter::Open(path);
  EXPECT_TRUE(writer.ok());
  (*writer)->Started("a", Started::COMPILE);
  v1::ProfileResult result;
  result.set_key("a");
  result.set_reason(std::string(300, 'x'));  // a length of two bytes
  (*writer)->Result(result);
  (*writer)->Started("b", Started::MEASURE);
  EXPECT_TRUE((*writer)->status().ok());
  return *base::ReadFile(path);
}

TEST(EventStreamTest, AnyPiecesGiveTheSameEvents) {
  const std::string path = ::testing::TempDir() + "/events";
  const std::string bytes = WriteThree(path);
  std::remove(path.c_str());
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    EventParser parser;
    std::vector<v1::RunnerEvent> events;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const auto parsed = parser.Feed(bytes.substr(at, piece));
      ASSERT_TRUE(parsed.ok());
      events.insert(events.end(), parsed->begin(), parsed->end());
    }
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[1].result().reason().size(), 300u);
    EXPECT_EQ(events[2].started().key(), "b");
  }
}

TEST(EventStreamTest, ACutOffEventIsNotReturned) {
  const std::string path = ::testing::TempDir() + "/cut_events";
  const std::string bytes = WriteThree(path);
  std::remove(path.c_str());
  EventParser parser;
  EXPECT_EQ(parser.Feed(bytes.substr(0, bytes.size() - 1))->size(), 2u);
}

TEST(EventStreamTest, DamageIsFound) {
  EventParser parser;
  EXPECT_EQ(parser.Feed("\xff\xff\xff\xff\xff\xff\xff").status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(EventStreamTest, AFullDiskIsKept) {
  auto writer = EventWriter::Open("/dev/full");
  ASSERT_TRUE(writer.ok());
  (*writer)->Started("a", Started::COMPILE);
  EXPECT_EQ((*writer)->status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace meshwright::worker::sandbox
