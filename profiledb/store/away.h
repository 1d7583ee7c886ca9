// Away: the mark of a store that fails for now.
//
// Concept: a full disk, one that fails or reads only, and a server that is lost
// or a standby pass; what is asked of the store then is asked again later.
// Other errors of the same codes do not: a plan beyond its quota, a mesh that
// no worker has. So the backends mark the statuses of the first kind. Threads:
// pure functions. Errors: none of its own.
#ifndef MESHWRIGHT_PROFILEDB_STORE_AWAY_H_
#define MESHWRIGHT_PROFILEDB_STORE_AWAY_H_

#include "absl/status/status.h"

namespace meshwright::store {

absl::Status MarkAway(absl::Status error);
bool IsAway(const absl::Status& status);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_AWAY_H_
