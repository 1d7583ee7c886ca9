#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/text/pipeline_text.h"
#include "cli/verbs/verbs.h"
#include "planner/pipeline/pipeline_json.h"
#include "planner/pipeline/trace.h"

namespace meshwright::cli {
namespace {

struct PipelineFlags {
  std::string file;
  std::string schedule;
  std::string trace;
  std::optional<double> deadline_seconds;
};

absl::Status RunPipeline(const Context& context,
                         const PipelineFlags& arguments) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(
      const base::Deadline limits,
      ParseDeadline(arguments.deadline_seconds, interrupt.token()));
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(arguments.file));
  ASSIGN_OR_RETURN(pipeline::PipelineFile file,
                   NamePath(pipeline::ParseFile(text), arguments.file));
  if (!arguments.schedule.empty()) {
    ASSIGN_OR_RETURN(file.schedule,
                     pipeline::ParseSchedule(arguments.schedule));
  }
  ASSIGN_OR_RETURN(const pipeline::PipelineAnswer answer,
                   pipeline::Answer(file, limits));
  if (!arguments.trace.empty()) {
    const auto& chosen = answer.choice.chosen;
    if (chosen.has_value()) {
      RETURN_IF_ERROR(base::WriteFile(
          arguments.trace,
          pipeline::FormatTraceJson(answer.problem, chosen->timeline)));
    } else {
      *context.err
          << "no trace is written, because no schedule fits the memory\n";
    }
  }
  if (context.json) {
    *context.out << pipeline::AnswerToJson(answer) << "\n";
  } else {
    *context.out << DescribePipelineAnswer(answer);
  }
  return absl::OkStatus();
}

}  // namespace

void AddPipelineVerb(CLI::App& app, Context& context) {
  const auto [verb, arguments] = AddVerb(
      app, context, "pipeline",
      "find the fastest pipeline schedule that fits the memory", RunPipeline);
  verb->add_option("file", arguments->file,
                   "stages, or segments to cut into stages, as JSON")
      ->required();
  verb->add_option("--schedule", arguments->schedule,
                   "gpipe, 1f1b, eager-1f1b or eager-1f1b-delay (default: the "
                   "fastest)");
  verb->add_option("--trace", arguments->trace,
                   "file to write the timeline to, for Perfetto");
  verb->add_option("--deadline", arguments->deadline_seconds,
                   "print the best schedule after this many seconds");
}

}  // namespace meshwright::cli
