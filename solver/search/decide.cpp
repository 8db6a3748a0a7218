#include "solver/search/decide.h"

#include <algorithm>
#include <set>

#include "solver/encoding/families.h"

namespace heddle::solver {

LiveModel::LiveModel(const Problem& problem, const Constraints& constraints, const ModelOptions& options)
    : model_(problem, constraints, options), registers_(model_) {
  if (!model_.closure().contradiction()) add_all_families(model_);
}

Answer LiveModel::check(std::span<const Lit> assumptions, Schedule& schedule, std::optional<std::int64_t> register_cap,
                        std::uint64_t effort) {
  if (context_cap_) register_cap = std::min(*context_cap_, register_cap.value_or(*context_cap_));
  while (true) {
    std::vector<Lit> all(assumptions.begin(), assumptions.end());
    all.insert(all.end(), context_.begin(), context_.end());
    if (model_.switchable()) {
      const std::set<Lit> on(all.begin(), all.end());
      for (const auto& [name, lit] : switches_)
        if (on.count(lit) == 0 && lit != kTrue) all.push_back(-lit);
    }
    ++queries_;
    const Answer answer = model_.backend().check(all, effort);
    if (answer != Answer::Yes) return answer;
    schedule = model_.extract();
    if (!registers_.refine(schedule, register_cap)) return Answer::Yes;
  }
}

void LiveModel::set_context(std::vector<Lit> assumptions, std::optional<std::int64_t> register_cap) {
  context_ = std::move(assumptions);
  context_cap_ = register_cap;
}

Lit LiveModel::switch_named(const std::string& name, const std::function<Lit()>& make) {
  const auto [entry, fresh] = switches_.try_emplace(name, kTrue);
  if (fresh) entry->second = make();
  return entry->second;
}

}  // namespace heddle::solver
