// The verb `cluster`: detect measures the links of one, show reads its file.
#ifndef MESHWRIGHT_CLI_CLUSTER_CLUSTER_VERBS_H_
#define MESHWRIGHT_CLI_CLUSTER_CLUSTER_VERBS_H_

#include "cli/command/context.h"

namespace meshwright::cli {

// `cluster` itself, with all of its verbs.
void AddClusterVerb(CLI::App& app, Context& context);

void AddClusterShowVerb(CLI::App& cluster, Context& context);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_CLUSTER_CLUSTER_VERBS_H_
