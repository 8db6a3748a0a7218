// Pairs of blocks that load for each other.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/builder.h"

namespace heddle::codegen {

void Builder::share_loads() {
  if (options_.cluster != 2) return refuse("cluster", {}, fmt::format("clusters of {} blocks; 2 can be written", options_.cluster));
  const auto names_of = [](const std::vector<Expr>& list) {
    std::set<std::string> names;
    for (const Expr& e : list)
      for (const std::string& name : e.names()) names.insert(name);
    return names;
  };
  // Loads of the loop that are the same for neighbours along a dimension; the more bytes, the better.
  const auto shared_along = [&](std::size_t dim) {
    std::vector<std::size_t> values;
    for (const TileOp& op : kernel_.body) {
      if (op.kind != "tma_load" || op.outputs.empty() || names_of(op.at).contains(kernel_.grid[dim].name)) continue;
      const std::size_t value = value_index(op.outputs[0]), buffer = buffer_of_[value];
      if (buffer != kNone && program_.buffers[buffer].values.size() == 1 && program_.buffers[buffer].empty) values.push_back(value);
    }
    return values;
  };
  std::int64_t most = 0;
  for (std::size_t d = 0; d < kernel_.grid.size(); ++d) {
    const auto size = kernel_.grid[d].size.evaluate(problem_.params);
    if (!size.ok() || *size < 2) continue;
    std::int64_t bytes = 0;
    for (const std::size_t v : shared_along(d)) bytes += tiles_[v]->bytes;
    if (bytes > most) most = bytes, program_.cluster_dim = d;
  }
  if (most == 0) return refuse("cluster", {}, "no tile that the loop loads is the same for neighbouring blocks");
  program_.cluster = options_.cluster;
  for (const std::size_t v : shared_along(program_.cluster_dim)) {
    Buffer& buffer = program_.buffers[buffer_of_[v]];
    buffer.shared = true;
    program_.barriers[*buffer.empty].arrivals *= program_.cluster;
  }
}

}  // namespace heddle::codegen
