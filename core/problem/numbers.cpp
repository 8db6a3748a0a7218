// One walk over the numbers serves reading, writing and comparing.
#include "core/problem/numbers.h"

#include <type_traits>

#include "core/base/assert.h"

namespace heddle {
namespace {

/// Calls `each(number, permits)` for all of them.
template <class P, class Each>
void visit_numbers(P& problem, Each each) {
  for (auto& op : problem.ops) {
    each(op.latency, false), each(op.window, false);
    for (auto& use : op.uses) each(use.duration, false), each(use.amount, false), each(use.in_sum, false);
  }
  for (auto& value : problem.values) each(value.bytes, false), each(value.registers, false);
  for (auto& edge : problem.edges) each(edge.latency, false), each(edge.handoff, false), each(edge.hold, false);
  for (auto& channel : problem.channels) {
    each(channel.size, false), each(channel.max_depth, true);
    for (auto& reader : channel.readers) each(reader.release, false), each(reader.signal, false);
  }
  each(problem.resident_smem, false), each(problem.resident_columns, false), each(problem.resident_registers, false);
}

}  // namespace

ProblemNumbers numbers_of(const Problem& problem) {
  ProblemNumbers numbers;
  visit_numbers(problem,
                [&](const auto& number, bool permits) { numbers.push_back(permits ? -std::int64_t{number} : std::int64_t{number}); });
  return numbers;
}

Problem with_numbers(Problem problem, const ProblemNumbers& numbers) {
  std::size_t at = 0;
  visit_numbers(problem, [&](auto& number, bool permits) {
    HEDDLE_ASSERT(at < numbers.size(), "as many numbers as the problem has");
    number = static_cast<std::remove_reference_t<decltype(number)>>(permits ? -numbers[at] : numbers[at]);
    ++at;
  });
  return problem;
}

bool same_shape(const Problem& a, const Problem& b) {
  const ProblemNumbers numbers = numbers_of(a);
  return numbers.size() == numbers_of(b).size() && problem_hash(with_numbers(b, numbers)) == problem_hash(a);
}

}  // namespace heddle
