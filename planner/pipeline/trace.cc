#include "planner/pipeline/trace.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/pipeline/memory.h"

namespace meshwright::pipeline {
namespace {

constexpr int kStages = 1;  // processes
constexpr int kLinks = 2;
constexpr int kMemory = 3;

// An item that is printed later: a span, a delivery or a level.
struct Event {
  Picoseconds start{0};
  Picoseconds end{0};
  int process = kStages;
  int thread = 0;
  Operation operation;  // of stages
  int64_t value = 0;    // micro-batch of links, bytes of memory
};

int64_t Nanoseconds(Picoseconds time) { return (time.count() + 500) / 1000; }

std::string Microseconds(int64_t nanoseconds) {
  std::string text =
      absl::StrFormat("%d.%03d", nanoseconds / 1000, nanoseconds % 1000);
  // As readers do it.
  const double read = static_cast<double>(nanoseconds) / 1000.0;
  if (static_cast<int64_t>(read * 1000.0) < nanoseconds) text += "1";
  return text;
}

const char* Category(OperationKind kind) {
  switch (kind) {
    case OperationKind::kForward:
      return "forward";
    case OperationKind::kBackward:
      return "backward";
    case OperationKind::kBackwardInput:
      return "backward input";
    case OperationKind::kBackwardWeight:
      return "backward weight";
  }
  return "";
}

// Odd threads carry activations, even ones gradients.
int LinkThread(size_t link, bool forward) {
  return static_cast<int>(2 * link) + (forward ? 1 : 2);
}

std::vector<Event> Events(const PipelineProblem& problem,
                          const Timeline& timeline) {
  std::vector<Event> events;
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    for (const Span& span : timeline.stages[i]) {
      events.push_back({span.start, span.end, kStages, static_cast<int>(i + 1),
                        span.operation, span.operation.micro_batch});
    }
  }
  for (const bool forward : {true, false}) {
    const auto& links =
        forward ? timeline.forward_links : timeline.backward_links;
    for (size_t i = 0; i < links.size(); ++i) {
      for (const Delivery& delivery : links[i]) {
        events.push_back({delivery.start, delivery.end, kLinks,
                          LinkThread(i, forward), Operation{},
                          delivery.micro_batch});
      }
    }
  }
  const auto memory = ComputeMemoryOverTime(problem, timeline);
  for (size_t i = 0; i < memory.size(); ++i) {
    for (const MemoryLevel& level : memory[i]) {
      events.push_back({level.time, level.time, kMemory,
                        static_cast<int>(i + 1), Operation{}, level.bytes});
    }
  }
  std::stable_sort(
      events.begin(), events.end(),
      [](const Event& a, const Event& b) { return a.start < b.start; });
  return events;
}

bool Lasts(const Event& event) {
  return Nanoseconds(event.end) > Nanoseconds(event.start);
}

// The payload of a link: an activation or a gradient of a micro-batch.
struct Passed {
  bool forward = true;
  int link = 0;
  int64_t micro_batch = 0;

  auto operator<=>(const Passed&) const = default;
};

// Arrows from what makes it, over its transfer, to what reads it. An arrow
// begins and ends in spans that can be seen, so one to or from a span of no
// time is left out.
class Arrows {
 public:
  Arrows(const std::vector<Event>& events, int stages) : stages_(stages) {
    std::map<Passed, int> ends;
    for (const Event& event : events) {
      if (!Lasts(event)) continue;
      if (const auto made = MadeBy(event)) ++ends[*made];
      if (const auto read = ReadBy(event)) ++ends[*read];
    }
    for (const auto& [passed, count] : ends) {
      if (count == 2) ids_.emplace(passed, static_cast<int>(ids_.size()) + 1);
    }
  }

  // Behind the span itself.
  void Append(const Event& event, std::string& out) const {
    if (!Lasts(event)) return;
    Append(ReadBy(event), 'f', event, out);
    Append(CarriedBy(event), 't', event, out);
    Append(MadeBy(event), 's', event, out);
  }

 private:
  bool IsForward(const Event& event) const {
    return event.operation.kind == OperationKind::kForward;
  }

  std::optional<Passed> MadeBy(const Event& event) const {
    return Beside(event, /*after=*/IsForward(event));
  }
  std::optional<Passed> ReadBy(const Event& event) const {
    return Beside(event, /*after=*/!IsForward(event));
  }
  // Over the link behind the stage, or the one before it.
  std::optional<Passed> Beside(const Event& event, bool after) const {
    if (event.process != kStages ||
        event.operation.kind == OperationKind::kBackwardWeight ||
        event.thread == (after ? stages_ : 1)) {
      return std::nullopt;
    }
    return Passed{IsForward(event), event.thread - (after ? 1 : 2),
                  event.value};
  }
  std::optional<Passed> CarriedBy(const Event& event) const {
    if (event.process != kLinks) return std::nullopt;
    return Passed{event.thread % 2 == 1, (event.thread - 1) / 2, event.value};
  }

  void Append(const std::optional<Passed>& passed, char phase,
              const Event& event, std::string& out) const {
    if (!passed.has_value()) return;
    const auto id = ids_.find(*passed);
    if (id == ids_.end()) return;
    absl::StrAppend(&out, ",\n{\"name\":\"",
                    passed->forward ? "activation" : "gradient",
                    "\",\"cat\":\"flow\",\"ph\":\"", std::string(1, phase),
                    "\",\"id\":", id->second, ",\"pid\":", event.process,
                    ",\"tid\":", event.thread,
                    ",\"ts\":", Microseconds(Nanoseconds(event.start)),
                    phase == 'f' ? ",\"bp\":\"e\"}" : "}");
  }

  const int stages_;
  std::map<Passed, int> ids_;
};

void AppendSpan(const Event& event, std::string& out) {
  const int64_t start = Nanoseconds(event.start);
  const bool stage = event.process == kStages;
  const bool forward = event.thread % 2 == 1;
  absl::StrAppend(
      &out, "{\"name\":\"",
      stage ? Name(event.operation)
            : absl::StrCat(forward ? "activation " : "gradient ", event.value),
      "\",\"cat\":\"", stage ? Category(event.operation.kind) : "transfer",
      "\",\"ph\":\"X\",\"pid\":", event.process, ",\"tid\":", event.thread,
      ",\"ts\":", Microseconds(start),
      ",\"dur\":", Microseconds(Nanoseconds(event.end) - start),
      ",\"args\":{\"micro_batch\":", event.value,
      ",\"start_ps\":", event.start.count(), ",\"end_ps\":", event.end.count(),
      "}}");
}

void AppendLevel(const Event& event, std::string& out) {
  absl::StrAppend(&out, "{\"name\":\"memory of stage ", event.thread,
                  "\",\"ph\":\"C\",\"pid\":", kMemory,
                  ",\"ts\":", Microseconds(Nanoseconds(event.start)),
                  ",\"args\":{\"bytes\":", event.value, "}}");
}

void AppendName(int process, int thread, const std::string& name,
                std::string& out) {
  const bool whole = thread == 0;
  const std::string start = absl::StrCat("\",\"ph\":\"M\",\"pid\":", process,
                                         ",\"tid\":", thread, ",\"args\":{\"");
  const char* kind = whole ? "process" : "thread";
  absl::StrAppend(&out, "{\"name\":\"", kind, "_name", start, "name\":\"", name,
                  "\"}},\n{\"name\":\"", kind, "_sort_index", start,
                  "sort_index\":", whole ? process : thread, "}},\n");
}

}  // namespace

std::string FormatTraceJson(const PipelineProblem& problem,
                            const Timeline& timeline) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  AppendName(kStages, 0, "stages", out);
  for (int i = 1; i <= problem.Stages(); ++i) {
    AppendName(kStages, i, absl::StrCat("stage ", i), out);
  }
  AppendName(kLinks, 0, "links", out);
  for (int i = 1; i < problem.Stages(); ++i) {
    AppendName(kLinks, LinkThread(i - 1, true),
               absl::StrCat("stage ", i, " to ", i + 1), out);
    AppendName(kLinks, LinkThread(i - 1, false),
               absl::StrCat("stage ", i + 1, " to ", i), out);
  }
  AppendName(kMemory, 0, "memory", out);
  // The last of these lines ends with a comma too: every stage has a level.
  bool first = true;
  const std::vector<Event> events = Events(problem, timeline);
  const Arrows arrows(events, problem.Stages());
  for (const Event& event : events) {
    if (!first) out += ",\n";
    first = false;
    if (event.process == kMemory) {
      AppendLevel(event, out);
    } else {
      AppendSpan(event, out);
      arrows.Append(event, out);
    }
  }
  out += "\n]}\n";
  return out;
}

}  // namespace meshwright::pipeline
