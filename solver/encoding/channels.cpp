// depth and credit: a slot is refilled only after its last reader released it. Fewer slots mean an earlier wait, so for every
// depth j below the largest: deeper than j, or the refill j iterations later comes after the release.
#include "solver/encoding/families.h"

namespace heddle::solver {

void add_channels(Model& model) {
  const Problem& problem = model.problem();
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    const ChannelId id{c};
    for (const Reader& reader : channel.readers) {
      const Lit together = model.same_group(channel.writer, reader.op);
      if (channel.only_if_crossing && together == kTrue) continue;
      model.name(ConstraintFamily::Credit, c, {reader.op});
      model.backend().add_clause({together, model.depth_at_least(id, 1)});
      for (int depth = 1; depth <= model.max_depth(id); ++depth) {
        const Cycle apart = reader.release + (reader.distance - depth) * model.ii();
        const Lit deeper = depth < model.max_depth(id) ? model.depth_at_least(id, depth + 1) : kFalse;
        if (!channel.only_if_crossing) model.require_apart(reader.op, channel.writer, apart, {deeper});
        if (reader.signal > 0 || channel.only_if_crossing)
          model.require_apart(reader.op, channel.writer, apart + reader.signal, {deeper, together});
      }
    }
  }
}

}  // namespace heddle::solver
