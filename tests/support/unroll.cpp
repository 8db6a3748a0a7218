// Copies ops, values, edges and channels, and redirects everything that crosses iterations.
#include "tests/support/unroll.h"

#include <fmt/format.h>

#include <bit>

namespace heddle::test {

Problem unrolled_problem(const Problem& problem, int copies) {
  Problem result = problem;
  result.kernel = fmt::format("{} x{}", problem.kernel, copies);
  result.ops.clear();
  result.values.clear();
  result.edges.clear();
  result.channels.clear();
  const auto op_of = [&](OpId op, int copy) { return OpId(static_cast<std::size_t>(copy) * problem.ops.size() + op.index()); };
  const auto value_of = [&](ValueId v, int copy) {
    return v.valid() ? ValueId(static_cast<std::size_t>(copy) * problem.values.size() + v.index()) : v;
  };
  for (int copy = 0; copy < copies; ++copy) {
    const auto rename = [&](std::string& name) { name += fmt::format("_{}", copy); };
    for (Op op : problem.ops) {
      rename(op.name);
      result.ops.push_back(std::move(op));
    }
    for (Value v : problem.values) {
      rename(v.name);
      v.producer = op_of(v.producer, copy);
      result.values.push_back(std::move(v));
    }
    for (Edge e : problem.edges) {
      const int later = copy + e.distance;
      e.from = op_of(e.from, copy);
      e.to = op_of(e.to, later % copies);
      e.value = value_of(e.value, copy);
      e.distance = later / copies;
      result.edges.push_back(e);
    }
    for (Channel c : problem.channels) {
      rename(c.name);
      for (ValueId& v : c.values) v = value_of(v, copy);
      c.writer = op_of(c.writer, copy);
      for (Reader& r : c.readers) {
        const int later = copy + r.distance;
        r.op = op_of(r.op, later % copies);
        r.distance = later / copies;
      }
      result.channels.push_back(std::move(c));
    }
  }
  result.limits.smem_bytes *= copies;
  result.limits.tmem_columns *= std::bit_ceil(static_cast<unsigned>(copies));  // allocated in powers of two
  return result;
}

}  // namespace heddle::test
