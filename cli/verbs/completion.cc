// Descriptions of the flags of all programs, for shells and for man.
#include "cli/program/completion.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "cli/program/man_page.h"
#include "cli/program/reference_page.h"
#include "cli/verbs/verbs.h"
#include "cli/worker/worker_program.h"

namespace meshwright::cli {
namespace {

// `app` is meshwright itself; the others are set up to be looked at.
std::vector<ProgramShape> DescribePrograms(const CLI::App& app,
                                           const Context& context) {
  Context unused = context;
  CLI::App coordinator;
  SetUpCoordinator(coordinator, unused);
  WorkerFlags flags;
  CLI::App worker(kWorkerDescription, kWorkerProgram);
  SetUpWorker(worker, &flags, context.out);
  return {DescribeProgram(app), DescribeProgram(coordinator),
          DescribeProgram(worker)};
}

absl::Status PrintCompletion(const CLI::App& app, const Context& context,
                             const std::string& shell) {
  const std::vector<ProgramShape> programs = DescribePrograms(app, context);
  const std::string script = shell == "bash"  ? WriteBashCompletion(programs)
                             : shell == "zsh" ? WriteZshCompletion(programs)
                                              : WriteFishCompletion(programs);
  if (context.json) {
    nlohmann::ordered_json said;
    said["shell"] = shell;
    said["script"] = script;
    *context.out << said.dump() << "\n";
  } else {
    *context.out << script;
  }
  return absl::OkStatus();
}

absl::Status WritePages(const Context& context, const std::string& folder,
                        const std::vector<base::NamedFile>& pages) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot make ", folder, ": ", error.message()));
  }
  auto files = nlohmann::ordered_json::array();
  for (const base::NamedFile& page : pages) {
    const std::string path = absl::StrCat(folder, "/", page.name);
    RETURN_IF_ERROR(base::WriteFile(path, page.content));
    files.push_back(path);
  }
  if (context.json) {
    *context.out << nlohmann::ordered_json{{"files", files}}.dump() << "\n";
  } else {
    *context.err << "wrote " << files.size() << " pages to " << folder << "\n";
  }
  return absl::OkStatus();
}

absl::Status WriteManPages(const CLI::App& app, const Context& context,
                           const std::string& folder) {
  std::vector<base::NamedFile> pages;
  for (const ProgramShape& program : DescribePrograms(app, context)) {
    for (const ManPage& page : MakeManPages(program, base::Version())) {
      pages.push_back({page.file, page.text});
    }
  }
  return WritePages(context, folder, pages);
}

absl::Status WriteReferencePages(const CLI::App& app, const Context& context,
                                 const std::string& folder) {
  std::vector<base::NamedFile> pages;
  for (const ProgramShape& program : DescribePrograms(app, context)) {
    pages.push_back({absl::StrCat(program.FullName("-"), ".md"),
                     MakeReferencePage(program)});
  }
  return WritePages(context, folder, pages);
}

}  // namespace

void AddCompletionVerbs(CLI::App& app, Context& context) {
  const auto word = std::make_shared<std::string>();
  AddVerb(
      app, context, "completion", "print the completion script of a shell",
      [&app, &context, word] { return PrintCompletion(app, context, *word); })
      ->add_option("shell", *word, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  // For the target man_pages, not for people.
  AddVerb(app, context, "man-pages", "write the man pages of all programs",
          [&app, &context, word] { return WriteManPages(app, context, *word); })
      ->group("")
      ->add_option("folder", *word, "folder for the pages")
      ->required();
  // For the documentation site.
  AddVerb(app, context, "reference-pages",
          "write the reference of all programs as Markdown",
          [&app, &context, word] {
            return WriteReferencePages(app, context, *word);
          })
      ->group("")
      ->add_option("folder", *word, "folder for the pages")
      ->required();
}

}  // namespace meshwright::cli
