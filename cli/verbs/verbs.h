// Verbs: each adds its subcommand to the command line (context.h).
#ifndef MESHWRIGHT_CLI_VERBS_VERBS_H_
#define MESHWRIGHT_CLI_VERBS_VERBS_H_

#include "cli/command/context.h"

namespace meshwright::cli {

void AddAnalyzeVerb(CLI::App& app, Context& context);
void AddCheckpointVerb(CLI::App& app, Context& context);
void AddCompletionVerbs(CLI::App& app, Context& context);
void AddCoverageVerb(CLI::App& profiles, Context& context);
void AddDiffVerb(CLI::App& app, Context& context);
void AddDoctorVerb(CLI::App& app, Context& context);
void AddExplainVerb(CLI::App& app, Context& context);
void AddExportVerb(CLI::App& app, Context& context);
void AddJobsVerb(CLI::App& app, Context& context);
void AddLayoutVerb(CLI::App& app, Context& context);
void AddPipelineVerb(CLI::App& app, Context& context);
void AddPlanVerb(CLI::App& app, Context& context);
void AddPlansVerb(CLI::App& app, Context& context);
void AddProfilesVerb(CLI::App& app, Context& context);
void AddReportVerbs(CLI::App& app, Context& context);
void AddReshardVerb(CLI::App& app, Context& context);
void AddSearchVerb(CLI::App& app, Context& context);
void AddStoreVerb(CLI::App& app, Context& context);
void AddTokensVerb(CLI::App& app, Context& context);
void AddTopVerb(CLI::App& app, Context& context);
void AddUpVerb(CLI::App& app, Context& context);
void AddUpkeepVerbs(CLI::App& profiles, Context& context);
void AddValidateVerb(CLI::App& app, Context& context);
void AddWhatIfVerb(CLI::App& app, Context& context);
void AddWorkersVerb(CLI::App& app, Context& context);

// Makes `app` the program that is a coordinator alone: its name, its flags.
void SetUpCoordinator(CLI::App& app, Context& context);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_VERBS_VERBS_H_
