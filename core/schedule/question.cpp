#include "core/schedule/question.h"

#include <fmt/format.h>

#include "core/base/hash.h"

namespace heddle {

std::string demands_text(const Constraints& constraints) {
  std::string all;
  const auto text = [&](const std::string& word) { all += fmt::format("{}:{} ", word.size(), word); };
  for (const UserConstraint& c : constraints) {
    if (!c.enabled) continue;
    all += "\nconstraint ";
    text(c.name);
    text(to_string(c.kind));
    for (const std::string& op : c.ops) text(op);
    all += "of ";
    text(c.channel);
    all += fmt::format("{} {}", c.low, c.high);
    for (const StageRing& ring : c.rings) {
      all += fmt::format(" ring of {} bytes ", ring.bytes);
      text(ring.writer);
      for (const std::string& reader : ring.readers) text(reader);
    }
  }
  return all;
}

std::string question_hash(const Problem& problem, const Constraints& constraints) {
  // A demand's name changes no answer.
  Constraints unnamed = constraints;
  for (UserConstraint& constraint : unnamed) constraint.name.clear();
  const std::string demands = demands_text(unnamed);
  const std::string hash = problem_hash(problem);
  return demands.empty() ? hash : Hash().add(hash).add(demands).hex();
}

}  // namespace heddle
