#include "planner/checkpoint/testing/random_chain.h"

#include <random>

namespace meshwright::checkpoint {

Chain RandomChain(uint64_t seed, const ChainKind& kind) {
  std::mt19937_64 random(seed);
  const auto draw = [&]() -> int64_t {
    if (kind.zeros && random() % 3 == 0) return 0;
    return static_cast<int64_t>(random() % (kind.largest + 1));
  };
  Chain chain;
  chain.act_bytes.push_back(draw());
  chain.loss = Picoseconds(draw());
  for (int i = 0; i < kind.stages; ++i) {
    if (kind.distinct > 0 && i >= kind.distinct) {
      const int same = i - kind.distinct;
      const auto repeat = [same](auto& list, int offset) {
        if (list.empty()) return;
        const auto value = list[same + offset];
        list.push_back(value);
      };
      repeat(chain.act_bytes, 1);
      for (auto* list :
           {&chain.forward, &chain.backward, &chain.forward_communication,
            &chain.backward_communication}) {
        repeat(*list, 0);
      }
      for (auto* list :
           {&chain.saved_bytes, &chain.forward_transient_bytes,
            &chain.backward_transient_bytes, &chain.forward_communication_bytes,
            &chain.backward_communication_bytes}) {
        repeat(*list, 0);
      }
      continue;
    }
    const int64_t act = draw();
    const int64_t inner = draw();
    chain.act_bytes.push_back(act);
    chain.saved_bytes.push_back(act + inner);
    chain.forward.emplace_back(kind.proportional ? act + inner : draw());
    chain.backward.emplace_back(draw());
    if (kind.transients) {
      chain.forward_transient_bytes.push_back(draw());
      chain.backward_transient_bytes.push_back(draw());
    }
    if (kind.communication) {
      chain.forward_communication.emplace_back(draw());
      chain.backward_communication.emplace_back(draw());
      chain.forward_communication_bytes.push_back(draw());
      chain.backward_communication_bytes.push_back(draw());
    }
  }
  return chain;
}

}  // namespace meshwright::checkpoint
