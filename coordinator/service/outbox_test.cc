#include "coordinator/service/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meshwright::service {
namespace {

using testing::ElementsAre;

// A stream whose client reads when the test says so.
struct FakeReactor {
  void StartWrite(const std::string* message) { writing = message; }
  void Finish(const std::string& status) { finished = status; }

  const std::string* writing = nullptr;
  std::string finished;
};

class OutboxTest : public testing::Test {
 protected:
  // The messages that the client reads until nothing is written.
  std::vector<std::string> ReadAll() {
    std::vector<std::string> read;
    while (reactor_.writing != nullptr) {
      read.push_back(*reactor_.writing);
      reactor_.writing = nullptr;
      outbox_.OnWriteDone(true);
    }
    return read;
  }

  FakeReactor reactor_;
  Outbox<FakeReactor, std::string, std::string> outbox_{&reactor_};
};

TEST_F(OutboxTest, AClientThatDoesNotReadGetsEachResultAndTheNewestProgress) {
  for (int result = 0; result < 3; ++result) {
    for (int i = 0; i < 1000; ++i) {
      outbox_.SendProgress("p" + std::to_string(result) + "." +
                           std::to_string(i));
    }
    outbox_.Send("r" + std::to_string(result));
  }
  outbox_.SendProgress("end");
  outbox_.Finish("done");
  // The first one was being written.
  EXPECT_THAT(ReadAll(), ElementsAre("p0.0", "p0.999", "r0", "p1.999", "r1",
                                     "p2.999", "r2", "end"));
  EXPECT_EQ(reactor_.finished, "done");
}

TEST_F(OutboxTest, AClientThatReadsGetsAllProgress) {
  for (const char* progress : {"1", "2", "3"}) {
    outbox_.SendProgress(progress);
    EXPECT_THAT(ReadAll(), ElementsAre(progress));
  }
  EXPECT_TRUE(outbox_.IsIdle());
}

TEST_F(OutboxTest, NothingIsSentAfterTheEnd) {
  outbox_.Send("r");
  outbox_.SendProgress("1");
  outbox_.Finish("done");
  outbox_.SendProgress("2");
  outbox_.Send("r2");
  EXPECT_THAT(ReadAll(), ElementsAre("r", "1"));
}

TEST_F(OutboxTest, ABrokenStreamTakesNothing) {
  outbox_.Send("r");
  outbox_.SendProgress("1");
  outbox_.OnWriteDone(false);
  outbox_.SendProgress("2");
  EXPECT_TRUE(outbox_.IsIdle());
  outbox_.Finish("gone");
  EXPECT_EQ(reactor_.finished, "gone");
}

}  // namespace
}  // namespace meshwright::service
