// The one place where a formula becomes a schedule.
#include "solver/search/decide.h"

#include <algorithm>
#include <set>

#include "solver/encoding/families.h"

namespace heddle::solver {

LiveModel::LiveModel(const Problem& problem, const Constraints& constraints, const ModelOptions& options)
    : model_(problem, constraints, options), registers_(model_) {
  if (options.named || !model_.closure().contradiction()) add_all_families(model_);
}

Answer LiveModel::check(std::span<const Lit> assumptions, Schedule& schedule, std::optional<std::int64_t> register_cap,
                        std::uint64_t effort) {
  if (context_cap_) register_cap = std::min(*context_cap_, register_cap.value_or(*context_cap_));
  while (true) {
    std::vector<Lit> all(assumptions.begin(), assumptions.end());
    all.insert(all.end(), context_.begin(), context_.end());
    for (Lit guard : model_.guards()) all.push_back(guard);
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

std::vector<std::string> explain_infeasible(const Problem& problem, const Constraints& constraints, ModelOptions options) {
  options.named = true;
  LiveModel live(problem, constraints, options);
  Schedule ignored;
  if (live.check({}, ignored) != Answer::No) return {};
  Backend& backend = live.model().backend();
  std::vector<Lit> core = backend.core();
  // Deletion: drop a member, keep the smaller core if the rest still contradicts itself.
  for (std::size_t i = 0; i < core.size();) {
    std::vector<Lit> rest = core;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (backend.check(rest) != Answer::No) {
      ++i;
      continue;
    }
    const std::vector<Lit> smaller = backend.core();
    std::erase_if(rest, [&](Lit lit) { return std::find(smaller.begin(), smaller.end(), lit) == smaller.end(); });
    core = std::move(rest);
  }
  std::vector<std::string> sentences;
  for (Lit guard : core)
    if (const ConstraintName* name = live.model().name_of(guard)) sentences.push_back(name->family + ": " + name->what);
  std::sort(sentences.begin(), sentences.end());
  sentences.erase(std::unique(sentences.begin(), sentences.end()), sentences.end());
  return sentences;
}

}  // namespace heddle::solver
