#include "coordinator/space/testing/build_space.h"

namespace meshwright::space {

ProfileSpace BuildSpace(const segmenter::Analysis& analysis) {
  KeyContext context;
  context.mesh = analysis.mesh;
  return BuildProfileSpace(analysis, context);
}

}  // namespace meshwright::space
