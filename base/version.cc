#include "base/version.h"

namespace meshwright::base {

const char* Version() { return MESHWRIGHT_VERSION; }

}  // namespace meshwright::base
